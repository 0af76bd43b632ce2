// SPDX-License-Identifier: Apache-2.0
//
// Tests the members of delegates that MindSpore Lite 2.x adds: ReplaceNodes, IsDelegateNode,
// CreateKernel, constructors with tensors or a list of devices, and lists of a caller's kernels.
#include <algorithm>
#include <map>

#include "deputy/deputy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/api/delegate.h"
#include "mindspore/include/api/delegate_api.h"
#include "mindspore/include/api/kernel_api.h"
#include "tests/mindspore/mindspore_support.h"

namespace deputy::mindspore_delegate_api_test {
namespace {

using mindspore::LiteDelegateGraph;
using mindspore::Model;
using mindspore::Status;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<float> kX = {1, 2, -3, 0.5F};

// Runs one AddFusion or MulFusion whose second operand is a constant.
class NodeKernel : public Kernel {
 public:
  NodeKernel(Kernel* node, int type, std::shared_ptr<Records> records)
      : Kernel(node->inputs(), node->outputs(), nullptr, nullptr),
        is_add_(type == ms_schema::PrimitiveType_AddFusion),
        records_(std::move(records)) {
    const auto* weights = static_cast<const float*>(inputs_[1].Data().get());
    weights_.assign(weights, weights + kColumns);
    set_name("own " + node->name());
  }
  ~NodeKernel() override { records_->push_back("free " + name()); }
  int Prepare() override { return RET_OK; }
  int Execute() override {
    records_->push_back("execute " + name());
    const auto* in = static_cast<const float*>(inputs_[0].Data().get());
    auto* out = static_cast<float*>(outputs_[0].MutableData());
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) {
      const float weight = weights_[static_cast<size_t>(i % kColumns)];
      out[i] = is_add_ ? in[i] + weight : in[i] * weight;
    }
    return RET_OK;
  }
  int ReSize() override {
    outputs_[0].SetShape(inputs_[0].Shape());
    return RET_OK;
  }

 private:
  const bool is_add_;
  const std::shared_ptr<Records> records_;
  std::vector<float> weights_;
};

// A delegate whose behaviour the tests compose of functions.
class Composed : public mindspore::Delegate {
 public:
  using Delegate::Delegate;
  Status Init() override { return mindspore::kSuccess; }
  Status Build(LiteDelegateGraph* model) override {
    if (on_build) on_build(model);
    return mindspore::kSuccess;
  }
  void ReplaceNodes(const std::shared_ptr<LiteDelegateGraph>& graph) override {
    ++replace_calls;
    if (on_replace) on_replace(graph.get());
  }
  bool IsDelegateNode(const std::shared_ptr<Kernel>& node) override {
    return is_node && is_node(node.get());
  }
  std::shared_ptr<Kernel> CreateKernel(const std::shared_ptr<Kernel>& node) override {
    return create ? create(node) : Delegate::CreateKernel(node);
  }

