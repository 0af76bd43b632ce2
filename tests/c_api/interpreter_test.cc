// SPDX-License-Identifier: Apache-2.0
//
// Tests the life cycle of an interpreter through the C API: refusals, allocation, resizing, dynamic
// shapes, variables, custom memory, strings, cancellation (TF-33).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"
#include "tests/support/recording_kernels.h"
#include "tests/support/test_interpreter.h"

namespace deputy::interpreter_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// y = relu(x + w); z = y * y. The shape of x, y and z is [1, 4].
std::vector<uint8_t> TwoOps() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {1}, {1}, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1, 4}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, w}, {y},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  m.AddOp(kTfLiteBuiltinMul, {y, y}, {z}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

// y = Custom(x), with a custom operator of that name, then z = y + y.
std::vector<uint8_t> CustomThenAdd(TfLiteType type = kTfLiteFloat32) {
  ModelBuilder m;
  const int x = m.AddTensor(type, {2}, "x");
  const int y = m.AddTensor(type, {2}, "y");
  const int z = m.AddTensor(type, {2}, "z");
  m.AddCustomOp("Custom", {x}, {y}, {1});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

TestInterpreter::Configure WithCustom(const TfLiteRegistration& registration) {
  return [registration](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddCustomOp(options, "Custom", &registration, 1, 1);
  };
}

// ---- Creation -----------------------------------------------------------------------------------

TEST(Interpreter, null_model_is_refused) {
  EXPECT_EQ(TfLiteInterpreterCreate(nullptr, nullptr), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("model"));
}

TEST(Interpreter, model_may_be_deleted_before_its_interpreter) {
  const std::vector<uint8_t> bytes = TwoOps();
  TfLiteModel* model = TfLiteModelCreate(bytes.data(), bytes.size());
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, nullptr);
  TfLiteModelDelete(model);
  EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
  TfLiteInterpreterDelete(interpreter);
}

TEST(Interpreter, other_schema_versions_are_refused_at_creation) {
  ModelBuilder m(2);
  m.AddTensor(kTfLiteFloat32, {1});
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.model(), nullptr);
  EXPECT_EQ(t.get(), nullptr);
  EXPECT_THAT(t.log(), HasSubstr("schema version 2"));
}

TEST(Interpreter, unknown_builtin_version_is_refused_at_creation_with_upstreams_text) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1});
  const int y = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()), 99);
  TestInterpreter t(m.Finish());
  EXPECT_EQ(t.get(), nullptr);
  EXPECT_EQ(t.log(),
            "Didn't find op for builtin opcode 'ADD' version '99'. "
            "An older version of this builtin might be supported. "
            "Are you using an old TFLite binary with a newer model?\n\n"
            "Registration failed.\n\n");
  EXPECT_STREQ(DeputyLastError(),
               "Registration failed.; operator ADD version 99: this build does not know that "
               "version of the operator");
}

TEST(Interpreter, bad_node_index_is_created_but_never_runs) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, 77}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("77"));
  EXPECT_EQ(t.Invoke(), kTfLiteError);
}

TEST(Interpreter, input_as_output_of_the_same_node_is_created_but_never_runs) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {x}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({x});
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteError);
}

// ---- Running ------------------------------------------------------------------------------------

TEST(Interpreter, computes_and_keeps_inputs) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {-5, 0, 1, 2});
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(0, 1, 4, 9));
  }
  EXPECT_THAT(t.Values<float>(t.Tensor(0)), ElementsAre(-5, 0, 1, 2));
}

TEST(Interpreter, invoke_before_allocate_reports_upstreams_single_message) {
  TestInterpreter t(TwoOps());
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(t.log(), "Invoke called on model that is not ready.\n");
  EXPECT_STREQ(DeputyInterpreterLastError(t.get()), "Invoke called on model that is not ready.");
}

TEST(Interpreter, data_is_null_before_allocation_and_shapes_are_readable) {
  TestInterpreter t(TwoOps());
  const TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
  EXPECT_EQ(TfLiteTensorData(input), nullptr);
  EXPECT_THAT(t.Shape(input), ElementsAre(1, 4));
  EXPECT_STREQ(TfLiteTensorName(input), "x");
  EXPECT_EQ(TfLiteTensorByteSize(input), 16u);
  std::vector<float> values(4);
  EXPECT_EQ(TfLiteTensorCopyToBuffer(input, values.data(), 16), kTfLiteError);
}

