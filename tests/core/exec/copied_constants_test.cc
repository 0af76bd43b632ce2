// SPDX-License-Identifier: Apache-2.0
//
// Tests that constants are released if delegates have copies of them
// (kDeputyPluginCopiesConstants), and that they are provided again when the CPU computes the nodes.
// All results are sums of small integers, which are exact in every order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "core/base/packed_constants.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"

namespace deputy::copied_constants_test {
namespace {

constexpr int kDepth = 1024, kInner = 512, kColumns = 256;
constexpr size_t kFirstBytes = size_t{kInner} * kDepth * sizeof(float);
constexpr size_t kSecondBytes = size_t{kColumns} * kInner * sizeof(float);
constexpr size_t kPage = 64 << 10;  // at least the size of a page

int WeightAt(size_t i) { return static_cast<int>(i % 7) - 3; }

// Returns an integer from -3 to 3 as float16.
uint16_t Half(int value) {
  const uint16_t magnitudes[] = {0, 0x3c00, 0x4000, 0x4200};
  return static_cast<uint16_t>(magnitudes[std::abs(value)] | (value < 0 ? 0x8000 : 0));
}

// z = V (W x) with nodes FULLY_CONNECTED, DEQUANTIZE of the float16 matrix V, FULLY_CONNECTED. If
// `shares`, u = W x is computed by a fourth node.
std::vector<uint8_t> TwoLayers(bool shares = false) {
  ModelBuilder m;
  std::vector<float> first(size_t{kInner} * kDepth);
  std::vector<uint16_t> second(size_t{kColumns} * kInner);
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<float>(WeightAt(i));
  for (size_t i = 0; i < second.size(); ++i) second[i] = Half(WeightAt(i));
  const int x = m.AddTensor(kTfLiteFloat32, {1, kDepth}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kInner, kDepth}, first, "w");
  const int v = m.AddConstant<uint16_t>(kTfLiteFloat16, {kColumns, kInner}, second, "v");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kInner}, "y");
  const int wide = m.AddTensor(kTfLiteFloat32, {kColumns, kInner}, "wide");
  const int z = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "z");
  const auto layer = [&](int from, int weights, int to) {
    m.AddOp(kTfLiteBuiltinFullyConnected, {from, weights, -1}, {to},
            schema::CreateFullyConnectedOptions(m.fbb()));
  };
  layer(x, w, y);
  m.AddOp(kTfLiteBuiltinDequantize, {v}, {wide});
  layer(y, wide, z);
  m.SetInputs({x});
  if (shares) {
    const int u = m.AddTensor(kTfLiteFloat32, {1, kInner}, "u");
    layer(x, w, u);
    m.SetOutputs({z, u});
  } else {
    m.SetOutputs({z});
  }
  return m.Finish();
}

std::vector<float> InputFrom(float first) {
  std::vector<float> x(kDepth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) - 2;
  x[0] = first;
  return x;
}

// Computes z in 64 bits.
std::vector<float> Expected(float first) {
  const std::vector<float> x = InputFrom(first);
  std::vector<int64_t> y(kInner);
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t k = 0; k < x.size(); ++k) {
      y[i] += WeightAt(i * kDepth + k) * static_cast<int64_t>(x[k]);
    }
  }
  std::vector<float> z(kColumns);
  for (size_t i = 0; i < z.size(); ++i) {
    int64_t sum = 0;
    for (size_t k = 0; k < y.size(); ++k) sum += WeightAt(i * kInner + k) * y[k];
    z[i] = static_cast<float>(sum);
  }
  return z;
}

// Returns the resident kilobytes of this process's mappings of `path`.
size_t ResidentBytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  size_t sum = 0;
  for (std::string line; std::getline(maps, line);) {
    size_t kilobytes = 0;
    if (line.find('-') < line.find(' ')) {
      inside = line.find(path) != std::string::npos;
    } else if (inside && std::sscanf(line.c_str(), "Rss: %zu kB", &kilobytes) == 1) {
      sum += kilobytes << 10;
    }
  }
  return sum;
}

using Interpreter = std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)>;

