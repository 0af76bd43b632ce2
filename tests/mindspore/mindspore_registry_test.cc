// SPDX-License-Identifier: Apache-2.0
//
// Tests registered CPU kernels: which nodes get them, inside and outside of a delegate's partition,
// shape inference, resizing, and failures.
#include <atomic>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/include/registry/register_kernel.h"
#include "mindspore/include/registry/register_kernel_interface.h"
#include "mindspore/kernel_interface.h"
#include "mindspore/model_parallel_runner.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::mindspore_registry_test {
namespace {

using mindspore::DataType;
using mindspore::Model;
using mindspore::Status;
using mindspore::kernel::KernelInterface;
using mindspore::registry::CreateKernel;
using mindspore::registry::RegisterKernel;
using mindspore::registry::RegisterKernelInterface;
using testing::ElementsAre;
using testing::HasSubstr;

// Calls of the kernels of this file.
struct Calls {
  std::atomic<int> create = 0, prepare = 0, execute = 0, resize = 0, infer = 0, free = 0;
};
Calls calls;

void ResetCalls() {
  for (auto* count :
       {&calls.create, &calls.prepare, &calls.execute, &calls.resize, &calls.infer, &calls.free}) {
    *count = 0;
  }
}

// Multiplies the elements of its input by a factor.
class ScaleKernel : public Kernel {
 public:
  ScaleKernel(float factor, const std::vector<MSTensor>& inputs,
              const std::vector<MSTensor>& outputs, const ms_schema::Primitive* primitive,
              const mindspore::Context* context)
      : Kernel(inputs, outputs, primitive, context), factor_(factor) {
    ++calls.create;
  }
  ~ScaleKernel() override { ++calls.free; }

  int Prepare() override { return ++calls.prepare, prepare_code; }
  int ReSize() override { return ++calls.resize, RET_OK; }
  int Execute() override {
    ++calls.execute;
    if (execute_code != RET_OK) return execute_code;
    const auto* in = static_cast<const float*>(inputs_[0].Data().get());
    auto* out = static_cast<float*>(outputs_[0].MutableData());
    if (in == nullptr || out == nullptr) return RET_ERROR;
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) out[i] = factor_ * in[i];
    return RET_OK;
  }

  inline static int prepare_code = RET_OK, execute_code = RET_OK;

 private:
  const float factor_;
};

template <int kFactor>
std::shared_ptr<Kernel> CreateScale(const std::vector<MSTensor>& inputs,
                                    const std::vector<MSTensor>& outputs,
                                    const ms_schema::Primitive* primitive,
                                    const mindspore::Context* context) {
  return std::make_shared<ScaleKernel>(static_cast<float>(kFactor), inputs, outputs, primitive,
                                       context);
}

// Gives the output the format, the type and the shape of the input.
class SameShape : public KernelInterface {
 public:
  Status Infer(std::vector<MSTensor>* inputs, std::vector<MSTensor>* outputs,
               const ms_schema::Primitive* /*primitive*/) override {
    ++calls.infer;
    if (code != mindspore::kSuccess) return code;
    (*outputs)[0].SetFormat((*inputs)[0].format());
    (*outputs)[0].SetDataType((*inputs)[0].DataType());
    (*outputs)[0].SetShape((*inputs)[0].Shape());
    return mindspore::kSuccess;
  }
  inline static enum mindspore::StatusCode code = mindspore::kSuccess;
};
std::shared_ptr<KernelInterface> CreateSameShape() { return std::make_shared<SameShape>(); }

constexpr auto kFloat32 = DataType::kNumberTypeFloat32;
constexpr auto kInt32 = DataType::kNumberTypeInt32;
constexpr int kAddFusion = ms_schema::PrimitiveType_AddFusion;
constexpr int kMulFusion = ms_schema::PrimitiveType_MulFusion;

REGISTER_CUSTOM_KERNEL(CPU, RegistryTest, kFloat32, RegistryTriple, CreateScale<3>)
REGISTER_CUSTOM_KERNEL_INTERFACE(RegistryTest, RegistryTriple, CreateSameShape)
REGISTER_KERNEL(CPU, RegistryTest, kFloat32, kAddFusion, CreateScale<100>)
REGISTER_KERNEL(CPU, RegistryTest, kFloat32, kMulFusion, CreateScale<10>)
REGISTER_KERNEL_INTERFACE(RegistryTest, kMulFusion, CreateSameShape)