TEST(Interpreter, copies_of_the_wrong_size_are_refused) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
  std::vector<float> values(5, 9.0f);
  EXPECT_EQ(TfLiteTensorCopyFromBuffer(input, values.data(), 20), kTfLiteError);
  EXPECT_EQ(TfLiteTensorCopyFromBuffer(input, values.data(), 12), kTfLiteError);
}

TEST(Interpreter, indices_out_of_range_return_null_or_error) {
  TestInterpreter t(TwoOps());
  EXPECT_EQ(TfLiteInterpreterGetInputTensor(t.get(), 1), nullptr);
  EXPECT_EQ(TfLiteInterpreterGetInputTensor(t.get(), -1), nullptr);
  EXPECT_EQ(TfLiteInterpreterGetOutputTensor(t.get(), 1), nullptr);
  EXPECT_EQ(t.Tensor(4), nullptr);
  EXPECT_EQ(t.Tensor(-1), nullptr);
  EXPECT_EQ(t.Resize(1, {1}), kTfLiteError);
  EXPECT_EQ(TfLiteInterpreterGetInputTensorIndex(t.get(), 0), 0);
  EXPECT_EQ(TfLiteInterpreterGetOutputTensorIndex(t.get(), 0), 3);
  EXPECT_EQ(TfLiteInterpreterInputTensorIndices(t.get())[0], 0);
  EXPECT_EQ(TfLiteInterpreterOutputTensorIndices(t.get())[0], 3);
}

// ---- Resizing -----------------------------------------------------------------------------------

TEST(Interpreter, resize_needs_allocate_and_changes_every_dependent_shape) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {2, 3}), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {0, 1, 2, 3, 4, 5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)), ElementsAre(2, 3));
  EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 4, 9, 16, 25, 36));
}

TEST(Interpreter, resize_to_the_same_shape_changes_nothing) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 9, 16, 25));
}

TEST(Interpreter, refused_shapes_leave_the_graph_usable) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(t.Resize(0, {-1, 4}), kTfLiteError);
  EXPECT_EQ(t.Resize(0, {1 << 30, 1 << 30, 1 << 30}), kTfLiteError);
  t.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 9, 16, 25));
}

TEST(Interpreter, shapes_past_the_limits_are_an_error_and_a_smaller_one_recovers) {
  TestInterpreter t(TwoOps(), [](TfLiteInterpreterOptions* options) {
    DeputyLimits limits{};
    limits.struct_size = sizeof limits;
    limits.max_block_bytes = 1 << 20;
    ASSERT_EQ(DeputyInterpreterOptionsSetLimits(options, &limits), kTfLiteOk);
  });
  ASSERT_EQ(t.Resize(0, {1, 1 << 20}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("1048576"));
  ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
}

TEST(Interpreter, tensors_without_elements_are_computed) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Resize(0, {0, 4}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(t.get(), 0);
  EXPECT_THAT(t.Shape(output), ElementsAre(0, 4));
  EXPECT_EQ(TfLiteTensorByteSize(output), 0u);
}

// ---- Dynamic shapes -----------------------------------------------------------------------------

// PrepareRepeat and InvokeRepeat are the functions of an operator whose output has n elements of
// the value n, where n is the input's first value.
TfLiteStatus PrepareRepeat(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  output->allocation_type = kTfLiteDynamic;
  output->data.raw = nullptr;
  return kTfLiteOk;
}
TfLiteStatus InvokeRepeat(TfLiteContext* context, TfLiteNode* node) {
  const float value = context->tensors[node->inputs->data[0]].data.f[0];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  TfLiteIntArray* dims = TfLiteIntArrayCreate(1);
  dims->data[0] = static_cast<int>(value);
  if (context->ResizeTensor(context, output, dims) != kTfLiteOk) return kTfLiteError;
  for (int i = 0; i < dims->data[0]; ++i) output->data.f[i] = value;
  return kTfLiteOk;
}

TEST(Interpreter, nodes_after_a_dynamic_shape_are_prepared_once_it_is_known) {
  TfLiteRegistration repeat{};
  repeat.prepare = &PrepareRepeat;
  repeat.invoke = &InvokeRepeat;
  TestInterpreter t(CustomThenAdd(), WithCustom(repeat));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int n : {3, 3, 1, 500, 2, 0, 4}) {
    t.Set<float>(0, {static_cast<float>(n), 0});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), std::vector<float>(n, 2.0f * static_cast<float>(n)));
  }
}