class CopiedConstants : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    Load(TwoLayers());
    PackedConstants::OverwriteDiscarded(true);
  }
  void TearDown() override {
    PackedConstants::OverwriteDiscarded(false);
    std::remove(path_.c_str());
    QuietTest::TearDown();
  }

  void Load(const std::vector<uint8_t>& bytes) {
    WriteBytes(path_, bytes);
    model_.reset(TfLiteModelCreateFromFile(path_.c_str()));
    ASSERT_NE(model_, nullptr);
  }
  // Creates an interpreter whose tensors are allocated on the CPU.
  Interpreter Allocated(DeputyDelegatePolicy policy = kDeputyPolicyTfLite) {
    TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
    DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
    Interpreter interpreter(TfLiteInterpreterCreate(model_.get(), options),
                            TfLiteInterpreterDelete);
    TfLiteInterpreterOptionsDelete(options);
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter.get()), kTfLiteOk);
    return interpreter;
  }
  static void Apply(const Interpreter& interpreter, const Handle& delegate, int nodes) {
    ASSERT_NE(delegate, nullptr);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter.get(), delegate.get()),
              kTfLiteOk);
    EXPECT_EQ(DelegateInfoOf(interpreter.get(), 0).node_count, nodes);
  }
  static std::vector<float> Run(const Interpreter& interpreter, float first = 1) {
    const std::vector<float> x = InputFrom(first);
    std::vector<float> z(kColumns);
    EXPECT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter.get(), 0),
                                         x.data(), x.size() * sizeof(float)),
              kTfLiteOk);
    EXPECT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
    EXPECT_EQ(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0),
                                       z.data(), z.size() * sizeof(float)),
              kTfLiteOk);
    return z;
  }

  const std::string path_ = ScratchFile("copied_constants");
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_{nullptr, TfLiteModelDelete};
};

TEST_F(CopiedConstants, are_released_and_computed_again_when_the_delegate_is_removed) {
  const Handle delegate = External("compiled_copies");
  const Interpreter t = Allocated();
  EXPECT_EQ(Run(t), Expected(1));
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  // Both matrices are packed, and the second one is also dequantised.
  EXPECT_GE(packed, kFirstBytes + 2 * kSecondBytes);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, 0u);

  Apply(t, delegate, 3);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, packed);
  EXPECT_GE(MemoryMapOf(t.get()).released_file_bytes, kFirstBytes + kSecondBytes / 2 - 4 * kPage);
  EXPECT_LT(ResidentBytes(path_), kFirstBytes / 4);
  EXPECT_EQ(Run(t), Expected(1));
  EXPECT_EQ(Run(t, 5), Expected(5));

  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).released_file_bytes, 0u);
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, are_kept_without_the_flag) {
  const Handle delegate = External("compiled");
  const Interpreter t = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, delegate, 3);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).released_file_bytes, 0u);
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, are_kept_for_a_delegate_with_layers) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment layers("DEPUTY_LAYERS", "deadline=60s");
  const Handle delegate = External("compiled_copies");
  const Interpreter t = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, delegate, 3);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(MemoryMapOf(t.get()).released_file_bytes, 0u);
}

TEST_F(CopiedConstants, are_pages_of_the_file_if_the_delegate_is_applied_first) {
  const Handle delegate = External("compiled_copies");
  const Interpreter t(TfLiteInterpreterCreate(model_.get(), nullptr), TfLiteInterpreterDelete);
  Apply(t, delegate, 3);
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(t.get()), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, 0u);
  EXPECT_GE(MemoryMapOf(t.get()).released_file_bytes, kFirstBytes);
  EXPECT_LT(ResidentBytes(path_), kFirstBytes / 4);
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, are_kept_for_a_node_on_the_cpu) {
  for (const char* only : {"0", "2"}) {
    const Handle delegate = External("compiled_copies", {{"only", only}});
    const Interpreter t = Allocated();
    const size_t packed = MemoryMapOf(t.get()).packed_bytes;
    Apply(t, delegate, 1);
    // The node 0 alone reads the first matrix; the CPU dequantises the second one for node 2.
    const bool releases = std::string(only) == "0";
    EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes,
              packed - MemoryMapOf(t.get()).packed_bytes);
    EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes >= kFirstBytes, releases);
    EXPECT_EQ(MemoryMapOf(t.get()).released_file_bytes >= kFirstBytes - 2 * kPage, releases);
    EXPECT_GE(MemoryMapOf(t.get()).packed_bytes, kSecondBytes) << only;
    EXPECT_EQ(Run(t), Expected(1));
  }
}