  std::function<void(LiteDelegateGraph*)> on_build, on_replace;
  std::function<bool(Kernel*)> is_node;
  std::function<std::shared_ptr<Kernel>(const std::shared_ptr<Kernel>&)> create;
  int replace_calls = 0;
};

Status Build(Model* model, const std::vector<uint8_t>& bytes,
             const std::shared_ptr<mindspore::Context>& context) {
  return model->Build(bytes.data(), bytes.size(), mindspore::kMindIR, context);
}

bool IsMul(Kernel* node) { return node->type() == ms_schema::PrimitiveType_MulFusion; }

// Number of nodes of the main graph that run in a delegate.
int DelegatedNodes(const Model& model) {
  int count = 0;
  for (int i = 0; i < DeputyInterpreterGetPartitionCount(model.interpreter(), 0); ++i) {
    DeputyPartition partition = {};
    partition.struct_size = sizeof partition;
    DeputyInterpreterGetPartition(model.interpreter(), 0, i, &partition);
    count += partition.node_count;
  }
  return count;
}

TEST(MindSporeDelegateApi, nodes_that_the_delegate_names_run_in_its_kernels) {
  const auto records = std::make_shared<Records>();
  const auto delegate = std::make_shared<Composed>();
  delegate->is_node = IsMul;
  delegate->create = [records](const std::shared_ptr<Kernel>& node) {
    return std::make_shared<NodeKernel>(node.get(), node->type(), records);
  };
  {
    Model model;
    ASSERT_EQ(Build(&model, ChainModel(5), CpuContext(delegate)), mindspore::kSuccess);
    EXPECT_EQ(delegate->replace_calls, 1);
    EXPECT_EQ(DelegatedNodes(model), 2);
    EXPECT_EQ(Predict(&model, kX), ChainResult(5, kX));
    EXPECT_THAT(*records, ElementsAre("execute own MulFusion-op1", "execute own MulFusion-op3"));
    ASSERT_EQ(model.Resize(model.GetInputs(), {{2, kColumns}}), mindspore::kSuccess);
    const std::vector<float> two = {1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(Predict(&model, two), ChainResult(5, two));
  }
  EXPECT_EQ(Count(*records, "free"), 2u);
}

TEST(MindSporeDelegateApi, replaced_nodes_become_kernels) {
  const auto records = std::make_shared<Records>();
  const auto delegate = std::make_shared<Composed>();
  // ReplaceNodes replaces each MulFusion by a node of the delegate; CreateKernel wraps each of them
  // in a kernel.
  std::vector<Kernel*> own;
  delegate->on_replace = [&](LiteDelegateGraph* graph) {
    for (auto iter = graph->BeginKernelIterator(); iter != graph->EndKernelIterator(); ++iter) {
      if (!IsMul(*iter)) continue;
      own.push_back(new NodeKernel(*iter, (*iter)->type(), records));
      iter = graph->Replace(iter, iter + 1, own.back()) - 1;
    }
  };
  delegate->is_node = [&](Kernel* node) { return std::count(own.begin(), own.end(), node) > 0; };
  struct Outer : Kernel {
    explicit Outer(Kernel* node)
        : Kernel(node->inputs(), node->outputs(), nullptr, nullptr), inner(node) {
      set_name("outer");
    }
    int Prepare() override { return inner->Prepare(); }
    int Execute() override { return inner->Execute(); }
    int ReSize() override { return inner->ReSize(); }
    Kernel* inner;
  };
  delegate->create = [](const std::shared_ptr<Kernel>& node) {
    return std::make_shared<Outer>(node.get());
  };
  {
    Model model;
    ASSERT_EQ(Build(&model, ChainModel(4), CpuContext(delegate)), mindspore::kSuccess);
    EXPECT_EQ(DelegatedNodes(model), 2);
    EXPECT_EQ(Predict(&model, kX), ChainResult(4, kX));
    EXPECT_EQ(Count(*records, "execute"), 2u);
    EXPECT_EQ(Count(*records, "free"), 0u);
  }
  EXPECT_EQ(Count(*records, "free"), 2u);
}

TEST(MindSporeDelegateApi, kernels_of_replace_nodes_stay_without_create_kernel) {
  const auto records = std::make_shared<Records>();
  const auto delegate = std::make_shared<Composed>();
  delegate->on_replace = [&](LiteDelegateGraph* graph) {
    const auto first = graph->BeginKernelIterator();
    graph->Replace(first, first + 1, new NodeKernel(*first, (*first)->type(), records));
  };
  // The default CreateKernel returns the node itself.
  delegate->is_node = [](Kernel* node) { return node->type() == ms_schema::PrimitiveType_NONE; };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), CpuContext(delegate)), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), ChainResult(2, kX));
  EXPECT_EQ(Count(*records, "execute"), 1u);
}

TEST(MindSporeDelegateApi, replace_nodes_is_not_called_after_build_has_replaced) {
  const auto records = std::make_shared<Records>();
  const auto delegate = std::make_shared<Composed>();
  delegate->on_build = [&](LiteDelegateGraph* graph) {
    const auto first = graph->BeginKernelIterator();
    graph->Replace(first, first + 1, new NodeKernel(*first, (*first)->type(), records));
  };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), CpuContext(delegate)), mindspore::kSuccess);
  EXPECT_EQ(delegate->replace_calls, 0);
  EXPECT_EQ(Predict(&model, kX), ChainResult(2, kX));
}

