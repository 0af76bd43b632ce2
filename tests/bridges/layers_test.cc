// SPDX-License-Identifier: Apache-2.0
//
// Tests layers around delegates: plain and opaque ones, buffer handles, faults in each callback,
// and the delegate in the nodes and tensors that the inner delegate receives.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bridges/layers/record/record_file.h"
#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_layers.h"
#include "tests/conformance/trial.h"
#include "tests/support/add_mul_add.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::layers_test {
namespace {

const std::vector<float> kInput = {1, 2};
const std::vector<float> kOutput = {8, 16};
const std::string kHarmless = "deadline=60s;fault=invoke:1000:fail";

// Options of the plug-in `layers` for a library.
Options Around(const std::string& library, const std::string& layers,
               const std::string& options = "") {
  return {{"library", library}, {"layers", layers}, {"options", options}};
}

// An interpreter with a layered delegate and the validation layer.
class Layered {
 public:
  explicit Layered(const Options& options, DeputyDelegatePolicy policy = kDeputyPolicyTfLite)
      : delegate_(CreateExternal(BuildPath("libdeputy_layers.so"), options),
                  &DeputyPluginDeleteDelegate) {
    t.emplace(AddMulAdd(), [&](TfLiteInterpreterOptions* settings) {
      DeputyInterpreterOptionsSetDelegatePolicy(settings, policy);
      DeputyValidationOptions validation = {};
      validation.struct_size = sizeof validation;
      validation.enabled = 1;
      DeputyInterpreterOptionsSetValidation(settings, &validation);
    });
    if (delegate_ == nullptr) return;
    applied = TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate_.get());
    if (applied == kTfLiteOk) applied = t->Allocate();
  }
  ~Layered() { t.reset(); }
  Layered(const Layered&) = delete;
  Layered& operator=(const Layered&) = delete;

  TfLiteStatus Run() {
    t->Set<float>(0, kInput);
    return t->Invoke();
  }
  std::vector<float> Output() { return t->Get<float>(0); }
  int Partitions() const { return DeputyInterpreterGetPartitionCount(t->get(), 0); }
  size_t Findings() const { return DeputyInterpreterGetFindingCount(t->get()); }

 private:
  const Handle delegate_;

 public:
  std::optional<TestInterpreter> t;
  TfLiteStatus applied = kTfLiteError;
};

class Layers : public QuietTest {};

TEST_F(Layers, plain_and_opaque_delegates_run_their_partitions) {
  for (const char* const name : {"elementwise", "opaque", "relay", "faulty"}) {
    SCOPED_TRACE(name);
    Layered plain({{"library", Library(name)}});
    Layered layered(Around(Library(name), kHarmless));
    ASSERT_EQ(layered.applied, kTfLiteOk) << layered.t->log();
    EXPECT_GT(layered.Partitions(), 0);
    EXPECT_EQ(layered.Partitions(), plain.Partitions());
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(layered.Run(), kTfLiteOk) << layered.t->log();
      EXPECT_EQ(layered.Output(), kOutput);
    }
    EXPECT_EQ(layered.Findings(), plain.Findings()) << layered.t->log();
  }
}

// The layer `record` exchanges ReportError of the context; the runtime must still recognise the
// context as its own.
TEST_F(Layers, a_recorded_delegate_runs_behind_the_validation_layer) {
  const std::string record = ScratchFile("layers.rec");
  for (const char* const name : {"elementwise", "opaque"}) {
    Layered layered(Around(Library(name), "record=" + record));
    ASSERT_EQ(layered.applied, kTfLiteOk) << layered.t->log();
    EXPECT_EQ(layered.Run(), kTfLiteOk) << layered.t->log();
    EXPECT_EQ(layered.Output(), kOutput);
    EXPECT_EQ(layered.Findings(), 0u) << layered.t->log();
  }
  std::filesystem::remove(record);
  std::filesystem::remove(record + ".2");
}

