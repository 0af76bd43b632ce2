// SPDX-License-Identifier: Apache-2.0
//
// Tests the built library libdeputy_cpu.so as a delegate in Deputy: the nodes it claims, its
// reasons for other nodes, bit-identical results, and its life cycle. conformance_test runs all
// operator cases and golden rows on it; tests/bridges/cpu_in_tflite_test.py uses it in the real
// TensorFlow Lite.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_cpu.h"
#include "tests/bridges/damaged_models.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::cpu_delegate_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns the library, loaded once, because loading reads the whole file, which is large with debug
// information.
DeputyPlugin* Plugin() {
  static DeputyPlugin* const kPlugin = DeputyPluginLoad(BuildPath("libdeputy_cpu.so").c_str());
  EXPECT_NE(kPlugin, nullptr) << DeputyLastError();
  return kPlugin;
}

Handle Create(const Options& options = {}) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return {DeputyPluginCreateDelegate(Plugin(), keys.data(), values.data(), keys.size()),
          &DeputyPluginDeleteDelegate};
}

std::vector<uint8_t> Digits(const char* kind) {
  return ReadBytes(SourcePath("examples/digits/digits_" + std::string(kind) + ".tflite"));
}

int NodesOfModel(const TestInterpreter& t) {
  return DeputyInterpreterGetNodeCount(t.get(), 0) - DelegateInfoOf(t.get(), 0).partition_count;
}

void FillWith(TestInterpreter* t, uint32_t seed) {
  std::mt19937 random(seed);
  for (int32_t i = 0; i < TfLiteInterpreterGetInputTensorCount(t->get()); ++i) {
    TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(t->get(), i);
    if (tensor->type == kTfLiteFloat32) {
      std::vector<float> values(tensor->bytes / sizeof(float));
      for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
      t->Set(i, values);
    } else {
      std::vector<uint8_t> values(tensor->bytes);
      for (uint8_t& value : values) value = static_cast<uint8_t>(random());
      t->Set(i, values);
    }
  }
}

using Bytes = std::vector<std::vector<uint8_t>>;

// Returns the bytes of all outputs after an inference with inputs from the seed.
Bytes Compute(TestInterpreter* t, uint32_t seed = 1) {
  FillWith(t, seed);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  Bytes outputs;
  for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(t->get()); ++i) {
    outputs.push_back(t->Get<uint8_t>(i));
  }
  return outputs;
}

Bytes ComputeOnCpu(const std::vector<uint8_t>& model, uint32_t seed = 1,
                   const std::vector<int>& dims = {},
                   const TestInterpreter::Configure& configure = {}) {
  TestInterpreter t(model, configure);
  if (!dims.empty()) {
    EXPECT_EQ(t.Resize(0, dims), kTfLiteOk);
  }
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  return Compute(&t, seed);
}

void ApplyTo(TestInterpreter* t, const Handle& delegate) {
  ASSERT_NE(delegate, nullptr) << DeputyLastError();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get()), kTfLiteOk)
      << t->log();
}

// Returns the delegate's reason for node `index` of the subgraph.
std::string SupportReason(const TestInterpreter& t, int index, int subgraph = 0) {
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(t.get(), subgraph, index, 0, &support), kTfLiteOk);
  return support.delegated != 0 ? "" : support.text == nullptr ? "no reason" : support.text;
}

// ---- Results ------------------------------------------------------------------------------------

TEST(CpuDelegate, computes_networks_bit_by_bit_with_any_number_of_threads) {
  for (const char* kind : {"float", "int8"}) {
    for (const char* threads : {"0", "1", "3"}) {
      const Handle delegate = Create({{"num_threads", threads}});
      TestInterpreter t(Digits(kind));
      ApplyTo(&t, delegate);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 16);
      EXPECT_EQ(DelegateInfoOf(t.get(), 0).partition_count, 1);
      for (const uint32_t seed : {1U, 2U}) {
        EXPECT_EQ(Compute(&t, seed), ComputeOnCpu(Digits(kind), seed)) << kind << threads;
      }
    }
  }
}

// Returns the number of threads that an inference of a host with one thread adds to the process.
ptrdiff_t ThreadsAddedWith(const char* num_threads) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const Handle delegate = Create({{"num_threads", num_threads}});
  TestInterpreter t(Digits("float"), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, 1);
  });
  ApplyTo(&t, delegate);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const ptrdiff_t before = count();
  Compute(&t, 1);
  return count() - before;
}

TEST(CpuDelegate, option_sets_the_number_of_threads) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor";
  EXPECT_EQ(ThreadsAddedWith("0"), 0) << "the host's one";
  EXPECT_EQ(ThreadsAddedWith("1"), 0);
  EXPECT_EQ(ThreadsAddedWith("2"), 1);
}