TEST(Interpreter, growing_dynamic_shapes_keep_preceding_results) {
  // a = x + x is alive while the node with the dynamic shape runs; out = a * a. y = repeat(x) has
  // that shape, and so has big = y + y.
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int a = m.AddTensor(kTfLiteFloat32, {2}, "a");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  const int big = m.AddTensor(kTfLiteFloat32, {1}, "big");
  const int out = m.AddTensor(kTfLiteFloat32, {2}, "out");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {a}, schema::CreateAddOptions(m.fbb()));
  m.AddCustomOp("Custom", {x}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {big}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {a, a}, {out}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({out, big});
  TfLiteRegistration repeat{};
  repeat.prepare = &PrepareRepeat;
  repeat.invoke = &InvokeRepeat;
  TestInterpreter t(m.Finish(), WithCustom(repeat));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int n : {1, 100000, 7, 300000}) {
    t.Set<float>(0, {static_cast<float>(n), 3});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    const float doubled = 2.0f * static_cast<float>(n);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(doubled * doubled, 36));
    EXPECT_EQ(t.Get<float>(1).size(), static_cast<size_t>(n));
  }
}

TEST(Interpreter, unknown_output_shape_is_handled_as_dynamic) {
  TfLiteRegistration repeat{};
  repeat.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    PrepareRepeat(context, node);
    return kTfLiteOutputShapeNotKnown;
  };
  repeat.invoke = &InvokeRepeat;
  TestInterpreter t(CustomThenAdd(), WithCustom(repeat));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {2, 0});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 4));
}

// ---- Memory -------------------------------------------------------------------------------------

TEST(Interpreter, temporaries_have_separate_memory_during_their_node) {
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    if (node->temporaries->size == 0) {
      int first = -1;
      if (context->AddTensors(context, 1, &first) != kTfLiteOk) return kTfLiteError;
      TfLiteIntArrayFree(node->temporaries);
      node->temporaries = TfLiteIntArrayCreate(1);
      node->temporaries->data[0] = first;
      context->tensors[first].type = kTfLiteFloat32;
      context->tensors[first].allocation_type = kTfLiteArenaRw;
    }
    TfLiteIntArray* dims = TfLiteIntArrayCreate(1);
    dims->data[0] = 1000;
    TfLiteTensor* temporary = &context->tensors[node->temporaries->data[0]];
    if (context->ResizeTensor(context, temporary, dims) != kTfLiteOk) return kTfLiteError;
    return RecordPrepare(context, node);
  };
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    TfLiteTensor* temporary = &context->tensors[node->temporaries->data[0]];
    if (temporary->data.raw == nullptr) return kTfLiteError;
    if (reinterpret_cast<uintptr_t>(temporary->data.raw) % 64 != 0) return kTfLiteError;
    memset(temporary->data.raw, 0x7f, temporary->bytes);
    return RecordInvoke(context, node);
  };
  TestInterpreter t(CustomThenAdd(), WithCustom(registration));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2});
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 6));
  }
}

std::vector<uint8_t> WithVariable(TfLiteType type, const TensorExtras& quantization) {
  ModelBuilder m;
  const int x = m.AddTensor(type, {2}, "x", quantization);
  TensorExtras variable = quantization;
  variable.is_variable = true;
  const int v = m.AddTensor(type, {2}, "v", variable);
  const int y = m.AddTensor(type, {2}, "y", quantization);
  m.AddCustomOp("Custom", {x, v}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// An operator with a variable v: v += x; y = v.
TfLiteRegistration Accumulator() {
  TfLiteRegistration registration{};
  registration.prepare = &RecordPrepare;
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor* x = &context->tensors[node->inputs->data[0]];
    TfLiteTensor* v = &context->tensors[node->inputs->data[1]];
    TfLiteTensor* y = &context->tensors[node->outputs->data[0]];
    for (int i = 0; i < 2; ++i) {
      if (x->type == kTfLiteFloat32) y->data.f[i] = v->data.f[i] += x->data.f[i];
      if (x->type == kTfLiteInt8) {
        v->data.int8[i] = static_cast<int8_t>(v->data.int8[i] + x->data.int8[i]);
        y->data.int8[i] = v->data.int8[i];
      }
    }
    return kTfLiteOk;
  };
  return registration;
}

TEST(Interpreter, variables_persist_between_inferences_and_start_at_zero) {
  TestInterpreter t(WithVariable(kTfLiteFloat32, {}), WithCustom(Accumulator()));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 10});
  for (float n : {1, 2, 3}) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(n, 10 * n));
  }
  ASSERT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 10));
  EXPECT_EQ(TfLiteInterpreterGetVariableTensorCount(t.get()), 1);
  EXPECT_STREQ(TfLiteTensorName(TfLiteInterpreterGetVariableTensor(t.get(), 0)), "v");
  EXPECT_EQ(TfLiteInterpreterGetVariableTensor(t.get(), 1), nullptr);
}