// The call of init is made within those of the replacement and of the delegate's Prepare.
TEST_F(Layers, an_error_in_nested_calls_is_recorded_and_reported_once) {
  const std::string path = ScratchFile("layers_nested.rec");
  Layered layered(Around(Library("elementwise"), "record=" + path + ";fault=init:1:fail"));
  EXPECT_NE(layered.applied, kTfLiteOk);
  const std::string text = "layer fault: init fails", &log = layered.t->log();
  EXPECT_NE(log.find(text), std::string::npos) << log;
  EXPECT_EQ(log.find(text), log.rfind(text)) << log;
  record::Record record;
  EXPECT_EQ(record::ReadRecordFile(path, &record), "");
  std::filesystem::remove(path);
  ASSERT_EQ(record.calls.size(), 3u);
  EXPECT_EQ(record.calls[0].end->errors, "");
  EXPECT_EQ(record.calls[1].end->errors, "");
  EXPECT_EQ(record.calls[2].begin.function, record::Function::kInit);
  EXPECT_EQ(record.calls[2].end->errors, text);
}

TEST_F(Layers, stable_delegates_run_without_settings) {
  Layered layered(Around(Library("stable_1.7.2"), "fault=invoke:2:fail"));
  ASSERT_EQ(layered.applied, kTfLiteOk) << layered.t->log();
  EXPECT_EQ(layered.Partitions(), 2);
  EXPECT_NE(layered.Run(), kTfLiteOk);
  EXPECT_EQ(layered.Run(), kTfLiteOk) << layered.t->log();
  EXPECT_EQ(layered.Output(), kOutput);
  const std::string layers = BuildPath("libdeputy_layers.so");
  EXPECT_EQ(CreationError(layers, Around(Library("stable_1.0.0"), kHarmless, "fast=1")),
            "the plug-in returned NULL: a stable delegate takes settings instead of options, found "
            "the option 'fast')");
  const std::string wrong = Library("stable_2.0.0");
  EXPECT_EQ(CreationError(layers, Around(wrong, kHarmless)),
            "the plug-in returned NULL: " + wrong +
                ": expected a stable delegate of version 1, found '2.0.0')");
}

// Each application of an opaque delegate creates operators, which the layers own.
TEST_F(Layers, operators_of_an_opaque_delegate_are_deleted_with_their_nodes) {
  Layered layered(Around(Library("opaque"), "deadline=60s"));
  size_t before = 0;
  for (int i = 0; i < 2100; ++i) {
    if (i == 100) before = conformance::MeasureUsage().heap_bytes;
    ASSERT_EQ(layered.t->Resize(0, i % 2 == 0 ? std::vector<int>{1, 2} : std::vector<int>{2}),
              kTfLiteOk);
    ASSERT_EQ(layered.t->Allocate(), kTfLiteOk);
  }
  EXPECT_LT(conformance::MeasureUsage().heap_bytes,
            before + 100000);  // 4000 operators are 512 000 bytes
}

// Asynchronous kernels are not forwarded: the runtime calls the kernel synchronously.
TEST_F(Layers, kernels_with_asynchronous_functions_run_synchronously) {
  TfLiteOpaqueDelegateBuilder builder = {};
  builder.Prepare = [](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate, void*) {
    TfLiteOperator* const op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "Async", 1, nullptr);
    TfLiteOperatorSetAsyncKernel(
        op, [](TfLiteOpaqueContext*, TfLiteOpaqueNode*) -> TfLiteAsyncKernel* { abort(); });
    TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext* at, TfLiteOpaqueNode* node) {
      const auto* const in = TfLiteOpaqueNodeGetInput(at, node, 0);
      const float values[] = {static_cast<const float*>(TfLiteOpaqueTensorData(in))[0] + 1, 7};
      return TfLiteOpaqueTensorCopyFromBuffer(TfLiteOpaqueNodeGetOutput(at, node, 0), values,
                                              sizeof values);
    });
    const int nodes[] = {1, 2};  // laid out as a TfLiteIntArray
    return TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
        context, op, reinterpret_cast<const TfLiteIntArray*>(nodes), delegate);
  };
  TfLiteOpaqueDelegate* const inner = TfLiteOpaqueDelegateCreate(&builder);
  {
    const Handle layered = WithLayers(reinterpret_cast<TfLiteDelegate*>(inner), "deadline=60s");
    TestInterpreter t(AddMulAdd());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), layered.get()), kTfLiteOk)
        << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, kInput);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), (std::vector<float>{3, 7}));
  }
  TfLiteOpaqueDelegateDelete(inner);
}

