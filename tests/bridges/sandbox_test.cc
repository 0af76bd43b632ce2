// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates in a process of their own: results, faults of the delegate in each callback, and
// what the process may do.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/emulator.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::sandbox_test {
namespace {

std::vector<uint8_t> Model(float factor = 3) { return AddMulAdd(factor); }

// y = x + c
std::vector<uint8_t> ModelWithConstant(float c_value) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {2}, {c_value, c_value}, "c");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, c}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

Options WithDefaults(const std::string& delegate_options, const std::string& model,
                     const Options& others) {
  Options options = {{"library", Library("faulty")},
                     {"model", model},
                     {"options", delegate_options},
                     {"invoke_ms", "3000"},
                     {"prepare_ms", "5000"}};
  options.insert(options.end(), others.begin(), others.end());
  return options;
}

// An interpreter under the policy Hot with the delegate in a process of its own.
class Sandboxed {
 public:
  explicit Sandboxed(const std::string& delegate_options, const Options& others = {},
                     std::vector<uint8_t> model = Model(), std::string model_file = "",
                     DeputyVerificationMode mode = kDeputyVerifyNever)
      : file_(model_file.empty() ? ScratchFile("sandbox.tflite") : std::move(model_file)) {
    if (!std::filesystem::exists(file_)) WriteBytes(file_, model);
    delegate_ = CreateExternal(BuildPath("libdeputy_sandbox.so"),
                               WithDefaults(delegate_options, file_, others));
    interpreter.emplace(std::move(model), [mode](TfLiteInterpreterOptions* options) {
      DeputyVerification verification = {};
      verification.struct_size = sizeof verification;
      verification.mode = mode;
      DeputyInterpreterOptionsSetVerification(options, &verification);
      DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
      DeputyInterpreterOptionsSetDelegateRetry(options, 0);
    });
    if (delegate_ == nullptr) return;
    applied = TfLiteInterpreterModifyGraphWithDelegate(interpreter->get(), delegate_);
  }
  ~Sandboxed() {
    interpreter.reset();
    DeputyPluginDeleteDelegate(delegate_);
    std::filesystem::remove(file_);
  }
  Sandboxed(const Sandboxed&) = delete;
  Sandboxed& operator=(const Sandboxed&) = delete;

  TfLiteDelegate* delegate() const { return delegate_; }
  int Partitions() const { return DeputyInterpreterGetPartitionCount(interpreter->get(), 0); }

  // Runs one inference; returns the outputs.
  std::vector<float> Run(const std::vector<float>& x) {
    EXPECT_EQ(interpreter->Allocate(), kTfLiteOk) << interpreter->log();
    interpreter->Set<float>(0, x);
    EXPECT_EQ(interpreter->Invoke(), kTfLiteOk) << interpreter->log();
    return interpreter->Get<float>(0);
  }

  // Returns the number of nodes that were computed on the CPU in place of the delegate.
  int64_t Recomputed() const {
    DeputyDelegationStatus status = {};
    status.struct_size = sizeof status;
    EXPECT_EQ(DeputyInterpreterGetDelegationStatus(interpreter->get(), &status), kTfLiteOk);
    return static_cast<int64_t>(status.recomputed_nodes);
  }

  std::optional<TestInterpreter> interpreter;
  TfLiteStatus applied = kTfLiteError;

 private:
  const std::string file_;
  TfLiteDelegate* delegate_ = nullptr;
};

