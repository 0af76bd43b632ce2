// SPDX-License-Identifier: Apache-2.0
//
// Tests the helpers that plug-ins use for their exported functions.
#include "c_api/include/deputy_plugin_entry.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace deputy::plugin_entry_test {
namespace {

using plugin_entry::Contain;
using plugin_entry::Create;
using plugin_entry::kContained;

std::string* Reported() {
  static std::string text;
  return &text;
}
void Report(const char* text) { *Reported() += std::string(text) + "\n"; }

class PluginEntry : public testing::Test {
 protected:
  void SetUp() override { Reported()->clear(); }
};

// Creates a delegate or fails, as the value of the option "do" says.
TfLiteDelegate* Make(const char* const* keys, const char* const* values, size_t count,
                     std::string* error) {
  static TfLiteDelegate delegate = {};
  const std::string value = count == 1 && std::strcmp(keys[0], "do") == 0 ? values[0] : "";
  if (value == "fail") *error = "no device";
  if (value == "throw") throw std::runtime_error("broken");
  if (value == "exhaust") throw std::bad_alloc();
  if (value == "throw an int") throw 7;
  return value == "work" ? &delegate : nullptr;
}

TfLiteDelegate* MakeWith(const char* value, plugin_entry::ReportError report) {
  const char* const keys[] = {"do"};
  const char* const values[] = {value};
  return Create<&Make>(keys, values, 1, report);
}

TEST_F(PluginEntry, create_returns_the_delegate_and_reports_nothing) {
  EXPECT_NE(MakeWith("work", &Report), nullptr);
  EXPECT_EQ(*Reported(), "");
}

TEST_F(PluginEntry, create_reports_errors_and_exceptions) {
  for (const char* value : {"fail", "throw", "exhaust", "throw an int"}) {
    EXPECT_EQ(MakeWith(value, &Report), nullptr) << value;
    EXPECT_EQ(MakeWith(value, nullptr), nullptr) << value;
  }
  EXPECT_EQ(*Reported(),
            "no device\nbroken\nstd::bad_alloc\n"
            "the plug-in threw an exception that is not a std::exception\n");
}

TfLiteStatus Status(int value, int* calls) {
  ++*calls;
  if (value == 2) throw std::runtime_error("broken");
  return value == 1 ? kTfLiteDelegateError : kTfLiteOk;
}
void Nothing(bool throws) {
  if (throws) throw 7;
}

TEST_F(PluginEntry, contained_functions_return_an_error_if_they_throw) {
  TfLiteStatus (*const contained)(int, int*) = kContained<&Status>;
  int calls = 0;
  EXPECT_EQ(contained(0, &calls), kTfLiteOk);
  EXPECT_EQ(contained(1, &calls), kTfLiteDelegateError);
  EXPECT_EQ(contained(2, &calls), kTfLiteError);
  EXPECT_EQ(calls, 3);
  TfLiteStatus (*const nothing)(bool) = kContained<&Nothing>;
  EXPECT_EQ(nothing(false), kTfLiteOk);
  EXPECT_EQ(nothing(true), kTfLiteError);
}

TEST_F(PluginEntry, a_result_may_have_a_text) {
  EXPECT_EQ(Contain(-1, &Report, [](std::string* error) { return *error = "note", 5; }), 5);
  EXPECT_EQ(*Reported(), "note\n");
}

TEST_F(PluginEntry, describes_a_plugin_of_this_abi) {
  const DeputyDelegatePlugin plugin = plugin_entry::Describe("name", "1.2", "vendor");
  EXPECT_EQ(plugin.struct_size, sizeof(DeputyDelegatePlugin));
  EXPECT_EQ(plugin.abi_version, DEPUTY_PLUGIN_ABI_VERSION);
  EXPECT_EQ(plugin.preferred_layout, kDeputyLayoutNhwc);
  EXPECT_STREQ(plugin.name, "name");
  EXPECT_STREQ(plugin.version, "1.2");
  EXPECT_STREQ(plugin.vendor, "vendor");
  EXPECT_EQ(plugin.create, nullptr);
  EXPECT_EQ(plugin.options, nullptr);
}

}  // namespace
}  // namespace deputy::plugin_entry_test
