// SPDX-License-Identifier: Apache-2.0
//
// Tests IF and WHILE: values that a delegate keeps on its device when they are passed to and from
// called subgraphs, how often the subgraphs are prepared, and cancellation while kernels are
// prepared, during allocation or inference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::control_flow_delegate_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- A device -----------------------------------------------------------------------------------

// A delegate that claims the nodes of one operator (ADD, MUL or LESS over single floats), each in a
// partition of its own. Results stay on the device; the CPU's memory is zero until they are copied.
class Device {
 public:
  explicit Device(TfLiteBuiltinOperator code) : code_(code) {
    base_ = TfLiteDelegateCreate();
    base_.data_ = this;
    base_.Prepare = &Prepare;
    base_.CopyFromBufferHandle = &CopyFrom;
  }

  // If true, the device also keeps the inputs of its nodes, as if it had written them.
  bool keeps_inputs = false;

  TfLiteDelegate* get() { return &base_; }
  int computed() const { return computed_; }
  int copies() const { return copies_; }

 private:
  struct Kernel {
    Device* device;
    int a, b, out;
  };

  static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
    Device* self = static_cast<Device*>(delegate->data_);
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    const std::vector<int> nodes(plan->data, plan->data + plan->size);
    TfLiteRegistration kernel{};
    kernel.init = &Init;
    kernel.free = [](TfLiteContext*, void* data) { delete static_cast<Kernel*>(data); };
    kernel.invoke = &Invoke;
    kernel.custom_name = "Device";
    for (int index : nodes) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      context->GetNodeAndRegistration(context, index, &node, &registration);
      if (registration->builtin_code != self->code_) continue;
      TfLiteIntArray* one = TfLiteIntArrayCreate(1);
      one->data[0] = index;
      const TfLiteStatus status =
          context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, one, delegate);
      TfLiteIntArrayFree(one);
      if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
  }

  static void* Init(TfLiteContext* context, const char* buffer, size_t) {
    const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    context->GetNodeAndRegistration(context, params->nodes_to_replace->data[0], &node,
                                    &registration);
    return new Kernel{static_cast<Device*>(params->delegate->data_), node->inputs->data[0],
                      node->inputs->data[1], node->outputs->data[0]};
  }

  static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
    const Kernel& kernel = *static_cast<Kernel*>(node->user_data);
    Device* self = kernel.device;
    ++self->computed_;
    const float a = context->tensors[kernel.a].data.f[0];
    const float b = context->tensors[kernel.b].data.f[0];
    std::vector<char> result(context->tensors[kernel.out].bytes);
    const float number = self->code_ == kTfLiteBuiltinMul ? a * b : a + b;
    const bool truth = a < b;
    const void* value = result.size() == 1 ? static_cast<const void*>(&truth) : &number;
    memcpy(result.data(), value, result.size());
    self->Hold(&context->tensors[kernel.out], result);
    memset(context->tensors[kernel.out].data.raw, 0, result.size());
    TfLiteTensor* input = &context->tensors[kernel.a];
    if (self->keeps_inputs) {
      self->Hold(input, {input->data.raw, input->data.raw + input->bytes});
    }
    return kTfLiteOk;
  }

  void Hold(TfLiteTensor* tensor, const std::vector<char>& bytes) {
    if (tensor->buffer_handle == kTfLiteNullBufferHandle) {
      tensor->buffer_handle = static_cast<int>(memory_.size());
    }
    tensor->delegate = &base_;
    tensor->data_is_stale = true;
    memory_[tensor->buffer_handle] = bytes;
  }

  static TfLiteStatus CopyFrom(TfLiteContext*, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                               TfLiteTensor* tensor) {
    Device* self = static_cast<Device*>(delegate->data_);
    ++self->copies_;
    memcpy(tensor->data.raw, self->memory_[handle].data(), tensor->bytes);
    return kTfLiteOk;
  }

  const TfLiteBuiltinOperator code_;
  TfLiteDelegate base_;
  std::map<int, std::vector<char>> memory_;
  int computed_ = 0, copies_ = 0;
};

// ---- Models -------------------------------------------------------------------------------------

int Float(ModelBuilder* m, const std::string& name = "") {
  return m->AddTensor(kTfLiteFloat32, {1}, name);
}
int Number(ModelBuilder* m, float value) {
  return m->AddConstant<float>(kTfLiteFloat32, {1}, {value});
}
int Add(ModelBuilder* m, int a, int b) {
  const int sum = Float(m);
  m->AddOp(kTfLiteBuiltinAdd, {a, b}, {sum}, schema::CreateAddOptions(m->fbb()));
  return sum;
}
int Mul(ModelBuilder* m, int a, int b) {
  const int product = Float(m);
  m->AddOp(kTfLiteBuiltinMul, {a, b}, {product}, schema::CreateMulOptions(m->fbb()));
  return product;
}