// A model of x[1, 4] through the named operators: "add" adds {1, 2, 3, 4}, "mul" multiplies by 2,
// other names are custom operators. The file has the shape [1, 1] for their outputs.
std::vector<uint8_t> ModelOf(const std::vector<std::string>& operators,
                             TfLiteType type = kTfLiteFloat32) {
  ModelBuilder m;
  int last = m.AddTensor(type, {1, 4}, "x");
  m.SetInputs({last});
  for (size_t i = 0; i < operators.size(); ++i) {
    const std::string name = "y" + std::to_string(i);
    const bool custom = operators[i] != "add" && operators[i] != "mul";
    const int y = m.AddTensor(type, custom ? std::vector<int>{1, 1} : std::vector<int>{1, 4}, name);
    if (custom) {
      m.AddCustomOp(operators[i], {last}, {y}, {5, 6});
    } else if (operators[i] == "add") {
      const int c = m.AddConstant<float>(type, {4}, {1, 2, 3, 4});
      m.AddOp(kTfLiteBuiltinAdd, {last, c}, {y}, schema::CreateAddOptions(m.fbb()));
    } else {
      const int c = m.AddConstant<float>(type, {4}, {2, 2, 2, 2});
      m.AddOp(kTfLiteBuiltinMul, {last, c}, {y}, schema::CreateMulOptions(m.fbb()));
    }
    last = y;
  }
  m.SetOutputs({last});
  return m.Finish();
}

std::shared_ptr<mindspore::Context> ContextOf(
    const std::string& provider, const std::string& device = "CPU",
    const std::shared_ptr<mindspore::Delegate>& delegate = nullptr) {
  auto context = CpuContext(delegate);
  context->MutableDeviceInfo()[0]->SetProvider(provider);
  context->MutableDeviceInfo()[0]->SetProviderDevice(device);
  return context;
}

Status Build(Model* model, const std::vector<uint8_t>& bytes,
             const std::shared_ptr<mindspore::Context>& context = CpuContext()) {
  ResetCalls();
  return model->Build(bytes.data(), bytes.size(), mindspore::kMindIR, context);
}

std::vector<float> Values(Model* model, const std::vector<float>& x) { return Predict(model, x); }

// ---- Custom operators ---------------------------------------------------------------------------

TEST(MindSporeRegistry, a_custom_operator_runs_its_kernel_with_inferred_shapes) {
  Model model;
  ASSERT_EQ(Build(&model, ModelOf({"RegistryTriple"})), mindspore::kSuccess);
  EXPECT_EQ(calls.create, 1);
  EXPECT_EQ(calls.prepare, 1);
  EXPECT_GE(calls.infer, 1);
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{1, 4})) << "not the file's [1, 1]";
  EXPECT_THAT(Values(&model, {1, 2, 3, -4}), ElementsAre(3, 6, 9, -12));
  EXPECT_THAT(Values(&model, {0, 1, 0, 1}), ElementsAre(0, 3, 0, 3));
  EXPECT_EQ(calls.execute, 2);
  ASSERT_EQ(model.Resize(model.GetInputs(), {{2, 4}}), mindspore::kSuccess);
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{2, 4}));
  EXPECT_THAT(Values(&model, {1, 1, 1, 1, 2, 2, 2, 2}), ElementsAre(3, 3, 3, 3, 6, 6, 6, 6));
  EXPECT_EQ(calls.create, 1);
  EXPECT_GE(calls.resize, 1);
}

TEST(MindSporeRegistry, kernels_are_freed_with_the_model) {
  {
    Model model;
    ASSERT_EQ(Build(&model, ModelOf({"RegistryTriple", "RegistryTriple"})), mindspore::kSuccess);
    EXPECT_EQ(calls.create, 2);
    EXPECT_EQ(calls.free, 0);
  }
  EXPECT_EQ(calls.free, 2);
}

// The operator, the options and the context that the last SeeingKernel found.
struct Seen {
  std::string type;
  const mindspore::Context* context = nullptr;
  std::string options;
  const Kernel* kernel = nullptr;
};
Seen seen;

class SeeingKernel : public ScaleKernel {
 public:
  using ScaleKernel::ScaleKernel;
  int Execute() override {
    const ms_schema::Custom* custom = primitive_->value_as_Custom();
    seen.type = custom->type()->str();
    const auto* data = custom->attr()->Get(0)->data();
    seen.options.assign(data->begin(), data->end());
    seen.context = context_;
    return ScaleKernel::Execute();
  }
};