TEST(Interpreter, int8_variables_start_at_their_zero_point) {
  TestInterpreter t(WithVariable(kTfLiteInt8, {.scale = {0.5f}, .zero_point = {-7}}),
                    WithCustom(Accumulator()));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int8_t>(0, {0, 1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<int8_t>(0), ElementsAre(-7, -6));
}

struct AlignedFloats {
  explicit AlignedFloats(size_t count)
      : data(static_cast<float*>(aligned_alloc(64, (count * 4 + 63) / 64 * 64))) {}
  ~AlignedFloats() { free(data); }
  float* data;
};

TEST(Interpreter, custom_memory_is_used_and_checked) {
  TestInterpreter t(TwoOps());
  AlignedFloats input(4), output(4);
  TfLiteCustomAllocation in{input.data, 16}, out{output.data, 16};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 0, &in, 0), kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 3, &out, 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int i = 0; i < 4; ++i) input.data[i] = static_cast<float>(i);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(output.data[3], 16);
  // A custom allocation may be replaced between invocations; one that is too small is detected by
  // AllocateTensors.
  AlignedFloats other(4);
  TfLiteCustomAllocation replacement{other.data, 16};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 3, &replacement, 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(other.data[2], 9);
  replacement.bytes = 12;
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 3, &replacement, 0), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("Custom allocation is too small for tensor idx: 3"));
}

TEST(Interpreter, invalid_custom_memory_is_refused) {
  TestInterpreter t(TwoOps());
  AlignedFloats memory(8);
  TfLiteCustomAllocation crooked{memory.data + 1, 16}, null{nullptr, 16}, good{memory.data, 16};
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 0, &crooked, 0), kTfLiteError);
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(
                t.get(), 0, &crooked, kTfLiteCustomAllocationFlagsSkipAlignCheck),
            kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 0, &null, 0), kTfLiteError);
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 0, nullptr, 0), kTfLiteError);
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 1, &good, 0), kTfLiteError);
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 99, &good, 0), kTfLiteError);
}

TEST(Interpreter, live_tensors_do_not_overlap_in_the_memory_map) {
  TestInterpreter t(TwoOps());
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  ASSERT_EQ(DeputyInterpreterGetMemoryMap(t.get(), 0, &map), kTfLiteOk);
  EXPECT_EQ(map.tensor_count, 0u);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterGetMemoryMap(t.get(), 0, &map), kTfLiteOk);
  ASSERT_EQ(map.tensor_count, 3u);
  std::vector<DeputyTensorMemory> entries(3);
  for (size_t i = 0; i < 3; ++i) {
    entries[i].struct_size = sizeof entries[i];
    ASSERT_EQ(DeputyInterpreterGetTensorMemory(t.get(), 0, i, &entries[i]), kTfLiteOk);
    EXPECT_LE(entries[i].offset + entries[i].bytes, map.arena_bytes);
    EXPECT_EQ(entries[i].offset % 64, 0u);
    for (size_t j = 0; j < i; ++j) {
      const bool apart = entries[i].offset + entries[i].bytes <= entries[j].offset ||
                         entries[j].offset + entries[j].bytes <= entries[i].offset;
      EXPECT_TRUE(apart) << "tensors " << i << " and " << j;
    }
  }
  map.struct_size = 4;
  EXPECT_EQ(DeputyInterpreterGetMemoryMap(t.get(), 0, &map), kTfLiteError);
}

