// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates of many partitions, and of partitions in loops, in layers, in a replay and in a
// process of their own. Times are not measured: the sizes are such that quadratic work would take
// minutes.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bridges/layers/record/record_file.h"
#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::layers_large_test {
namespace {

constexpr int kNodes = 100000, kPartitions = 10000, kIterations = 5000;

// A chain in which one MUL by 1 follows nine ADDs of 0.5, so that a delegate of ADD has kPartitions
// partitions: y = x + 45000.
std::vector<uint8_t> LongChain() {
  ModelBuilder m;
  const int half = m.AddConstant<float>(kTfLiteFloat32, {1}, {0.5f}, "half");
  const int one = m.AddConstant<float>(kTfLiteFloat32, {1}, {1}, "one");
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  int y = x;
  for (int i = 0; i < kNodes; ++i) {
    const int from = std::exchange(y, m.AddTensor(kTfLiteFloat32, {1}, "y"));
    if (i % (kNodes / kPartitions) == kNodes / kPartitions - 1) {
      m.AddOp(kTfLiteBuiltinMul, {from, one}, {y}, schema::CreateMulOptions(m.fbb()));
    } else {
      m.AddOp(kTfLiteBuiltinAdd, {from, half}, {y}, schema::CreateAddOptions(m.fbb()));
    }
  }
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A scratch file, which the destructor removes.
class File {
 public:
  explicit File(const std::string& name) : path_(ScratchFile(name)) {}
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Counts from x to kIterations in a loop, whose body is a partition.
std::vector<uint8_t> Loop() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinWhile, {x}, {y}, schema::CreateWhileOptions(m.fbb(), 1, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("condition");
  const int c = m.AddTensor(kTfLiteFloat32, {1}, "c");
  const int limit = m.AddConstant<float>(kTfLiteFloat32, {1}, {kIterations}, "limit");
  const int less = m.AddTensor(kTfLiteBool, {1}, "less");
  m.AddOp(kTfLiteBuiltinLess, {c, limit}, {less});
  m.SetInputs({c});
  m.SetOutputs({less});
  m.AddSubgraph("body");
  const int b = m.AddTensor(kTfLiteFloat32, {1}, "b");
  const int one = m.AddConstant<float>(kTfLiteFloat32, {1}, {1}, "one");
  const int sum = m.AddTensor(kTfLiteFloat32, {1}, "sum");
  m.AddOp(kTfLiteBuiltinAdd, {b, one}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({b});
  m.SetOutputs({sum});
  return m.Finish();
}

// An interpreter under the policy TfLite with a delegate of ADD.
class Delegated {
 public:
  Delegated(const std::string& library, const Options& options, const std::vector<uint8_t>& model,
            bool is_checked = false)
      : delegate_(CreateExternal(BuildPath(library), options), &DeputyPluginDeleteDelegate),
        t_(model, [is_checked](TfLiteInterpreterOptions* settings) {
          DeputyInterpreterOptionsSetDelegatePolicy(settings, kDeputyPolicyTfLite);
          if (is_checked) Check(settings);
        }) {
    EXPECT_NE(delegate_, nullptr);
    if (delegate_ == nullptr) return;
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_.get(), delegate_.get()), kTfLiteOk)
        << t_.log();
    EXPECT_EQ(t_.Allocate(), kTfLiteOk) << t_.log();
  }

  int Partitions(int subgraph = 0) const {
    return DeputyInterpreterGetPartitionCount(t_.get(), subgraph);
  }
  size_t Findings() const { return DeputyInterpreterGetFindingCount(t_.get()); }
  float Run(float x) {
    t_.Set<float>(0, {x});
    EXPECT_EQ(t_.Invoke(), kTfLiteOk) << t_.log();
    return t_.Get<float>(0)[0];
  }

 private:
  // Enables the validation layer and verification.
  static void Check(TfLiteInterpreterOptions* settings) {
    DeputyValidationOptions validation = {};
    validation.struct_size = sizeof validation;
    validation.enabled = 1;
    DeputyInterpreterOptionsSetValidation(settings, &validation);
    DeputyVerification verification = {};
    verification.struct_size = sizeof verification;
    verification.mode = kDeputyVerifyAlways;
    DeputyInterpreterOptionsSetVerification(settings, &verification);
  }

  const Handle delegate_;
  TestInterpreter t_;
};

class LayersLarge : public QuietTest {
 protected:
  // Options of the plug-in `layers` with three layers.
  static Options Recorded(const File& record) {
    return {{"library", Library("elementwise")},
            {"options", "ops=0"},
            {"layers", "deadline=60s;fault=invoke:100000000:fail;record=" + record.path()}};
  }
  static Options Isolated(const std::string& plugin, const File& model,
                          const std::vector<uint8_t>& bytes) {
    WriteBytes(model.path(), bytes);
    return {{"library", Library(plugin)},
            {"options", plugin == "elementwise" ? "ops=0" : ""},
            {"model", model.path()},
            {"prepare_ms", "0"},  // sanitizers take long
            {"invoke_ms", "0"}};
  }
  static size_t Calls(const File& record) {
    record::Record read;
    EXPECT_EQ(record::ReadRecordFile(record.path(), &read), "");
    return read.calls.size();
  }
};

TEST_F(LayersLarge, ten_thousand_partitions_are_recorded_and_replayed) {
  const File record("large.rec");
  const auto run = [](const std::string& library, const Options& options) {
    Delegated large(library, options, LongChain());
    EXPECT_EQ(large.Partitions(), kPartitions);
    EXPECT_EQ(large.Run(1), 45001);
    EXPECT_EQ(large.Run(2), 45002);
  };
  run("libdeputy_layers.so", Recorded(record));
  // The preparation, the replacement; init, prepare, two invokes and free of each partition.
  EXPECT_EQ(Calls(record), size_t{2 + 5 * kPartitions});
  run("libdeputy_replay.so", {{"record", record.path()}});
}

TEST_F(LayersLarge, ten_thousand_partitions_run_in_a_process) {
  const File model("large.tflite");
  Delegated large("libdeputy_sandbox.so", Isolated("elementwise", model, LongChain()), LongChain());
  EXPECT_EQ(large.Partitions(), kPartitions);
  EXPECT_EQ(large.Run(1), 45001);
  EXPECT_EQ(large.Run(2), 45002);
}

// The plug-in `opaque` replaces each ADD by a call of its own. One call for several would merge
// neighbours into one partition.
TEST_F(LayersLarge, partitions_that_the_runtime_would_merge_run_in_a_process) {
  ModelBuilder m;
  int y = m.AddTensor(kTfLiteFloat32, {1}, "x");
  m.SetInputs({y});
  for (int i = 0; i < 6; ++i) {
    const int from = std::exchange(y, m.AddTensor(kTfLiteFloat32, {1}, "y"));
    const bool adds = i != 1;
    const auto op = adds ? kTfLiteBuiltinAdd : kTfLiteBuiltinMul;
    adds ? m.AddOp(op, {from, from}, {y}, schema::CreateAddOptions(m.fbb()))
         : m.AddOp(op, {from, from}, {y}, schema::CreateMulOptions(m.fbb()));
  }
  m.SetOutputs({y});
  const std::vector<uint8_t> chain = m.Finish();
  const File model("merged.tflite");
  Delegated merged("libdeputy_sandbox.so", Isolated("opaque", model, chain), chain);
  EXPECT_EQ(merged.Partitions(), 5);
  EXPECT_EQ(merged.Run(3), 576);  // ((3 + 3) ^ 2) * 16
}

TEST_F(LayersLarge, iterations_of_a_loop_are_recorded_and_replayed) {
  const File record("loop.rec");
  const auto run = [](const std::string& library, const Options& options) {
    Delegated loop(library, options, Loop());
    EXPECT_EQ(loop.Partitions(2), 1);
    EXPECT_EQ(loop.Run(0), kIterations);
  };
  run("libdeputy_layers.so", Recorded(record));
  EXPECT_GE(Calls(record), size_t{kIterations});
  run("libdeputy_replay.so", {{"record", record.path()}});
}

TEST_F(LayersLarge, iterations_of_a_loop_run_in_a_process) {
  const File model("loop.tflite");
  Delegated loop("libdeputy_sandbox.so", Isolated("elementwise", model, Loop()), Loop());
  EXPECT_EQ(loop.Partitions(2), 1);
  EXPECT_EQ(loop.Run(0), kIterations);
}

// The validation layer compares the whole graph at each call, so that the graph is small.
TEST_F(LayersLarge, iterations_of_a_loop_pass_five_layers) {
  const File record("five.rec");
  Delegated loop("libdeputy_layers.so", Recorded(record), Loop(), true);
  EXPECT_EQ(loop.Partitions(2), 1);
  EXPECT_EQ(loop.Run(0), kIterations);
  EXPECT_EQ(loop.Findings(), 0u);
}

}  // namespace
}  // namespace deputy::layers_large_test
