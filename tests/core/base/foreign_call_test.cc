// SPDX-License-Identifier: Apache-2.0
//
// Tests the functions through which all foreign code is called: notification of observers, and
// handling of exceptions.
#include "core/base/foreign_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/delegate_call.h"
#include "core/base/kernel_call.h"

namespace deputy::foreign_call_test {
namespace {

using testing::ElementsAre;

// An observer that records every call as "begin 3" and "end 3 status", where 3 is the node; the
// text of an exception follows the status.
class EventLog final : public CallObserver {
 public:
  virtual ~EventLog() = default;
  void Begin(const ForeignCall& call) override {
    lines.push_back("begin " + std::to_string(call.node));
  }
  void End(const ForeignCall& call, const CallResult& result) override {
    lines.push_back("end " + std::to_string(call.node) + " " + std::to_string(result.status) +
                    (result.exception != nullptr ? std::string(" ") + result.exception : ""));
  }

  std::vector<std::string> lines;
};

TEST(ForeignCall, notifies_the_observer_of_begin_and_end) {
  EventLog notebook;
  const CallResult result =
      CallForeign(&notebook, {.callback = Callback::kInvoke, .node = 1}, [&](CallResult* out) {
        CallForeign(&notebook, {.callback = Callback::kPrepare, .node = 2}, [](CallResult*) {});
        out->status = kTfLiteDelegateError;
      });
  EXPECT_EQ(result.status, kTfLiteDelegateError);
  EXPECT_EQ(result.exception, nullptr);
  EXPECT_THAT(notebook.lines, ElementsAre("begin 1", "begin 2", "end 2 0", "end 1 2"));
}

TEST(ForeignCall, works_without_an_observer) {
  const CallResult result = CallForeign(nullptr, {}, [](CallResult* out) { out->user_data = out; });
  EXPECT_EQ(result.status, kTfLiteOk);
  EXPECT_NE(result.user_data, nullptr);
}

TEST(ForeignCall, converts_exceptions_to_errors_with_callback_name_and_text) {
  const std::pair<Callback, const char*> rows[] = {
      {Callback::kLoad, "loading threw an exception"},
      {Callback::kDescribe, "deputy_plugin threw an exception"},
      {Callback::kCreate, "create threw an exception"},
      {Callback::kDestroy, "destroy threw an exception"},
      {Callback::kSupport, "get_support threw an exception"},
      {Callback::kNodeEvents, "node_events threw an exception"},
      {Callback::kDelegatePrepare, "Prepare threw an exception"},
      {Callback::kInit, "init threw an exception"},
      {Callback::kPrepare, "prepare threw an exception"},
      {Callback::kInvoke, "invoke threw an exception"},
      {Callback::kFree, "free threw an exception"},
      {Callback::kCopyFrom, "CopyFromBufferHandle threw an exception"},
      {Callback::kCopyTo, "CopyToBufferHandle threw an exception"},
      {Callback::kFreeHandle, "FreeBufferHandle threw an exception"},
  };
  for (const auto& [callback, text] : rows) {
    EventLog notebook;
    const CallResult result =
        CallForeign(&notebook, {.callback = callback, .node = 7}, [](CallResult* out) {
          out->status = kTfLiteOk;
          throw std::runtime_error("of the plug-in's own");
        });
    EXPECT_EQ(result.status, kTfLiteError);
    const std::string expected = std::string(text) + ": of the plug-in's own";
    EXPECT_EQ(result.exception, expected);
    EXPECT_THAT(notebook.lines, ElementsAre("begin 7", "end 7 1 " + expected));
  }
}

// ---- Kernels and delegates ----------------------------------------------------------------------

TEST(KernelCalls, are_foreign_calls) {
  TfLiteContext context{};
  TfLiteNode node{};
  TfLiteRegistration registration{};
  registration.init = [](TfLiteContext*, const char*, size_t) -> void* { throw 1; };
  registration.prepare = [](TfLiteContext*, TfLiteNode*) -> TfLiteStatus { throw 2; };
  registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteApplicationError; };
  registration.free = [](TfLiteContext*, void*) { throw 3; };
  EventLog notebook;
  const auto call = [&](Callback callback, int number) {
    return ForeignCall{.callback = callback, .context = &context, .node = number};
  };
  EXPECT_EQ(CallInit(&notebook, call(Callback::kInit, 0), registration, "", 0).user_data,
            TfLiteKernelInitFailed());
  EXPECT_EQ(CallPrepare(&notebook, call(Callback::kPrepare, 1), registration, &node).status,
            kTfLiteError);
  EXPECT_EQ(CallInvoke(&notebook, call(Callback::kInvoke, 2), registration, &node).status,
            kTfLiteApplicationError);
  CallFree(&notebook, call(Callback::kFree, 3), registration, &node);
  EXPECT_THAT(notebook.lines, ElementsAre("begin 0", "end 0 1 init threw an exception", "begin 1",
                                          "end 1 1 prepare threw an exception", "begin 2",
                                          "end 2 3", "begin 3", "end 3 1 free threw an exception"));
}

TEST(DelegateCalls, are_foreign_calls_once_even_if_a_delegate_forwards) {
  static TfLiteDelegate inner = TfLiteDelegateCreate();
  inner.Prepare = [](TfLiteContext*, TfLiteDelegate*) -> TfLiteStatus { throw 1; };
  TfLiteDelegate outer = TfLiteDelegateCreate();
  outer.Prepare = [](TfLiteContext* context, TfLiteDelegate*) {
    return ForwardDelegatePrepare(context, &inner);
  };
  TfLiteContext context{};
  EventLog notebook;
  const CallResult result = CallDelegatePrepare(
      &notebook, {.callback = Callback::kDelegatePrepare, .context = &context, .delegate = &outer});
  EXPECT_EQ(result.status, kTfLiteError);
  EXPECT_THAT(notebook.lines, ElementsAre("begin -1", "end -1 1 Prepare threw an exception"));
}

TEST(DelegateCalls, of_missing_functions_fail_with_their_own_status) {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  TfLiteContext context{};
  TfLiteTensor tensor{};
  TfLiteBufferHandle handle = 4;
  const auto call = [&](Callback callback) {
    return ForeignCall{.callback = callback, .context = &context, .delegate = &delegate};
  };
  EXPECT_EQ(CallDelegatePrepare(nullptr, call(Callback::kDelegatePrepare)).status, kTfLiteError);
  EXPECT_EQ(CallCopyFromBufferHandle(nullptr, call(Callback::kCopyFrom), &tensor).status,
            kTfLiteError);
  EXPECT_FALSE(CallFreeBufferHandle(nullptr, call(Callback::kFreeHandle), &handle));
  // A handle counts as released even if the delegate's function throws.
  delegate.FreeBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle*) { throw 1; };
  EXPECT_TRUE(CallFreeBufferHandle(nullptr, call(Callback::kFreeHandle), &handle));
}

}  // namespace
}  // namespace deputy::foreign_call_test
