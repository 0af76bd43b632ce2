// SPDX-License-Identifier: Apache-2.0
//
// Tests bfloat16 factors, which a client may allow: they are never used by default; products are
// within the format's error bounds; bits are identical on any number of threads; and full precision
// is used wherever results are compared with others.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "kernels/cpu/cpu.h"
#include "tests/cases/case.h"
#include "tests/kernels/cpu/tiles_in_memory.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::precision_test {
namespace {

// Changes a float32 number of a case: of constants (input < 0) or of an input.
using Edit = std::function<float(float value, int input)>;

// Rounds to the nearest number of 8 significant bits, ties to even, as bfloat16 does.
float Rounded(float value, int) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

// A set without products of bfloat16.
#if defined(__aarch64__)
constexpr const char* kTableWithoutBf16 = "neon";
#else
constexpr const char* kTableWithoutBf16 = "avx2";
#endif

struct Settings {
  const char* table = kTableWithoutBf16;
  DeputyPrecision precision = kDeputyPrecisionFloat32;
  int threads = 1;
  Edit edit = nullptr;
  std::function<void(TfLiteInterpreterOptions*)> also = nullptr;
};

// Result of a case. `products` is an upper bound of the sum of the absolute products that make one
// output of the only matrix operator.
struct Found {
  bool invoked = false;
  std::vector<std::vector<float>> outputs;
  std::string implementation;  // name of the matrix operator's implementation
  double products = 0;
};

void EditAll(float* values, size_t count, const Edit& edit, int input) {
  for (size_t i = 0; edit && i < count; ++i) values[i] = edit(values[i], input);
}

// Changes the constants in place; the interpreter's model is the test's own copy.
void EditConstants(TfLiteInterpreter* interpreter, const Edit& edit) {
  for (int t = 0; t < DeputyInterpreterGetTensorCount(interpreter, 0); ++t) {
    const TfLiteTensor* tensor = DeputyInterpreterGetTensor(interpreter, 0, t);
    if (tensor->allocation_type != kTfLiteMmapRo || tensor->type != kTfLiteFloat32) continue;
    EditAll(tensor->data.f, tensor->bytes / sizeof(float), edit, -1);
  }
}

bool FeedAll(const OpCase& op_case, TfLiteInterpreter* interpreter, const Edit& edit) {
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(interpreter, i);
    const auto number = static_cast<size_t>(i);
    if (number < op_case.feeds.size() && !op_case.feeds[number].empty()) return false;
    if (TfLiteTensorType(tensor) != kTfLiteFloat32) return false;
    std::vector<float> values =
        RandomFloats(TfLiteTensorByteSize(tensor) / sizeof(float), 100 + static_cast<uint32_t>(i));
    EditAll(values.data(), values.size(), edit, i);
    if (TfLiteTensorCopyFromBuffer(tensor, values.data(), values.size() * sizeof(float))) {
      return false;
    }
  }
  return true;
}

double Largest(const TfLiteTensor* tensor) {
  double largest = 0;
  for (const float value : TestInterpreter::Values<float>(tensor)) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

// Returns the number of factors per output: all of a filter's weights for one channel; for
// BATCH_MATMUL, the greater of the left operand's last two dimensions.
double Depth(const std::string& name, const TfLiteTensor* left, const TfLiteTensor* right) {
  if (name == "BATCH_MATMUL") {
    const int rank = TfLiteTensorNumDims(left);
    return std::max(TfLiteTensorDim(left, rank - 1), TfLiteTensorDim(left, rank - 2));
  }
  double depth = 1;
  for (int i = 1; i < TfLiteTensorNumDims(right); ++i) depth *= TfLiteTensorDim(right, i);
  return depth;
}

void InspectNodes(TfLiteInterpreter* interpreter, Found* found) {
  for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, 0); ++n) {
    const DeputyNodeInfo info = NodeInfoOf(interpreter, n);
    const std::string name = info.operator_name;
    if (name != "CONV_2D" && name != "FULLY_CONNECTED" && name != "BATCH_MATMUL") continue;
    const DeputyNodeRun run = NodeRunOf(interpreter, n);
    found->implementation = name + " " + run.implementation;
    const TfLiteTensor* left = DeputyInterpreterGetTensor(interpreter, 0, info.inputs[0]);
    const TfLiteTensor* right = DeputyInterpreterGetTensor(interpreter, 0, info.inputs[1]);
    if (left->type != kTfLiteFloat32 || right->type != kTfLiteFloat32) continue;
    found->products = Depth(name, left, right) * Largest(left) * Largest(right);
  }
}

