// SPDX-License-Identifier: Apache-2.0
//
// Tests proxies of delegates: an interpreter that applies one calls its functions, plain or opaque,
// and the library recognises exactly its own proxies.
#include "core/plugin/delegate_proxy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "core/plugin/plugin_delegate.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_proxy_test {
namespace {

// A proxy that records the calls and forwards Prepare to another delegate.
class RecordingProxy final : public DelegateProxy {
 public:
  RecordingProxy(TfLiteDelegate* target, bool is_opaque)
      : DelegateProxy(target->flags, {.copy_from = true, .copy_to = true, .free_handle = true},
                      is_opaque),
        target_(target) {}

  TfLiteStatus Prepare(TfLiteContext* context) override {
    log += "Prepare ";
    return target_ == nullptr ? kTfLiteOk : target_->Prepare(context, target_);
  }
  TfLiteStatus CopyFromBufferHandle(TfLiteContext*, TfLiteBufferHandle handle,
                                    TfLiteTensor*) override {
    log += "From" + std::to_string(handle) + " ";
    return kTfLiteOk;
  }
  TfLiteStatus CopyToBufferHandle(TfLiteContext*, TfLiteBufferHandle handle,
                                  TfLiteTensor*) override {
    log += "To" + std::to_string(handle) + " ";
    return kTfLiteError;
  }
  void FreeBufferHandle(TfLiteContext*, TfLiteBufferHandle* handle) override {
    log += "Free" + std::to_string(*handle) + " ";
    *handle = kTfLiteNullBufferHandle;
  }

  std::string log;

 private:
  TfLiteDelegate* const target_;
};

std::vector<uint8_t> AddModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(DelegateProxy, replaces_a_delegate) {
  Scripted target({0});
  RecordingProxy proxy(target.get(), false);
  TestInterpreter t(AddModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), proxy.handle()), kTfLiteOk)
      << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{2, 4}));
  EXPECT_EQ(proxy.log, "Prepare ");
  EXPECT_EQ(target->calls[kScriptedInvoke], 1);
}

TEST(DelegateProxy, forwards_the_functions_of_both_tables) {
  TfLiteDelegate none = TfLiteDelegateCreate();
  for (const bool is_opaque : {false, true}) {
    RecordingProxy proxy(&none, is_opaque);
    TfLiteDelegate* const handle = proxy.handle();
    TfLiteBufferHandle buffer = 7;
    TfLiteTensor tensor{};
    if (is_opaque) {
      const TfLiteOpaqueDelegateBuilder& table = *handle->opaque_delegate_builder;
      EXPECT_EQ(handle->Prepare, nullptr);
      table.CopyFromBufferHandle(nullptr, nullptr, table.data, 3,
                                 reinterpret_cast<TfLiteOpaqueTensor*>(&tensor));
      EXPECT_EQ(table.CopyToBufferHandle(nullptr, nullptr, table.data, 4,
                                         reinterpret_cast<TfLiteOpaqueTensor*>(&tensor)),
                kTfLiteError);
      table.FreeBufferHandle(nullptr, nullptr, table.data, &buffer);
    } else {
      handle->CopyFromBufferHandle(nullptr, handle, 3, &tensor);
      EXPECT_EQ(handle->CopyToBufferHandle(nullptr, handle, 4, &tensor), kTfLiteError);
      handle->FreeBufferHandle(nullptr, handle, &buffer);
    }
    EXPECT_EQ(proxy.log, "From3 To4 Free7 ");
    EXPECT_EQ(buffer, kTfLiteNullBufferHandle);
  }
}

TEST(DelegateProxy, is_recognised_by_its_handle_alone) {
  TfLiteDelegate other = TfLiteDelegateCreate();
  EXPECT_EQ(DelegateProxy::Of(&other), nullptr);
  EXPECT_EQ(DelegateProxy::Of(nullptr), nullptr);
  TfLiteDelegate copy{};
  const TfLiteDelegate* gone = nullptr;
  {
    RecordingProxy proxy(&other, false);
    EXPECT_EQ(DelegateProxy::Of(proxy.handle()), &proxy);
    copy = *proxy.handle();
    EXPECT_EQ(DelegateProxy::Of(&copy), nullptr);
    EXPECT_EQ(DelegateProxy::Behind(copy), &proxy);
    EXPECT_EQ(DelegateProxy::Behind(other), nullptr);
    // The proxy comes from no plug-in.
    EXPECT_EQ(Unwrap(proxy.handle()).inner, proxy.handle());
    EXPECT_EQ(Unwrap(proxy.handle()).library, nullptr);
    gone = proxy.handle();
  }
  EXPECT_EQ(DelegateProxy::Of(gone), nullptr);
  EXPECT_EQ(DelegateProxy::Behind(copy), nullptr);
}

}  // namespace
}  // namespace deputy::delegate_proxy_test