// Begins a loop over a counter, which starts at 0, and other values. Subgraph 1 continues while the
// counter is below `rounds`; the caller completes subgraph 2, the body, with the inputs 0, 1, ....
// Returns the body's tensor of the new counter.
int BeginLoop(ModelBuilder* m, float rounds, int values) {
  std::vector<int> starts = {Number(m, 0)}, ends = {Float(m)};
  for (int n = 0; n < values; ++n) {
    starts.push_back(Float(m));
    ends.push_back(Float(m));
  }
  m->AddOp(kTfLiteBuiltinWhile, starts, ends, schema::CreateWhileOptions(m->fbb(), 1, 2));
  m->SetInputs({starts.begin() + 1, starts.end()});
  m->SetOutputs({ends.begin() + 1, ends.end()});
  for (const char* name : {"condition", "body"}) {
    m->AddSubgraph(name);
    std::vector<int> inputs = {Float(m)};
    for (int n = 0; n < values; ++n) inputs.push_back(Float(m));
    m->SetInputs(inputs);
    if (std::string(name) == "body") break;
    const int less = m->AddTensor(kTfLiteBool, {1});
    m->AddOp(kTfLiteBuiltinLess, {inputs[0], Number(m, rounds)}, {less});
    m->SetOutputs({less});
  }
  return Add(m, 0, Number(m, 1));
}

// A loop that computes x = 2x `rounds` times.
std::vector<uint8_t> Doubling(float rounds) {
  ModelBuilder m;
  const int counter = BeginLoop(&m, rounds, 1);
  m.SetOutputs({counter, Mul(&m, 1, Number(&m, 2))});
  return m.Finish();
}

class DelegatedInterpreter : public TestInterpreter {
 public:
  DelegatedInterpreter(std::vector<uint8_t> model, TfLiteDelegate* delegate)
      : TestInterpreter(std::move(model)) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(get(), delegate), kTfLiteOk) << log();
    EXPECT_EQ(Allocate(), kTfLiteOk) << log();
  }
};

// ---- Values on a device -------------------------------------------------------------------------

TEST(ControlFlow, loop_copies_the_bodys_results_from_a_device) {
  Device device(kTfLiteBuiltinMul);
  DelegatedInterpreter t(Doubling(3), device.get());
  t.Set<float>(0, {5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(40));
  EXPECT_EQ(device.computed(), 3);
  EXPECT_EQ(device.copies(), 3);
}

TEST(ControlFlow, loop_copies_the_condition_from_a_device) {
  Device device(kTfLiteBuiltinLess);
  DelegatedInterpreter t(Doubling(3), device.get());
  t.Set<float>(0, {5});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(40));
  EXPECT_EQ(device.computed(), 4);
}

TEST(ControlFlow, branch_results_are_copied_from_a_device) {
  ModelBuilder m;
  const int choice = m.AddTensor(kTfLiteBool, {1}), x = Float(&m), y = Float(&m);
  m.AddOp(kTfLiteBuiltinIf, {choice, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.SetInputs({choice, x});
  m.SetOutputs({y});
  for (bool then : {true, false}) {
    m.AddSubgraph(then ? "then" : "else");
    const int in = Float(&m);
    m.SetInputs({in});
    m.SetOutputs({then ? Mul(&m, in, Number(&m, 3)) : Add(&m, in, Number(&m, 3))});
  }
  Device device(kTfLiteBuiltinMul);
  DelegatedInterpreter t(m.Finish(), device.get());
  t.Set<float>(1, {5});
  for (const bool then : {true, false, true}) {
    t.Set<uint8_t>(0, {then});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(then ? 15 : 8));
  }
  EXPECT_EQ(device.copies(), 2);
}

// The device's copy of a loop variable is older than the value passed by the next iteration.
TEST(ControlFlow, new_inputs_are_not_overwritten_by_device_contents) {
  ModelBuilder m;
  const int counter = BeginLoop(&m, 3, 1);
  const int more = Add(&m, 1, Number(&m, 1));
  const int twice = Mul(&m, 1, Number(&m, 2));
  m.SetOutputs({counter, Add(&m, more, twice)});
  Device device(kTfLiteBuiltinMul);
  device.keeps_inputs = true;
  DelegatedInterpreter t(m.Finish(), device.get());
  for (int run = 0; run < 2; ++run) {
    t.Set<float>(0, {1});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(40));  // the loop computes 3x + 1: 1, 4, 13, 40
  }
}

