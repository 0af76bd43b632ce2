// SPDX-License-Identifier: Apache-2.0
//
// Sends damaged messages between processes: a damaged process to the delegate `sandbox`, and a
// damaged host program to deputy-delegate-host. DEPUTY_ALL_ROWS=1 sends a million in each
// direction. Sanitizers report a fault of either side.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "bridges/sandbox/digest.h"
#include "bridges/sandbox/messages.h"
#include "bridges/sandbox/process.h"
#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/bridges/damage.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_fuzz_test {
namespace {

using sandbox::CallPage;
using sandbox::Clock;
using sandbox::Process;

int Messages() { return std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 20000 : 1000000; }

// w = -((x + x) + x); the delegate does not claim NEG.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  const int w = m.AddTensor(kTfLiteFloat32, {2}, "w");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {y, x}, {z}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinNeg, {z}, {w});
  m.SetInputs({x});
  m.SetOutputs({w});
  return m.Finish();
}

Clock::time_point Soon() { return Clock::now() + std::chrono::seconds(20); }

// Reads all texts about partitions and events of the device; adds up their lengths.
void QueryRecords(TfLiteDelegate* delegate, size_t* length) {
  (void)DeputyPluginDescribePartitions(
      delegate,
      [](void* data, int32_t, const char* stage, const char* text) {
        *static_cast<size_t*>(data) += std::strlen(stage) + std::strlen(text);
      },
      length);
  (void)DeputyPluginTakeEvents(
      delegate,
      [](void* data, const DeputyDeviceEvent* event) {
        EXPECT_TRUE(event->node == -1 || event->node == 0 || event->node == 1) << event->node;
        *static_cast<size_t*>(data) += std::strlen(event->name) + std::strlen(event->kernel);
      },
      length);
}

class SandboxFuzz : public QuietTest {
 protected:
  SandboxFuzz() : file_(ScratchFile("sandbox_fuzz.tflite")) { WriteBytes(file_, Model()); }
  ~SandboxFuzz() override { std::filesystem::remove(file_); }
  // Processes report invalid messages.
  void SetUp() override {
    QuietTest::SetUp();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    const std::string text = testing::internal::GetCapturedStderr();
    // A damaged limit of memory ends AddressSanitizer itself, with "AddressSanitizer failed".
    EXPECT_EQ(text.find("Sanitizer: "), std::string::npos);
    EXPECT_EQ(text.find("runtime error: "), std::string::npos);
    if (HasFailure()) std::fputs(text.c_str(), stderr);
    QuietTest::TearDown();
  }

  // Returns the message with which a host program begins.
  static sandbox::Setup HostSetup() {
    sandbox::Setup setup;
    setup.library = Library("described0");
    setup.options = {{"ops", "0"}, {"groups", "11-"}};
    setup.profile = sandbox::Profile::kNone;
    const TestInterpreter t(Model());
    for (int i = 0; i < DeputyInterpreterGetTensorCount(t.get(), 0); ++i) {
      const TfLiteTensor* const tensor = DeputyInterpreterGetTensor(t.get(), 0, i);
      setup.tensors.push_back({true, {2}, sandbox::IdentityOf(*tensor)});
    }
    setup.available = {0, 1, 2};
    return setup;
  }