// x -> RELU -> a -> NEG -> b -> ABS -> c -> ADD with x: a, b and c share one address.
std::vector<uint8_t> InPlaceChain() {
  ModelBuilder m;
  std::vector<int> tensors;
  for (const char* name : {"x", "a", "b", "c", "out"}) {
    tensors.push_back(m.AddTensor(kTfLiteFloat32, {1, 4}, name));
  }
  m.AddOp(kTfLiteBuiltinRelu, {tensors[0]}, {tensors[1]});
  m.AddOp(kTfLiteBuiltinNeg, {tensors[1]}, {tensors[2]});
  m.AddOp(kTfLiteBuiltinAbs, {tensors[2]}, {tensors[3]});
  m.AddOp(kTfLiteBuiltinAdd, {tensors[3], tensors[0]}, {tensors[4]},
          schema::CreateAddOptions(m.fbb()));
  m.SetInputs({tensors[0]});
  m.SetOutputs({tensors[4]});
  return m.Finish();
}

// Inputs and outputs of the graph are accessible to the caller, and never shared.
TEST(Interpreter, operators_work_in_place_at_the_last_use_of_the_input) {
  TestInterpreter t(InPlaceChain());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  std::map<int, DeputyTensorMemory> places;
  for (size_t entry = 0; entry < 5; ++entry) {
    DeputyTensorMemory memory{};
    memory.struct_size = sizeof memory;
    ASSERT_EQ(DeputyInterpreterGetTensorMemory(t.get(), 0, entry, &memory), kTfLiteOk);
    places[memory.tensor_index] = memory;
  }
  ASSERT_EQ(places.size(), 5u);
  EXPECT_EQ(places[0].owner, 0);
  EXPECT_EQ(places[1].owner, 1);
  EXPECT_EQ(places[2].owner, 1);
  EXPECT_EQ(places[3].owner, 1);
  EXPECT_EQ(places[4].owner, 4);
  EXPECT_EQ(places[3].offset, places[1].offset);
  EXPECT_EQ(t.Tensor(3)->data.data, t.Tensor(1)->data.data);
  for (int run = 0; run < 2; ++run) {
    t.Set<float>(0, {1, -2, 3, -4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(0), (std::vector<float>{2, -2, 6, -4}));
  }
}

// t = |x|; a = RESHAPE(t), a view of t's memory; d has a shape that is known after its node has
// run; out = -a, last = -t.
std::vector<uint8_t> ViewAndDynamic() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int t = m.AddTensor(kTfLiteFloat32, {4}, "t");
  const int a = m.AddTensor(kTfLiteFloat32, {2, 2}, "a");
  const int size = m.AddTensor(kTfLiteInt32, {1}, "size");
  const int d = m.AddTensor(kTfLiteFloat32, {4}, "d");
  const int out = m.AddTensor(kTfLiteFloat32, {2, 2}, "out");
  const int last = m.AddTensor(kTfLiteFloat32, {4}, "last");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {2, 2}, "shape");
  m.AddOp(kTfLiteBuiltinAbs, {x}, {t});
  m.AddOp(kTfLiteBuiltinReshape, {t, shape}, {a});
  m.AddOp(kTfLiteBuiltinReshape, {x, size}, {d});
  m.AddOp(kTfLiteBuiltinNeg, {a}, {out});
  m.AddOp(kTfLiteBuiltinNeg, {t}, {last});
  m.SetInputs({x, size});
  m.SetOutputs({out, last, d});
  return m.Finish();
}

// The client sets custom memory for t after the first nodes were planned: the view's address must
// not change when the other tensors are planned during the run.
TEST(Interpreter, a_view_keeps_its_memory_if_its_owner_leaves_the_arena) {
  TestInterpreter t(ViewAndDynamic());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Tensor(2)->data.data, t.Tensor(1)->data.data);
  alignas(64) float memory[4] = {};
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 1, &allocation,
                                                          kTfLiteCustomAllocationFlagsNone),
            kTfLiteOk);
  for (int run = 0; run < 2; ++run) {
    t.Set<float>(0, {1, -2, 3, -4});
    t.Set<int32_t>(1, {4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(-1, -2, -3, -4));
    EXPECT_THAT(t.Get<float>(1), ElementsAre(-1, -2, -3, -4));
    EXPECT_THAT(memory, ElementsAre(1, 2, 3, 4));
  }
}