size_t OpenFds() {
  const auto files = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

void ExpectNoChild() {
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

// Waits until `condition` is true, at most ten seconds.
bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

const std::vector<float> kInput = {1, 2};
const std::vector<float> kOutput = {8, 16};

class Sandbox : public QuietTest {};

TEST_F(Sandbox, runs_the_partitions_in_the_process) {
  Sandboxed s("");
  ASSERT_EQ(s.applied, kTfLiteOk) << s.interpreter->log();
  EXPECT_EQ(s.Partitions(), 2);
  for (float scale : {1.0f, 2.0f, -3.0f}) {
    EXPECT_EQ(s.Run({scale, 2 * scale}), (std::vector<float>{8 * scale, 16 * scale}));
  }
  EXPECT_EQ(s.Recomputed(), 0);
  // The library of the delegate is only in the process.
  EXPECT_FALSE(IsLoaded(Library("faulty")));
}

TEST_F(Sandbox, leaves_no_process_and_no_descriptor) {
  const size_t before = OpenFds();
  for (int i = 0; i < 3; ++i) {
    Sandboxed s("");
    s.Run(kInput);
  }
  EXPECT_EQ(OpenFds(), before);
  ExpectNoChild();
}

TEST_F(Sandbox, follows_a_resize) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1}, "z");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  Sandboxed s("", {}, m.Finish());
  EXPECT_EQ(s.Run({1}), (std::vector<float>{-2}));
  ASSERT_EQ(s.interpreter->Resize(0, {3}), kTfLiteOk);
  EXPECT_EQ(s.Run({1, 2, 3}), (std::vector<float>{-2, -4, -6}));
  EXPECT_EQ(s.Partitions(), 1);
  EXPECT_EQ(s.Recomputed(), 0);
}

TEST_F(Sandbox, a_failed_status_is_reported_with_its_message) {
  Sandboxed s("fault=status;in=invoke");
  EXPECT_EQ(s.Run(kInput), kOutput);
  EXPECT_EQ(s.Recomputed(), 1);
  EXPECT_NE(s.interpreter->log().find("sandbox: Faulty: no device 7"), std::string::npos)
      << s.interpreter->log();
  EXPECT_EQ(s.Run(kInput), kOutput);
  EXPECT_EQ(s.Recomputed(), 1);
}

TEST_F(Sandbox, control_characters_of_a_kernels_name_become_spaces) {
  Sandboxed s("fault=status;in=invoke;name=a\x1b[2J\nb");
  EXPECT_EQ(s.Run(kInput), kOutput);
  EXPECT_NE(s.interpreter->log().find("sandbox: a [2J b: no device 7"), std::string::npos)
      << s.interpreter->log();
}

// AddressSanitizer reports a crash of the process and exits with a status of its own.
#ifdef __SANITIZE_ADDRESS__
constexpr const char* kCrash = "the process ended";
constexpr const char* kAbort = "the process ended";
constexpr bool kSanitized = true;
#else
constexpr const char* kCrash = "signal 11";
constexpr const char* kAbort = "signal 6";
constexpr bool kSanitized = false;
#endif

struct Fault {
  const char* name;
  const char* report;  // part of the message if the fault ends the process; null if it does not
};

// Faults that end the process at once, or that the process survives.
const Fault kFaults[] = {
    {"segv", kCrash},
    {"abort", kAbort},
    {"exit", "the process ended"},
    {"_exit", "exit status 0"},
    {"kill", "signal 9"},
    {"stack", kCrash},
    {"heap", "the process ended"},
    {"hang", "did not reply within 300 ms"},
    {"spin", "did not reply within 300 ms"},
    {"chatter", "did not reply within 300 ms"},
    {"fds", ""},
    {"signals", nullptr},
    {"fpu", nullptr},
    {"zeros", nullptr},
    {"ones", nullptr},
    {"truncate", nullptr},
};

bool NeverReturns(const Fault& fault) {
  const std::string name = fault.name;
  return name == "hang" || name == "spin" || name == "chatter";
}

TEST_F(Sandbox, survives_each_fault_in_an_invoke) {
  const size_t before = OpenFds();
  for (const Fault& fault : kFaults) {
    for (int call = 1; call <= 4; ++call) {
      SCOPED_TRACE(std::string(fault.name) + " in call " + std::to_string(call));
      Sandboxed s("fault=" + std::string(fault.name) + ";in=invoke;call=" + std::to_string(call),
                  {{"invoke_ms", NeverReturns(fault) ? "300" : "3000"}});
      ASSERT_EQ(s.Partitions(), 2);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(s.Run(kInput), kOutput) << s.interpreter->log();
      if (fault.report == nullptr) {
        EXPECT_EQ(s.Recomputed(), 0) << s.interpreter->log();
        continue;
      }
      EXPECT_GT(s.Recomputed(), 0);
      EXPECT_NE(s.interpreter->log().find(fault.report), std::string::npos) << s.interpreter->log();
    }
  }
  EXPECT_EQ(OpenFds(), before);
  ExpectNoChild();
}