TEST(MindSporeRegistry, kernels_have_their_operator_and_context_until_they_are_freed) {
  const CreateKernel create = [](const auto& in, const auto& out, const auto* primitive,
                                 const auto* context) {
    auto kernel = std::make_shared<SeeingKernel>(1.0F, in, out, primitive, context);
    seen.kernel = kernel.get();
    return kernel;
  };
  ASSERT_EQ(
      RegisterKernel::RegCustomKernel("CPU", "RegistryTest", kFloat32, "RegistrySeeing", create),
      mindspore::kSuccess);
  ASSERT_EQ(RegisterKernelInterface::CustomReg("RegistryTest", "RegistrySeeing", CreateSameShape),
            mindspore::kSuccess);
  Model model;
  auto context = CpuContext();
  const mindspore::Context* const raw = context.get();
  ASSERT_EQ(Build(&model, ModelOf({"RegistrySeeing"}), context), mindspore::kSuccess);
  context = nullptr;
  EXPECT_THAT(Values(&model, {1, 2, 3, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(seen.type, "RegistrySeeing");
  EXPECT_EQ(seen.options, (std::string{5, 6}));
  EXPECT_EQ(seen.context, raw);
  EXPECT_EQ(seen.kernel->GetAttr("type"), "RegistrySeeing");
  EXPECT_EQ(seen.kernel->name(), "Custom-op0");
  EXPECT_NE(RegisterKernelInterface::GetKernelInterface("", nullptr, seen.kernel), nullptr);
}

TEST(MindSporeRegistry, a_custom_operator_of_an_ms_file_runs_its_kernel) {
  ms::MsWriter writer;
  const uint32_t x = writer.Input({1, 4});
  const uint32_t y = writer.Output({1, 4});
  auto& fbb = writer.fbb();
  const auto type = fbb.CreateString("RegistryTriple");
  ms::file::CustomBuilder custom(fbb);
  custom.add_type(type);
  writer.Node(ms::file::PrimitiveType_Custom, {x}, {y}, custom.Finish());
  Model model;
  ASSERT_EQ(Build(&model, writer.Finish()), mindspore::kSuccess);
  EXPECT_THAT(Values(&model, {1, 2, 3, -4}), ElementsAre(3, 6, 9, -12));
  EXPECT_EQ(calls.execute, 1);
}

TEST(MindSporeRegistry, kernels_run_before_between_and_behind_a_delegates_nodes) {
  const auto delegate =
      std::make_shared<RunDelegate>([](Kernel*, const ms_schema::Primitive& primitive, int) {
        return primitive.value_type() != ms_schema::PrimitiveType_Custom;
      });
  Model model;
  const std::string triple = "RegistryTriple";
  ASSERT_EQ(Build(&model, ModelOf({triple, "add", triple, "mul", triple}), CpuContext(delegate)),
            mindspore::kSuccess);
  EXPECT_EQ(calls.create, 3);
  EXPECT_THAT(Values(&model, {1, 1, 1, 1}), ElementsAre(72, 90, 108, 126));
  EXPECT_EQ(calls.execute, 3);
  EXPECT_EQ(Count(*delegate->records, "execute"), 2U) << "the other nodes ran in the delegate";
  ASSERT_EQ(model.Resize(model.GetInputs(), {{2, 4}}), mindspore::kSuccess);
  EXPECT_THAT(Values(&model, {1, 1, 1, 1, 0, 0, 0, 0}),
              ElementsAre(72, 90, 108, 126, 18, 36, 54, 72));
  EXPECT_EQ(calls.execute, 6);
  EXPECT_EQ(Count(*delegate->records, "execute"), 4U);
}

TEST(MindSporeRegistry, a_delegate_of_the_context_goes_first) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);  // doubles custom operators
  Model model;
  ASSERT_EQ(Build(&model, ModelOf({"add", "RegistryTriple"}), CpuContext(delegate)),
            mindspore::kSuccess);
  EXPECT_EQ(calls.create, 0);
  EXPECT_EQ(Count(*delegate->records, "build"), 1U);
}

// Infers an output with as many elements as the value of the input's first element; the shape is
// unknown until the input has data.
class KeepShape : public KernelInterface {
 public:
  Status Infer(std::vector<MSTensor>* inputs, std::vector<MSTensor>* outputs,
               const ms_schema::Primitive* /*primitive*/) override {
    const auto* data = static_cast<const float*>((*inputs)[0].Data().get());
    if (data == nullptr) return mindspore::kLiteInferInvalid;
    (*outputs)[0].SetShape({static_cast<int64_t>(data[0])});
    return mindspore::kSuccess;
  }
};

TEST(MindSporeRegistry, shapes_may_be_postponed_to_the_inference) {
  RegisterKernel::RegCustomKernel("CPU", "RegistryTest", kFloat32, "RegistryKeep", CreateScale<2>);
  RegisterKernelInterface::CustomReg("RegistryTest", "RegistryKeep",
                                     [] { return std::make_shared<KeepShape>(); });
  Model model;
  ASSERT_EQ(Build(&model, ModelOf({"RegistryKeep", "RegistryTriple"})), mindspore::kSuccess);
  EXPECT_THAT(Values(&model, {3, 1, 5, 7}), ElementsAre(18, 6, 30));
  EXPECT_THAT(Values(&model, {1, 1, 5, 7}), ElementsAre(6));
  EXPECT_EQ(model.GetOutputs()[0].Shape(), (std::vector<int64_t>{1}));
}

// ---- Other operators ----------------------------------------------------------------------------

TEST(MindSporeRegistry, other_operators_need_the_provider_and_its_device) {
  const std::vector<uint8_t> bytes = ModelOf({"add", "mul"});
  const std::vector<float> x = {1, 1, 1, 1};
  Model plain, wrong, right;
  ASSERT_EQ(Build(&plain, bytes), mindspore::kSuccess);
  EXPECT_THAT(Values(&plain, x), ElementsAre(4, 6, 8, 10));
  ASSERT_EQ(Build(&wrong, bytes, ContextOf("RegistryTest", "DSP")), mindspore::kSuccess);
  EXPECT_THAT(Values(&wrong, x), ElementsAre(4, 6, 8, 10));
  EXPECT_EQ(calls.create, 0);
  ASSERT_EQ(Build(&right, bytes, ContextOf("RegistryTest")), mindspore::kSuccess);
  EXPECT_EQ(calls.create, 2);
  EXPECT_THAT(Values(&right, x), ElementsAre(1000, 1000, 1000, 1000));
  EXPECT_EQ(calls.execute, 2);
}

TEST(MindSporeRegistry, other_operators_have_the_right_shapes_after_a_resize) {
  Model inferred, created_again;
  ASSERT_EQ(Build(&inferred, ModelOf({"mul"}), ContextOf("RegistryTest")), mindspore::kSuccess);
  ASSERT_EQ(inferred.Resize(inferred.GetInputs(), {{2, 4}}), mindspore::kSuccess);
  EXPECT_THAT(Values(&inferred, {1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre(10, 20, 30, 40, 50, 60, 70, 80));
  EXPECT_EQ(calls.create, 1);
  EXPECT_EQ(calls.resize, 1);
  ASSERT_EQ(Build(&created_again, ModelOf({"add"}), ContextOf("RegistryTest")),
            mindspore::kSuccess);
  ASSERT_EQ(created_again.Resize(created_again.GetInputs(), {{3, 4}}), mindspore::kSuccess);
  EXPECT_EQ(created_again.GetOutputs()[0].Shape(), (std::vector<int64_t>{3, 4}));
  const std::vector<float> ones(12, 1), hundreds(12, 100);
  EXPECT_EQ(Values(&created_again, ones), hundreds);
  EXPECT_EQ(calls.create, 2) << "without an interface the kernel is created again";
}

TEST(MindSporeRegistry, the_data_type_is_part_of_the_key) {
  RegisterKernel::RegCustomKernel("CPU", "RegistryTest", kInt32, "RegistryInts", CreateScale<2>);
  Model model;
  EXPECT_EQ(Build(&model, ModelOf({"RegistryInts"})), mindspore::kLiteNotFindOp);
  EXPECT_EQ(calls.create, 0);
  EXPECT_EQ(Build(&model, ModelOf({"RegistryInts"}, kTfLiteInt32)), mindspore::kSuccess);
  EXPECT_EQ(calls.create, 1);
}

TEST(MindSporeRegistry, the_context_selects_between_two_providers) {
  RegisterKernel::RegCustomKernel("CPU", "RegistryB", kFloat32, "RegistryTwo", CreateScale<20>);
  RegisterKernel::RegCustomKernel("CPU", "RegistryA", kFloat32, "RegistryTwo", CreateScale<10>);
  RegisterKernelInterface::CustomReg("RegistryA", "RegistryTwo", CreateSameShape);
  const std::vector<uint8_t> bytes = ModelOf({"RegistryTwo"});
  Model a, b, first, other_device;
  ASSERT_EQ(Build(&a, bytes, ContextOf("RegistryA")), mindspore::kSuccess);
  ASSERT_EQ(Build(&b, bytes, ContextOf("RegistryB")), mindspore::kSuccess);
  ASSERT_EQ(Build(&first, bytes), mindspore::kSuccess);
  ASSERT_EQ(Build(&other_device, bytes, ContextOf("RegistryB", "RegistryB")), mindspore::kSuccess);
  EXPECT_EQ(Values(&a, {1, 1, 1, 1})[0], 10);
  EXPECT_EQ(Values(&b, {1, 1, 1, 1})[0], 20);
  EXPECT_EQ(Values(&first, {1, 1, 1, 1})[0], 10) << "the first by name";
  EXPECT_EQ(Values(&other_device, {1, 1, 1, 1})[0], 10);
}

TEST(MindSporeRegistry, each_worker_of_a_runner_has_its_kernel) {
  const std::vector<uint8_t> bytes = ModelOf({"RegistryTriple"});
  auto config = std::make_shared<mindspore::RunnerConfig>();
  config->SetWorkersNum(3);
  ResetCalls();
  mindspore::ModelParallelRunner runner;
  ASSERT_EQ(runner.Init(bytes.data(), bytes.size(), config), mindspore::kSuccess);
  EXPECT_EQ(calls.create, 3);
  const float x[] = {1, 2, 3, 4};
  std::vector<MSTensor> outputs;
  ASSERT_EQ(runner.Predict({MSTensor("x", kFloat32, {1, 4}, x, sizeof x)}, &outputs),
            mindspore::kSuccess);
  EXPECT_EQ(static_cast<const float*>(outputs[0].Data().get())[3], 12);
}

// ---- Failures -----------------------------------------------------------------------------------

TEST(MindSporeRegistry, failures_of_kernels_have_their_codes_and_texts) {
  const std::vector<uint8_t> bytes = ModelOf({"RegistryTriple"});
  Model model;
  ScaleKernel::prepare_code = mindspore::lite::RET_MEMORY_FAILED;
  const Status prepare = Build(&model, bytes);
  ScaleKernel::prepare_code = RET_OK;
  EXPECT_EQ(prepare, mindspore::kLiteMemoryFailed);
  EXPECT_THAT(prepare.GetErrDescription(), HasSubstr("kernel 'Custom-op0': Prepare returned -6"));
  SameShape::code = mindspore::kLiteInferError;
  const Status infer = Build(&model, bytes);
  SameShape::code = mindspore::kSuccess;
  EXPECT_EQ(infer, mindspore::kLiteInferError);
  EXPECT_THAT(infer.GetErrDescription(), HasSubstr("'Custom-op0': Prepare returned -500"));
  ASSERT_EQ(Build(&model, bytes), mindspore::kSuccess);
  ScaleKernel::execute_code = mindspore::lite::RET_OP_EXECUTE_FAILURE;
  Status execute;
  Predict(&model, {1, 2, 3, 4}, &execute);
  ScaleKernel::execute_code = RET_OK;
  EXPECT_EQ(execute, mindspore::kLiteOpExecuteFailure);
  SameShape::code = mindspore::kLiteInferError;
  const Status resize = model.Resize(model.GetInputs(), {{2, 4}});
  SameShape::code = mindspore::kSuccess;
  EXPECT_EQ(resize, mindspore::kLiteInferError);
  EXPECT_THAT(Values(&model, {1, 2, 3, 4}), ElementsAre(3, 6, 9, 12));
}

TEST(MindSporeRegistry, creators_that_fail_fail_the_build) {
  RegisterKernel::RegCustomKernel("CPU", "RegistryTest", kFloat32, "RegistryNull",
                                  [](auto&&...) { return std::shared_ptr<Kernel>(); });
  RegisterKernel::RegCustomKernel(
      "CPU", "RegistryTest", kFloat32, "RegistryThrow",
      [](auto&&...) -> std::shared_ptr<Kernel> { throw std::runtime_error("no licence"); });
  Model model;
  const Status null = Build(&model, ModelOf({"RegistryNull"}), ContextOf("RegistryTest"));
  EXPECT_EQ(null, mindspore::kLiteError);
  EXPECT_THAT(null.GetErrDescription(),
              HasSubstr("kernel 'Custom-op0': the creator registered for it by RegistryTest "
                        "returned no kernel"));
  const Status thrown = Build(&model, ModelOf({"RegistryTriple", "RegistryThrow"}));
  EXPECT_EQ(thrown, mindspore::kLiteError);
  EXPECT_THAT(thrown.GetErrDescription(), HasSubstr("threw an exception: no licence"));
  EXPECT_EQ(calls.create, calls.free) << "kernels created before the failure are freed";
}

TEST(MindSporeRegistry, an_operator_without_a_kernel_is_refused) {
  Model model;
  const Status status = Build(&model, ModelOf({"RegistryTriple", "RegistryAbsent"}));
  EXPECT_EQ(status, mindspore::kLiteNotFindOp);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("RegistryAbsent"));
}

TEST(MindSporeRegistry, registrations_are_checked) {
  EXPECT_EQ(RegisterKernel::RegKernel("CPU", "RegistryTest", kFloat32, 0, CreateScale<1>),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(RegisterKernel::RegKernel("CPU", "RegistryTest", kFloat32, 100000, CreateScale<1>),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(RegisterKernel::RegKernel("CPU", "", kFloat32, kAddFusion, CreateScale<1>),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(RegisterKernel::RegKernel("", "RegistryTest", kFloat32, kAddFusion, CreateScale<1>),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(RegisterKernel::RegKernel("CPU", "RegistryTest", DataType::kTypeUnknown, kAddFusion,
                                      CreateScale<1>),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(RegisterKernel::RegKernel("CPU", "RegistryTest", kFloat32, kAddFusion, nullptr),
            mindspore::kLiteNullptr);
  EXPECT_EQ(RegisterKernel::RegCustomKernel("CPU", "RegistryTest", kFloat32, "", CreateScale<1>),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(RegisterKernelInterface::Reg("RegistryTest", kAddFusion, nullptr),
            mindspore::kLiteNullptr);
  EXPECT_EQ(RegisterKernelInterface::Reg("", kAddFusion, CreateSameShape),
            mindspore::kLiteParamInvalid);
  EXPECT_EQ(DeputyMSRegisterKernel(nullptr, nullptr), kMSStatusLiteNullptr);
  EXPECT_EQ(DeputyMSRegisterKernelInterface(nullptr, nullptr), kMSStatusLiteNullptr);
  EXPECT_EQ(DeputyMSFindKernel(nullptr, nullptr), nullptr);
  EXPECT_EQ(DeputyMSFindKernelInterface(nullptr), nullptr);
  EXPECT_EQ(DeputyMSContextSetObject(nullptr, nullptr, nullptr), kMSStatusLiteNullptr);
  EXPECT_EQ(DeputyMSContextGetObject(nullptr), nullptr);
}

TEST(MindSporeRegistry, creators_are_found_by_their_description) {
  const std::vector<uint8_t> bytes = ModelOf({"RegistryTriple", "add"});
  CreateKernel custom, add, absent;
  mindspore::registry::KernelDesc desc = {kFloat32, ms_schema::PrimitiveType_Custom, "", ""};
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  delegate->on_build = [&](DelegateModel* model) -> Status {
    auto iter = model->BeginKernelIterator();
    custom = RegisterKernel::GetCreator(model->GetPrimitive(*iter), &desc);
    mindspore::registry::KernelDesc of_add = {kFloat32, kAddFusion, "CPU", "RegistryTest"};
    add = RegisterKernel::GetCreator(model->GetPrimitive(*(iter + 1)), &of_add);
    of_add.provider = "RegistryA";
    absent = RegisterKernel::GetCreator(model->GetPrimitive(*(iter + 1)), &of_add);
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, bytes, CpuContext(delegate)), mindspore::kSuccess);
  EXPECT_TRUE(custom && add);
  EXPECT_EQ(desc.arch, "CPU");
  EXPECT_FALSE(absent);
  EXPECT_FALSE(RegisterKernel::GetCreator(nullptr, &desc));
}

}  // namespace
}  // namespace deputy::mindspore_registry_test