TEST(CpuDelegate, claims_random_graphs_completely) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<uint8_t> model = RandomModel(seed);
    const Handle delegate = Create();
    TestInterpreter t(model);
    ApplyTo(&t, delegate);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, NodesOfModel(t)) << seed;
    ASSERT_EQ(Compute(&t), ComputeOnCpu(model)) << seed;
  }
}

TEST(CpuDelegate, option_selects_reference_arithmetic) {
  const auto in_reference = [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  };
  const Handle delegate = Create({{"reference", "true"}});
  TestInterpreter t(Digits("int8"));
  ApplyTo(&t, delegate);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  bool differs = false;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Bytes found = Compute(&t, seed);
    EXPECT_EQ(found, ComputeOnCpu(Digits("int8"), seed, {}, in_reference));
    differs |= found != ComputeOnCpu(Digits("int8"), seed);
  }
  EXPECT_TRUE(differs) << "the option changes nothing that this model shows";
}

// y = DEQUANTIZE(constant), z = x + y; both are outputs. y is constant, but must be written in
// every inference.
TEST(CpuDelegate, constant_outputs_are_written_by_every_inference) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int half = m.AddConstant<uint16_t>(kTfLiteFloat16, {2}, {0x3C00, 0x4000});
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y"), z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {y}, 3);
  m.AddOp(kTfLiteBuiltinAdd, {x, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y, z});
  const Handle delegate = Create();
  TestInterpreter t(m.Finish());
  ApplyTo(&t, delegate);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 2);
  for (int i = 0; i < 2; ++i) {
    t.Set<float>(0, {10, 20});
    const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(t.get(), 0);
    output->data.f[0] = 99;
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 2));
    EXPECT_THAT(t.Get<float>(1), ElementsAre(11, 22));
  }
}

// The delegate computes directly on the host's tensors, at any address.
TEST(CpuDelegate, client_memory_may_be_unaligned) {
  const std::vector<uint8_t> model = Digits("float");
  const Handle delegate = Create();
  TestInterpreter t(model);
  ApplyTo(&t, delegate);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(t.get(), 0);
  const std::pair<const int*, size_t> tensors[] = {
      {TfLiteInterpreterInputTensorIndices(t.get()), input->bytes},
      {TfLiteInterpreterOutputTensorIndices(t.get()), output->bytes}};
  std::vector<std::vector<char>> memory;
  for (const auto& [index, bytes] : tensors) {
    memory.emplace_back(bytes + 128);
    const auto at = reinterpret_cast<uintptr_t>(memory.back().data());
    char* const unaligned = memory.back().data() + (64 - at % 64) + 4;
    const TfLiteCustomAllocation allocation = {unaligned, bytes};
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(
                  t.get(), *index, &allocation, kTfLiteCustomAllocationFlagsSkipAlignCheck),
              kTfLiteOk);
  }
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Compute(&t), ComputeOnCpu(model));
}

// ---- Life ---------------------------------------------------------------------------------------

TEST(CpuDelegate, resizes_to_a_new_shape_and_back) {
  const Handle delegate = Create();
  TestInterpreter t(ResizableModel());
  ApplyTo(&t, delegate);
  for (const std::vector<int>& dims :
       {std::vector<int>{1, 8, 8, 2}, {3, 10, 12, 2}, {2, 5, 5, 2}, {1, 8, 8, 2}}) {
    ASSERT_EQ(t.Resize(0, dims), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 2);
    EXPECT_EQ(Compute(&t), ComputeOnCpu(ResizableModel(), 1, dims));
  }
}