TEST_F(Sandbox, deadlines_can_change) {
  Sandboxed s("fault=hang;in=invoke;call=3", {{"invoke_ms", "60000"}});
  EXPECT_EQ(s.Run(kInput), kOutput);  // calls 1 and 2
  const auto set = [&](const char* key, const char* value) {
    return DeputyPluginSetDelegateOptions(s.delegate(), &key, &value, 1);
  };
  EXPECT_EQ(set("max_deaths", "9"), kTfLiteError);
  EXPECT_EQ(set("invoke_ms", "-1"), kTfLiteError);
  EXPECT_NE(std::string(DeputyLastError()).find("'invoke_ms': expected a whole number from 0"),
            std::string::npos);
  ASSERT_EQ(set("prepare_ms", "7000"), kTfLiteOk) << DeputyLastError();
  ASSERT_EQ(set("invoke_ms", "250"), kTfLiteOk) << DeputyLastError();
  const char* const keys[] = {"invoke_ms", "cancel_ms"};
  const char* const values[] = {"3000", "-1"};
  EXPECT_EQ(DeputyPluginSetDelegateOptions(s.delegate(), keys, values, 2), kTfLiteError);
  EXPECT_EQ(s.Run(kInput), kOutput);
  EXPECT_NE(s.interpreter->log().find("did not reply within 250 ms"), std::string::npos)
      << s.interpreter->log();
  ExpectNoChild();
}

TEST_F(Sandbox, survives_each_fault_before_the_first_call) {
  for (const Fault& fault : kFaults) {
    for (const char* const callback : {"create", "prepare", "init", "kernel_prepare"}) {
      SCOPED_TRACE(std::string(fault.name) + " in " + callback);
      Sandboxed s("fault=" + std::string(fault.name) + ";in=" + callback, {{"prepare_ms", "400"}});
      EXPECT_EQ(s.Run(kInput), kOutput);
      // A process that ended is no delegate; one that survived is.
      if (fault.report != nullptr) {
        EXPECT_EQ(s.Partitions(), 0);
      }
    }
  }
  ExpectNoChild();
}

TEST_F(Sandbox, verification_finds_a_write_into_the_outputs) {
  for (int call = 1; call <= 4; ++call) {
    SCOPED_TRACE(call);
    Sandboxed s("fault=wrong;in=invoke;call=" + std::to_string(call), {}, Model(), "",
                kDeputyVerifyAlways);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(s.Run(kInput), kOutput) << s.interpreter->log();
    EXPECT_GT(s.Recomputed(), 0);
  }
}

TEST_F(Sandbox, starts_a_new_process_after_a_death) {
  Sandboxed s("fault=segv;in=invoke;call=3");
  EXPECT_EQ(s.Run(kInput), kOutput);
  EXPECT_EQ(s.Recomputed(), 0);
  EXPECT_EQ(s.Run(kInput), kOutput);  // the process dies in the third call
  const int64_t lost = s.Recomputed();
  EXPECT_GT(lost, 0);
  ASSERT_TRUE(Eventually([&] {
    const int64_t before = s.Recomputed();
    s.Run(kInput);
    return s.Recomputed() == before;
  })) << s.interpreter->log();
}

TEST_F(Sandbox, gives_up_after_the_maximum_number_of_deaths) {
  Sandboxed s("fault=_exit;in=invoke", {{"max_deaths", "2"}});
  ASSERT_TRUE(Eventually([&] {
    EXPECT_EQ(s.Run(kInput), kOutput);
    return s.interpreter->log().find("no further process is started after 2 failures") !=
           std::string::npos;
  })) << s.interpreter->log();
  ExpectNoChild();
}

