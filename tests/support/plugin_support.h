// SPDX-License-Identifier: Apache-2.0
//
// Finds, creates and loads the delegate libraries of tests/plugins.
#ifndef DEPUTY_TESTS_SUPPORT_PLUGIN_SUPPORT_H_
#define DEPUTY_TESTS_SUPPORT_PLUGIN_SUPPORT_H_

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

// Returns the path of a library of tests/plugins.
std::string Library(const std::string& name);
std::string ScratchFile(const std::string& name);

std::vector<uint8_t> ReadBytes(const std::string& path);
std::string ReadText(const std::string& path);
void WriteBytes(const std::string& path, const std::vector<uint8_t>& bytes);

// Returns true if the process has the library loaded.
bool IsLoaded(const std::string& path);

using Options = std::vector<std::pair<std::string, std::string>>;

// Creates a delegate with TfLiteExternalDelegateCreate.
TfLiteDelegate* CreateExternal(const std::string& path, const Options& pairs = {});

using Handle = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// Creates a delegate of a library of tests/plugins.
Handle External(const std::string& name, const Options& pairs = {});

// Wraps a delegate in layers (deputy_layers.h). The delegate must outlive the result.
Handle WithLayers(TfLiteDelegate* delegate, const std::string& layers);

// Returns the reason why a library provides no delegate, without the common prefix of these
// messages; "" if it does.
std::string CreationError(const std::string& path, const Options& pairs = {});

// A test that suppresses messages to standard error.
class QuietTest : public testing::Test {
 protected:
  void SetUp() override {
    DeputySetDefaultReporter([](void*, const char*, va_list) {}, nullptr);
  }
  void TearDown() override { DeputySetDefaultReporter(nullptr, nullptr); }
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_PLUGIN_SUPPORT_H_