TEST(ControlFlow, loop_values_may_be_swapped) {
  ModelBuilder m;
  const int counter = BeginLoop(&m, 3, 2);
  m.SetOutputs({counter, Mul(&m, 2, Number(&m, 2)), 1});
  const std::vector<uint8_t> model = m.Finish();
  Device device(kTfLiteBuiltinMul);
  DelegatedInterpreter t(model, device.get());
  t.Set<float>(0, {1});
  t.Set<float>(1, {10});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(40));  // values: 1, 10 -> 20, 1 -> 2, 20 -> 40, 2
  EXPECT_THAT(t.Get<float>(1), ElementsAre(2));
}

TEST(ControlFlow, condition_may_call_the_body) {
  ModelBuilder m;
  const int x = Float(&m), y = Float(&m);
  m.AddOp(kTfLiteBuiltinWhile, {x}, {y}, schema::CreateWhileOptions(m.fbb(), 1, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("condition");
  const int in = Float(&m), next = Float(&m), less = m.AddTensor(kTfLiteBool, {1});
  const int yes = m.AddConstant<uint8_t>(kTfLiteBool, {1}, {1});
  m.AddOp(kTfLiteBuiltinIf, {yes, in}, {next}, schema::CreateIfOptions(m.fbb(), 2, 2));
  m.AddOp(kTfLiteBuiltinLess, {next, Number(&m, 10)}, {less});
  m.SetInputs({in});
  m.SetOutputs({less});
  m.AddSubgraph("body");
  m.SetInputs({Float(&m)});
  m.SetOutputs({Add(&m, 0, Number(&m, 1))});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {0});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(9));
}

// ---- Number of preparations ---------------------------------------------------------------------

// Counts of the calls of a custom operator that copies its input. In prepare number
// g_cancel_at_prepare it cancels g_to_cancel, as another thread could at that moment.
int g_prepares, g_invokes;
int g_cancel_at_prepare = -1;
TfLiteInterpreter* g_to_cancel;

TfLiteStatus CountPrepare(TfLiteContext* context, TfLiteNode* node) {
  if (g_prepares++ == g_cancel_at_prepare) {
    std::thread([] { EXPECT_EQ(TfLiteInterpreterCancel(g_to_cancel), kTfLiteOk); }).join();
  }
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  return context->ResizeTensor(context, output, TfLiteIntArrayCopy(input.dims));
}

TfLiteStatus CountInvoke(TfLiteContext* context, TfLiteNode* node) {
  ++g_invokes;
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  memcpy(context->tensors[node->outputs->data[0]].data.raw, input.data.raw, input.bytes);
  return kTfLiteOk;
}

class CountingInterpreter : public TestInterpreter {
 public:
  explicit CountingInterpreter(std::vector<uint8_t> model)
      : TestInterpreter(std::move(model), [](TfLiteInterpreterOptions* options) {
          static TfLiteRegistration count{};
          count.prepare = &CountPrepare;
          count.invoke = &CountInvoke;
          TfLiteInterpreterOptionsAddCustomOp(options, "Count", &count, 1, 1);
          TfLiteInterpreterOptionsEnableCancellation(options, true);
        }) {
    g_to_cancel = get();
    ResetCounts();
  }
  ~CountingInterpreter() { g_cancel_at_prepare = -1; }

  void ResetCounts() { g_prepares = g_invokes = 0; }
};

int Shaped(ModelBuilder* m, int from, const std::vector<int32_t>& shape) {
  const int result = m->AddTensor(kTfLiteFloat32, shape);
  const int dims = m->AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(shape.size())}, shape);
  m->AddOp(kTfLiteBuiltinReshape, {from, dims}, {result}, schema::CreateReshapeOptions(m->fbb()));
  return result;
}

// Every subgraph except the last calls the next one twice, with a row and with a square, and adds
// the results. With `one_path` the second call takes the other branch, which is the last subgraph.
// The last subgraph returns its input.
std::vector<uint8_t> Nested(int depth, bool one_path) {
  ModelBuilder m;
  for (int level = 0; level <= depth; ++level) {
    if (level > 0) m.AddSubgraph("level" + std::to_string(level));
    const int x = m.AddTensor(kTfLiteFloat32, {4}), counted = m.AddTensor(kTfLiteFloat32, {4});
    m.AddCustomOp("Count", {x}, {counted});
    m.SetInputs({x});
    if (level == depth) {
      m.SetOutputs({Shaped(&m, counted, {4})});
      break;
    }
    std::vector<int> results;
    for (const bool first : {true, false}) {
      const int choice = m.AddConstant<uint8_t>(kTfLiteBool, {1}, {first || !one_path});
      const int argument =
          Shaped(&m, counted, first ? std::vector<int32_t>{4} : std::vector<int32_t>{2, 2});
      results.push_back(m.AddTensor(kTfLiteFloat32, {4}));
      m.AddOp(kTfLiteBuiltinIf, {choice, argument}, {results.back()},
              schema::CreateIfOptions(m.fbb(), level + 1, one_path ? depth : level + 1));
    }
    const int y = m.AddTensor(kTfLiteFloat32, {4});
    m.AddOp(kTfLiteBuiltinAdd, results, {y}, schema::CreateAddOptions(m.fbb()));
    m.SetOutputs({y});
  }
  return m.Finish();
}