TEST_F(CopiedConstants, are_kept_for_another_tensor_with_the_same_bytes) {
  Load(TwoLayers(true));
  const Handle delegate = External("compiled_copies", {{"only", "0"}});
  const Interpreter t = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, delegate, 1);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(MemoryMapOf(t.get()).released_file_bytes, 0u);
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, are_released_when_both_of_their_delegates_copy) {
  const Handle first = External("compiled_copies", {{"only", "0"}});
  const Handle rest = External("compiled_copies");
  const Interpreter t = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, first, 1);
  EXPECT_GT(MemoryMapOf(t.get()).packed_bytes, 0u);
  Apply(t, rest, 1);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, packed);
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, packed_values_are_kept_for_another_interpreter) {
  const Handle delegate = External("compiled_copies");
  const Interpreter t = Allocated(), other = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, delegate, 3);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, 0u);
  EXPECT_EQ(Run(other), Expected(1));
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, another_interpreter_computes_released_values_again) {
  const Handle delegate = External("compiled_copies");
  const Interpreter t = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, delegate, 3);
  const Interpreter other = Allocated();
  EXPECT_EQ(MemoryMapOf(other.get()).packed_bytes, packed);
  EXPECT_EQ(Run(other), Expected(1));
  EXPECT_EQ(Run(t), Expected(1));
}

TEST_F(CopiedConstants, stay_released_when_an_input_is_resized) {
  const Handle delegate = External("compiled_copies");
  const Interpreter t = Allocated();
  Apply(t, delegate, 3);
  const DeputyMemoryMap before = MemoryMapOf(t.get());
  for (const int rows : {2, 1}) {
    const int dims[] = {rows, kDepth};
    ASSERT_EQ(TfLiteInterpreterResizeInputTensor(t.get(), 0, dims, 2), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(t.get()), kTfLiteOk);
    EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
    EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, before.released_packed_bytes);
    EXPECT_EQ(MemoryMapOf(t.get()).released_file_bytes, before.released_file_bytes);
  }
  EXPECT_EQ(Run(t), Expected(1));
}

// The delegate fails for one input; the policy Hot then computes its nodes on the CPU.
TEST_F(CopiedConstants, are_available_to_the_fallback) {
  const Handle delegate = External("compiled_copies", {{"fails_at", "7"}});
  const Interpreter t = Allocated(kDeputyPolicyHot);
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, delegate, 3);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, packed);
  EXPECT_EQ(Run(t, 1), Expected(1));
  EXPECT_EQ(Run(t, 7), Expected(7));
  DeputyDelegationStatus status{};
  status.struct_size = sizeof status;
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_EQ(status.recomputed_nodes, 1) << "nodes of the delegate";
  EXPECT_EQ(Run(t, 3), Expected(3));
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(Run(t, 7), Expected(7));
}

// A second delegate cannot be applied, which removes the first one, too.
TEST_F(CopiedConstants, are_computed_again_when_another_delegate_fails) {
  const Handle first = External("compiled_copies", {{"only", "0"}});
  const Handle failing = External("compiled", {{"most_steps", "1"}});
  const Interpreter t = Allocated();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  Apply(t, first, 1);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), failing.get()), kTfLiteDelegateError);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_EQ(MemoryMapOf(t.get()).released_packed_bytes, 0u);
  EXPECT_EQ(Run(t), Expected(1));
}

// Values of the store, without an interpreter.
TEST(DiscardedConstants, are_those_that_depend_on_the_given_constants) {
  const Limits limits;
  PackedConstants store;
  store.BeginUse();
  const char constants[3][8] = {};
  static const char kForm = 0;
  const auto make = [&](const void* from, char value) {
    return store.FindOrMake({from, &kForm, {}}, 64, limits, nullptr,
                            [&](char* data) { memset(data, value, 64); });
  };
  const char* const a = make(constants[0], 'a');
  const char* const b = make(constants[1] + 3, 'b');
  const char* const of_a = make(a + 5, 'c');
  const char* const d = make(constants[2], 'd');
  const auto discard = [&] { return store.Discard({{constants[1], 8}, {constants[0], 8}}); };
  PackedConstants::OverwriteDiscarded(true);
  for (int round = 0; round < 2; ++round) {
    const PackedConstants::Discarded discarded = discard();
    EXPECT_EQ(discarded.bytes, 192u) << "those discarded before count, too";
    EXPECT_THAT(discarded.values, testing::UnorderedElementsAre(a, b, of_a));
    EXPECT_EQ(store.bytes(), 64u);
  }
  EXPECT_EQ(a[0], '\xa5');
  EXPECT_EQ(b[0], '\xa5');
  EXPECT_EQ(of_a[0], '\xa5');
  EXPECT_EQ(d[0], 'd');
  EXPECT_EQ(make(constants[0], 'e'), a);
  EXPECT_EQ(a[0], 'e');
  store.BeginUse();
  EXPECT_EQ(discard().bytes, 0u);
  EXPECT_EQ(a[0], 'e');
  PackedConstants::OverwriteDiscarded(false);
}

}  // namespace
}  // namespace deputy::copied_constants_test