// Two layers with constant weights, which are packed for the CPU.
std::vector<uint8_t> TwoLayers() {
  ModelBuilder m;
  const std::vector<float> values(8 * 8, 0.5f);
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {8, 8}, values, "weights");
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 8}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1, 8}, "z");
  for (const auto& [from, to] : {std::pair(x, y), std::pair(y, z)}) {
    m.AddOp(kTfLiteBuiltinFullyConnected, {from, weights, -1}, {to},
            schema::CreateFullyConnectedOptions(m.fbb()));
  }
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

// y = x w, where w is float16 and widened by a DEQUANTIZE.
std::vector<uint8_t> HalfLayer() {
  ModelBuilder m;
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {8, 8}, std::vector<uint16_t>(64, 0x4000));
  const int weights = m.AddTensor(kTfLiteFloat32, {8, 8}, "w");
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 8}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {weights}, 3);
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A constant that a node computes is available before the first Invoke, for the nodes that pack it.
TEST(Interpreter, computes_constants_during_allocation) {
  TestInterpreter t(HalfLayer());
  for (int batch : {1, 3}) {
    ASSERT_EQ(t.Resize(0, {batch, 8}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    const auto* const weights =
        static_cast<const float*>(TfLiteTensorData(TfLiteInterpreterGetTensor(t.get(), 1)));
    EXPECT_EQ(std::vector<float>(weights, weights + 64), std::vector<float>(64, 2.0f));
    t.Set<float>(0, std::vector<float>(static_cast<size_t>(batch) * 8, 1.0f));
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), std::vector<float>(static_cast<size_t>(batch) * 8, 16.0f));
  }
}

// Constant weights are packed before the first Invoke, once for two nodes with the same weights,
// and once for all interpreters.
TEST(Interpreter, packs_constants_during_allocation) {
  TestInterpreter t(TwoLayers());
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const DeputyMemoryMap map = MemoryMapOf(t.get());
  EXPECT_GT(map.scratch_bytes, 0u);
  EXPECT_GE(map.packed_bytes, 8 * 8 * sizeof(float));
  EXPECT_LT(map.packed_bytes, 2 * 64 * 8 * sizeof(float) + 64);  // at most one panel of 64 columns
  t.Set<float>(0, std::vector<float>(8, 1.0f));
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), std::vector<float>(8, 16.0f));
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, map.packed_bytes);
  EXPECT_EQ(MemoryMapOf(t.get()).scratch_bytes, map.scratch_bytes);

  TfLiteInterpreter* second = TfLiteInterpreterCreate(t.model(), nullptr);
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(second), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(second).packed_bytes, map.packed_bytes);
  TfLiteInterpreterDelete(second);
}

// ---- Strings ------------------------------------------------------------------------------------

TEST(Interpreter, strings_pass_through_a_custom_operator) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteString, {1}, "x");
  const int y = m.AddTensor(kTfLiteString, {1}, "y");
  m.AddCustomOp("Custom", {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TfLiteRegistration reverse{};
  reverse.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    auto* from = reinterpret_cast<TfLiteOpaqueTensor*>(&context->tensors[node->inputs->data[0]]);
    auto* to = reinterpret_cast<TfLiteOpaqueTensor*>(&context->tensors[node->outputs->data[0]]);
    std::vector<const char*> texts;
    std::vector<int> lengths;
    for (int i = TfLiteOpaqueTensorGetStringCount(from); i-- > 0;) {
      texts.emplace_back();
      lengths.emplace_back();
      TfLiteOpaqueTensorGetString(from, i, &texts.back(), &lengths.back());
    }
    return TfLiteOpaqueTensorWriteStrings(to, texts.data(), static_cast<int>(texts.size()),
                                          lengths.data());
  };
  TestInterpreter t(m.Finish(), WithCustom(reverse));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  auto* input = reinterpret_cast<TfLiteOpaqueTensor*>(TfLiteInterpreterGetInputTensor(t.get(), 0));
  const char* texts[] = {"one", "", "three"};
  const int lengths[] = {3, 0, 5};
  ASSERT_EQ(TfLiteOpaqueTensorWriteStrings(input, texts, 3, lengths), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<uint8_t>(0), StringTensorBytes({"three", "", "one"}));
}

// ---- Signatures ---------------------------------------------------------------------------------