TEST_F(Layers, layers_wrap_layered_delegates) {
  const std::string own = BuildPath("libdeputy_layers.so");
  Layered twice(Around(own, kHarmless, "library=" + Library("opaque") + ";layers=deadline=50s"));
  ASSERT_EQ(twice.applied, kTfLiteOk) << twice.t->log();
  EXPECT_EQ(twice.Partitions(), 2);
  EXPECT_EQ(twice.Run(), kTfLiteOk) << twice.t->log();
  EXPECT_EQ(twice.Output(), kOutput);
  // The calls pass through the inner layers, too.
  Layered fails(
      Around(own, kHarmless, "library=" + Library("opaque") + ";layers=fault=invoke:2:fail"));
  ASSERT_EQ(fails.applied, kTfLiteOk) << fails.t->log();
  EXPECT_NE(fails.Run(), kTfLiteOk);
  EXPECT_NE(fails.t->log().find("layer fault: invoke fails"), std::string::npos);
}

TEST_F(Layers, a_delegate_survives_a_resize_and_a_second_interpreter) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int z = m.AddTensor(kTfLiteFloat32, {1}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  const std::vector<uint8_t> model = m.Finish();
  const Handle delegate(
      CreateExternal(BuildPath("libdeputy_layers.so"), Around(Library("faulty"), kHarmless)),
      &DeputyPluginDeleteDelegate);
  ASSERT_NE(delegate, nullptr);
  TestInterpreter first(model), second(model);
  for (TestInterpreter* const t : {&first, &second}) {
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get()), kTfLiteOk);
    ASSERT_EQ(t->Resize(0, {3}), kTfLiteOk);
    ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
    t->Set<float>(0, {1, 2, 3});
    EXPECT_EQ(t->Invoke(), kTfLiteOk);
    EXPECT_EQ(t->Get<float>(0), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(t->get(), 0), 1);
  }
}

// Every call of a delegate can fail. Under the policy TfLite the failure is an error, under Hot the
// CPU computes the result.
TEST_F(Layers, a_fault_in_each_call_is_handled) {
  for (const char* const call : {"delegate_prepare", "replace", "init", "prepare", "invoke"}) {
    for (const int number : {1, 2}) {
      const std::string fault =
          std::string("fault=") + call + ":" + std::to_string(number) + ":fail";
      SCOPED_TRACE(fault);
      Layered strict(Around(Library("faulty"), fault));
      const bool happens = number == 1 || (call != std::string("delegate_prepare") &&
                                           call != std::string("replace"));
      const bool fails = strict.applied != kTfLiteOk || strict.Run() != kTfLiteOk;
      EXPECT_EQ(fails, happens) << strict.t->log();
      EXPECT_EQ(strict.t->log().find("layer fault") != std::string::npos, happens);
      Layered hot(Around(Library("faulty"), fault), kDeputyPolicyHot);
      // A delegate that could not be applied leaves the graph unchanged.
      ASSERT_EQ(hot.t->Allocate(), kTfLiteOk) << hot.t->log();
      EXPECT_EQ(hot.Run(), kTfLiteOk) << hot.t->log();
      EXPECT_EQ(hot.Output(), kOutput);
    }
  }
}

void IgnoreReport(TfLiteContext*, const char*, ...) {}

TEST_F(Layers, functions_of_buffer_handles_pass_through) {
  const Handle delegate(CreateExternal(BuildPath("libdeputy_layers.so"),
                                       Around(Library("handles"), "fault=copy_from:2:fail")),
                        &DeputyPluginDeleteDelegate);
  ASSERT_NE(delegate, nullptr);
  ASSERT_NE(delegate->CopyFromBufferHandle, nullptr);
  ASSERT_NE(delegate->CopyToBufferHandle, nullptr);
  ASSERT_NE(delegate->FreeBufferHandle, nullptr);
  float values[2] = {};
  TfLiteTensor tensor = {};
  tensor.data.f = values;
  tensor.bytes = sizeof values;
  tensor.delegate = delegate.get();
  TfLiteContext context = {};
  context.ReportError = &IgnoreReport;
  EXPECT_EQ(delegate->CopyFromBufferHandle(&context, delegate.get(), 7, &tensor), kTfLiteOk);
  EXPECT_EQ(values[1], 7);
  EXPECT_EQ(tensor.delegate, delegate.get());
  EXPECT_EQ(delegate->CopyFromBufferHandle(&context, delegate.get(), 7, &tensor), kTfLiteError);
  EXPECT_EQ(delegate->CopyToBufferHandle(&context, delegate.get(), 7, &tensor), kTfLiteOk);
  EXPECT_EQ(delegate->CopyToBufferHandle(&context, delegate.get(), 6, &tensor), kTfLiteError);
  TfLiteBufferHandle handle = 7;
  delegate->FreeBufferHandle(&context, delegate.get(), &handle);
  EXPECT_EQ(handle, kTfLiteNullBufferHandle);
}