Found Infer(const OpCase& op_case, const Settings& settings) {
  const ScopedCpu table(FindTestCpu(settings.table));
  TestInterpreter interpreter(op_case.model, [&](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetPrecision(options, settings.precision);
    TfLiteInterpreterOptionsSetNumThreads(options, settings.threads);
    if (settings.also) settings.also(options);
  });
  Found found;
  if (interpreter.get() == nullptr) return found;
  EditConstants(interpreter.get(), settings.edit);
  if (interpreter.Allocate() != kTfLiteOk || !FeedAll(op_case, interpreter.get(), settings.edit) ||
      interpreter.Invoke() != kTfLiteOk) {
    return found;
  }
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter.get()); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(interpreter.get(), i);
    if (TfLiteTensorType(tensor) != kTfLiteFloat32) return found;
    found.outputs.push_back(TestInterpreter::Values<float>(tensor));
  }
  InspectNodes(interpreter.get(), &found);
  found.invoked = true;
  return found;
}

bool IsBf16(const Found& found) { return found.implementation.ends_with("_bf16"); }

// Returns the bits of all outputs, including NaN.
std::vector<uint32_t> Bits(const std::vector<std::vector<float>>& outputs) {
  std::vector<uint32_t> bits;
  for (const auto& output : outputs) {
    for (const float value : output) bits.push_back(std::bit_cast<uint32_t>(value));
  }
  return bits;
}

void ExpectWithin(const Found& expected, const Found& found, double bound) {
  ASSERT_EQ(expected.outputs.size(), found.outputs.size());
  for (size_t o = 0; o < expected.outputs.size(); ++o) {
    ASSERT_EQ(expected.outputs[o].size(), found.outputs[o].size());
    for (size_t i = 0; i < expected.outputs[o].size(); ++i) {
      ASSERT_NEAR(expected.outputs[o][i], found.outputs[o][i], bound) << "element " << i;
    }
  }
}

char KindOf(float value) {
  if (std::isnan(value)) return 'n';
  return std::isinf(value) ? (value > 0 ? '+' : '-') : '.';
}

// Returns a text like "..n+", which has one character per value: finite, NaN or infinite.
std::string Kinds(const std::vector<std::vector<float>>& outputs) {
  std::string kinds;
  for (const auto& output : outputs) {
    for (const float value : output) kinds += KindOf(value);
  }
  return kinds;
}

// A case of BATCH_MATMUL with one constant matrix, transposed or not.
OpCase ConstantMatrixCase(const Shape& x, int depth, int columns, bool adj_y) {
  ModelBuilder builder;
  const int left = builder.AddTensor(kTfLiteFloat32, x, "x");
  const Shape shape = adj_y ? Shape{columns, depth} : Shape{depth, columns};
  const int right = AddRandomConstant(&builder, kTfLiteFloat32, shape, 7);
  const int output = builder.AddTensor(kTfLiteFloat32, {1}, "output");
  builder.AddOp(kTfLiteBuiltinBatchMatmul, {left, right}, {output},
                schema::CreateBatchMatMulOptions(builder.fbb(), false, adj_y));
  builder.SetInputs({left});
  builder.SetOutputs({output});
  return {"BATCH_MATMUL " + Text(x) + " constant " + Text(shape) + (adj_y ? " adj y" : ""),
          Rule::kSum, builder.Finish(), ""};
}

std::vector<OpCase> ConstantMatrixCases() {
  std::vector<OpCase> cases;
  for (const bool adj_y : {false, true}) {
    cases.push_back(ConstantMatrixCase({3, 4}, 4, 5, adj_y));
    cases.push_back(ConstantMatrixCase({2, 17, 33}, 33, 65, adj_y));
    cases.push_back(ConstantMatrixCase({2, 3, 1, 7}, 7, 39, adj_y));
    cases.push_back(ConstantMatrixCase({1, 120, 200}, 200, 150, adj_y));
  }
  return cases;
}

