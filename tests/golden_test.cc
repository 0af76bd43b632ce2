// SPDX-License-Identifier: Apache-2.0
//
// Every operator against what the real TensorFlow Lite answered (tests/data/golden), in both
// arithmetic modes, with each table of CPU kernels that this machine can run, with 1 and 3 threads;
// and every claim of the kernels against the rows that prove it. The rows come from tests/golden;
// see docs/golden.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/kernel_api/op_def.h"
#include "kernels/cpu/cpu.h"
#include "kernels/registry.h"
#include "tests/golden_compare.h"
#include "tests/golden_reader.h"
#include "tests/paths.h"

namespace deputy::golden {
namespace {

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(TestDataPath("golden"))) {
    if (entry.path().extension() == ".golden") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Row> Rows(const std::string& path) {
  std::vector<Row> rows;
  std::string error;
  EXPECT_TRUE(ReadGolden(path, &rows, &error)) << error;
  return rows;
}

// Refusals are expected here by the hundred: their reports would drown the failures.
void Discard(void*, const char*, va_list) {}

// A golden file, and the name of a table of CPU kernels.
using Parameter = std::tuple<std::string, std::string>;

class Golden : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    const std::string& table = std::get<1>(GetParam());
    const CpuKernels* kernels = FindCpu(table.c_str());
    if (kernels == nullptr) GTEST_SKIP() << "this machine cannot run the table " << table;
    OverrideCpu(kernels);
    DeputySetDefaultReporter(Discard, nullptr);
  }
  void TearDown() override {
    DeputySetDefaultReporter(nullptr, nullptr);
    OverrideCpu(nullptr);
  }
  std::vector<Row> FileRows() { return Rows(std::get<0>(GetParam())); }

  // Runs every row of the file in one mode; one failure per row that disagrees.
  void CheckRows(DeputyArithmetic arithmetic) {
    for (const Row& row : FileRows()) {
      if (arithmetic == kDeputyArithmeticDefault && !row.outputs.empty() && row.outputs[0].hashed &&
          row.outputs[0].rule == Rule::kSteps) {
        continue;  // Hashes say nothing about answers that are one step away.
      }
      const Result ours = RunRow(row, arithmetic, 1);
      EXPECT_EQ(Judge(row, ours, arithmetic), "")
          << row.op << " v" << row.version << " " << TfLiteTypeGetName(row.type) << " " << row.name;
    }
  }
};

TEST_P(Golden, agrees_with_tflite_in_default_arithmetic) { CheckRows(kDeputyArithmeticDefault); }

TEST_P(Golden, agrees_with_tflite_in_reference_arithmetic) {
  CheckRows(kDeputyArithmeticReference);
}

TEST_P(Golden, answers_the_same_bytes_with_three_threads) {
  for (const Row& row : FileRows()) {
    if (row.outputs.empty()) continue;
    const Result one = RunRow(row, kDeputyArithmeticDefault, 1);
    const Result three = RunRow(row, kDeputyArithmeticDefault, 3);
    ASSERT_EQ(one.outputs.size(), three.outputs.size()) << row.name;
    for (size_t i = 0; i < one.outputs.size(); ++i) {
      EXPECT_TRUE(one.outputs[i].data == three.outputs[i].data) << row.op << " " << row.name;
    }
  }
}

std::string ParameterName(const testing::TestParamInfo<Parameter>& info) {
  const auto& [file, table] = info.param;
  return std::filesystem::path(file).stem().string() + "_on_" + table;
}

INSTANTIATE_TEST_SUITE_P(Operators, Golden,
                         testing::Combine(testing::ValuesIn(GoldenFiles()),
                                          testing::Values("reference", "generic", "avx2",
                                                          "avx512")),
                         ParameterName);

// (operator, version, type) -> the tags of all rows that TensorFlow Lite answered.
std::map<std::tuple<std::string, int, TfLiteType>, int> ProvenClaims() {
  std::map<std::tuple<std::string, int, TfLiteType>, int> proven;
  for (const std::string& path : GoldenFiles()) {
    for (const Row& row : Rows(path)) {
      if (!row.outputs.empty()) proven[{row.op, row.version, row.type}] |= row.tags;
    }
  }
  return proven;
}

// The operators that have a kernel; the others only parse options for somebody else's.
std::vector<const OpDef*> Builtins() {
  std::vector<const OpDef*> ops;
  for (const auto family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.invoke != nullptr && op.code != kTfLiteBuiltinCustom) ops.push_back(&op);
    }
  }
  return ops;
}

bool HasZeroPoint(TfLiteType type) { return type == kTfLiteInt8 || type == kTfLiteUInt8; }

std::string MissingTags(int tags, TfLiteType type) {
  std::string missing;
  if ((tags & kOrdinary) == 0) missing += " ordinary";
  if ((tags & kOdd) == 0) missing += " odd";
  if ((tags & kSmall) == 0) missing += " small";
  if (HasZeroPoint(type) && (tags & kZeroPoint) == 0) missing += " zero-point";
  return missing;
}

TEST(GoldenClaims, every_claimed_operator_version_and_type_has_golden_rows) {
  const auto proven = ProvenClaims();
  for (const OpDef* op : Builtins()) {
    EXPECT_NE(op->types, 0u) << op->name << " claims no type";
    for (int type = 0; type < 32; ++type) {
      if ((op->types & TypeBit(static_cast<TfLiteType>(type))) == 0) continue;
      for (int version = op->min_version; version <= op->max_version; ++version) {
        const auto found = proven.find({op->name, version, static_cast<TfLiteType>(type)});
        const int tags = found == proven.end() ? 0 : found->second;
        EXPECT_EQ(MissingTags(tags, static_cast<TfLiteType>(type)), "")
            << op->name << " v" << version << " "
            << TfLiteTypeGetName(static_cast<TfLiteType>(type));
      }
    }
  }
}