TEST_F(Layers, a_late_return_is_reported_through_the_context) {
  Layered late(Around(Library("faulty"), "deadline=invoke:5ms;fault=invoke:1:delay:20ms"));
  ASSERT_EQ(late.applied, kTfLiteOk);
  EXPECT_EQ(late.Run(), kTfLiteOk);
  EXPECT_NE(late.t->log().find("layer deadline: invoke of kernel 0 took "), std::string::npos)
      << late.t->log();
  EXPECT_NE(late.t->log().find("ms, the deadline is 5 ms"), std::string::npos);
}

TEST_F(Layers, wrong_options_are_refused) {
  const std::string own = BuildPath("libdeputy_layers.so");
  const auto error = [&](const Options& options) { return CreationError(own, options); };
  EXPECT_NE(error({{"layers", "deadline=1s"}}).find("option 'library': expected the path"),
            std::string::npos);
  EXPECT_NE(error(Around("./no.so", "")).find("no.so"), std::string::npos);
  EXPECT_NE(error(Around(Library("custom_ops"), "")).find("exports no tflite_plugin_create"),
            std::string::npos);
  for (const char* const text :
       {"deadline", "deadline=0ms", "deadline=1", "deadline=invoke", "deadline=run:1s",
        "deadline=99999999999s", "fault", "fault=invoke", "fault=invoke:x:fail",
        "fault=invoke:1:delay", "fault=prepare:1:corrupt", "fault=invoke:1:fail:1s",
        "fault=run:1:fail", "isolate=x", "no"}) {
    EXPECT_NE(error(Around(Library("faulty"), text)).find("layer"), std::string::npos) << text;
  }
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "fault=invoke:1:fail;";
  EXPECT_NE(error(Around(Library("faulty"), many)).find("expected at most 1000 layers, found 1001"),
            std::string::npos);
  // Errors of the library reach the caller.
  const std::string sandbox = BuildPath("libdeputy_sandbox.so");
  EXPECT_NE(error(Around(sandbox, "", "profile=tight")).find("found 'tight'"), std::string::npos);
}

TEST_F(Layers, the_environment_wraps_plug_ins) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment layers("DEPUTY_LAYERS", "fault=invoke:1:fail");
  const Handle delegate = External("elementwise");
  ASSERT_NE(delegate, nullptr);
  TestInterpreter t(AddMulAdd());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
      << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_NE(t.Invoke(), kTfLiteOk);
  EXPECT_NE(t.log().find("layer fault: invoke fails"), std::string::npos) << t.log();
  // The options that the library declares are checked as without layers.
  EXPECT_EQ(CreationError(Library("described0"), {{"no_such", "1"}}).find("layer"),
            std::string::npos);
}

int64_t VerifiedRuns(const std::string& verify) {
  const ScopedEnvironment layers("DEPUTY_LAYERS", verify.c_str());
  const Handle delegate = External("opaque");
  TestInterpreter t(AddMulAdd());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  for (int run = 0; run < 4; ++run) EXPECT_EQ(t.Invoke(), kTfLiteOk);
  DeputyVerificationStatus status = {};
  status.struct_size = sizeof status;
  EXPECT_EQ(DeputyInterpreterGetVerificationStatus(t.get(), &status), kTfLiteOk);
  return status.verified;
}