// Returns the valid cases of convolutions (without DEPTHWISE_CONV_2D) and of matrix products.
const std::vector<OpCase>& Cases() {
  static const std::vector<OpCase> kCases = [] {
    std::vector<OpCase> cases;
    for (std::vector<OpCase> family : {ConvCases(), MatmulCases(), ConstantMatrixCases()}) {
      for (OpCase& op_case : family) {
        const bool is_matrix = op_case.name.find("DEPTHWISE") == std::string::npos;
        if (op_case.refusal.empty() && is_matrix) cases.push_back(std::move(op_case));
      }
    }
    return cases;
  }();
  return kCases;
}

constexpr double kRoundoff = 1.0 / 256;  // relative rounding error of a factor
constexpr double kSumError = 1e-5;       // relative error of float32 sums of the lengths used here

class Bfloat16 : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const CpuKernels* table = FindTestCpu(GetParam());
    if (table == nullptr || table->gemm_bf16.tile == nullptr) {
      GTEST_SKIP() << "this machine has no products of bfloat16 by " << GetParam();
    }
  }
};

TEST_P(Bfloat16, cases_agree_within_the_precision_of_the_format) {
  std::map<std::string, int> ran;
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    const Found found =
        Infer(op_case, {.table = GetParam(), .precision = kDeputyPrecisionBfloat16});
    if (!found.invoked) continue;
    ++ran[found.implementation];
    const Found expected = Infer(op_case, {.table = "reference"});
    ASSERT_TRUE(expected.invoked);
    const double roundings = 2 * kRoundoff + kRoundoff * kRoundoff;
    ExpectWithin(expected, found, found.products * (roundings + kSumError) + 1e-5);
    if (HasFailure()) return;
  }
  for (const auto& [name, cases] : ran) std::printf("%4d cases ran as %s\n", cases, name.c_str());
  EXPECT_GE(ran["CONV_2D pointwise_bf16"], 3);
  EXPECT_GE(ran["CONV_2D rows_bf16"], 20);
  EXPECT_EQ(ran["BATCH_MATMUL gemm_bf16"], 8);
  EXPECT_GE(ran["FULLY_CONNECTED gemm_bf16"], 16);
}

TEST_P(Bfloat16, products_of_rounded_factors_equal_float32) {
  int cases = 0;
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    const Found found = Infer(
        op_case, {.table = GetParam(), .precision = kDeputyPrecisionBfloat16, .edit = &Rounded});
    // Cases with factors of 16 bits are omitted: these are rounded after their conversion to
    // float32.
    if (!IsBf16(found) || op_case.name.find("16") != std::string::npos) continue;
    ++cases;
    const Found expected = Infer(op_case, {.table = "reference", .edit = &Rounded});
    ExpectWithin(expected, found, found.products * kSumError + 1e-5);
    if (HasFailure()) return;
  }
  EXPECT_GE(cases, 32);
}

TEST_P(Bfloat16, nan_and_infinity_propagate_as_in_float32) {
  for (const float strange : {NAN, INFINITY, -INFINITY}) {
    for (const OpCase& op_case : Cases()) {
      SCOPED_TRACE(op_case.name);
      // Returns an edit that replaces every 37th number of the first input.
      const auto make_edit = [strange] {
        return [strange, n = 0](float value, int input) mutable {
          return input == 0 && n++ % 37 == 5 ? strange : value;
        };
      };
      const Found found =
          Infer(op_case,
                {.table = GetParam(), .precision = kDeputyPrecisionBfloat16, .edit = make_edit()});
      if (!IsBf16(found)) continue;
      const Found expected = Infer(op_case, {.table = "reference", .edit = make_edit()});
      ASSERT_EQ(Kinds(expected.outputs), Kinds(found.outputs));
    }
  }
}

TEST_P(Bfloat16, results_do_not_depend_on_threads) {
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    const Found one = Infer(op_case, {.table = GetParam(), .precision = kDeputyPrecisionBfloat16});
    if (!IsBf16(one)) continue;
    for (const int threads : {2, 5}) {
      const Found more =
          Infer(op_case,
                {.table = GetParam(), .precision = kDeputyPrecisionBfloat16, .threads = threads});
      ASSERT_EQ(Bits(one.outputs), Bits(more.outputs)) << threads << " threads";
    }
  }
}