// Subgraph 0: z = a + b. Subgraph 1: q = s * s, where the first dimension of s is unknown.
std::vector<uint8_t> TwoSignatures() {
  ModelBuilder m;
  const int b = m.AddTensor(kTfLiteFloat32, {2}, "tensor_b");
  const int a = m.AddTensor(kTfLiteFloat32, {2}, "tensor_a");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "tensor_z");
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({b, a});
  m.SetOutputs({z});
  m.AddSubgraph("square");
  const int s = m.AddTensor(kTfLiteFloat32, {1, 2}, "s", {.signature = {-1, 2}});
  const int q = m.AddTensor(kTfLiteFloat32, {1, 2}, "q");
  m.AddOp(kTfLiteBuiltinMul, {s, s}, {q}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({s});
  m.SetOutputs({q});
  m.AddSignature("sum", {{"right", 0}, {"left", 1}}, {{"total", 2}}, 0);
  m.AddSignature("square", {{"value", 0}}, {{"result", 1}}, 1);
  return m.Finish();
}

using Runner = Owned<TfLiteSignatureRunner>;

TEST(Signatures, keys_and_sorted_names) {
  TestInterpreter t(TwoSignatures());
  ASSERT_EQ(TfLiteInterpreterGetSignatureCount(t.get()), 2);
  EXPECT_STREQ(TfLiteInterpreterGetSignatureKey(t.get(), 0), "sum");
  EXPECT_STREQ(TfLiteInterpreterGetSignatureKey(t.get(), 1), "square");
  EXPECT_EQ(TfLiteInterpreterGetSignatureKey(t.get(), 2), nullptr);
  EXPECT_EQ(TfLiteInterpreterGetSignatureKey(t.get(), -1), nullptr);
  const Runner runner(TfLiteInterpreterGetSignatureRunner(t.get(), "sum"));
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(TfLiteSignatureRunnerGetInputCount(runner.get()), 2u);
  EXPECT_STREQ(TfLiteSignatureRunnerGetInputName(runner.get(), 0), "left");
  EXPECT_STREQ(TfLiteSignatureRunnerGetInputName(runner.get(), 1), "right");
  EXPECT_EQ(TfLiteSignatureRunnerGetInputName(runner.get(), 2), nullptr);
  EXPECT_STREQ(TfLiteSignatureRunnerGetOutputName(runner.get(), 0), "total");
  EXPECT_EQ(TfLiteInterpreterGetSignatureRunner(t.get(), "none"), nullptr);
}

TEST(Signatures, runs_another_subgraph_and_resizes_open_dimensions) {
  TestInterpreter t(TwoSignatures());
  const Runner runner(TfLiteInterpreterGetSignatureRunner(t.get(), "square"));
  EXPECT_EQ(TfLiteSignatureRunnerInvoke(runner.get()), kTfLiteError);
  const int good[] = {2, 2}, wrong_dim[] = {2, 3}, wrong_rank[] = {4};
  EXPECT_EQ(TfLiteSignatureRunnerResizeInputTensor(runner.get(), "value", wrong_dim, 2),
            kTfLiteError);
  EXPECT_EQ(TfLiteSignatureRunnerResizeInputTensor(runner.get(), "value", wrong_rank, 1),
            kTfLiteError);
  EXPECT_EQ(TfLiteSignatureRunnerResizeInputTensor(runner.get(), "unknown", good, 2), kTfLiteError);
  ASSERT_EQ(TfLiteSignatureRunnerResizeInputTensor(runner.get(), "value", good, 2), kTfLiteOk);
  ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner.get()), kTfLiteOk) << t.log();
  const float values[] = {1, 2, 3, 4};
  ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(runner.get(), "value"),
                                       values, 16),
            kTfLiteOk);
  ASSERT_EQ(TfLiteSignatureRunnerInvoke(runner.get()), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Values<float>(TfLiteSignatureRunnerGetOutputTensor(runner.get(), "result")),
              ElementsAre(1, 4, 9, 16));
  EXPECT_EQ(TfLiteSignatureRunnerGetOutputTensor(runner.get(), "unknown"), nullptr);
  EXPECT_EQ(TfLiteSignatureRunnerGetInputTensor(runner.get(), "unknown"), nullptr);
}

