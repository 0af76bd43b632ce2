// SPDX-License-Identifier: Apache-2.0
//
// Tests each option of the NPU stub with its default and at least one other value: the calls of the
// device, the number of partitions, the files written, the statuses of an inference and of a
// resize, the partitions' texts, and the profiler's events. The device is a library that records
// its calls (tests/plugins/npu_recorder.c).
#include "npu_stub/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/paths.h"

namespace deputy::npu_options_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Observed effects of a delegate with given options on a model of three partitions of 1, 2 and 1
// nodes.
struct Seen {
  std::vector<std::string> calls;  // calls that the device received
  int partitions = 0;
  TfLiteStatus invoke = kTfLiteError;
  TfLiteStatus resize = kTfLiteError;
};

class NpuOptionsTest : public testing::Test {
 protected:
  NpuOptionsTest()
      : folder_(testing::TempDir() + "npu_options_" + std::to_string(getpid())),
        log_(folder_ + "/log") {
    std::filesystem::create_directories(folder_);
    setenv("NPU_RECORDER_LOG", log_.c_str(), 1);
  }
  ~NpuOptionsTest() override {
    unsetenv("NPU_RECORDER_LOG");
    std::filesystem::remove_all(folder_);
  }

  std::vector<std::string> TakeLog() const {
    std::vector<std::string> lines;
    std::ifstream file(log_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    std::filesystem::remove(log_);
    return lines;
  }

  Seen Use(NpuOptionTexts options, bool recorded = true) const {
    if (recorded) {
      options.emplace_back("device_library", BuildPath("tests/plugins/libnpu_recorder.so"));
    }
    const NpuTestDelegate npu(options);
    EXPECT_NE(npu.get(), nullptr) << npu.error();
    Seen seen;
    {
      TestInterpreter t(MixedChain(6, {0, 2, 3, 5}));
      EXPECT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      seen.partitions = static_cast<int>(DelegateNodes(t).size());
      FillInputs(&t);
      seen.invoke = t.Invoke();
      EXPECT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
      seen.resize = t.Allocate();
    }
    seen.calls = TakeLog();
    return seen;
  }

  const std::string folder_, log_;
};

TEST_F(NpuOptionsTest, defaults) {
  const Seen seen = Use({});
  EXPECT_EQ(seen.partitions, 3);
  EXPECT_EQ(seen.invoke, kTfLiteOk);
  EXPECT_EQ(seen.resize, kTfLiteOk);
  EXPECT_THAT(seen.calls, ElementsAre("open ", "load 3", "load 3", "load 3", "run 1000", "run 1000",
                                      "run 1000", "load 3", "load 3", "load 3"));
}

TEST_F(NpuOptionsTest, device_library) {
  EXPECT_THAT(Use({}, true).calls, Contains("run 1000"));
  EXPECT_THAT(Use({}, false).calls, IsEmpty());
}

TEST_F(NpuOptionsTest, time_limit_ms) {
  for (const char* value : {"1", "77", "3600000"}) {
    const std::vector<std::string> calls =
        Use({{"time_limit_ms", value}, {"watchdog", "false"}}).calls;
    EXPECT_THAT(calls, Contains(std::string("run ") + value).Times(3));
    EXPECT_THAT(calls, Not(Contains("run 1000")));
  }
}

TEST_F(NpuOptionsTest, an_applied_delegate_uses_a_new_time_limit) {
  DeputyPlugin* const plugin = DeputyPluginLoad(BuildPath("libdeputy_npu_stub.so").c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  const std::string device = BuildPath("tests/plugins/libnpu_recorder.so");
  const char *library = "device_library", *limit = "time_limit_ms", *frequency = "frequency";
  const char *path = device.c_str(), *valid = "77", *invalid = "0";
  TfLiteDelegate* const delegate = DeputyPluginCreateDelegate(plugin, &library, &path, 1);
  ASSERT_NE(delegate, nullptr) << DeputyLastError();
  {
    TestInterpreter t(MixedChain(2, {0, 1}));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    FillInputs(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(DeputyPluginSetDelegateOptions(delegate, &limit, &valid, 1), kTfLiteOk)
        << DeputyLastError();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(DeputyPluginSetDelegateOptions(delegate, &limit, &invalid, 1), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), testing::HasSubstr("expected a whole number from 1 to 3600000"));
    EXPECT_EQ(DeputyPluginSetDelegateOptions(delegate, &frequency, &valid, 1), kTfLiteError);
    EXPECT_THAT(DeputyLastError(), testing::HasSubstr("options that can change: 'time_limit_ms'"));
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    // The partition stays loaded.
    EXPECT_THAT(TakeLog(), ElementsAre("open ", "load 3", "run 1000", "run 77", "run 77"));
  }
  DeputyPluginDeleteDelegate(delegate);
  DeputyPluginRelease(plugin);
}

// With a device thread the calls are the same; npu_watchdog_test counts the threads.
TEST_F(NpuOptionsTest, watchdog) {
  for (const char* value : {"true", "false"}) {
    const Seen seen = Use({{"watchdog", value}});
    EXPECT_EQ(seen.invoke, kTfLiteOk);
    EXPECT_THAT(seen.calls, Contains("run 1000").Times(3));
  }
}

TEST_F(NpuOptionsTest, frequency) {
  // Each of three partitions is loaded, and again after the resize.
  for (const char* value : {"1", "2", "4"}) {
    EXPECT_THAT(Use({{"frequency", value}}).calls, Contains(std::string("load ") + value).Times(6));
  }
}

TEST_F(NpuOptionsTest, faults) {
  const Seen run = Use({{"faults", "run"}});
  EXPECT_THAT(run.calls, Contains("open run"));
  EXPECT_EQ(run.invoke, kTfLiteError);
  const Seen wrong = Use({{"faults", "wrong+absent"}});
  EXPECT_THAT(wrong.calls, ElementsAre("open wrong+absent"));
  EXPECT_EQ(wrong.partitions, 0);
}

TEST_F(NpuOptionsTest, resize) {
  EXPECT_EQ(Use({{"resize", "refuse"}}).resize, kTfLiteError);
  EXPECT_EQ(Use({{"resize", "redelegate"}}).resize, kTfLiteOk);
}

TEST_F(NpuOptionsTest, max_partitions_and_min_nodes) {
  for (const auto& [options, partitions] :
       std::vector<std::pair<NpuOptionTexts, int>>{{{{"max_partitions", "0"}}, 3},
                                                   {{{"max_partitions", "1"}}, 1},
                                                   {{{"max_partitions", "2"}}, 2},
                                                   {{{"min_nodes", "1"}}, 3},
                                                   {{{"min_nodes", "2"}}, 1},
                                                   {{{"min_nodes", "3"}}, 0}}) {
    EXPECT_EQ(Use(options).partitions, partitions) << options[0].first << options[0].second;
  }
}

TEST_F(NpuOptionsTest, cache_dir) {
  const auto files = [](const std::string& path) {
    std::error_code error;
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  };
  const std::string one = folder_ + "/one", two = folder_ + "/two";
  Use({{"cache_dir", one}});
  EXPECT_GT(files(one), 0U);
  EXPECT_EQ(files(two), 0U);
  Use({{"cache_dir", two}});
  EXPECT_EQ(files(two), files(one));
  Use({{"cache_dir", ""}});
  EXPECT_EQ(files(folder_), 0U);
}

// The delegate is loaded as a library, which exports the description.
TEST_F(NpuOptionsTest, describe) {
  DeputyPlugin* plugin = DeputyPluginLoad(BuildPath("libdeputy_npu_stub.so").c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  for (const char* value : {"false", "true"}) {
    const char* const key = "describe";
    TfLiteDelegate* delegate = DeputyPluginCreateDelegate(plugin, &key, &value, 1);
    int texts = 0;
    {
      TestInterpreter t(ConvModel());
      EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
      const auto count = [](void* to, int32_t, const char*, const char*) {
        ++*static_cast<int*>(to);
      };
      EXPECT_EQ(DeputyPluginDescribePartitions(delegate, count, &texts), kTfLiteOk);
    }
    EXPECT_EQ(texts, std::string(value) == "true" ? 2 : 0);
    DeputyPluginDeleteDelegate(delegate);
  }
  DeputyPluginRelease(plugin);
}

// Without the option "profiling" the partition is one event. With it each operation is an event of
// the node from which it was made, and layout conversions are events of the partition.
TEST_F(NpuOptionsTest, profiling) {
  DeputyPlugin* plugin = DeputyPluginLoad(BuildPath("libdeputy_npu_stub.so").c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  for (const char* value : {"false", "true"}) {
    const char* const key = "profiling";
    TfLiteDelegate* delegate = DeputyPluginCreateDelegate(plugin, &key, &value, 1);
    std::vector<std::string> events;
    {
      TestInterpreter t(ConvModel());
      EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      FillInputs(&t);
      const auto add = [](void* to, const DeputyOpEvent* event) {
        if (event->delegate_node >= 0) {
          EXPECT_GE(event->begin_ns, event->node_begin_ns);
          EXPECT_LE(event->begin_ns + event->duration_ns,
                    event->node_begin_ns + event->node_duration_ns);
        }
        static_cast<std::vector<std::string>*>(to)->push_back(std::string(event->detail) + " " +
                                                              event->operator_name + " " +
                                                              std::to_string(event->node_index));
      };
      DeputyInterpreterSetProfileCallback(t.get(), add, &events);
      EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    }
    if (std::string(value) == "false") {
      EXPECT_THAT(events, ElementsAre(" NpuGraph0 6"));
    } else {
      EXPECT_THAT(events, ElementsAre("TRANSPOSE NpuGraph0 6", "CONV CONV_2D 0", "UNARY CONV_2D 0",
                                      "POOL MAX_POOL_2D 1", "CONV CONV_2D 2",
                                      "TRANSPOSE NpuGraph0 6", "RESHAPE RESHAPE 3",
                                      "RESHAPE FULLY_CONNECTED 4", "MATMUL FULLY_CONNECTED 4",
                                      "RESHAPE FULLY_CONNECTED 4", "SOFTMAX SOFTMAX 5"));
    }
    DeputyPluginDeleteDelegate(delegate);
  }
  DeputyPluginRelease(plugin);
}

TEST_F(NpuOptionsTest, every_option_has_a_test) {
  std::set<std::string> names;
  for (const DeputyPluginOption& option : kNpuOptions) names.insert(option.name);
  EXPECT_THAT(names, ElementsAre("cache_dir", "describe", "device_library", "faults", "frequency",
                                 "max_partitions", "min_nodes", "profiling", "resize",
                                 "time_limit_ms", "watchdog"));
}

}  // namespace
}  // namespace deputy::npu_options_test