// Returns the first case that the table computes in bfloat16; the first of all if there is none.
const OpCase& SomeCase(const char* table) {
  for (const OpCase& op_case : Cases()) {
    if (IsBf16(Infer(op_case, {.table = table, .precision = kDeputyPrecisionBfloat16}))) {
      return op_case;
    }
  }
  return Cases()[0];
}

TEST_P(Bfloat16, is_off_unless_the_client_allows_it) {
  ASSERT_EQ(getenv("DEPUTY_PRECISION"), nullptr);
  const OpCase& op_case = SomeCase(GetParam());
  const Found full = Infer(op_case, {.table = GetParam()});
  EXPECT_FALSE(IsBf16(full));
  EXPECT_FALSE(full.implementation.empty());
  const Found allowed =
      Infer(op_case, {.table = GetParam(), .precision = kDeputyPrecisionBfloat16});
  EXPECT_TRUE(IsBf16(allowed));
  EXPECT_NE(Bits(full.outputs), Bits(allowed.outputs));
}

TEST_P(Bfloat16, the_environment_sets_the_default) {
  const OpCase& op_case = SomeCase(GetParam());
  const ScopedCpu table(FindTestCpu(GetParam()));
  const auto implementation = [&](const TestInterpreter::Configure& configure) {
    TestInterpreter interpreter(op_case.model, configure);
    EXPECT_EQ(interpreter.Allocate(), kTfLiteOk);
    Found found;
    InspectNodes(interpreter.get(), &found);
    return IsBf16(found);
  };
  EXPECT_FALSE(implementation({}));
  const ScopedEnvironment precision("DEPUTY_PRECISION", "bf16");
  EXPECT_TRUE(implementation({}));
  EXPECT_FALSE(implementation([](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetPrecision(options, kDeputyPrecisionFloat32);
  }));
}

TEST_P(Bfloat16, is_disabled_if_results_are_compared) {
  const OpCase& op_case = SomeCase(GetParam());
  const Settings allowed = {.table = GetParam(), .precision = kDeputyPrecisionBfloat16};
  Settings reference = allowed, validated = allowed, plain = allowed, other = allowed;
  reference.also = [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  };
  validated.also = [](TfLiteInterpreterOptions* options) {
    DeputyValidationOptions validation = {};
    validation.struct_size = sizeof validation;
    validation.enabled = 1;
    DeputyInterpreterOptionsSetValidation(options, &validation);
  };
  plain.table = "reference";
  other.table = kTableWithoutBf16;
  for (Settings* settings : {&reference, &validated, &plain, &other}) {
    const Found found = Infer(op_case, *settings);
    EXPECT_FALSE(IsBf16(found)) << found.implementation;
    settings->precision = kDeputyPrecisionFloat32;
    EXPECT_EQ(Bits(found.outputs), Bits(Infer(op_case, *settings).outputs));
  }
}

// Returns the names of the sets that allow products of bfloat16.
std::vector<const char*> Bfloat16Sets() {
  std::vector<const char*> names = {kTilesInMemory};
  for (const CpuSet& set : CpuSets()) {
    if (SelectKernels(set.name, set.allowed).gemm_bf16.tile != nullptr) names.push_back(set.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(On, Bfloat16, testing::ValuesIn(Bfloat16Sets()),
                         [](const auto& table) { return std::string(table.param); });

// ---- float16 ------------------------------------------------------------------------------------

bool IsFp16(const Found& found) { return found.implementation.ends_with("_fp16"); }

class Float16 : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const CpuKernels* table = FindCpu(GetParam());
    if (table == nullptr || table->gemm_f16.tile == nullptr) {
      GTEST_SKIP() << "this machine has no products of float16 by " << GetParam();
    }
  }
  Settings Half() const { return {.table = GetParam(), .precision = kDeputyPrecisionFloat16}; }
};

// Maximum relative rounding error of a normal float16 number, and the absolute one of a denormal.
constexpr double kHalfRoundoff = 1.0 / 2048, kHalfStep = 0x1p-25;

// Each factor is rounded once, and each of up to 64 additions of a chain rounds once.
TEST_P(Float16, cases_agree_within_the_bound) {
  std::map<std::string, int> ran;
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    const Found found = Infer(op_case, Half());
    if (!found.invoked) continue;
    ++ran[found.implementation];
    const Found expected = Infer(op_case, {.table = "reference"});
    ASSERT_TRUE(expected.invoked);
    const double roundings = 68 * kHalfRoundoff + kSumError;
    ExpectWithin(expected, found, found.products * roundings + 66 * kHalfStep + 1e-5);
    if (HasFailure()) return;
  }
  for (const auto& [name, cases] : ran) std::printf("%4d cases ran as %s\n", cases, name.c_str());
  EXPECT_GE(ran["CONV_2D pointwise_fp16"], 3);
  EXPECT_GE(ran["CONV_2D rows_fp16"], 20);
  EXPECT_EQ(ran["BATCH_MATMUL gemm_fp16"], 8);
  EXPECT_GE(ran["FULLY_CONNECTED gemm_fp16"], 16);
}

