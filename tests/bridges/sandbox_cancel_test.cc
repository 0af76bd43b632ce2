// SPDX-License-Identifier: Apache-2.0
//
// Tests that a cancellation ends a call of a delegate, in this process and in a process of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_cancel_test {
namespace {

using Clock = std::chrono::steady_clock;

// z = (x + x) * 3
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {2}, {3, 3}, "c");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {y, c}, {z}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

void Enable(TfLiteInterpreterOptions* options) {
  TfLiteInterpreterOptionsEnableCancellation(options, true);
}

const std::vector<float> kOutput = {6, 12};

class Cancelled : public QuietTest {
 protected:
  Cancelled() : file_(ScratchFile("cancelled.tflite")) { WriteBytes(file_, Model()); }
  ~Cancelled() override { std::filesystem::remove(file_); }
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    QuietTest::TearDown();
  }

  // Returns a delegate of the library in a process of its own.
  Handle InProcess(const std::string& library, const std::string& delegate_options,
                   const Options& others = {}) {
    Options options = {{"library", library}, {"model", file_}, {"options", delegate_options}};
    options.insert(options.end(), others.begin(), others.end());
    return {CreateExternal(BuildPath("libdeputy_sandbox.so"), options),
            &DeputyPluginDeleteDelegate};
  }

  // Applies a delegate, and runs one inference that another thread cancels after 50 ms.
  void ApplyAndCancel(const Handle& delegate, TestInterpreter* t) {
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get()), kTfLiteOk)
        << t->log();
    ASSERT_EQ(t->Allocate(), kTfLiteOk);
    t->Set<float>(0, {1, 2});
    Cancel(t);
  }
  void Cancel(TestInterpreter* t) {
    std::thread other([t] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_EQ(TfLiteInterpreterCancel(t->get()), kTfLiteOk);
    });
    const auto begin = Clock::now();
    status_ = t->Invoke();
    took_ = Clock::now() - begin;
    other.join();
  }

  const std::string file_;
  TfLiteStatus status_ = kTfLiteError;
  Clock::duration took_{};
};

constexpr std::chrono::seconds kSoon{5};

TEST_F(Cancelled, a_node_in_the_same_process_ends) {
  const Handle delegate = External("waiting");
  TestInterpreter t(Model(), &Enable);
  ApplyAndCancel(delegate, &t);
  EXPECT_EQ(status_, kTfLiteCancelled);
  EXPECT_LT(took_, kSoon);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), kOutput);
}

// A node that returns no error keeps the request for the next node.
TEST_F(Cancelled, a_node_that_finishes_does_not_take_the_request) {
  const Handle delegate = External("waiting", {{"finishes", "1"}});
  TestInterpreter t(Model(), &Enable);
  ApplyAndCancel(delegate, &t);
  EXPECT_EQ(status_, kTfLiteCancelled);
  EXPECT_LT(took_, kSoon);
  EXPECT_EQ(t.log(), "Client requested cancel during Invoke()\n");
}

TEST_F(Cancelled, a_node_in_another_process_ends_and_the_process_stays) {
  for (const char* const layers : {"", "deadline=60s"}) {
    SCOPED_TRACE(layers);
    const bool is_layered = *layers != '\0';
    const Handle delegate = is_layered
                                ? InProcess(BuildPath("libdeputy_layers.so"),
                                            "library=" + Library("waiting") + ";layers=" + layers)
                                : InProcess(Library("waiting"), "");
    TestInterpreter t(Model(), &Enable);
    ApplyAndCancel(delegate, &t);
    EXPECT_EQ(status_, kTfLiteCancelled) << t.log();
    EXPECT_LT(took_, kSoon);
    // A new process would wait in its first call.
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), kOutput);
  }
}

TEST_F(Cancelled, layers_pass_the_request_to_another_process) {
  Options options = {{"library", Library("waiting")}, {"layers", "deadline=60s;isolate"}};
  const Handle delegate(CreateExternal(BuildPath("libdeputy_layers.so"), options),
                        &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model(), &Enable);
  ApplyAndCancel(delegate, &t);
  EXPECT_EQ(status_, kTfLiteCancelled) << t.log();
  EXPECT_LT(took_, kSoon);
}

TEST_F(Cancelled, the_function_of_the_client_ends_a_node_in_another_process) {
  const Handle delegate = InProcess(Library("waiting"), "");
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  int calls = 0;
  ASSERT_EQ(DeputyInterpreterSetCancellationFunction(
                t.get(), &calls, [](void* data) { return ++*static_cast<int*>(data) == 4; }),
            kTfLiteOk);
  const auto begin = Clock::now();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_LT(Clock::now() - begin, kSoon);
  EXPECT_EQ(calls, 4);
}

// Runs inferences under the policy Hot until the process replies again, for at most ten seconds.
void ExpectNewProcess(TestInterpreter* t) {
  for (int i = 0; i < 1000; ++i) {
    t->ClearLog();
    ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    EXPECT_EQ(t->Get<float>(0), kOutput);
    if (t->log().empty()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << t->log();
}

// The limit of one death shows that the end is not counted. The plug-in hangs in the second call
// of each process.
TEST_F(Cancelled, a_process_that_ignores_the_request_is_replaced) {
  const Handle delegate =
      InProcess(Library("faulty"), "fault=hang;in=invoke;call=2",
                {{"max_deaths", "1"}, {"cancel_ms", "15000"}, {"invoke_ms", "20000"}});
  TestInterpreter t(Model(), [](TfLiteInterpreterOptions* options) {
    Enable(options);
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    DeputyInterpreterOptionsSetDelegateRetry(options, 0);
  });
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const char* const key = "cancel_ms";
  const char* const value = "30";
  ASSERT_EQ(DeputyPluginSetDelegateOptions(delegate.get(), &key, &value, 1), kTfLiteOk);
  t.Set<float>(0, {1, 2});
  for (int i = 0; i < 3; ++i) {
    ASSERT_NO_FATAL_FAILURE(ExpectNewProcess(&t));
    Cancel(&t);
    EXPECT_EQ(status_, kTfLiteCancelled) << t.log();
    EXPECT_LT(took_, kSoon);
    EXPECT_NE(
        t.log().find("the process did not end a cancelled call within 30 ms and was killed (call "
                     "2, partition 0)"),
        std::string::npos)
        << t.log();
  }
}

}  // namespace
}  // namespace deputy::sandbox_cancel_test