TEST_F(Sandbox, the_limit_of_memory_ends_the_process) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer itself exceeds the limit";
  if (IsEmulated()) GTEST_SKIP() << "the emulator ignores the limit";
  Sandboxed s("fault=memory;in=invoke", {{"memory_mb", "256"}, {"invoke_ms", "10000"}});
  EXPECT_EQ(s.Run(kInput), kOutput);
  EXPECT_NE(s.interpreter->log().find("signal 6"), std::string::npos) << s.interpreter->log();
}

TEST_F(Sandbox, the_profiles_refuse_system_calls) {
  if (IsEmulated()) GTEST_SKIP() << "the emulator has no seccomp";
  struct Row {
    const char* fault;
    const char* profile;
  };
  // The plug-in ends its process with status 9 if the call succeeds.
  for (const Row& row : {Row{"socket", "device"}, Row{"kill_host", "device"}, Row{"exec", "device"},
                         Row{"create", "device"}, Row{"tgkill_host", "device"},
                         Row{"socket", "strict"}, Row{"kill_host", "strict"}, Row{"exec", "strict"},
                         Row{"create", "strict"}, Row{"open", "strict"}}) {
    SCOPED_TRACE(std::string(row.fault) + " with " + row.profile);
    // With the profile device, programs can be executed until a partition runs for the second time.
    Sandboxed s("fault=" + std::string(row.fault) + ";in=invoke;call=3",
                {{"profile", row.profile}});
    for (int i = 0; i < 2; ++i) EXPECT_EQ(s.Run(kInput), kOutput);
    EXPECT_EQ(s.Recomputed(), 0) << s.interpreter->log();
  }
  Sandboxed without("fault=socket;in=invoke", {{"profile", "none"}});
  EXPECT_EQ(without.Run(kInput), kOutput);
  EXPECT_NE(without.interpreter->log().find("exit status 9"), std::string::npos)
      << without.interpreter->log();
}

TEST_F(Sandbox, a_file_with_other_constants_is_not_used) {
  const std::string file = ScratchFile("sandbox_other.tflite");
  WriteBytes(file, ModelWithConstant(5));
  Sandboxed s("", {}, ModelWithConstant(7), file);
  EXPECT_EQ(s.applied, kTfLiteOk);
  EXPECT_EQ(s.Partitions(), 0);
  EXPECT_NE(
      s.interpreter->log().find("its nodes, options or constants differ from those of the program"),
      std::string::npos)
      << s.interpreter->log();
  EXPECT_EQ(s.Run(kInput), (std::vector<float>{8, 9}));
}

// y = x + x with an activation.
std::vector<uint8_t> ModelWithActivation(schema::ActivationFunctionType activation) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb(), activation));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Applies the delegate with a file whose ADD has no activation to a model with this one; returns
// the number of partitions.
int PartitionsWithActivation(schema::ActivationFunctionType activation) {
  const std::string file = ScratchFile("sandbox_activation.tflite");
  WriteBytes(file, ModelWithActivation(schema::ActivationFunctionType::NONE));
  Sandboxed s("", {}, ModelWithActivation(activation), file);
  EXPECT_EQ(s.applied, kTfLiteOk);
  const bool is_relu = activation == schema::ActivationFunctionType::RELU;
  EXPECT_EQ(s.Run({-1, 2}), (std::vector<float>{is_relu ? 0.0f : -2.0f, 4}));
  return s.Partitions();
}

TEST_F(Sandbox, a_file_with_other_options_is_not_used) {
  EXPECT_EQ(PartitionsWithActivation(schema::ActivationFunctionType::NONE), 1);
  EXPECT_EQ(PartitionsWithActivation(schema::ActivationFunctionType::RELU), 0);
}

