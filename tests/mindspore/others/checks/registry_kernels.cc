// SPDX-License-Identifier: Apache-2.0
//
// Registers the custom kernel of MindSpore Lite's unit test, and runs a model with it.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/registry/register_kernel.h"
#include "include/registry/register_kernel_interface.h"
#include "src/common/log_adapter.h"

#include "ut_custom_kernel.inc"
// The lines of the document that register them.
#include "doc_register_interface.inc"
#include "doc_register_kernel.inc"

TEST(RegistryKernels, the_kernel_adds_and_reads_its_attribute) {
  EXPECT_STREQ(kKeyName, "test_key");
  auto context = std::make_shared<Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model;
  ASSERT_EQ(model.Build("add.ms", kMindIR_Lite, context), kSuccess);
  std::vector<MSTensor> inputs = model.GetInputs(), outputs;
  ASSERT_EQ(inputs.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    auto* const values = static_cast<float*>(inputs[i].MutableData());
    for (int64_t k = 0; k < inputs[i].ElementNum(); ++k) values[k] = i == 0 ? 10.0F : 0.5F;
  }
  ASSERT_EQ(model.Predict(inputs, &outputs), kSuccess);
  EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{1, 28, 28, 3}));
  EXPECT_EQ(static_cast<const float*>(outputs[0].Data().get())[28 * 28 * 3 - 1], 10.5F);
  EXPECT_EQ(TestData::GetInstance()->data_, kTestData);
}

}  // namespace mindspore