TEST(ControlFlow, allocation_prepares_each_subgraph_once_per_shape) {
  for (const int depth : {1, 5, 27}) {
    CountingInterpreter t(Nested(depth, false));
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(g_prepares, 1 + 2 * depth);
    // Shapes that are known before the model runs stay static, so static delegates may be applied.
    EXPECT_EQ(TfLiteInterpreterGetOutputTensor(t.get(), 0)->allocation_type, kTfLiteArenaRw);
    Scripted delegate({});
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
        << t.log();
  }
}

TEST(ControlFlow, inference_prepares_in_proportion_to_its_calls) {
  CountingInterpreter t(Nested(7, false));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.ResetCounts();
  t.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(128, 256, 384, 512));
  EXPECT_EQ(g_invokes, 255);
  EXPECT_LE(g_prepares, 4 * g_invokes);
}

TEST(ControlFlow, cost_of_nested_branches_is_linear_in_the_depth) {
  const int depth = 24;
  CountingInterpreter t(Nested(depth, true));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.ResetCounts();
  t.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(25, 50, 75, 100));
  EXPECT_EQ(g_invokes, 2 * depth + 1);
  EXPECT_LE(g_prepares, 2 * depth * depth);
}

// Calls one subgraph with more shapes than are computed in advance.
TEST(ControlFlow, a_subgraph_may_be_called_with_any_number_of_shapes) {
  const int calls = 40;
  ModelBuilder m;
  std::vector<int> results;
  const int choice = m.AddConstant<uint8_t>(kTfLiteBool, {1}, {1});
  for (int n = 1; n <= calls; ++n) {
    const int argument =
        m.AddConstant<float>(kTfLiteFloat32, {n}, std::vector<float>(n, static_cast<float>(n)));
    results.push_back(m.AddTensor(kTfLiteFloat32, {n}));
    m.AddOp(kTfLiteBuiltinIf, {choice, argument}, {results.back()},
            schema::CreateIfOptions(m.fbb(), 1, 1));
  }
  m.SetOutputs(results);
  m.AddSubgraph("square");
  const int x = Float(&m), counted = Float(&m);
  m.AddCustomOp("Count", {x}, {counted});
  m.SetInputs({x});
  m.SetOutputs({Mul(&m, counted, counted)});
  CountingInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(g_prepares, 32);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    for (int n = 1; n <= calls; ++n) {
      EXPECT_EQ(t.Get<float>(n - 1), std::vector<float>(n, static_cast<float>(n * n)));
    }
  }
}

// ---- Cancellation during allocation -------------------------------------------------------------

TEST(CancellationOfCalls, ends_an_allocation_and_the_next_one_works) {
  for (const int at : {0, 1, 20}) {
    CountingInterpreter t(Nested(27, true));
    g_cancel_at_prepare = at;
    EXPECT_EQ(t.Allocate(), kTfLiteCancelled);
    EXPECT_THAT(t.log(), HasSubstr("Client requested cancel during AllocateTensors()"));
    EXPECT_EQ(g_prepares, at + 1);
    g_cancel_at_prepare = -1;
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, {1, 1, 1, 1});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(28, 28, 28, 28));
  }
}

TEST(CancellationOfCalls, ends_an_inference_that_prepares) {
  CountingInterpreter t(Nested(5, false));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 1, 1, 1});
  for (const int at : {0, 3, 17}) {
    t.ResetCounts();
    g_cancel_at_prepare = at;
    EXPECT_EQ(t.Invoke(), kTfLiteCancelled);
    EXPECT_EQ(g_prepares, at + 1);
    g_cancel_at_prepare = -1;
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(32, 32, 32, 32));
  }
}

TEST(CancellationOfCalls, request_before_allocation_or_apply_is_ignored) {
  Scripted delegate({});
  CountingInterpreter t(Nested(2, false));
  EXPECT_EQ(TfLiteInterpreterCancel(t.get()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(TfLiteInterpreterCancel(t.get()), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
      << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
}

TEST(CancellationOfCalls, keeps_delegates_that_a_resize_reapplies) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}), counted = m.AddTensor(kTfLiteFloat32, {4});
  m.AddCustomOp("Count", {x}, {counted});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAdd, {counted, counted}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  Scripted delegate({1});
  CountingInterpreter t(m.Finish());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {2}), kTfLiteOk);
  t.ResetCounts();
  g_cancel_at_prepare = 0;
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 4));
  EXPECT_EQ(delegate->nodes_computed, 1);
}

}  // namespace
}  // namespace deputy::control_flow_delegate_test
