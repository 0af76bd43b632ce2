// SPDX-License-Identifier: Apache-2.0
//
// The kernel that MindSpore Lite's unit test registers for additions, in place of the runtime's.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"
#include "src/common/log_adapter.h"

using mindspore::kernel::Kernel;
using mindspore::kernel::KernelInterface;
using mindspore::schema::PrimitiveType_AddFusion;

namespace mindspore {
#include "custom_add_class.inc"

#include "custom_add_execute.inc"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "custom_add_infer.inc"
#pragma GCC diagnostic pop
#include "custom_add_register.inc"

namespace {

// Returns the output of transposes.ms, which has an AddFusion, for 1, 2, 3, ...
std::vector<float> Infer(const std::string& provider, std::vector<std::string>* types) {
  auto context = std::make_shared<Context>();
  auto device = std::make_shared<CPUDeviceInfo>();
  device->SetProvider(provider);
  device->SetProviderDevice(provider.empty() ? "" : "CPU");
  context->MutableDeviceInfo().push_back(device);
  Model model;
  EXPECT_EQ(model.Build("transposes.ms", kMindIR_Lite, context), kSuccess);
  auto inputs = model.GetInputs(), outputs = model.GetOutputs();
  auto* const values = static_cast<float*>(inputs[0].MutableData());
  for (int64_t i = 0; i < inputs[0].ElementNum(); ++i) values[i] = static_cast<float>(i + 1);
  const auto record = [&](const auto&, const auto&, const MSCallBackParam& node) {
    types->push_back(node.node_type);
    return true;
  };
  EXPECT_EQ(model.Predict(inputs, &outputs, record, nullptr), kSuccess);
  const auto* const found = static_cast<const float*>(outputs[0].Data().get());
  return {found, found + outputs[0].ElementNum()};
}

TEST(RegistryOverride, additions_of_a_provider) {
  std::vector<std::string> own, others;
  const std::vector<float> expected = {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};
  EXPECT_EQ(Infer("BuiltInTest", &own), expected);
  EXPECT_EQ(Infer("", &others), expected);
  const std::vector<std::string> types = {"Activation", "Transpose", "NONE", "Transpose"};
  EXPECT_EQ(own, types) << "kernels of users have no type";
  EXPECT_EQ(others[2], "AddFusion");
}

}  // namespace
}  // namespace mindspore