TEST_F(Layers, the_environment_adds_layers_of_the_interpreter) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  EXPECT_EQ(VerifiedRuns(""), 0);
  EXPECT_EQ(VerifiedRuns("verify"), 2);  // two partitions
  EXPECT_EQ(VerifiedRuns("verify=always;deadline=60s"), 8);
  EXPECT_EQ(VerifiedRuns("deadline=60s;verify=2"), 4);
  EXPECT_EQ(VerifiedRuns("verify=0"), 0);
  for (const char* const text : {"validate", "validate;deadline=60s", ""}) {
    const ScopedEnvironment layers("DEPUTY_LAYERS", text);
    const Handle delegate = External("throwing", {{"in", "prepare"}});
    ASSERT_NE(delegate, nullptr);
    TestInterpreter t(AddMulAdd());
    (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get());
    EXPECT_EQ(DeputyInterpreterGetFindingCount(t.get()), text[0] == '\0' ? 0 : 1) << text;
  }
}

// A delegate that claims node 2 and counts the calls in which a node, its parameters or its output
// refer to another delegate.
struct Checking {
  TfLiteDelegate base{};
  int calls = 0, wrong = 0;
};

Checking& Of(const TfLiteDelegate* delegate) { return *static_cast<Checking*>(delegate->data_); }

TfLiteStatus CheckNode(TfLiteContext* context, TfLiteNode* node) {
  auto& checking = *static_cast<Checking*>(node->user_data);
  ++checking.calls;
  const auto& params = *static_cast<const TfLiteDelegateParams*>(node->builtin_data);
  TfLiteTensor& output = context->tensors[node->outputs->data[0]];
  const bool is_right = node->delegate == &checking.base && params.delegate == &checking.base &&
                        output.delegate == &checking.base;
  if (!is_right) ++checking.wrong;
  output.buffer_handle = 3;
  output.data_is_stale = true;
  return kTfLiteOk;
}

TfLiteStatus CheckCopy(TfLiteContext*, TfLiteDelegate* delegate, TfLiteBufferHandle,
                       TfLiteTensor* tensor) {
  Checking& checking = Of(delegate);
  ++checking.calls;
  if (tensor->delegate != delegate || delegate != &checking.base) ++checking.wrong;
  for (int i = 0; i < 2; ++i) tensor->data.f[i] = kOutput[static_cast<size_t>(i)];
  return kTfLiteOk;
}

void FreeNothing(TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle* handle) {
  *handle = kTfLiteNullBufferHandle;
}

TfLiteStatus ClaimLastNode(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration kernel{};
  kernel.init = [](TfLiteContext*, const char* buffer, size_t) -> void* {
    return reinterpret_cast<const TfLiteDelegateParams*>(buffer)->delegate->data_;
  };
  kernel.free = [](TfLiteContext*, void*) {};
  kernel.prepare = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
  kernel.invoke = &CheckNode;
  kernel.custom_name = "Checking";
  kernel.version = 1;
  TfLiteIntArray* const nodes = TfLiteIntArrayCreate(1);
  nodes->data[0] = 2;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes, delegate);
  TfLiteIntArrayFree(nodes);
  return status;
}

TEST_F(Layers, the_inner_delegate_sees_itself_in_nodes_and_tensors) {
  void* const library = dlopen(BuildPath("libdeputy_layers.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<decltype(&DeputyLayersCreateDelegate)>(
      dlsym(library, "DeputyLayersCreateDelegate"));
  const auto destroy = reinterpret_cast<decltype(&DeputyLayersDeleteDelegate)>(
      dlsym(library, "DeputyLayersDeleteDelegate"));
  Checking checking;
  checking.base.data_ = &checking;
  checking.base.Prepare = &ClaimLastNode;
  checking.base.CopyFromBufferHandle = &CheckCopy;
  checking.base.FreeBufferHandle = &FreeNothing;
  TfLiteDelegate* const once = create(&checking.base, "deadline=60s", nullptr);
  TfLiteDelegate* const twice = create(once, "deadline=60s", nullptr);
  for (TfLiteDelegate* const delegate : {&checking.base, once, twice}) {
    checking.calls = 0;
    TestInterpreter t(AddMulAdd());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, kInput);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), kOutput);
    EXPECT_EQ(checking.calls, 2);  // invoke and CopyFromBufferHandle
    EXPECT_EQ(checking.wrong, 0);
  }
  destroy(twice);
  destroy(once);
}

std::string* reported = nullptr;
void Report(const char* text) { *reported = text; }

