// SPDX-License-Identifier: Apache-2.0
//
// Compares every claim of the kernels with the golden rows that prove it, and tests how rows are
// read and judged. conformance_test runs the rows on every target. tests/golden writes the rows;
// see docs/golden.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/kernel_api/op_def.h"
#include "kernels/registry.h"
#include "tests/conformance/check.h"
#include "tests/conformance/golden_reader.h"
#include "tests/support/paths.h"

namespace deputy::golden::golden_test {
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

// Returns the tags of all rows that TensorFlow Lite computed, by (operator, version, type).
std::map<std::tuple<std::string, int, TfLiteType>, int> ProvenClaims() {
  std::map<std::tuple<std::string, int, TfLiteType>, int> proven;
  for (const std::string& path : GoldenFiles()) {
    for (const Row& row : Rows(path)) {
      if (!row.outputs.empty()) proven[{row.op, row.version, row.type}] |= row.tags;
    }
  }
  return proven;
}

// Returns the builtin operators that have a kernel; for the others Deputy only parses the options.
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

// Each operator, version and type that TensorFlow Lite computed in a golden row with tags must be
// claimed by a kernel.
TEST(GoldenClaims, every_version_that_tflite_supports_is_claimed) {
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

// Returns a row whose only output has `reference` and `optimised` as the results of TensorFlow
// Lite's resolvers.
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

// A target without a delegate; no model is run here.
const conformance::Target kCpu = {};

bool IsFine(const Row& row, const conformance::Result& found, DeputyArithmetic arithmetic) {
  return JudgeRow(row, found, kCpu, arithmetic).kind != conformance::Kind::kDiffers;
}

bool Agrees(const Row& row, std::vector<uint8_t> data, DeputyArithmetic arithmetic) {
  conformance::Result found;
  found.output_names = {"y"};
  found.passes = {{{row.outputs[0].type, row.outputs[0].dims, std::move(data)}}};
  return IsFine(row, found, arithmetic);
}

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return std::vector<uint8_t>(bytes, bytes + 4 * values.size());
}

TEST(GoldenCompare, quantised_outputs_may_differ_by_one_step_in_default_mode_only) {
  const Row row = RowOf(Rule::kSteps, kTfLiteInt8, {10, 20}, {10, 22});
  EXPECT_TRUE(Agrees(row, {10, 20}, kDeputyArithmeticReference));
  EXPECT_FALSE(Agrees(row, {10, 22}, kDeputyArithmeticReference));
  EXPECT_TRUE(Agrees(row, {11, 23}, kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, {10, 24}, kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, {12, 20}, kDeputyArithmeticDefault));
}

TEST(GoldenCompare, float_tolerance_is_per_element_or_by_max_magnitude) {
  const auto golden = Floats({1000, 0.001f});
  const Row element = RowOf(Rule::kElement, kTfLiteFloat32, golden, golden);
  EXPECT_TRUE(Agrees(element, Floats({1000.009f, 0.0010009f}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(element, Floats({1000.02f, 0.001f}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(element, Floats({1000, 0.0011f}), kDeputyArithmeticDefault));
  const Row sum = RowOf(Rule::kSum, kTfLiteFloat32, golden, golden);
  EXPECT_TRUE(Agrees(sum, Floats({1000, 0.0109f}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(sum, Floats({1000, 0.0112f}), kDeputyArithmeticDefault));
}

TEST(GoldenCompare, requires_nan_and_infinity_at_the_same_positions) {
  const float inf = std::numeric_limits<float>::infinity();
  const auto golden = Floats({inf, std::nanf(""), 1});
  const Row row = RowOf(Rule::kSum, kTfLiteFloat32, golden, golden);
  EXPECT_TRUE(Agrees(row, Floats({inf, -std::nanf(""), 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({-inf, std::nanf(""), 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({3e38f, std::nanf(""), 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({inf, 0, 1}), kDeputyArithmeticDefault));
  EXPECT_FALSE(Agrees(row, Floats({inf, std::nanf(""), std::nanf("")}), kDeputyArithmeticDefault));
}

TEST(GoldenCompare, requires_rejection_no_later_than_tflite) {
  Row row{};
  row.reference = row.optimised = Outcome::kRefusedAllocate;
  conformance::Result found;
  EXPECT_FALSE(
      IsFine(row, found, kDeputyArithmeticDefault));  // a result, where a refusal is expected
  found.outcome = Outcome::kRefusedInvoke;
  EXPECT_FALSE(IsFine(row, found, kDeputyArithmeticDefault));
  found.outcome = Outcome::kRefusedCreate;
  EXPECT_TRUE(IsFine(row, found, kDeputyArithmeticDefault));
  Row computed = RowOf(Rule::kEqual, kTfLiteInt8, {1}, {1});
  EXPECT_FALSE(IsFine(computed, found, kDeputyArithmeticDefault));
  computed.lenient = true;
  EXPECT_TRUE(IsFine(computed, found, kDeputyArithmeticDefault));
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
}  // namespace deputy::golden::golden_test
