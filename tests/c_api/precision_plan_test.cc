// SPDX-License-Identifier: Apache-2.0
//
// Precision of single nodes (deputy_precision.h), plans in files, and the search of `deputy
// precision`. The model has three layers; rounding the weights of the second one to 11 bits makes
// its output useless, because they cancel each other.
#include "c_api/include/deputy_precision.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace deputy::precision_plan_test {
namespace {

constexpr int kRows = 128, kDepth = 256, kSensitive = 1;

using Model = std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)>;
using Options = std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)>;

// Adds y = x W^T without bias; returns y.
int AddLayer(ModelBuilder* m, int x, const std::vector<float>& weights) {
  const int w = m->AddConstant(kTfLiteFloat32, {kDepth, kDepth}, weights);
  const int y = m->AddTensor(kTfLiteFloat32, {kRows, kDepth});
  m->AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
           schema::CreateFullyConnectedOptions(m->fbb()));
  return y;
}

std::vector<uint8_t> Layers() {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1, 1);
  constexpr size_t kValues = size_t{kDepth} * kDepth, kHalf = kDepth / 2;
  std::vector<float> first(kValues), second(kValues), third(kValues);
  for (float& value : first) value = uniform(random);
  for (float& value : third) value = uniform(random);
  // Columns k and k + kHalf of the first layer's output are equal in every precision. The second
  // layer subtracts them with weights that differ by less than their rounding error.
  std::copy_n(first.begin(), kValues / 2, first.begin() + kValues / 2);
  for (size_t i = 0; i < kValues; ++i) {
    second[i] = i % kDepth < kHalf ? 1000 + uniform(random) / 8 : -1000;
  }
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {kRows, kDepth}, "x");
  const int y = AddLayer(&m, AddLayer(&m, AddLayer(&m, x, first), second), third);
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Results of a model with three layers.
struct Found {
  std::vector<std::string> kinds;  // "bf16", "fp16" or "" for each layer
  std::vector<float> output;
};

class PrecisionPlan : public testing::Test {
 protected:
  PrecisionPlan()
      : bytes_(Layers()),
        model_(TfLiteModelCreate(bytes_.data(), bytes_.size()), &TfLiteModelDelete),
        options_(TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete) {}

  ~PrecisionPlan() override {
    for (const char* name : {"written", "part", "wrong"}) std::filesystem::remove(PathOf(name));
  }

  static std::string PathOf(const std::string& name) {
    return testing::TempDir() + std::to_string(getpid()) + "_" + name;
  }
  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  TfLiteStatus Set(int node, DeputyPrecision precision) {
    return DeputyInterpreterOptionsSetNodePrecision(options_.get(), 0, node, precision);
  }
  TfLiteStatus SetPlan(const std::string& path) {
    return DeputyInterpreterOptionsSetPrecisionPlan(options_.get(), model_.get(), path.c_str());
  }
  std::string WrittenPlan() {
    const std::string path = PathOf("written");
    EXPECT_EQ(
        DeputyInterpreterOptionsWritePrecisionPlan(options_.get(), model_.get(), path.c_str()),
        kTfLiteOk);
    return Read(path);
  }

  Found Run(uint32_t seed = 5) const {
    const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter(
        TfLiteInterpreterCreate(model_.get(), options_.get()), &TfLiteInterpreterDelete);
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter.get()), kTfLiteOk);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> input(size_t{kRows} * kDepth);
    for (float& value : input) value = uniform(random);
    TfLiteTensor* const x = TfLiteInterpreterGetInputTensor(interpreter.get(), 0);
    EXPECT_EQ(TfLiteTensorCopyFromBuffer(x, input.data(), input.size() * sizeof(float)), kTfLiteOk);
    EXPECT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
    Found found;
    for (int node = 0; node < 3; ++node) {
      const std::string name = NodeRunOf(interpreter.get(), node).implementation;
      const bool is_lower = name.ends_with("_bf16") || name.ends_with("_fp16");
      found.kinds.push_back(is_lower ? name.substr(name.size() - 4) : "");
    }
    found.output.resize(size_t{kRows} * kDepth);
    EXPECT_EQ(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0),
                                       found.output.data(), found.output.size() * sizeof(float)),
              kTfLiteOk);
    return found;
  }

  // Returns "fp16" or "bf16", which kDeputyPrecisionFloat16 selects on this CPU, or "".
  std::string LowerKind() const {
    const Options saved(TfLiteInterpreterOptionsCopy(options_.get()),
                        &TfLiteInterpreterOptionsDelete);
    DeputyInterpreterOptionsSetPrecision(options_.get(), kDeputyPrecisionFloat16);
    const std::string kind = Run().kinds[0];
    DeputyInterpreterOptionsSetPrecision(options_.get(), kDeputyPrecisionFloat32);
    return kind;
  }

  const std::vector<uint8_t> bytes_;
  const Model model_;
  const Options options_;
};

