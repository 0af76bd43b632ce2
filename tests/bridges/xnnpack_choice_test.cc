// SPDX-License-Identifier: Apache-2.0
//
// Tests which delegate the C API's XNNPACK functions create: one that claims no node and states
// why, or, on request, that of the plug-in "xnnpack".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "c_api/include/deputy.h"
#include "c_api/include/nnapi_delegate_c_api.h"
#include "c_api/include/xnnpack_delegate.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::xnnpack_choice_test {
namespace {

using testing::HasSubstr;
using Handle = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

constexpr int kNodes = 16;  // of the model below

// An interpreter of the digits model with one delegate.
struct Applied {
  explicit Applied(Handle delegate_to_apply)
      : delegate(std::move(delegate_to_apply)),
        interpreter(ReadBytes(SourcePath("examples/digits/digits_float.tflite"))) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter.get(), delegate.get()),
              kTfLiteOk)
        << interpreter.log();
  }
  DeputyDelegateInfo info() const {
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(DeputyInterpreterGetDelegateInfo(interpreter.get(), 0, &info), kTfLiteOk);
    return info;
  }
  DeputyNodeSupport support(int node) const {
    DeputyNodeSupport support = {};
    support.struct_size = sizeof support;
    EXPECT_EQ(DeputyInterpreterGetNodeSupport(interpreter.get(), 0, node, 0, &support), kTfLiteOk);
    return support;
  }
  Handle delegate;
  TestInterpreter interpreter;
};

class XnnpackChoice : public testing::Test {
 protected:
  XnnpackChoice() : path_("DEPUTY_PLUGIN_PATH", Plugin().c_str()) {
    DeputySetDefaultReporter(
        [](void* text, const char* format, va_list arguments) {
          char line[500];
          std::vsnprintf(line, sizeof line, format, arguments);
          static_cast<std::string*>(text)->append(line);
        },
        &reported_);
  }
  ~XnnpackChoice() override { DeputySetDefaultReporter(nullptr, nullptr); }
  static std::string Plugin() { return BuildPath("libdeputy_xnnpack.so"); }
  static bool IsBuilt() { return std::filesystem::exists(Plugin()); }
  static Handle Create(const TfLiteXNNPackDelegateOptions* options = nullptr) {
    return {TfLiteXNNPackDelegateCreate(options), &TfLiteXNNPackDelegateDelete};
  }

  ScopedEnvironment path_;
  std::string reported_;
};

TEST_F(XnnpackChoice, by_default_claims_no_node_and_states_why) {
  for (const char* value : {static_cast<const char*>(nullptr), "", "none"}) {
    const ScopedEnvironment choice("DEPUTY_XNNPACK", value);
    const Applied applied(Create());
    EXPECT_STREQ(applied.info().name, "TfLiteXNNPackDelegate");
    EXPECT_NE(applied.info().applied, 0);
    EXPECT_EQ(applied.info().node_count, 0);
    for (int node = 0; node < kNodes; ++node) {
      EXPECT_STREQ(applied.support(node).reason_name, "OTHER");
      EXPECT_THAT(applied.support(node).text, HasSubstr("Deputy's kernels are faster"));
    }
  }
  EXPECT_EQ(reported_, "");
}

TEST_F(XnnpackChoice, nnapi_without_a_library_states_why) {
  const ScopedEnvironment library("DEPUTY_NNAPI_LIBRARY", nullptr);
  const Applied applied(Handle(TfLiteNnapiDelegateCreate(nullptr), &TfLiteNnapiDelegateDelete));
  EXPECT_STREQ(applied.info().name, "TfLiteNnapiDelegate");
  EXPECT_EQ(applied.info().node_count, 0);
  EXPECT_THAT(applied.support(0).text, HasSubstr("DEPUTY_NNAPI_LIBRARY names no"));
}

TEST_F(XnnpackChoice, nnapi_that_cannot_be_loaded_states_why) {
  const ScopedEnvironment library("DEPUTY_NNAPI_LIBRARY", "/nowhere/libneuralnetworks.so");
  const Applied applied(Handle(TfLiteNnapiDelegateCreate(nullptr), &TfLiteNnapiDelegateDelete));
  EXPECT_STREQ(applied.info().name, "TfLiteNnapiDelegate");
  EXPECT_THAT(applied.support(0).text, HasSubstr("'nnapi' or its NNAPI library cannot be loaded"));
}

TEST_F(XnnpackChoice, bridge_of_the_environment_claims_nodes) {
  if (!IsBuilt()) GTEST_SKIP() << "Deputy is built without XNNPACK";
  const ScopedEnvironment choice("DEPUTY_XNNPACK", "bridge");
  TfLiteXNNPackDelegateOptions options = {};
  options.num_threads = 2;
  const Applied applied(Create(&options));
  EXPECT_STREQ(applied.info().name, "xnnpack");
  EXPECT_EQ(applied.info().node_count, kNodes);
  EXPECT_EQ(TfLiteXNNPackDelegateGetOptions(applied.delegate.get()), nullptr);
  EXPECT_EQ(TfLiteXNNPackDelegateGetFlags(applied.delegate.get()), 0);
  EXPECT_EQ(reported_, "");
}

// Returns the value with which the delegate's option "num_threads" was created.
std::string ThreadsOf(TfLiteDelegate* delegate) {
  std::string threads;
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report;
  EXPECT_EQ(DeputyPluginReportDelegate(
                delegate, &report,
                [](void* text, const DeputyOptionUse* use) {
                  if (std::string(use->name) == "num_threads") {
                    *static_cast<std::string*>(text) = use->value;
                  }
                },
                &threads),
            kTfLiteOk);
  return threads;
}

TEST_F(XnnpackChoice, bridge_by_a_call_gets_its_threads) {
  if (!IsBuilt()) GTEST_SKIP() << "Deputy is built without XNNPACK";
  const ScopedEnvironment choice("DEPUTY_XNNPACK", nullptr);
  const Handle two(DeputyXnnpackDelegateCreate(2), &DeputyPluginDeleteDelegate);
  ASSERT_NE(two, nullptr) << reported_;
  EXPECT_EQ(ThreadsOf(two.get()), "2");
  Handle one(DeputyXnnpackDelegateCreate(0), &TfLiteXNNPackDelegateDelete);
  ASSERT_NE(one, nullptr) << reported_;
  EXPECT_EQ(ThreadsOf(one.get()), "1");
  EXPECT_EQ(Applied(std::move(one)).info().node_count, kNodes);
}

TEST_F(XnnpackChoice, unknown_values_and_a_missing_plugin_are_reported) {
  {
    const ScopedEnvironment choice("DEPUTY_XNNPACK", "brigde");
    EXPECT_EQ(Applied(Create()).info().node_count, 0);
    EXPECT_THAT(reported_, HasSubstr("DEPUTY_XNNPACK: expected none or bridge, found 'brigde'"));
  }
  const ScopedEnvironment choice("DEPUTY_XNNPACK", "bridge");
  const ScopedEnvironment nowhere("DEPUTY_PLUGIN_PATH", "/nowhere");
  reported_.clear();
  EXPECT_EQ(DeputyXnnpackDelegateCreate(1), nullptr);
  EXPECT_THAT(reported_, HasSubstr("xnnpack"));
  EXPECT_EQ(Applied(Create()).info().node_count, 0);
}

}  // namespace
}  // namespace deputy::xnnpack_choice_test
