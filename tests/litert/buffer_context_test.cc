// SPDX-License-Identifier: Apache-2.0
//
// A delegate of a client that states requirements on buffers and uses the buffers of the runs.
#include "litert/src/buffer_context.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "deputy/common.h"
#include "litert/c/internal/litert_accelerator_registration.h"
#include "litert/c/internal/litert_runtime_context.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_options.h"
#include "litert/src/log.h"
#include "schema_generated.h"
#include "tests/support/model_builder.h"

namespace deputy::litert::buffer_context_test {
namespace {

constexpr size_t kAlignment = 256, kBytes = 64;

// Findings of the delegate in its last run.
struct Observed {
  bool has_context = false, is_async = false;
  LiteRtEnvironment environment = nullptr;
  LiteRtOptions run_options = nullptr;
  LiteRtTensorBuffer input = nullptr, output = nullptr;  // null: there is no buffer
  LiteRtStatus second_unregistration = kLiteRtStatusOk;
  LiteRtRuntimeContext* runtime = nullptr;
} observed;

LiteRtExternalLiteRtBufferContext ContextOf(TfLiteContext* context) {
  return static_cast<LiteRtExternalLiteRtBufferContext>(
      context->GetExternalContext(context, kTfLiteLiteRtBufferContext));
}

LiteRtTensorBuffer BufferOf(LiteRtExternalLiteRtBufferContext buffers, const TfLiteTensor& tensor) {
  LiteRtTensorBuffer found = nullptr;
  if (observed.runtime->get_external_litert_buffer_context_tensor_buffer(
          buffers, &tensor, &found) == kLiteRtStatusOk) {
    observed.runtime->destroy_tensor_buffer(found);  // the context has another reference
  }
  return found;
}

// Multiplies by two, in the buffers if there are any.
TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const LiteRtExternalLiteRtBufferContext buffers = ContextOf(context);
  const LiteRtRuntimeContext& runtime = *observed.runtime;
  const TfLiteTensor& x = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& y = context->tensors[node->outputs->data[0]];
  observed.has_context = buffers != nullptr;
  runtime.external_litert_buffer_context_is_async_execution_mode(buffers, &observed.is_async);
  runtime.external_litert_buffer_context_get_environment(buffers, &observed.environment);
  runtime.external_litert_buffer_context_get_run_options(buffers, &observed.run_options);
  observed.input = BufferOf(buffers, x);
  observed.output = BufferOf(buffers, y);
  void *from = x.data.raw, *to = y.data.raw;
  if (observed.input != nullptr) runtime.get_tensor_buffer_host_memory(observed.input, &from);
  if (observed.output != nullptr) runtime.get_tensor_buffer_host_memory(observed.output, &to);
  for (size_t i = 0; i < 4; ++i) {
    static_cast<float*>(to)[i] = 2 * static_cast<const float*>(from)[i];
  }
  // A delegate can have buffers of its own.
  LiteRtTensorBuffer own = nullptr;
  if (runtime.external_litert_buffer_context_create_tensor_buffer(buffers, &y, &own) !=
          kLiteRtStatusOk ||
      runtime.external_litert_buffer_context_register_tensor_buffer(buffers, &y, own) !=
          kLiteRtStatusOk ||
      BufferOf(buffers, y) != own ||
      runtime.external_litert_buffer_context_unregister_tensor_buffer(buffers, &y) !=
          kLiteRtStatusOk) {
    return kTfLiteError;
  }
  observed.second_unregistration =
      runtime.external_litert_buffer_context_unregister_tensor_buffer(buffers, &y);
  return kTfLiteOk;
}

LiteRtStatus Require(LiteRtExternalLiteRtBufferContext buffers, const TfLiteTensor& tensor,
                     size_t bytes, size_t alignment) {
  const LiteRtTensorBufferType type = kLiteRtTensorBufferTypeHostMemory;
  LiteRtTensorBufferRequirements created = nullptr;
  LITERT_TRY(LiteRtCreateTensorBufferRequirementsWithAlignment(1, &type, bytes, 0, nullptr,
                                                               alignment, &created));
  return observed.runtime->external_litert_buffer_context_register_buffer_requirements(
      buffers, &tensor, created);
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const LiteRtExternalLiteRtBufferContext buffers = ContextOf(context);
  for (const TfLiteIntArray* const list : {node->inputs, node->outputs}) {
    const TfLiteTensor& tensor = context->tensors[list->data[0]];
    // The two are joined.
    if (Require(buffers, tensor, 16, kAlignment) != kLiteRtStatusOk ||
        Require(buffers, tensor, kBytes, 64) != kLiteRtStatusOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  std::vector<int> claimed;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
    if (registration->builtin_code == kTfLiteBuiltinAdd) claimed.push_back(plan->data[i]);
  }
  TfLiteRegistration kernel = {};
  kernel.prepare = &Prepare;
  kernel.invoke = &Invoke;
  kernel.custom_name = "Doubling";
  const std::unique_ptr<TfLiteIntArray, void (*)(TfLiteIntArray*)> nodes(
      TfLiteIntArrayCreate(static_cast<int>(claimed.size())), &TfLiteIntArrayFree);
  std::copy(claimed.begin(), claimed.end(), nodes->data);
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes.get(), delegate);
}

LiteRtStatus CreateDelegate(LiteRtRuntimeContext* runtime, LiteRtEnvironment,
                            LiteRtAcceleratorConst, LiteRtOptions, LiteRtDelegateWrapper* wrapper) {
  auto* const delegate = new TfLiteDelegate(TfLiteDelegateCreate());
  delegate->Prepare = &PrepareDelegate;
  observed.runtime = runtime;
  return runtime->wrap_delegate(
      reinterpret_cast<TfLiteOpaqueDelegate*>(delegate),
      [](TfLiteOpaqueDelegate* owned) { delete reinterpret_cast<TfLiteDelegate*>(owned); },
      wrapper);
}

LiteRtStatus GetHardware(LiteRtAcceleratorConst, LiteRtHwAcceleratorSet* hardware) {
  *hardware = kLiteRtHwAcceleratorNpu;
  return kLiteRtStatusOk;
}

class LitertBufferContext : public testing::Test {
 protected:
  // y = x + x by the delegate; with `uses_cpu` also z = cos(x) on the CPU.
  void Compile(bool uses_cpu) {
    observed = {};
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
    const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
    m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
    m.SetInputs({x});
    m.SetOutputs({y});
    if (uses_cpu) {
      const int z = m.AddTensor(kTfLiteFloat32, {4}, "z");
      m.AddOp(kTfLiteBuiltinCos, {x}, {z}, schema::CreateCosOptions(m.fbb()));
      m.SetOutputs({y, z});
    }
    file_ = m.Finish();
    LiteRtAccelerator accelerator = nullptr;
    ASSERT_EQ(LiteRtCreateEnvironment(0, nullptr, &environment_), kLiteRtStatusOk);
    ASSERT_EQ(LiteRtCreateAccelerator(&accelerator), kLiteRtStatusOk);
    LiteRtSetDelegateFunction(accelerator, &CreateDelegate);
    LiteRtSetAcceleratorGetHardwareSupport(accelerator, &GetHardware);
    ASSERT_EQ(LiteRtRegisterAccelerator(environment_, accelerator, nullptr, nullptr),
              kLiteRtStatusOk);
    ASSERT_EQ(LiteRtCreateModelFromBuffer(environment_, file_.data(), file_.size(), &model_),
              kLiteRtStatusOk);
    ASSERT_EQ(LiteRtCreateOptions(&options_), kLiteRtStatusOk);
    LiteRtSetOptionsHardwareAccelerators(options_,
                                         kLiteRtHwAcceleratorNpu | kLiteRtHwAcceleratorCpu);
    ASSERT_EQ(LiteRtCreateCompiledModel(environment_, model_, options_, &compiled_),
              kLiteRtStatusOk);
  }