using Kinds = std::vector<std::string>;

// Largest difference, as a fraction of the largest magnitude in `expected`.
double ErrorOf(const std::vector<float>& found, const std::vector<float>& expected) {
  double largest = 0, scale = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double{found[i]} - expected[i]));
    scale = std::max(scale, std::abs(double{expected[i]}));
  }
  return largest / scale;
}

TEST_F(PrecisionPlan, a_node_has_the_precision_that_is_set_for_it) {
  const std::string lower = LowerKind();
  if (lower.empty()) GTEST_SKIP() << "this CPU has no products of 16 bits";
  const Found exact = Run();
  EXPECT_EQ(exact.kinds, (Kinds{"", "", ""}));
  ASSERT_EQ(Set(0, kDeputyPrecisionFloat16), kTfLiteOk);
  const Found one = Run();
  EXPECT_EQ(one.kinds, (Kinds{lower, "", ""}));
  EXPECT_NE(one.output, exact.output);
  EXPECT_LT(ErrorOf(one.output, exact.output), 0.02);
  ASSERT_EQ(DeputyInterpreterOptionsSetPrecision(options_.get(), kDeputyPrecisionFloat16),
            kTfLiteOk);
  ASSERT_EQ(Set(0, kDeputyPrecisionFloat32), kTfLiteOk);
  const Found others = Run();
  EXPECT_EQ(others.kinds, (Kinds{"", lower, lower}));
  EXPECT_GT(ErrorOf(others.output, exact.output), 0.05);
}

TEST_F(PrecisionPlan, results_do_not_depend_on_threads) {
  for (const int node : {0, 2}) ASSERT_EQ(Set(node, kDeputyPrecisionFloat16), kTfLiteOk);
  const Found one = Run();
  for (const int threads : {2, 5}) {
    TfLiteInterpreterOptionsSetNumThreads(options_.get(), threads);
    const Found more = Run();
    EXPECT_EQ(more.kinds, one.kinds);
    EXPECT_EQ(more.output, one.output) << threads << " threads";
  }
}

TEST_F(PrecisionPlan, reference_arithmetic_stays_exact) {
  DeputyInterpreterOptionsSetArithmetic(options_.get(), kDeputyArithmeticReference);
  ASSERT_EQ(Set(0, kDeputyPrecisionFloat16), kTfLiteOk);
  EXPECT_EQ(Run().kinds, (Kinds{"", "", ""}));
}

TEST_F(PrecisionPlan, is_written_and_read) {
  ASSERT_EQ(Set(2, kDeputyPrecisionBfloat16), kTfLiteOk);
  ASSERT_EQ(Set(0, kDeputyPrecisionFloat16), kTfLiteOk);
  ASSERT_EQ(Set(1, kDeputyPrecisionFloat32), kTfLiteOk);
  const std::string text = WrittenPlan();
  EXPECT_TRUE(std::regex_match(text, std::regex("deputy precision plan 1, model [0-9a-f]{32}\n"
                                                "0 0 fp16\n0 1 float32\n0 2 bf16\n")))
      << text;
  const Found expected = Run();
  // The plan's nodes replace those that are set; others stay.
  const std::string part = PathOf("part");
  Write(part, text.substr(0, text.find("0 1")));
  ASSERT_EQ(Set(0, kDeputyPrecisionFloat32), kTfLiteOk);
  ASSERT_EQ(SetPlan(part), kTfLiteOk) << DeputyLastError();
  EXPECT_EQ(WrittenPlan(), text);
  EXPECT_EQ(Run().output, expected.output);
}