TEST(CpuDelegate, two_interpreters_share_a_delegate_on_two_threads) {
  const std::vector<uint8_t> models[] = {Digits("float"), Digits("int8")};
  const Handle delegate = Create({{"num_threads", "2"}});
  std::vector<std::thread> threads;
  for (const std::vector<uint8_t>& model : models) {
    threads.emplace_back([&] {
      const Bytes expected = ComputeOnCpu(model);
      for (int life = 0; life < 5; ++life) {
        TestInterpreter t(model);
        ApplyTo(&t, delegate);
        ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
        for (int i = 0; i < 20; ++i) ASSERT_EQ(Compute(&t), expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CpuDelegate, a_hundred_life_cycles_succeed) {
  const std::vector<uint8_t> model = Digits("int8");
  const Bytes expected = ComputeOnCpu(model);
  for (int i = 0; i < 100; ++i) {
    const Handle delegate = Create();
    TestInterpreter t(model);
    ApplyTo(&t, delegate);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(Compute(&t), expected);
  }
}

TEST(CpuDelegate, failures_are_reported_by_the_host) {
  ModelBuilder m;
  const int from = m.AddConstant<float>(kTfLiteFloat32, {3}, {5, 6, 7});
  const int at = m.AddTensor(kTfLiteInt32, {1}, "at"), y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinGather, {from, at}, {y}, schema::CreateGatherOptions(m.fbb(), 0));
  m.SetInputs({at});
  m.SetOutputs({y});
  const Handle delegate = Create();
  TestInterpreter t(m.Finish());
  ApplyTo(&t, delegate);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<int32_t>(0, {3});
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("deputy_cpu: Node number 0 (GATHER) failed to invoke."));
  t.Set<int32_t>(0, {2});
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(7));
}

TEST(CpuDelegate, damaged_models_are_rejected_safely) {
  ExpectDamagedModelsDoNoHarm([] { return Create(); });
}

// ---- Nodes left to the host ---------------------------------------------------------------------

TEST(CpuDelegate, leaves_unsupported_nodes_with_a_reason) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int text = m.AddTensor(kTfLiteString, {1}, "text");
  const int flag = m.AddTensor(kTfLiteBool, {1}, "flag");
  const auto row = [&] { return m.AddTensor(kTfLiteFloat32, {2}, "y"); };
  std::vector<int> y = {row(), row(), row(), row(), row()};
  const int copied = m.AddTensor(kTfLiteString, {1}, "copied");
  m.AddCustomOp("Backwards", {x}, {y[0]});
  m.AddOp(kTfLiteBuiltinIf, {flag, x}, {y[1]}, schema::CreateIfOptions(m.fbb(), 1, 1));
  m.AddOp(kTfLiteBuiltinReshape, {text}, {copied},
          schema::CreateReshapeOptionsDirect(m.fbb(), nullptr));
  m.AddOp(kTfLiteBuiltinNeg, {y[0]}, {y[2]}, schema::CreateNegOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAbs, {y[1]}, {y[3]}, schema::CreateAbsOptions(m.fbb()));
  m.SetInputs({x, text, flag});
  m.SetOutputs({y[2], y[3]});
  m.AddSubgraph("branch");
  const int a = m.AddTensor(kTfLiteFloat32, {2}), b = m.AddTensor(kTfLiteFloat32, {2});
  m.AddOp(kTfLiteBuiltinNeg, {a}, {b}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({a});
  m.SetOutputs({b});
  const Handle delegate = Create();
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  ApplyTo(&t, delegate);
  EXPECT_EQ(SupportReason(t, 0), "Deputy has no kernel for this operator");
  EXPECT_EQ(SupportReason(t, 1), "the operator must run in the host's interpreter");
  EXPECT_EQ(SupportReason(t, 2), "tensor 'text': type STRING");
  EXPECT_EQ(SupportReason(t, 3), "");
  EXPECT_EQ(SupportReason(t, 4), "");
  EXPECT_EQ(SupportReason(t, 0, 1), "");  // a node in the branch
}

TEST(CpuDelegate, leaves_variables_and_random_operators) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 2}, "x");
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 2, 3, 4});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {0, 0});
  const int state = m.AddTensor(kTfLiteFloat32, {2, 2}, "state", {.is_variable = true});
  const int y = m.AddTensor(kTfLiteFloat32, {2, 2}, "y");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {2});
  const int drawn = m.AddTensor(kTfLiteFloat32, {2}, "drawn");
  m.AddOp(kTfLiteBuiltinRnn, {x, weights, weights, bias, state}, {y},
          schema::CreateRNNOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinRandomUniform, {shape}, {drawn}, schema::CreateRandomOptions(m.fbb(), 1));
  m.SetInputs({x});
  m.SetOutputs({y, drawn});
  const Handle delegate = Create();
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  ApplyTo(&t, delegate);
  EXPECT_EQ(SupportReason(t, 0), "tensor 'state' is a variable");
  EXPECT_EQ(SupportReason(t, 1), "the operator must run in the host's interpreter");
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
}