  void TearDown() override {
    LiteRtDestroyCompiledModel(compiled_);
    for (LiteRtTensorBuffer buffer : created_) LiteRtDestroyTensorBuffer(buffer);
    LiteRtDestroyOptions(options_);
    LiteRtDestroyModel(model_);
    LiteRtDestroyEnvironment(environment_);
  }

  // A buffer with the alignment, which contains the number.
  LiteRtTensorBuffer Buffer(size_t bytes, size_t alignment, float number) {
    const LiteRtTensorBufferType type = kLiteRtTensorBufferTypeHostMemory;
    LiteRtTensorBufferRequirements wanted = nullptr;
    LiteRtTensorBuffer created = nullptr;
    LiteRtRankedTensorType tensor = {};
    tensor.element_type = kLiteRtElementTypeFloat32;
    tensor.layout.rank = 1;
    tensor.layout.dimensions[0] = 4;
    EXPECT_EQ(LiteRtCreateTensorBufferRequirementsWithAlignment(1, &type, bytes, 0, nullptr,
                                                                alignment, &wanted),
              kLiteRtStatusOk);
    EXPECT_EQ(
        LiteRtCreateManagedTensorBufferFromRequirements(environment_, &tensor, wanted, &created),
        kLiteRtStatusOk);
    LiteRtDestroyTensorBufferRequirements(wanted);
    for (int i = 0; i < 4; ++i) std::memcpy(created->address + 4 * i, &number, sizeof(number));
    created_.push_back(created);
    return created;
  }

