// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_delegate_support.h"

#include "gpu_cl/delegate.h"
#include "gpu_cl/options.h"

namespace deputy::gpu_cl {

void SpiedDeviceTest::SetUp() {
  if (!WhyNoDevice().empty()) GTEST_SKIP() << WhyNoDevice();
  spy_ = std::make_unique<ClSpy>(*RealCl().api);
}

void SpiedDeviceTest::TearDown() {
  if (spy_ == nullptr) return;
  EXPECT_EQ(spy_->Unbalanced(), "");
}

TestDelegate::TestDelegate(std::shared_ptr<const ClApi> api, const OptionTexts& options) {
  Options parsed;
  for (const auto& [key, value] : options) {
    error_ = ParseOptions(&key, &value, 1, &parsed);
    if (!error_.empty()) return;
  }
  delegate_ = CreateDelegateOn(std::move(api), parsed, &error_);
}

TestDelegate::~TestDelegate() { DestroyDelegate(delegate_); }

DeputyDelegateInfo FirstDelegate(const TestInterpreter& t) {
  DeputyDelegateInfo info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(DeputyInterpreterGetDelegateInfo(t.get(), 0, &info), kTfLiteOk);
  return info;
}

void SetPicture(TestInterpreter* t, const std::vector<int32_t>& indices) {
  std::vector<float> picture(16);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * 7 % 11) / 4 - 1;
  t->Set<float>(0, picture);
  t->Set<int32_t>(1, indices);
}

}  // namespace deputy::gpu_cl