TEST(MindSporeDelegateApi, a_node_without_a_kernel_fails_the_build) {
  for (const bool null : {false, true}) {
    const auto delegate = std::make_shared<Composed>();
    delegate->is_node = IsMul;
    if (null) delegate->create = [](const auto&) { return nullptr; };
    std::string logged;
    DeputyMSSetLogSink([](void* text, DeputyMSLogLevel,
                          const char* line) { *static_cast<std::string*>(text) += line; },
                       &logged);
    Model model;
    EXPECT_EQ(Build(&model, ChainModel(2), CpuContext(delegate)), mindspore::kLiteNullptr);
    DeputyMSSetLogSink(nullptr, nullptr);
    EXPECT_THAT(logged,
                HasSubstr("CreateKernel returned no kernel of the delegate for 'MulFusion-op1'"));
  }
}

TEST(MindSporeDelegateApi, delegates_keep_tensors_and_devices_of_their_constructors) {
  const MSTensor x("x", mindspore::DataType::kNumberTypeFloat32, {1}, nullptr, 0);
  const MSTensor y("y", mindspore::DataType::kNumberTypeFloat32, {1}, nullptr, 0);
  Composed composed({x}, {y, x});
  EXPECT_THAT(composed.inputs(), ElementsAre(x));
  EXPECT_THAT(composed.outputs(), ElementsAre(y, x));

  class WithDevices : public Composed {
   public:
    explicit WithDevices(const std::vector<std::shared_ptr<mindspore::DeviceInfoContext>>& devices)
        : devices_(devices) {}
    Status Init() override {
      for (const auto& device : devices_) {
        const auto npu = device->Cast<mindspore::KirinNPUDeviceInfo>();
        if (npu != nullptr) frequency = npu->GetFrequency();
      }
      return frequency == 0 ? mindspore::kLiteNotSupport : mindspore::kSuccess;
    }
    int frequency = 0;

   private:
    std::vector<std::shared_ptr<mindspore::DeviceInfoContext>> devices_;
  };
  const auto npu = std::make_shared<mindspore::KirinNPUDeviceInfo>();
  npu->SetFrequency(4);
  const auto context = CpuContext();
  context->MutableDeviceInfo().push_back(npu);
  const auto delegate = std::make_shared<WithDevices>(context->MutableDeviceInfo());
  context->set_delegate(delegate);
  EXPECT_EQ(context->get_delegate(), delegate);
  EXPECT_EQ(context->GetDelegate(), delegate);
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
  EXPECT_EQ(delegate->frequency, 4);
}

TEST(MindSporeDelegateApi, a_list_of_the_callers_kernels_tests_a_delegate_without_a_model) {
  struct Plain : Kernel {
    int Prepare() override { return 0; }
    int Execute() override { return 0; }
    int ReSize() override { return 0; }
  };
  Plain kernels[3];
  Plain replacement;
  std::vector<Kernel*> list = {&kernels[0], &kernels[1], &kernels[2]};
  const std::vector<MSTensor> tensors;
  const std::map<Kernel*, const ms_schema::Primitive*> primitives;
  LiteDelegateGraph graph(&list, tensors, tensors, primitives, mindspore::SCHEMA_V0);
  EXPECT_EQ(graph.GetVersion(), mindspore::SCHEMA_V0);
  EXPECT_EQ(graph.GetPrimitive(list[0]), nullptr);
  const auto next =
      graph.Replace(graph.BeginKernelIterator(), graph.BeginKernelIterator() + 2, &replacement);
  EXPECT_EQ(*next, &kernels[2]);
  EXPECT_THAT(list, ElementsAre(&replacement, &kernels[2]));
  EXPECT_EQ(graph.nodes(), &list);
}

TEST(MindSporeDelegateApi, kernels_have_attributes_and_a_configuration) {
  struct Plain : mindspore::kernel::MSKernel {
    int Prepare() override { return 0; }
    int Execute() override { return 0; }
    int ReSize() override { return 0; }
  };
  Plain kernel;
  EXPECT_EQ(kernel.InferShape(), -1);
  EXPECT_TRUE(kernel.GetConfig("section").empty());
  const mindspore::ConfigInfos config = {{"section", {{"key", "value"}}}};
  kernel.SetConfig(&config);
  EXPECT_EQ(kernel.GetConfig("section").at("key"), "value");
  EXPECT_TRUE(kernel.GetConfig("other").empty());
  kernel.SetAttr("a", "b");
  EXPECT_EQ(kernel.GetAttr("a"), "b");
  EXPECT_EQ(kernel.GetAttr("none"), "");
  EXPECT_EQ(mindspore::CoreMLDelegate().Init(), mindspore::kLiteNotSupport);
}

}  // namespace
}  // namespace deputy::mindspore_delegate_api_test