// Products and sums of small integers are exact, in any order.
TEST_P(Float16, products_of_small_integers_equal_float32) {
  int cases = 0;
  const Edit integers = [](float value, int) { return std::fmod(std::round(8 * value), 4.0f); };
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    Settings half = Half();
    half.edit = integers;
    const Found found = Infer(op_case, half);
    if (!IsFp16(found) || op_case.name.find("16") != std::string::npos) continue;
    ++cases;
    const Found expected = Infer(op_case, {.table = "reference", .edit = integers});
    EXPECT_EQ(Bits(expected.outputs), Bits(found.outputs));
    if (HasFailure()) return;
  }
  EXPECT_GE(cases, 32);
}

TEST_P(Float16, nan_and_infinity_propagate_as_in_float32) {
  for (const float strange : {NAN, INFINITY, -INFINITY}) {
    for (const OpCase& op_case : Cases()) {
      SCOPED_TRACE(op_case.name);
      const auto make_edit = [strange] {
        return [strange, n = 0](float value, int input) mutable {
          return input == 0 && n++ % 37 == 5 ? strange : value;
        };
      };
      Settings half = Half();
      half.edit = make_edit();
      const Found found = Infer(op_case, half);
      if (!IsFp16(found)) continue;
      const Found expected = Infer(op_case, {.table = "reference", .edit = make_edit()});
      ASSERT_EQ(Kinds(expected.outputs), Kinds(found.outputs));
    }
  }
}

TEST_P(Float16, results_do_not_depend_on_threads) {
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    Settings half = Half();
    const Found one = Infer(op_case, half);
    if (!IsFp16(one)) continue;
    for (const int threads : {2, 5}) {
      half.threads = threads;
      ASSERT_EQ(Bits(one.outputs), Bits(Infer(op_case, half).outputs)) << threads << " threads";
    }
  }
}

// A client that allows bfloat16 does not get float16, whose range is smaller.
TEST_P(Float16, is_off_unless_the_client_allows_it) {
  int cases = 0;
  for (const OpCase& op_case : Cases()) {
    SCOPED_TRACE(op_case.name);
    if (!IsFp16(Infer(op_case, Half()))) continue;
    ++cases;
    Settings other = Half();
    for (const DeputyPrecision precision : {kDeputyPrecisionFloat32, kDeputyPrecisionBfloat16}) {
      other.precision = precision;
      EXPECT_FALSE(IsFp16(Infer(op_case, other)));
    }
    Settings exact = Half();
    exact.also = [](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
    };
    EXPECT_FALSE(IsFp16(Infer(op_case, exact)));
    if (cases == 4) return;
  }
  FAIL() << "too few cases in float16";
}

// Returns the names of the sets that allow products of float16.
std::vector<const char*> Float16Sets() {
  std::vector<const char*> names;
  for (const CpuSet& set : CpuSets()) {
    if (SelectKernels(set.name, set.allowed).gemm_f16.tile != nullptr) names.push_back(set.name);
  }
  return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Float16);
INSTANTIATE_TEST_SUITE_P(On, Float16, testing::ValuesIn(Float16Sets()),
                         [](const auto& table) { return std::string(table.param); });

TEST(Precision, is_a_value_of_the_enum) {
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecision(options, kDeputyPrecisionBfloat16), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecision(options, kDeputyPrecisionFloat16), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecision(options, static_cast<DeputyPrecision>(3)),
            kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecision(nullptr, kDeputyPrecisionFloat32), kTfLiteError);
  TfLiteInterpreterOptionsDelete(options);
}

}  // namespace
}  // namespace deputy::precision_test