// The weights of a FULLY_CONNECTED are a float16 constant that a DEQUANTIZE node widens. The NPU
// stub reads float16, so it connects its node to the constant. PRELU stays on the CPU and reads the
// widened weights.
TEST_F(Sandbox, constants_of_float16_reach_the_delegate) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int half = m.AddConstant<uint16_t>(kTfLiteFloat16, {2, 2}, {0x3c00, 0x4000, 0x4200, 0x4400},
                                           "half");  // 1, 2, 3, 4
  const int slope = m.AddConstant<float>(kTfLiteFloat32, {2}, {1, 1}, "slope");
  const int w = m.AddTensor(kTfLiteFloat32, {2, 2}, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2, 2}, "z");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {w});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinPrelu, {w, slope}, {z});
  m.SetInputs({x});
  m.SetOutputs({y, z});
  Sandboxed s("", {{"library", BuildPath("libdeputy_npu_stub.so")}}, m.Finish());
  ASSERT_EQ(s.applied, kTfLiteOk) << s.interpreter->log();
  EXPECT_EQ(s.Partitions(), 1) << s.interpreter->log();
  EXPECT_EQ(s.Run({1, -5}), (std::vector<float>{-9, -17}));
  EXPECT_EQ(s.Recomputed(), 0);
}

TEST_F(Sandbox, nodes_of_an_earlier_delegate_are_left_to_it) {
  const std::string file = ScratchFile("sandbox_two.tflite");
  WriteBytes(file, Model());
  const Handle multiplies = External("elementwise", {{"ops", "18"}});
  const Handle sandbox(
      CreateExternal(BuildPath("libdeputy_sandbox.so"),
                     WithDefaults("", file, {{"library", Library("elementwise")}})),
      &DeputyPluginDeleteDelegate);
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), multiplies.get()), kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), sandbox.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), kOutput);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 3);
  std::filesystem::remove(file);
}

TEST_F(Sandbox, refuses_invalid_options) {
  const std::string library = BuildPath("libdeputy_sandbox.so");
  const Options good = {{"library", "x"}, {"model", "y"}};
  const auto error = [&](const char* key, const char* value) {
    Options options = good;
    options.emplace_back(key, value);
    return CreationError(library, options);
  };
  EXPECT_NE(CreationError(library, {{"model", "y"}}).find("option 'library'"), std::string::npos);
  EXPECT_NE(error("profile", "tight").find("strict, perhaps with +dynamic, found 'tight'"),
            std::string::npos);
  EXPECT_NE(error("invoke_ms", "-1").find("expected a whole number from 0"), std::string::npos);
  EXPECT_NE(error("max_deaths", "0").find("expected a whole number from 1"), std::string::npos);
  EXPECT_NE(error("options", "a").find("expected KEY=VALUE;KEY=VALUE"), std::string::npos);
}

// Applies the plug-in `faulty` to a model in memory, with DEPUTY_ISOLATE.
class Isolated {
 public:
  explicit Isolated(const Options& options)
      : delegate_(CreateExternal(Library("faulty"), options), &DeputyPluginDeleteDelegate),
        t(Model()) {
    if (delegate_ == nullptr) return;
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate_.get()), kTfLiteOk)
        << t.log();
    EXPECT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, kInput);
    status = t.Invoke();
  }

 private:
  const Handle delegate_;

 public:
  TestInterpreter t;
  TfLiteStatus status = kTfLiteError;
};

TEST_F(Sandbox, the_environment_isolates_every_plug_in) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment isolate("DEPUTY_ISOLATE", "strict");
  Isolated correct({});
  ASSERT_EQ(correct.status, kTfLiteOk) << correct.t.log();
  EXPECT_EQ(correct.t.Get<float>(0), kOutput);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(correct.t.get(), 0), 2);
  EXPECT_FALSE(IsLoaded(Library("faulty")));
  // Under the policy TfLite the death of the process is an error of Invoke. The options reach the
  // delegate.
  Isolated dies({{"fault", "segv"}, {"in", "invoke"}});
  EXPECT_NE(dies.status, kTfLiteOk);
  EXPECT_NE(dies.t.log().find(kCrash), std::string::npos) << dies.t.log();
}