// SHAPE, which the host computes before the model runs, and the RESHAPE that reads its result stay
// with the host; the NEG after them is claimed. A RESHAPE to a shape that is an input of the model
// stays with the host, too, and so does the NEG after it.
TEST(CpuDelegate, leaves_shape_computations) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x"), shape = m.AddTensor(kTfLiteInt32, {2});
  const int same = m.AddTensor(kTfLiteFloat32, {2, 3});
  const int y = m.AddTensor(kTfLiteFloat32, {2, 3}, "y");
  const int wanted = m.AddTensor(kTfLiteInt32, {2}, "wanted");
  const int made = m.AddTensor(kTfLiteFloat32, {3, 2}, "made");
  const int z = m.AddTensor(kTfLiteFloat32, {3, 2}, "z");
  m.AddOp(kTfLiteBuiltinShape, {x}, {shape},
          schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {same},
          schema::CreateReshapeOptionsDirect(m.fbb(), nullptr));
  m.AddOp(kTfLiteBuiltinNeg, {same}, {y}, schema::CreateNegOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinReshape, {x, wanted}, {made},
          schema::CreateReshapeOptionsDirect(m.fbb(), nullptr));
  m.AddOp(kTfLiteBuiltinNeg, {made}, {z}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({x, wanted});
  m.SetOutputs({y, z});
  const Handle delegate = Create();
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  ApplyTo(&t, delegate);
  EXPECT_EQ(SupportReason(t, 0), "the node is computed before the first inference");
  EXPECT_EQ(SupportReason(t, 1), "the node is computed before the first inference");
  EXPECT_EQ(SupportReason(t, 2), "");
  EXPECT_EQ(SupportReason(t, 3), "the output's shape depends on the values of the inputs");
  EXPECT_EQ(SupportReason(t, 4), "tensor 'made': its shape is not known before run time");
  for (const int rows : {2, 5}) {
    ASSERT_EQ(t.Resize(0, {rows, 3}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    const std::vector<float> values(static_cast<size_t>(rows) * 3, 1.5F);
    const std::vector<float> negative(values.size(), -1.5F);
    t.Set(0, values);
    t.Set<int32_t>(1, {3, rows});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), negative);
    EXPECT_EQ(t.Get<float>(1), negative);
    EXPECT_THAT(t.Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)), ElementsAre(rows, 3));
  }
}

// The output of ARG_MAX is INT64 in the file and INT32 in the options, which have priority.
TEST(CpuDelegate, leaves_nodes_that_change_the_output_type) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x");
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int at = m.AddTensor(kTfLiteInt64, {2}, "at"), y = m.AddTensor(kTfLiteInt32, {2}, "y");
  m.AddOp(kTfLiteBuiltinArgMax, {x, axis}, {at},
          schema::CreateArgMaxOptions(m.fbb(), schema::TensorType::INT32));
  m.AddOp(kTfLiteBuiltinNeg, {at}, {y}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  const Handle delegate = Create();
  TestInterpreter t(m.Finish());
  ApplyTo(&t, delegate);
  EXPECT_EQ(SupportReason(t, 0), "tensor 'at' is INT64 in the model, and will be INT32");
  EXPECT_EQ(SupportReason(t, 1), "");
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 3, 2, 1, 2, 3});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<int32_t>(0), ElementsAre(-1, -2));
}

// ---- Options ------------------------------------------------------------------------------------

TEST(CpuDelegate, options_are_checked) {
  const std::vector<std::pair<Options, std::string>> wrong = {
      {{{"num_threads", "-1"}}, "option 'num_threads': expected a whole number from 0 to 1024"},
      {{{"num_threads", "1025"}}, "found '1025'"},
      {{{"num_threads", "two"}}, "num_threads"},
      {{{"reference", "yes"}}, "reference"},
      {{{"speed", "high"}}, "speed"}};
  for (const auto& [options, text] : wrong) {
    EXPECT_EQ(Create(options), nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr(text));
  }
}

template <typename Function>
Function* Find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Calls the functions of deputy_cpu.h.
TEST(CpuDelegate, is_created_by_its_own_functions) {
  void* const library = dlopen(BuildPath("libdeputy_cpu.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto defaults = Find<decltype(DeputyCpuOptionsDefault)>(library, "DeputyCpuOptionsDefault");
  const auto create = Find<decltype(DeputyCpuDelegateCreate)>(library, "DeputyCpuDelegateCreate");
  const auto destroy = Find<decltype(DeputyCpuDelegateDelete)>(library, "DeputyCpuDelegateDelete");
  const auto last_error = Find<decltype(DeputyCpuLastError)>(library, "DeputyCpuLastError");
  EXPECT_STREQ(last_error(), "");
  DeputyCpuOptions options = defaults();
  EXPECT_EQ(options.struct_size, sizeof options);
  EXPECT_EQ(options.num_threads, 0);
  EXPECT_EQ(options.reference, 0);
  options.num_threads = -3;
  EXPECT_EQ(create(&options), nullptr);
  EXPECT_THAT(last_error(), HasSubstr("found '-3'"));
  options.struct_size = 4;
  EXPECT_EQ(create(&options), nullptr);
  EXPECT_THAT(last_error(), HasSubstr("expected a struct_size of at least 16, found 4"));
  destroy(nullptr);
  TfLiteDelegate* const delegate = create(nullptr);
  ASSERT_NE(delegate, nullptr);
  {
    TestInterpreter t(Digits("float"));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(Compute(&t), ComputeOnCpu(Digits("float")));
  }
  destroy(delegate);
}

}  // namespace
}  // namespace deputy::cpu_delegate_test