  static float First(LiteRtTensorBuffer buffer) {
    float value = 0;
    std::memcpy(&value, buffer->address, sizeof(value));
    return value;
  }

  LiteRtEnvironment environment_ = nullptr;
  LiteRtModel model_ = nullptr;
  LiteRtOptions options_ = nullptr;
  LiteRtCompiledModel compiled_ = nullptr;
  std::vector<uint8_t> file_;
  std::vector<LiteRtTensorBuffer> created_;
};

TEST_F(LitertBufferContext, RequirementsOfDelegatesAreThoseOfTheModel) {
  Compile(false);
  for (const auto get : {&LiteRtGetCompiledModelInputBufferRequirements,
                         &LiteRtGetCompiledModelOutputBufferRequirements}) {
    LiteRtTensorBufferRequirements found = nullptr;
    ASSERT_EQ(get(compiled_, 0, 0, &found), kLiteRtStatusOk);
    EXPECT_EQ(found->bytes, kBytes);
    EXPECT_EQ(found->alignment, kAlignment);
  }
}

TEST_F(LitertBufferContext, DelegatesUseTheBuffersOfTheClient) {
  Compile(false);
  LiteRtTensorBuffer x = Buffer(kBytes, kAlignment, 3), y = Buffer(kBytes, kAlignment, 0);
  ASSERT_EQ(LiteRtRunCompiledModelWithOptions(compiled_, 0, 1, &x, 1, &y, options_),
            kLiteRtStatusOk);
  EXPECT_EQ(First(y), 6);
  EXPECT_EQ(observed.input, x);
  EXPECT_EQ(observed.output, y);
  EXPECT_EQ(observed.environment, environment_);
  EXPECT_EQ(observed.run_options, options_);
  EXPECT_FALSE(observed.is_async);
  EXPECT_EQ(observed.second_unregistration, kLiteRtStatusErrorNotFound);
  bool is_async = true;
  ASSERT_EQ(LiteRtRunCompiledModelAsync(compiled_, 0, 1, &x, 1, &y, &is_async), kLiteRtStatusOk);
  EXPECT_TRUE(observed.is_async);
  EXPECT_EQ(observed.run_options, nullptr);
  EXPECT_FALSE(is_async);
}

TEST_F(LitertBufferContext, OtherBuffersAreMemoryOfTensors) {
  Compile(false);
  for (const bool is_small : {true, false}) {
    LiteRtTensorBuffer x = Buffer(is_small ? 16 : kBytes, kAlignment, 3);
    LiteRtTensorBuffer y = Buffer(kBytes, kAlignment, 0);
    // An address that is not aligned enough.
    if (!is_small) x->address += 64;
    ASSERT_EQ(LiteRtRunCompiledModel(compiled_, 0, 1, &x, 1, &y), kLiteRtStatusOk);
    if (!is_small) x->address -= 64;
    EXPECT_EQ(observed.input, nullptr);
    EXPECT_EQ(observed.output, y);
    if (is_small) {
      EXPECT_EQ(First(y), 6);
    }
  }
}

TEST_F(LitertBufferContext, TensorsOfTheCpuAreInHostMemory) {
  Compile(true);
  LiteRtTensorBufferRequirements found = nullptr;
  ASSERT_EQ(LiteRtGetCompiledModelInputBufferRequirements(compiled_, 0, 0, &found),
            kLiteRtStatusOk);
  EXPECT_EQ(found->bytes, 16);
  LiteRtTensorBuffer x = Buffer(kBytes, kAlignment, 3);
  LiteRtTensorBuffer outputs[] = {Buffer(kBytes, kAlignment, 0), Buffer(kBytes, kAlignment, 0)};
  ASSERT_EQ(LiteRtRunCompiledModel(compiled_, 0, 1, &x, 2, outputs), kLiteRtStatusOk);
  EXPECT_EQ(observed.input, nullptr);
  EXPECT_EQ(observed.output, outputs[0]);
  EXPECT_EQ(First(outputs[0]), 6);
  EXPECT_NEAR(First(outputs[1]), -0.9899925, 1e-6);
}

}  // namespace
}  // namespace deputy::litert::buffer_context_test