TEST_F(PrecisionPlan, a_wrong_file_is_refused) {
  ASSERT_EQ(Set(1, kDeputyPrecisionBfloat16), kTfLiteOk);
  const std::string text = WrittenPlan();
  const std::string heading = text.substr(0, text.find('\n') + 1);
  std::string other = heading;
  char& digit = other[other.size() - 2];
  digit = digit == '0' ? '1' : '0';
  const std::string expected = ": expected 'SUBGRAPH NODE float32|bf16|fp16', found '";
  const std::pair<std::string, std::string> rows[] = {
      {"", "it is not a precision plan"},
      {"deputy precision plan 2, model 1\n", "it is not a precision plan"},
      {other, "it is for another model: expected"},
      {heading + "0 1 bf16\n0 3 bf16\n", "line 3: the model has no node '0 3 bf16'"},
      {heading + "1 0 bf16\n", "line 2: the model has no node '1 0 bf16'"},
      {heading + "0 1 fp17\n", "line 2" + expected + "0 1 fp17'"},
      {heading + "0 -1 fp16\n", "line 2" + expected + "0 -1 fp16'"},
      {heading + "0 4294967296 fp16\n", "line 2" + expected + "0 4294967296 fp16'"},
      {heading + "0 1\n", "line 2" + expected + "0 1'"},
      {heading + "0 1 fp16 \n", "line 2" + expected},
      {heading + "\n", "line 2" + expected + "'"},
      {heading + std::string("0 1 fp16\0", 9), "line 2" + expected},
      {heading + std::string(1000, '0'), "line 2" + expected},
      {heading + "-0 1 fp16\n", "line 2" + expected + "-0 1 fp16'"},
      {std::string((size_t{32} << 20) + 1, '\n'),
       "expected at most 33554432 bytes, found 33554433"}};
  const std::string path = PathOf("wrong");
  for (const auto& [wrong, reason] : rows) {
    Write(path, wrong);
    EXPECT_EQ(SetPlan(path), kTfLiteError);
    const std::string error = DeputyLastError();
    EXPECT_NE(error.find("Precision plan '" + path + "': "), std::string::npos) << error;
    EXPECT_NE(error.find(reason), std::string::npos) << error;
    EXPECT_EQ(WrittenPlan(), text);
  }
  EXPECT_EQ(SetPlan(PathOf("absent")), kTfLiteError);
  EXPECT_EQ(SetPlan(testing::TempDir()), kTfLiteError);
  // Opening a pipe would wait for a writer.
  const std::string pipe = PathOf("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(SetPlan(pipe), kTfLiteError);
  EXPECT_NE(std::string(DeputyLastError()).find("it is no regular file"), std::string::npos);
  EXPECT_EQ(DeputyInterpreterOptionsWritePrecisionPlan(options_.get(), model_.get(), pipe.c_str()),
            kTfLiteError);
  std::filesystem::remove(pipe);
  EXPECT_EQ(WrittenPlan(), text);
}

TEST_F(PrecisionPlan, lines_may_end_with_a_carriage_return) {
  ASSERT_EQ(Set(1, kDeputyPrecisionBfloat16), kTfLiteOk);
  const std::string text = WrittenPlan(), path = PathOf("carriage_returns");
  Write(path, std::regex_replace(text, std::regex("\n"), "\r\n"));
  ASSERT_EQ(Set(1, kDeputyPrecisionFloat32), kTfLiteOk);
  ASSERT_EQ(SetPlan(path), kTfLiteOk) << DeputyLastError();
  EXPECT_EQ(WrittenPlan(), text);
}

TEST_F(PrecisionPlan, wrong_arguments_are_refused) {
  TfLiteInterpreterOptions* const options = options_.get();
  const auto fp16 = kDeputyPrecisionFloat16;
  EXPECT_EQ(DeputyInterpreterOptionsSetNodePrecision(nullptr, 0, 0, fp16), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetNodePrecision(options, -1, 0, fp16), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetNodePrecision(options, 0, -1, fp16), kTfLiteError);
  EXPECT_EQ(
      DeputyInterpreterOptionsSetNodePrecision(options, 0, 0, static_cast<DeputyPrecision>(3)),
      kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecisionPlan(nullptr, model_.get(), "x"), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecisionPlan(options, nullptr, "x"), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPrecisionPlan(options, model_.get(), nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsWritePrecisionPlan(nullptr, model_.get(), "x"), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsWritePrecisionPlan(options, nullptr, "x"), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsWritePrecisionPlan(options, model_.get(), nullptr),
            kTfLiteError);
  EXPECT_EQ(
      DeputyInterpreterOptionsWritePrecisionPlan(options, model_.get(), testing::TempDir().c_str()),
      kTfLiteError);
  const std::string text = WrittenPlan();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  // A plan has nodes of the model only; interpreters ignore others.
  ASSERT_EQ(Set(3, fp16), kTfLiteOk);
  EXPECT_EQ(
      DeputyInterpreterOptionsWritePrecisionPlan(options, model_.get(), PathOf("written").c_str()),
      kTfLiteError);
  EXPECT_EQ(Run().kinds, (Kinds{"", "", ""}));
}

// ---- The command --------------------------------------------------------------------------------

class PrecisionCommand : public PrecisionPlan {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(BuildPath("deputy"))) GTEST_SKIP() << "there is no command";
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes_.data()),
               static_cast<std::streamsize>(bytes_.size()));
  }

  void TearDown() override {
    for (const std::string& path : {path_, plan_}) std::filesystem::remove(path);
  }

  // Runs a subcommand on the model; returns its exit status and output.
  std::pair<int, std::string> Deputy(const std::string& command, const std::string& arguments) {
    const std::string line =
        BuildPath("deputy") + " " + command + " " + path_ + " " + arguments + " 2>&1";
    FILE* const pipe = popen(line.c_str(), "r");
    std::string text;
    std::array<char, 4096> buffer;
    for (size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      text.append(buffer.data(), got);
    }
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
  }

  const std::string path_ = PathOf("layers.tflite"), plan_ = PathOf("plan");
};