// Calls the functions of deputy_layers.h.
TEST_F(Layers, a_delegate_of_the_program_is_wrapped_by_a_function) {
  void* const library = dlopen(BuildPath("libdeputy_layers.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<decltype(&DeputyLayersCreateDelegate)>(
      dlsym(library, "DeputyLayersCreateDelegate"));
  const auto destroy = reinterpret_cast<decltype(&DeputyLayersDeleteDelegate)>(
      dlsym(library, "DeputyLayersDeleteDelegate"));
  std::string error;
  reported = &error;
  const Handle inner = External("opaque");
  EXPECT_EQ(create(nullptr, "", &Report), nullptr);
  EXPECT_EQ(error, "expected a delegate, found NULL");
  EXPECT_EQ(create(inner.get(), nullptr, &Report), nullptr);
  EXPECT_EQ(error, "expected layers, found NULL");
  EXPECT_EQ(create(inner.get(), "isolate", &Report), nullptr);
  EXPECT_EQ(error, "layer 'isolate': expected the library of the delegate, found a delegate");
  EXPECT_EQ(create(inner.get(), "no", nullptr), nullptr);
  destroy(nullptr);
  TfLiteDelegate* const layered = create(inner.get(), "fault=invoke:2:fail", &Report);
  ASSERT_NE(layered, nullptr) << error;
  {
    TestInterpreter t(AddMulAdd());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), layered), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 2);
    t.Set<float>(0, kInput);
    EXPECT_NE(t.Invoke(), kTfLiteOk);
    EXPECT_NE(t.log().find("layer fault: invoke fails"), std::string::npos) << t.log();
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), kOutput);
  }
  destroy(layered);
}

// A delegate of the program with a layer.
class Wrapped {
 public:
  explicit Wrapped(TfLiteDelegate* inner)
      : library_(dlopen(BuildPath("libdeputy_layers.so").c_str(), RTLD_NOW)) {
    const auto create = reinterpret_cast<decltype(&DeputyLayersCreateDelegate)>(
        dlsym(library_, "DeputyLayersCreateDelegate"));
    delegate_ = create(inner, "deadline=60s", nullptr);
  }
  ~Wrapped() {
    reinterpret_cast<decltype(&DeputyLayersDeleteDelegate)>(
        dlsym(library_, "DeputyLayersDeleteDelegate"))(delegate_);
  }
  Wrapped(const Wrapped&) = delete;
  Wrapped& operator=(const Wrapped&) = delete;
  TfLiteDelegate* get() const { return delegate_; }

 private:
  void* const library_;
  TfLiteDelegate* delegate_ = nullptr;
};

// Runtimes call free only with user data.
TEST_F(Layers, free_is_not_called_after_an_init_that_returns_null) {
  static int frees;
  frees = 0;
  Programmed inner([](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteRegistration registration{};
    registration.init = [](TfLiteContext*, const char*, size_t) -> void* { return nullptr; };
    registration.free = [](TfLiteContext*, void*) { ++frees; };
    registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
    TfLiteIntArray* const nodes = TfLiteIntArrayCreate(1);
    nodes->data[0] = 0;
    const TfLiteStatus status =
        context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, self);
    TfLiteIntArrayFree(nodes);
    return status;
  });
  const Wrapped wrapped(&inner.base);
  {
    TestInterpreter t(AddMulAdd());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), wrapped.get()), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  }
  EXPECT_EQ(frees, 0);
}

// Node 2 belongs to the inner wrapper alone, the others to the outer one: its output has to be
// copied from the device although both have the same inner delegate.
TEST_F(Layers, a_delegate_with_and_without_an_outer_layer_keeps_its_tensors) {
  TestInterpreter plain(Chain(5));
  ASSERT_EQ(plain.Allocate(), kTfLiteOk);
  plain.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(plain.Invoke(), kTfLiteOk);
  Scripted inner({0, 1, 3});
  inner->outputs_on_device = true;
  const Wrapped once(inner.get()), twice(once.get());
  TestInterpreter t(Chain(5));
  ASSERT_EQ(Apply(&t, twice.get()), kTfLiteOk) << t.log();
  inner->claims[2] = true;
  ASSERT_EQ(Apply(&t, once.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  for (int run = 0; run < 3; ++run) {
    t.Set<float>(0, {1, 2, 3, 4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), plain.Get<float>(0));
  }
}

}  // namespace
}  // namespace deputy::layers_test
