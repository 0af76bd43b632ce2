// SPDX-License-Identifier: Apache-2.0
//
// Tests tools/{command_line_flags,tool_params,logging}.h and tools/delegates/delegate_provider.h.
#include "tensorflow/lite/tools/delegates/delegate_provider.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/tools/command_line_flags.h"
#include "tensorflow/lite/tools/logging.h"
#include "tensorflow/lite/tools/tool_params.h"

namespace tflite {
namespace {

TEST(FlagsTest, values_are_parsed_and_removed) {
  std::int32_t count = 1;
  std::int64_t large = 2;
  float ratio = 0.5F;
  bool fast = false;
  std::string name = "none";
  std::string model;
  int position = 0;
  const std::vector<Flag> flags = {
      Flag::CreateFlag("count", &count, "a number"),
      Flag::CreateFlag("large", &large, "a large number"),
      Flag::CreateFlag("ratio", &ratio, "a ratio"),
      Flag::CreateFlag("fast", &fast, "fast", Flag::kRequired),
      Flag(
          "name",
          [&](const std::string& value, int at) {
            name = value;
            position = at;
          },
          name, "a name", Flag::kOptional),
      Flag::CreateFlag("model", &model, "the model", Flag::kPositional)};
  const char* argv[] = {"program",      "m.tflite",           "--other",
                        "--count=-7",   "--large=5000000000", "--fast=true",
                        "--ratio=0.25", "--name=a b"};
  int argc = 8;
  EXPECT_TRUE(Flags::Parse(&argc, argv, flags));
  EXPECT_EQ(argc, 2);
  EXPECT_STREQ(argv[1], "--other");
  EXPECT_EQ(model, "m.tflite");
  EXPECT_EQ(count, -7);
  EXPECT_EQ(large, 5000000000);
  EXPECT_EQ(ratio, 0.25F);
  EXPECT_TRUE(fast);
  EXPECT_EQ(name, "a b");
  EXPECT_EQ(position, 7);
}

TEST(FlagsTest, failures_are_printed) {
  std::int32_t count = 1;
  bool fast = false;
  const char* wrong[] = {"program", "--count=x"};
  int argc = 2;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(Flags::Parse(&argc, wrong, {Flag::CreateFlag("count", &count, "")}));
  const char* missing[] = {"program"};
  argc = 1;
  EXPECT_FALSE(
      Flags::Parse(&argc, missing, {Flag::CreateFlag("fast", &fast, "", Flag::kRequired)}));
  EXPECT_FALSE(
      Flags::Parse(&argc, missing, {Flag::CreateFlag("count", &count, "", Flag::kPositional)}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ERROR: Failed to parse flag 'count' against argv '--count=x'\n"
            "ERROR: Required flag not provided: fast\n"
            "ERROR: Too few command line arguments.\n");
  const char* help[] = {"program", "--help"};
  argc = 2;
  EXPECT_FALSE(Flags::Parse(&argc, help, {}));
}

TEST(FlagsTest, the_help_text_has_columns) {
  std::int32_t count = 3;
  bool fast = true;
  std::string model = "m";
  EXPECT_EQ(Flags::Usage("tool", {Flag::CreateFlag("fast", &fast, "Be fast"),
                                  Flag::CreateFlag("n", &count, "Times"),
                                  Flag::CreateFlag("model", &model, "File", Flag::kPositional)}),
            "usage: tool <model> <flags>\n"
            "Where:\n"
            "\tmodel      \tstring\trequired\tFile\n"
            "Flags:\n"
            "\t--fast=true\tbool\toptional\tBe fast\n"
            "\t--n=3      \tint32\toptional\tTimes\n");
  const char* argv[] = {"tool", "a", "b"};
  EXPECT_EQ(Flags::ArgsToString(3, argv), "a b");
}

TEST(ToolParamsTest, values_are_typed_and_merged) {
  tools::ToolParams params;
  params.AddParam("n", tools::ToolParam::Create<std::int32_t>(4));
  EXPECT_FALSE(params.HasValueSet<std::int32_t>("n"));
  params.Set<std::int32_t>("n", 5, 2);
  EXPECT_EQ(params.Get<std::int32_t>("n"), 5);
  EXPECT_EQ(params.GetPosition<std::int32_t>("n"), 2);
  tools::ToolParams more;
  more.AddParam("n", tools::ToolParam::Create<std::int32_t>(6, 9));
  more.AddParam("s", tools::ToolParam::Create<std::string>("text"));
  params.Merge(more);
  EXPECT_EQ(params.Get<std::int32_t>("n"), 5);
  EXPECT_EQ(params.Get<std::string>("s"), "text");
  params.Merge(more, true);
  EXPECT_EQ(params.Get<std::int32_t>("n"), 6);
  EXPECT_DEATH(params.Get<float>("n"), "FATAL: Type mismatch while accessing parameter.");
  EXPECT_DEATH(params.Get<float>("x"), "FATAL: x was not found.");
}

TfLiteDelegate test_delegate;

class TestProvider : public tools::DelegateProvider {
 public:
  TestProvider() { default_params_.AddParam("use_test", tools::ToolParam::Create<bool>(false)); }
  std::vector<Flag> CreateFlags(tools::ToolParams* params) const override {
    return {CreateFlag<bool>("use_test", params, "use the test's delegate")};
  }
  void LogParams(const tools::ToolParams& params, bool verbose) const override {
    LOG_TOOL_PARAM(params, bool, "use_test", "Use test", verbose);
  }
  tools::TfLiteDelegatePtr CreateTfLiteDelegate(const tools::ToolParams& params) const override {
    if (!params.Get<bool>("use_test")) return tools::CreateNullDelegate();
    return tools::TfLiteDelegatePtr(reinterpret_cast<TfLiteOpaqueDelegate*>(&test_delegate),
                                    [](TfLiteOpaqueDelegate*) {});
  }
  std::pair<tools::TfLiteDelegatePtr, int> CreateRankedTfLiteDelegate(
      const tools::ToolParams& params) const override {
    return {CreateTfLiteDelegate(params), params.GetPosition<bool>("use_test")};
  }
  std::string GetName() const override { return "test"; }
};
REGISTER_DELEGATE_PROVIDER(TestProvider)

TEST(DelegateProviderTest, a_flag_creates_the_delegate) {
  tools::ToolParams params;
  const tools::ProvidedDelegateList list(&params);
  ASSERT_EQ(list.providers().size(), 1U);
  list.AddAllDelegateParams();
  EXPECT_TRUE(list.CreateAllRankedDelegates().empty());
  std::vector<Flag> flags;
  list.AppendCmdlineFlags(flags);
  const char* argv[] = {"tool", "--use_test=true"};
  int argc = 2;
  ASSERT_TRUE(Flags::Parse(&argc, argv, flags));
  testing::internal::CaptureStdout();
  const auto delegates = list.CreateAllRankedDelegates();
  list.providers()[0]->LogParams(params, false);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "INFO: test delegate created.\nINFO: Use test: [1]\n");
  ASSERT_EQ(delegates.size(), 1U);
  EXPECT_EQ(delegates[0].rank, 1);
  list.RemoveCmdlineFlag(flags, "use_test");
  EXPECT_TRUE(flags.empty());
}

}  // namespace
}  // namespace tflite