// The other direction, for the eleven operators that the first release promises.
TEST(GoldenClaims, every_version_that_tflite_answers_is_claimed) {
  std::map<std::string, const OpDef*> ops;
  for (const OpDef* op : Builtins()) ops[op->name] = op;
  for (const auto& [claim, tags] : ProvenClaims()) {
    const auto& [name, version, type] = claim;
    if (tags == 0) continue;
    ASSERT_TRUE(ops.contains(name)) << name;
    EXPECT_LE(ops[name]->min_version, version) << name;
    EXPECT_GE(ops[name]->max_version, version) << name;
    EXPECT_NE(ops[name]->types & TypeBit(type), 0u) << name << " " << TfLiteTypeGetName(type);
  }
}

// A row whose one output TensorFlow Lite answered as {reference} and {optimised}.
Row RowOf(Rule rule, TfLiteType type, std::vector<uint8_t> reference,
          std::vector<uint8_t> optimised) {
  Row row{};
  row.steps = 1;
  row.factor = 1;
  Output output{};
  output.rule = rule;
  output.type = type;
  output.dims = {static_cast<int>(reference.size() / (type == kTfLiteFloat32 ? 4 : 1))};
  output.reference = std::move(reference);
  output.optimised = std::move(optimised);
  row.outputs.push_back(output);
  return row;
}

bool Agrees(const Row& row, std::vector<uint8_t> data, DeputyArithmetic arithmetic) {
  Result ours;
  ours.outputs.push_back({row.outputs[0].type, row.outputs[0].dims, std::move(data)});
  return Judge(row, ours, arithmetic).empty();
}

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return std::vector<uint8_t>(bytes, bytes + 4 * values.size());
}

TEST(GoldenCompare, lets_quantised_answers_be_one_step_away_in_default_mode_only) {
  const Row row = RowOf(Rule::kSteps, kTfLiteInt8, {10, 20}, {10, 22});
  EXPECT_TRUE(Agrees(row, {10, 20}, kDeputyArithmeticReference));
  EXPECT_FALSE(Agrees(row, {10, 22}, kDeputyArithmeticReference));
  EXPECT_TRUE(Agrees(row, {11, 23}, kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, {10, 24}, kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, {12, 20}, kDeputyArithmeticDefault));
}

TEST(GoldenCompare, bounds_floats_by_element_or_by_the_greatest_magnitude) {
  const auto golden = Floats({1000, 0.001f});
  const Row element = RowOf(Rule::kElement, kTfLiteFloat32, golden, golden);
  EXPECT_TRUE(Agrees(element, Floats({1000.009f, 0.0010009f}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(element, Floats({1000.02f, 0.001f}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(element, Floats({1000, 0.0011f}), kDeputyArithmeticDefault));
  const Row sum = RowOf(Rule::kSum, kTfLiteFloat32, golden, golden);
  EXPECT_TRUE(Agrees(sum, Floats({1000, 0.0109f}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(sum, Floats({1000, 0.0112f}), kDeputyArithmeticDefault));
}

TEST(GoldenCompare, wants_nan_and_infinity_in_the_same_places) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto golden = Floats({inf, std::nanf(""), 1});
  const Row row = RowOf(Rule::kSum, kTfLiteFloat32, golden, golden);
  EXPECT_TRUE(Agrees(row, Floats({inf, -std::nanf(""), 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({-inf, std::nanf(""), 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({3e38f, std::nanf(""), 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({inf, 0, 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({inf, std::nanf(""), std::nanf("")}), kDeputyArithmeticDefault));
}

TEST(GoldenCompare, wants_refusals_refused_no_later_than_tflite) {
  Row row{};
  row.reference = row.optimised = Outcome::kRefusedAllocate;
  Result ours;
  EXPECT_NE(Judge(row, ours, kDeputyArithmeticDefault), "");  // answered
  ours.outcome = Outcome::kRefusedInvoke;
  EXPECT_NE(Judge(row, ours, kDeputyArithmeticDefault), "");
  ours.outcome = Outcome::kRefusedCreate;
  EXPECT_EQ(Judge(row, ours, kDeputyArithmeticDefault), "");
  Row answered = RowOf(Rule::kEqual, kTfLiteInt8, {1}, {1});
  EXPECT_NE(Judge(answered, ours, kDeputyArithmeticDefault), "");
  answered.lenient = true;
  EXPECT_EQ(Judge(answered, ours, kDeputyArithmeticDefault), "");
}

TEST(GoldenFiles, refuses_damaged_files) {
  const std::string path = BuildPath("tests/damaged.golden");
  std::vector<Row> rows;
  std::string error;
  EXPECT_FALSE(ReadGolden(path + ".absent", &rows, &error));
  EXPECT_THAT(error, testing::HasSubstr("cannot be opened"));
  std::filesystem::copy_file(GoldenFiles().front(), path,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_FALSE(ReadGolden(path, &rows, &error));
  EXPECT_THAT(error, testing::HasSubstr("ends early"));
}

}  // namespace
}  // namespace deputy::golden