TEST_F(PrecisionCommand, a_sensitive_layer_stays_in_float32) {
  const std::string lower = LowerKind();
  const std::string arguments = "--bound 5e-2 --inputs 6 --measure 200 -o " + plan_;
  if (lower.empty()) {
    const auto [status, text] = Deputy("precision", arguments);
    EXPECT_EQ(status, 1);
    EXPECT_NE(text.find("no node is faster in bf16 or fp16 on this CPU"), std::string::npos);
    GTEST_SKIP() << "this CPU has no products of 16 bits";
  }
  const auto [status, text] = Deputy("precision", arguments);
  ASSERT_EQ(status, 0) << text;
  EXPECT_NE(text.find("2 in " + lower), std::string::npos) << text;
  const std::string nodes = Read(plan_).substr(Read(plan_).find('\n') + 1);
  EXPECT_EQ(nodes, "0 0 " + lower + "\n0 2 " + lower + "\n");
  // Inputs of another generator are within the bound, too.
  const std::vector<float> exact = Run(71).output;
  ASSERT_EQ(SetPlan(plan_), kTfLiteOk) << DeputyLastError();
  const Found found = Run(71);
  EXPECT_EQ(found.kinds, (Kinds{lower, "", lower}));
  EXPECT_GT(ErrorOf(found.output, exact), 1e-5);
  EXPECT_LT(ErrorOf(found.output, exact), 5e-2);
  const auto [bench_status, bench] =
      Deputy("bench", "--max-secs 0.1 --runs 2 --precision-plan " + plan_);
  EXPECT_EQ(bench_status, 0) << bench;
  EXPECT_NE(bench.find(lower + " in 2 nodes"), std::string::npos) << bench;
}

TEST_F(PrecisionCommand, fails_if_all_nodes_stay_in_float32) {
  if (LowerKind().empty()) GTEST_SKIP() << "this CPU has no products of 16 bits";
  const auto [status, text] =
      Deputy("precision", "--bound 1e-7 --inputs 2 --measure 0 -o " + plan_);
  EXPECT_EQ(status, 1);
  EXPECT_NE(text.find("all nodes stay in float32"), std::string::npos) << text;
  EXPECT_FALSE(std::filesystem::exists(plan_));
}

TEST_F(PrecisionCommand, a_wrong_plan_or_option_is_a_usage_error) {
  Write(plan_, "not a plan\n");
  const auto [status, text] = Deputy("run", "--random --precision-plan " + plan_);
  EXPECT_EQ(status, 2);
  EXPECT_NE(text.find("it is not a precision plan"), std::string::npos) << text;
  for (const char* arguments :
       {"", "-o x --precision bf16", "-o x --precision-plan x", "-o x --reference",
        "-o x --delegate npu_stub", "-o x --inputs 1", "-o x --bound -1"}) {
    EXPECT_EQ(Deputy("precision", arguments).first, 2) << arguments;
  }
}

}  // namespace
}  // namespace deputy::precision_plan_test