TEST_F(Sandbox, an_invalid_value_of_the_environment_loads_nothing) {
  const ScopedEnvironment isolate("DEPUTY_ISOLATE", "strickt");
  EXPECT_NE(CreationError(Library("faulty"))
                .find("DEPUTY_ISOLATE: expected 0, 1, none, device or strict, found 'strickt'"),
            std::string::npos)
      << CreationError(Library("faulty"));
  EXPECT_FALSE(IsLoaded(Library("faulty")));
}

TEST_F(Sandbox, options_with_separators_reach_the_delegate) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment isolate("DEPUTY_ISOLATE", "1");
  const std::string error = [] {
    const Handle handle = External("elementwise", {{"no;such\\option", "x=y;z"}});
    TestInterpreter t(Model());
    if (handle == nullptr) return std::string("no delegate");
    (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), handle.get());
    return t.log();
  }();
  EXPECT_NE(error.find("no;such\\option"), std::string::npos) << error;
}

// A program that is deputy-delegate-host until Replace().
class Program {
 public:
  Program() : path_(ScratchFile("program")) {
    std::filesystem::remove(path_);
    std::filesystem::create_symlink(BuildPath("deputy-delegate-host"), path_);
  }
  ~Program() { std::filesystem::remove(path_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string& path() const { return path_; }
  void Replace(const std::string& script) const {
    const std::string text = "#!/bin/sh\n" + script;
    std::filesystem::remove(path_);
    WriteBytes(path_, {text.begin(), text.end()});
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }

 private:
  const std::string path_;
};

TEST_F(Sandbox, a_deletion_does_not_wait_for_a_new_process) {
  const Program program;
  std::optional<Sandboxed> s;
  s.emplace("fault=segv;in=invoke", Options{{"program", program.path()}, {"prepare_ms", "20000"}});
  program.Replace("exec sleep 30\n");
  EXPECT_EQ(s->Run(kInput), kOutput);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the new process starts
  const auto begin = std::chrono::steady_clock::now();
  s.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ExpectNoChild();
}

// Limits the address space of this process to the present size and `more` bytes.
class ScopedAddressSpace {
 public:
  explicit ScopedAddressSpace(rlim_t more) {
    getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limited = {pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more,
                            before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  }
  ~ScopedAddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  // Returns true if the limit is in effect; an emulator may ignore it.
  static bool Refuses(size_t bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) munmap(mapped, bytes);
    return mapped == MAP_FAILED;
  }
  ScopedAddressSpace(const ScopedAddressSpace&) = delete;
  ScopedAddressSpace& operator=(const ScopedAddressSpace&) = delete;

 private:
  rlimit before_{};
};

TEST_F(Sandbox, a_message_of_a_new_process_can_exceed_the_memory) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer needs address space of its own";
#endif
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer needs address space of its own";
  const Program program;
  Sandboxed s("fault=segv;in=invoke", {{"program", program.path()}, {"max_deaths", "2"}});
  program.Replace("printf '\\000\\000\\000\\004\\000\\000\\000\\000' >&3\nexec sleep 30\n");
  const ScopedAddressSpace limited(rlim_t{48} << 20);
  if (!ScopedAddressSpace::Refuses(size_t{64} << 20)) GTEST_SKIP() << "the limit has no effect";
  ASSERT_TRUE(Eventually([&] {
    EXPECT_EQ(s.Run(kInput), kOutput);
    return s.interpreter->log().find("no new process could be started: std::bad_alloc") !=
           std::string::npos;
  })) << s.interpreter->log();
}

TEST_F(Sandbox, reports_a_program_that_is_none) {
  for (const char* const program : {"/nowhere/host", "/bin/true", "/bin/cat"}) {
    SCOPED_TRACE(program);
    Sandboxed s("", {{"program", program}, {"prepare_ms", "300"}});
    EXPECT_EQ(s.Partitions(), 0);
    EXPECT_EQ(s.Run(kInput), kOutput);
    EXPECT_NE(s.interpreter->log().find("sandbox: "), std::string::npos) << s.interpreter->log();
  }
  ExpectNoChild();
}

}  // namespace
}  // namespace deputy::sandbox_test
