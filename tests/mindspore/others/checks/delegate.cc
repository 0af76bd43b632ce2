// SPDX-License-Identifier: Apache-2.0
//
// A delegate that finds the tensors of its subgraph with the functions of MindSpore Lite's own
// delegates.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/context.h"
#include "include/api/delegate.h"
#include "include/api/model.h"
#include "src/litert/delegate/delegate_utils.h"

namespace {

using mindspore::DelegateModel;
using mindspore::KernelIter;
using mindspore::MSTensor;
using mindspore::kernel::Kernel;
namespace schema = mindspore::schema;

// An operator of the delegate, as the functions expect it.
struct Op {
  explicit Op(Kernel* kernel) : kernel_(kernel) {}
  const std::vector<MSTensor>& inputs() const { return kernel_->inputs(); }
  const std::vector<MSTensor>& outputs() const { return kernel_->outputs(); }
  const std::vector<Op*>& in_ops() const { return in_; }
  const std::vector<Op*>& out_ops() const { return out_; }
  void set_in_ops(const std::vector<Op*>& ops) { in_ = ops; }
  void set_out_ops(const std::vector<Op*>& ops) { out_ = ops; }

 private:
  Kernel* kernel_;
  std::vector<Op*> in_, out_;
};

// Results of the functions for all kernels of a model.
struct Found {
  std::vector<size_t> before, after;  // numbers of predecessors and successors of each kernel
  std::vector<std::string> inputs, outputs, graph_inputs, graph_outputs;
  size_t first_ops = 0, last_ops = 0;
  int empty_result = 0;
};

std::vector<std::string> NamesOf(const std::vector<MSTensor>& tensors) {
  std::vector<std::string> names;
  for (const MSTensor& tensor : tensors) names.push_back(tensor.Name());
  return names;
}

class Recorder : public mindspore::Delegate {
 public:
  explicit Recorder(Found* found) : found_(found) {}
  mindspore::Status Init() override { return mindspore::kSuccess; }
  mindspore::Status Build(DelegateModel<schema::Primitive>* model) override {
    std::vector<std::unique_ptr<Op>> owned;
    std::vector<Op*> ops;
    for (KernelIter iter = model->BeginKernelIterator(); iter != model->EndKernelIterator();
         ++iter) {
      owned.push_back(std::make_unique<Op>(*iter));
      ops.push_back(owned.back().get());
    }
    mindspore::lite::FindPreNextOps(ops);
    for (const Op* op : ops) {
      found_->before.push_back(op->in_ops().size());
      found_->after.push_back(op->out_ops().size());
    }
    const auto inputs = mindspore::lite::GetGraphInTensors(ops, nullptr);
    const auto outputs = mindspore::lite::GetGraphOutTensors(ops);
    found_->inputs = NamesOf(inputs);
    found_->outputs = NamesOf(outputs);
    const KernelIter begin = model->BeginKernelIterator(), last = model->EndKernelIterator() - 1;
    found_->graph_inputs = NamesOf(mindspore::lite::GraphInTensors(ops, model, begin, last));
    found_->graph_outputs = NamesOf(mindspore::lite::GraphOutTensors(ops, model, begin, last));
    std::vector<Op*> first, end;
    EXPECT_EQ(mindspore::lite::GetGraphInOutOps(inputs, outputs, &first, &end, ops), 0);
    found_->first_ops = first.size();
    found_->last_ops = end.size();
    found_->empty_result = mindspore::lite::GetGraphInOutOps({}, outputs, &end, &end, {});
    return mindspore::kSuccess;
  }

 private:
  Found* const found_;
};

TEST(DelegateCheck, tensors_and_neighbours_of_a_subgraph) {
  Found found;
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  context->SetDelegate(std::make_shared<Recorder>(&found));
  mindspore::Model model;
  ASSERT_EQ(model.Build("mobilenetv2.ms", mindspore::kMindIR_Lite, context), mindspore::kSuccess);
  ASSERT_GE(found.before.size(), 3u);
  EXPECT_EQ(found.before.front(), 0u);
  EXPECT_EQ(found.after.back(), 0u);
  for (size_t i = 1; i < found.before.size(); ++i) EXPECT_EQ(found.before[i], 1u);
  for (size_t i = 0; i + 1 < found.after.size(); ++i) EXPECT_EQ(found.after[i], 1u);
  EXPECT_EQ(found.inputs, std::vector<std::string>{"graph_input-173"});
  EXPECT_EQ(found.outputs, std::vector<std::string>{"Softmax-65"});
  EXPECT_EQ(found.graph_inputs, found.inputs);
  EXPECT_EQ(found.graph_outputs, found.outputs);
  EXPECT_EQ(found.first_ops, 1u);
  EXPECT_EQ(found.last_ops, 1u);
}

TEST(DelegateCheck, data_of_padding_is_reordered) {
  std::vector<int> sizes = {1, 2, 3, 4, 5, 6, 7, 8};  // begin and end of N, H, W and C
  mindspore::lite::AssistDataNHWC2NCHW<int>(sizes.data(), 2);
  EXPECT_EQ(sizes, (std::vector<int>{1, 2, 7, 8, 3, 4, 5, 6}));
}

}  // namespace