  std::unique_ptr<Process> StartProcess() const {
    const sandbox::Fd model(open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    std::string problem;
    std::unique_ptr<Process> process =
        Process::Start(BuildPath("deputy-delegate-host"), model.get(), -1, &problem);
    EXPECT_NE(process, nullptr) << problem;
    return process;
  }

  // Writes the message Claims of a correct process to a file.
  void WriteClaims(const std::string& file) const {
    const std::unique_ptr<Process> process = StartProcess();
    std::string claims, problem;
    ASSERT_TRUE(process->Send(Encode(HostSetup()), Soon(), &problem)) << problem;
    ASSERT_TRUE(process->Receive(Soon(), &claims, &problem)) << problem;
    sandbox::Claims decoded;
    ASSERT_TRUE(Decode(claims, &decoded));
    ASSERT_EQ(decoded.problem, "");
    ASSERT_EQ(decoded.claims.size(), 1u);
    ASSERT_EQ(decoded.support.size(), 3u);
    decoded.has_node_events = true;
    claims = Encode(decoded);
    WriteBytes(file, std::vector<uint8_t>(claims.begin(), claims.end()));
  }

  // Runs inferences with processes that send damaged messages. With dynamic sizes many calls have
  // messages, so that an interpreter runs fewer inferences.
  void SurviveDamagedProcess(bool has_dynamic_sizes) const {
    const std::string file = ScratchFile("sandbox_fuzz.claims");
    WriteClaims(file);
    const int runs_of_process = has_dynamic_sizes ? 50 : 2000;
    int calls = 0, runs = 0;
    size_t texts = 0;
    for (unsigned seed = 0; calls < Messages() / (has_dynamic_sizes ? 10 : 1); ++seed) {
      const Handle delegate(
          CreateExternal(BuildPath("libdeputy_sandbox.so"),
                         {{"library", "none"},
                          {"program", BuildPath("tests/damaged_process")},
                          {"options", "claims=" + file + ";seed=" + std::to_string(seed)},
                          {"dynamic", has_dynamic_sizes ? "true" : "false"},
                          {"dynamic_mb", "1"},
                          {"max_deaths", "1"},
                          {"invoke_ms", "50"},
                          {"prepare_ms", "20000"}}),
          &DeputyPluginDeleteDelegate);
      TestInterpreter t(Model(), [](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
        DeputyInterpreterOptionsSetDelegateRetry(options, 0);
      });
      (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get());
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<float>(0, {1, 2});
      ++calls;
      const bool has_process = DeputyInterpreterGetPartitionCount(t.get(), 0) > 0;
      int events = 0;
      ASSERT_EQ(DeputyInterpreterSetProfileCallback(
                    t.get(), [](void* count, const DeputyOpEvent*) { ++*static_cast<int*>(count); },
                    &events),
                kTfLiteOk);
      for (int i = 0; has_process && i < runs_of_process; ++i, ++calls, ++runs) {
        if (has_dynamic_sizes && i % 8 == 7) {
          ASSERT_EQ(t.Resize(0, {1 + i % 3}), kTfLiteOk) << t.log();
          ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
        }
        ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
        if (i % 8 == 0) QueryRecords(delegate.get(), &texts);
      }
    }
    EXPECT_GT(runs, calls / 2);
    EXPECT_GT(texts, 0u);
    std::filesystem::remove(file);
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  }

  const std::string file_;
};

TEST_F(SandboxFuzz, the_host_survives_a_damaged_process) { SurviveDamagedProcess(false); }

TEST_F(SandboxFuzz, the_host_survives_a_damaged_process_with_dynamic_sizes) {
  SurviveDamagedProcess(true);
}

// Returns true if the process ended with a status of its program, or was killed by the test.
bool EndedWell(const std::string& end) {
  return end == "exit status 0" || end == "exit status 1" || end == "exit status 2" ||
         end == "signal 9 (Killed)";
}

// Sends requests with damaged words of the page; returns their number.
int SendRequests(Process* process, std::mt19937* random) {
  auto* const page = reinterpret_cast<CallPage*>(process->memory());
  for (uint32_t call = 1; call <= 2000; ++call) {
    if ((*random)() % 4 == 0) DamageWord(page, sizeof(CallPage) / 4, random);
    page->claim = (*random)() % 8 == 0 ? static_cast<uint32_t>((*random)()) : 0;
    // Calls of the other kinds need a message.
    page->kind = (*random)() % 8 == 0 ? static_cast<sandbox::CallKind>(1 + (*random)() % 9)
                                      : sandbox::CallKind::kRun;
    if (!sandbox::IsQuery(page->kind)) page->kind = sandbox::CallKind::kRun;
    page->request.store(call);
    if (!process->SignalRequest()) return static_cast<int>(call);
    if (page->kind != sandbox::CallKind::kRun) {
      std::string answer, problem;
      sandbox::Records records;
      const bool received = process->Receive(Soon(), &answer, &problem) && Decode(answer, &records);
      EXPECT_TRUE(received) << problem;
      if (!received) return static_cast<int>(call);
      continue;
    }
    if (process->WaitForReply(Soon()) != sandbox::CallEnd::kReply) return static_cast<int>(call);
  }
  return 2000;
}

TEST_F(SandboxFuzz, the_process_survives_a_damaged_host) {
  std::mt19937 random(43);
  const std::string setup = Encode(HostSetup());
  const std::string mapping = Encode(sandbox::Mapping{
      sandbox::kPageBytes + 128, {{0, sandbox::kPageBytes, 8}, {2, sandbox::kPageBytes + 64, 8}}});
  int messages = 0, requests = 0;
  while (messages + requests < Messages()) {
    const std::unique_ptr<Process> process = StartProcess();
    ASSERT_NE(process, nullptr);
    const unsigned damaged = random() % 3;
    std::string answer, problem;
    const bool has_claims =
        process->Send(damaged == 0 ? Damaged(setup, &random) : setup, Soon(), &problem) &&
        process->Receive(Soon(), &answer, &problem);
    messages += 1;
    if (has_claims && process->MapMemory(sandbox::kPageBytes + 128, &problem)) {
      new (process->memory()) CallPage{};
      messages += 1;
      const bool is_ready =
          process->Send(damaged == 1 ? Damaged(mapping, &random) : mapping, Soon(), &problem) &&
          process->Receive(Soon(), &answer, &problem);
      sandbox::Ready ready;
      if (is_ready && Decode(answer, &ready) && ready.problem.empty()) {
        requests += SendRequests(process.get(), &random);
      }
    }
    const std::string end = process->Kill();
    ASSERT_TRUE(EndedWell(end)) << end;
  }
  EXPECT_GT(requests, messages);
}

// y = x + x
std::vector<uint8_t> SumModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Sends requests of calls whose sizes can change, with damaged messages; returns their number.
int SendSizedRequests(Process* process, const std::vector<sandbox::HostTensor>& tensors,
                      std::mt19937* random) {
  auto* const page = reinterpret_cast<CallPage*>(process->memory());
  std::string answer, problem;
  for (uint32_t call = 1; call <= 200; ++call) {
    std::string message;
    constexpr sandbox::CallKind kKinds[] = {sandbox::CallKind::kRun, sandbox::CallKind::kResize,
                                            sandbox::CallKind::kFetch};
    page->kind = kKinds[(*random)() % 3];
    page->claim = (*random)() % 8 == 0 ? static_cast<uint32_t>((*random)()) : 0;
    if (page->kind == sandbox::CallKind::kResize) {
      message = Encode(sandbox::Resize{
          tensors, {{0, sandbox::kPageBytes, 8}, {1, sandbox::kPageBytes + 64, 8}}});
    } else if (page->kind == sandbox::CallKind::kFetch) {
      message = Encode(sandbox::Mapping{0, {{1, sandbox::kPageBytes + 64, 8}}});
    }
    if (!message.empty() && (*random)() % 16 == 0) message = Damaged(message, random);
    page->request.store(call);
    const bool has_answer = page->kind == sandbox::CallKind::kResize;
    if (!process->SignalRequest() ||
        (!message.empty() && !process->Send(message, Soon(), &problem)) ||
        (has_answer && !process->Receive(Soon(), &answer, &problem)) ||
        process->WaitForReply(Soon()) != sandbox::CallEnd::kReply ||
        (page->status == sandbox::kStatusSizes && !process->Receive(Soon(), &answer, &problem))) {
      return static_cast<int>(call);
    }
  }
  return 200;
}

TEST_F(SandboxFuzz, the_process_survives_a_damaged_host_with_dynamic_sizes) {
  std::mt19937 random(44);
  WriteBytes(file_, SumModel());
  sandbox::Setup setup = HostSetup();
  setup.library = Library("varying");
  setup.options = {{"dynamic", "1"}};
  setup.has_dynamic_sizes = true;
  setup.tensors.clear();
  const TestInterpreter t(SumModel());
  for (int i = 0; i < 2; ++i) {
    setup.tensors.push_back(
        {true, {2}, sandbox::IdentityOf(*DeputyInterpreterGetTensor(t.get(), 0, i))});
  }
  setup.available = {0};
  const std::string mapping = Encode(sandbox::Mapping{
      sandbox::kPageBytes + 128, {{0, sandbox::kPageBytes, 8}, {1, sandbox::kPageBytes + 64, 8}}});
  int processes = 0, requests = 0;
  while (requests < Messages() / 10) {
    const std::unique_ptr<Process> process = StartProcess();
    ASSERT_NE(process, nullptr);
    std::string answer, problem;
    sandbox::Claims claims;
    ASSERT_TRUE(process->Send(Encode(setup), Soon(), &problem)) << problem;
    ASSERT_TRUE(process->Receive(Soon(), &answer, &problem)) << problem;
    ASSERT_TRUE(Decode(answer, &claims));
    ASSERT_EQ(claims.claims.size(), 1u) << claims.problem;
    ASSERT_TRUE(process->MapMemory(sandbox::kPageBytes + 128, &problem)) << problem;
    new (process->memory()) CallPage{};
    ASSERT_TRUE(process->Send(mapping, Soon(), &problem)) << problem;
    ASSERT_TRUE(process->Receive(Soon(), &answer, &problem)) << problem;
    requests += SendSizedRequests(process.get(), setup.tensors, &random);
    ++processes;
    const std::string end = process->Kill();
    ASSERT_TRUE(EndedWell(end)) << end;
  }
  EXPECT_GT(requests, 5 * processes);
}

}  // namespace
}  // namespace deputy::sandbox_fuzz_test