TEST(Signatures, null_key_means_the_first_subgraph) {
  TestInterpreter with(TwoSignatures());
  const Runner sum(TfLiteInterpreterGetSignatureRunner(with.get(), nullptr));
  ASSERT_NE(sum, nullptr);
  EXPECT_STREQ(TfLiteSignatureRunnerGetInputName(sum.get(), 0), "left");
  TestInterpreter without(TwoOps());
  const Runner placeholder(TfLiteInterpreterGetSignatureRunner(without.get(), nullptr));
  ASSERT_NE(placeholder, nullptr);
  EXPECT_STREQ(TfLiteSignatureRunnerGetInputName(placeholder.get(), 0), "x");
  EXPECT_STREQ(TfLiteSignatureRunnerGetOutputName(placeholder.get(), 0), "z");
  EXPECT_EQ(TfLiteInterpreterGetSignatureCount(without.get()), 0);
}

// ---- Cancellation -------------------------------------------------------------------------------

// The interpreter that is cancelled while one of its nodes runs.
TfLiteInterpreter* g_to_cancel;

TEST(Cancellation, stops_before_the_next_node_and_the_next_invoke_works) {
  TfLiteRegistration cancel = RecordRegistration();
  cancel.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    if (g_to_cancel != nullptr) {
      std::thread([] { EXPECT_EQ(TfLiteInterpreterCancel(g_to_cancel), kTfLiteOk); }).join();
    }
    return RecordInvoke(context, node);
  };
  TestInterpreter t(CustomThenAdd(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsEnableCancellation(options, true);
    WithCustom(cancel)(options);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  g_to_cancel = t.get();
  EXPECT_EQ(t.Invoke(), kTfLiteCancelled);
  EXPECT_EQ(t.log(), "Client requested cancel during Invoke()\n");
  g_to_cancel = nullptr;
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 6));
}

TEST(Cancellation, request_before_invoke_is_ignored) {
  TestInterpreter t(TwoOps(), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsEnableCancellation(options, true);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterCancel(t.get()), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

TEST(Cancellation, request_during_the_last_node_has_no_effect) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddCustomOp("Custom", {x}, {y}, {1});
  m.SetInputs({x});
  m.SetOutputs({y});
  TfLiteRegistration cancel = RecordRegistration();
  cancel.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    TfLiteInterpreterCancel(g_to_cancel);
    return RecordInvoke(context, node);
  };
  TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsEnableCancellation(options, true);
    WithCustom(cancel)(options);
  });
  g_to_cancel = t.get();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

TEST(Cancellation, is_an_error_if_not_enabled) {
  TestInterpreter t(TwoOps());
  EXPECT_EQ(TfLiteInterpreterCancel(t.get()), kTfLiteError);
  EXPECT_EQ(TfLiteInterpreterCancel(nullptr), kTfLiteError);
}

// ---- Delegates ----------------------------------------------------------------------------------

TEST(Delegates, null_and_foreign_delegates_return_errors) {
  TestInterpreter t(TwoOps());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), nullptr), kTfLiteDelegateError);
  EXPECT_THAT(t.log(), HasSubstr("Null delegate."));
  TestInterpreter with_null(TwoOps(), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddDelegate(options, nullptr);
  });
  EXPECT_EQ(with_null.get(), nullptr);
}

// ---- Observers ----------------------------------------------------------------------------------

TEST(Interpreter, profile_callback_is_called_for_every_node) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  std::vector<std::string> names;
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(
                t.get(),
                [](void* user, const DeputyOpEvent* event) {
                  EXPECT_GE(event->duration_ns, 0);
                  EXPECT_EQ(event->status, kTfLiteOk);
                  static_cast<std::vector<std::string>*>(user)->push_back(event->operator_name);
                },
                &names),
            kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(names, ElementsAre("ADD", "MUL"));
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(t.get(), nullptr, nullptr), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(names.size(), 2u);
}

TEST(Interpreter, node_info_has_operator_version_owner_and_tensors) {
  TestInterpreter t(TwoOps());
  ASSERT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 2);
  DeputyNodeInfo info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(DeputyInterpreterGetNodeInfo(t.get(), 0, 0, &info), kTfLiteOk);
  EXPECT_STREQ(info.operator_name, "ADD");
  EXPECT_STREQ(info.owner, "CPU");
  EXPECT_EQ(info.version, 1);
  EXPECT_EQ(info.plan_position, 0);
  EXPECT_EQ(std::vector<int>(info.inputs, info.inputs + info.input_count),
            (std::vector<int>{0, 1}));
  EXPECT_EQ(DeputyInterpreterGetNodeInfo(t.get(), 0, 2, &info), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetNodeInfo(t.get(), 1, 0, &info), kTfLiteError);
}

}  // namespace
}  // namespace deputy::interpreter_test
