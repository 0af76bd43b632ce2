// SPDX-License-Identifier: Apache-2.0
//
// Finding, making and loading the delegate libraries of tests/plugins.
#ifndef DEPUTY_TESTS_PLUGIN_SUPPORT_H_
#define DEPUTY_TESTS_PLUGIN_SUPPORT_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/external_delegate.h"

namespace deputy {

// Path of a library of tests/plugins, and of a file that a test makes.
std::string Library(const std::string& name);
std::string ScratchFile(const std::string& name);

std::vector<uint8_t> ReadBytes(const std::string& path);
std::string ReadText(const std::string& path);
void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes);

// Whether the process has the library loaded.
bool IsLoaded(const std::string& path);

using Options = std::vector<std::pair<std::string, std::string>>;

// Through TfLiteExternalDelegateCreate.
TfLiteDelegate* CreateExternal(const std::string& path, const Options& pairs = {});

using Handle = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// A delegate of a library of tests/plugins.
Handle External(const std::string& name, const Options& pairs = {});

// The reason why a library gives no delegate, without what every such text begins with; "" if it
// gives one.
std::string WhyNot(const std::string& path, const Options& pairs = {});

// Keeps what would go to standard error away from it.
class QuietTest : public testing::Test {
 protected:
  void SetUp() override {
    DeputySetDefaultReporter([](void*, const char*, va_list) {}, nullptr);
  }
  void TearDown() override { DeputySetDefaultReporter(nullptr, nullptr); }
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_PLUGIN_SUPPORT_H_
