// SPDX-License-Identifier: Apache-2.0
#include "tests/support/isolated_plugin.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "c_api/include/deputy.h"
#include "tests/support/paths.h"

namespace deputy {

IsolatedPlugin::IsolatedPlugin(const std::vector<uint8_t>& model, const std::string& library,
                               const std::string& options, const Options& settings)
    : file_(ScratchFile(std::to_string(getpid()) + "_isolated.tflite")) {
  WriteBytes(file_, model);
  Options all = {{"library", library}, {"model", file_}, {"options", options}};
  all.insert(all.end(), settings.begin(), settings.end());
  delegate_ = CreateExternal(BuildPath("libdeputy_sandbox.so"), all);
}

IsolatedPlugin::~IsolatedPlugin() {
  DeputyPluginDeleteDelegate(delegate_);
  std::filesystem::remove(file_);
}

void UseHot(TfLiteInterpreterOptions* options) {
  DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
}

int64_t RecomputedNodes(const TestInterpreter& t) {
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  EXPECT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  return static_cast<int64_t>(status.recomputed_nodes);
}

}  // namespace deputy
