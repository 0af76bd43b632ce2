// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates from libraries: they run, their descriptions are read, the registry finds them,
// and a library outlives its delegates. The libraries are those of tests/plugins.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/plugin/elf.h"
#include "core/plugin/plugin_delegate.h"
#include "tests/conformance/trial.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::plugin_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class PluginDescription : public QuietTest {};
class PluginDelegateProxy : public QuietTest {};
class PluginRegistry : public QuietTest {};
class PluginLifetime : public QuietTest {};

// A model of y = TANH(relu((x + c) * x)) + c; no plug-in supports the TANH.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {1, 4}, {1, 2, -1, 0.5f}, "c");
  std::array<int, 4> t = {};
  for (size_t i = 0; i < t.size(); ++i) t[i] = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.AddOp(kTfLiteBuiltinAdd, {x, c}, {t[0]}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {t[0], x}, {t[1]},
          schema::CreateMulOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  m.AddOp(kTfLiteBuiltinTanh, {t[1]}, {t[2]});
  m.AddOp(kTfLiteBuiltinAdd, {t[2], c}, {t[3]}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({t[3]});
  return m.Finish();
}

const std::vector<float> kInput = {1, -2, 3, 0.25f};

std::vector<float> RunModel(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, kInput);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

std::vector<float> RunOnCpu() {
  TestInterpreter t(Model());
  return RunModel(&t);
}

std::vector<float> RunWith(TfLiteDelegate* delegate) {
  TestInterpreter t(Model());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
  return RunModel(&t);
}

// ---- Valid libraries ----------------------------------------------------------------------------

TEST_F(PluginDelegateProxy, a_library_built_with_the_originals_headers_runs_its_nodes) {
  const std::string log = ScratchFile("log");
  std::filesystem::remove(log);
  const Handle delegate = External("elementwise", {{"log", log}});
  EXPECT_EQ(RunWith(delegate.get()), RunOnCpu());
  EXPECT_EQ(ReadText(log),
            "claimed 0 1 3\npartition 0 1\ninputs 0 1\noutputs 3\n"
            "partition 3\ninputs 1 4\noutputs 5\ninvoke\ninvoke\n");
}

TEST_F(PluginDelegateProxy, the_library_exports_two_functions_and_nothing_else) {
  std::vector<std::string> names;
  const std::vector<uint8_t> bytes = ReadBytes(Library("elementwise"));
  EXPECT_EQ(ReadSharedObject(bytes,
                             [&](const ElfSymbol& symbol) {
                               if (symbol.defined) names.emplace_back(symbol.name);
                             }),
            "");
  EXPECT_THAT(names, testing::UnorderedElementsAre("tflite_plugin_create_delegate",
                                                   "tflite_plugin_destroy_delegate"));
}

TEST_F(PluginDelegateProxy, nodes_and_tensors_carry_the_inner_delegate) {
  const Handle delegate = External("elementwise");
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  TfLiteDelegate* inner = Unwrap(delegate.get()).inner;
  EXPECT_NE(inner, delegate.get());
  EXPECT_EQ(t.Tensor(3)->delegate, inner);
  EXPECT_EQ(inner->Prepare == delegate->Prepare, false);
}

TEST_F(PluginDelegateProxy, forwards_copy_and_free_if_the_inner_delegate_has_them) {
  const Handle without = External("elementwise");
  EXPECT_EQ(without->CopyFromBufferHandle, nullptr);
  EXPECT_EQ(without->CopyToBufferHandle, nullptr);
  EXPECT_EQ(without->FreeBufferHandle, nullptr);
  const Handle with = External("handles");
  EXPECT_EQ(with->flags, kTfLiteDelegateFlagsAllowDynamicTensors);
  TfLiteTensor tensor = {};
  std::array<float, 3> data = {};
  tensor.data.f = data.data();
  tensor.bytes = sizeof data;
  EXPECT_EQ(with->CopyFromBufferHandle(nullptr, with.get(), 7, &tensor), kTfLiteOk);
  EXPECT_THAT(data, ElementsAre(7, 7, 7));
  EXPECT_EQ(with->CopyFromBufferHandle(nullptr, with.get(), 8, &tensor), kTfLiteError);
  EXPECT_EQ(with->CopyToBufferHandle(nullptr, with.get(), 7, &tensor), kTfLiteOk);
  TfLiteBufferHandle handle = 7;
  with->FreeBufferHandle(nullptr, with.get(), &handle);
  EXPECT_EQ(handle, kTfLiteNullBufferHandle);
}

TEST_F(PluginDelegateProxy, handles_that_a_client_sets_reach_the_plug_in) {
  const Handle delegate = External("handles");
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  TfLiteTensor* x = TfLiteInterpreterGetInputTensor(t.get(), 0);
  const int index = TfLiteInterpreterGetInputTensorIndex(t.get(), 0);
  ASSERT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), x, 7, delegate.get()), kTfLiteOk);
  x->data_is_stale = true;
  ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), index), kTfLiteOk) << t.log();
  EXPECT_THAT(TestInterpreter::Values<float>(x), ElementsAre(7, 7, 7, 7));
}

TEST_F(PluginDelegateProxy, opaque_delegates_work_as_well) {
  const Handle delegate = External("opaque");
  EXPECT_EQ(delegate->Prepare, nullptr);
  ASSERT_NE(delegate->opaque_delegate_builder, nullptr);
  TestInterpreter t(Model());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
      << t.log();
  EXPECT_EQ(RunModel(&t), RunOnCpu());
  EXPECT_EQ(t.Tensor(2)->delegate, Unwrap(delegate.get()).inner);
  int taken = 0;
  for (int i = 0; i < DeputyInterpreterGetNodeCount(t.get(), 0); ++i) {
    const DeputyNodeInfo info = NodeInfoOf(t.get(), i);
    taken += std::string(info.owner) == "OpaqueAdd";
  }
  EXPECT_EQ(taken, 2);
}

TEST_F(PluginDelegateProxy, recognises_only_its_own_delegates) {
  const Handle plain = External("elementwise"), described = External("described0"),
               opaque = External("opaque");
  TfLiteDelegate plain_delegate = TfLiteDelegateCreate();
  EXPECT_EQ(Unwrap(plain.get()).library->plugin(), nullptr);
  ASSERT_NE(Unwrap(described.get()).library->plugin(), nullptr);
  EXPECT_STREQ(Unwrap(described.get()).library->plugin()->vendor, "Deputy's tests");
  EXPECT_EQ(Unwrap(plain.get()).library->name(), "libelementwise.so");
  EXPECT_EQ(Unwrap(described.get()).library->name(), "elementwise");
  EXPECT_EQ(Unwrap(opaque.get()).library->name(), "libopaque.so");
  EXPECT_EQ(Unwrap(opaque.get()).library->path(), Library("opaque"));
  for (TfLiteDelegate* unrelated : {&plain_delegate, Unwrap(described.get()).inner}) {
    EXPECT_EQ(Unwrap(unrelated).inner, unrelated);
    EXPECT_EQ(Unwrap(unrelated).library, nullptr);
  }
  EXPECT_EQ(Unwrap(nullptr).inner, nullptr);
  EXPECT_EQ(Unwrap(nullptr).library, nullptr);
}

TEST_F(PluginDelegateProxy, exceptions_are_contained) {
  EXPECT_EQ(CreationError(Library("throwing"), {{"in", "create"}}),
            "the plug-in threw an exception: about to throw)");
  const Handle in_prepare = External("throwing", {{"in", "prepare"}});
  TestInterpreter t(Model());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), in_prepare.get()),
            kTfLiteDelegateError);
  EXPECT_EQ(RunModel(&t), RunOnCpu());
  const Handle in_destroy = External("throwing", {{"in", "destroy"}});
}

// An observer that records the calls of plug-ins, with the exceptions they threw.
class EventLog final : public CallObserver {
 public:
  virtual ~EventLog() = default;
  void Begin(const ForeignCall& call) override {
    lines.emplace_back(call.callback == Callback::kCreate    ? "create"
                       : call.callback == Callback::kDestroy ? "destroy"
                                                             : "another");
  }
  void End(const ForeignCall&, const CallResult& result) override {
    lines.emplace_back(result.exception == nullptr ? "done" : result.exception);
  }

  std::vector<std::string> lines;
};

TEST_F(PluginDelegateProxy, creation_and_destruction_are_reported_to_an_observer) {
  ErrorReporter reporter;
  const auto library = PluginLibrary::Load(Library("throwing").c_str(), false, &reporter);
  ASSERT_NE(library, nullptr);
  EventLog notebook;
  const char* key = "in";
  for (const char* place : {"create", "destroy", "prepare"}) {
    TfLiteDelegate* delegate =
        CreatePluginDelegate(library, {&key, &place, 1}, &reporter, &notebook);
    DeletePluginDelegate(delegate, &reporter, &notebook);
  }
  EXPECT_THAT(notebook.lines, ElementsAre("create", "create threw an exception: create", "create",
                                          "done", "destroy", "destroy threw an exception: destroy",
                                          "create", "done", "destroy", "done"));
}

TEST_F(PluginDelegateProxy, refuses_to_delete_other_delegates) {
  TfLiteDelegate unrelated = TfLiteDelegateCreate();
  TfLiteExternalDelegateDelete(&unrelated);
  EXPECT_THAT(DeputyLastError(), HasSubstr("not created from a plug-in"));
  TfLiteExternalDelegateDelete(nullptr);
}

TEST_F(PluginDelegateProxy, options_are_256_at_most) {
  EXPECT_EQ(TfLiteExternalDelegateCreate(nullptr), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a path, found NULL"));
  TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault("/none");
  for (int i = 0; i < 256; ++i) EXPECT_EQ(options.insert(&options, "k", "v"), kTfLiteOk);
  EXPECT_EQ(options.insert(&options, "k", "v"), kTfLiteError);
  options.count = 257;
  EXPECT_EQ(TfLiteExternalDelegateCreate(&options), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected 0 to 256 options, found 257"));
}

// ---- Descriptions of plug-ins -------------------------------------------------------------------

TEST_F(PluginDescription, structs_of_other_sizes_are_accepted) {
  for (const char* name : {"described-8", "described0", "described8", "described_newer_minor",
                           "described_first_release"}) {
    const Handle delegate = External(name);
    const DeputyDelegatePlugin* plugin = Unwrap(delegate.get()).library->plugin();
    ASSERT_NE(plugin, nullptr) << name;
    EXPECT_STREQ(plugin->name, "elementwise");
    EXPECT_STREQ(plugin->version, "1.2.3");
    EXPECT_EQ(plugin->option_count, 6u);
    EXPECT_EQ(plugin->preferred_layout, kDeputyLayoutNhwc);
    ASSERT_NE(plugin->get_support, nullptr);
    EXPECT_EQ(RunWith(delegate.get()), RunOnCpu()) << name;
    EXPECT_EQ(plugin->device_bytes(Unwrap(delegate.get()).inner), 3u) << name;
    // Fields beyond the end of the plug-in's struct are not read: they are null in a struct of the
    // first release.
    const size_t first_release = offsetof(DeputyDelegatePlugin, list_devices);
    if (std::string(name) == "described_first_release") {
      EXPECT_EQ(plugin->struct_size, first_release);
      EXPECT_EQ(plugin->list_devices, nullptr);
      EXPECT_EQ(plugin->describe_partitions, nullptr);
      EXPECT_EQ(plugin->take_events, nullptr);
      EXPECT_EQ(plugin->list_operators, nullptr);
      EXPECT_EQ(plugin->report, nullptr);
      EXPECT_EQ(plugin->node_events, nullptr);
      EXPECT_EQ(plugin->set_model, nullptr);
      EXPECT_EQ(plugin->set_cancellation, nullptr);
      EXPECT_EQ(plugin->async_kernel, nullptr);
      EXPECT_EQ(plugin->set_options, nullptr);
      EXPECT_EQ(plugin->run_start, nullptr);
      EXPECT_EQ(plugin->run_end, nullptr);
      EXPECT_EQ(plugin->flags, 0u);
      EXPECT_EQ(plugin->set_memory_provider, nullptr);
      EXPECT_EQ(plugin->memory_types, nullptr);
      EXPECT_EQ(plugin->share_output, nullptr);
      EXPECT_EQ(plugin->export_buffer, nullptr);
      EXPECT_EQ(plugin->import_buffer, nullptr);
    } else {
      const size_t missing = std::string(name) == "described-8" ? 8 : 0;
      EXPECT_EQ(plugin->struct_size, sizeof(DeputyDelegatePlugin) - missing);
      EXPECT_NE(plugin->list_devices, nullptr);
      EXPECT_NE(plugin->list_operators, nullptr);
      EXPECT_NE(plugin->report, nullptr);
      EXPECT_NE(plugin->node_events, nullptr);
      EXPECT_NE(plugin->set_model, nullptr);
      EXPECT_NE(plugin->set_cancellation, nullptr);
      EXPECT_NE(plugin->async_kernel, nullptr);
      EXPECT_NE(plugin->set_options, nullptr);
      EXPECT_NE(plugin->run_start, nullptr);
      EXPECT_NE(plugin->run_end, nullptr);
      EXPECT_NE(plugin->flags, 0u);
      EXPECT_NE(plugin->set_memory_provider, nullptr);
      EXPECT_NE(plugin->memory_types, nullptr);
      EXPECT_NE(plugin->share_output, nullptr);
      EXPECT_NE(plugin->export_buffer, nullptr);
      EXPECT_EQ(plugin->import_buffer == nullptr, missing != 0) << name;
    }
  }
}

TEST_F(PluginDescription, wrong_major_versions_and_small_structs_are_refused) {
  EXPECT_EQ(CreationError(Library("described_wrong_major")),
            "'deputy_plugin': expected major ABI version 1, found 2)");
  EXPECT_EQ(CreationError(Library("described_too_small")),
            "'deputy_plugin': expected a struct of at least 72 bytes, found 64)");
  EXPECT_EQ(CreationError(Library("described_empty")),
            "'deputy_plugin': expected a struct of at least 72 bytes, found 0)");
}

TEST_F(PluginDescription, options_are_checked_against_their_declarations) {
  const std::string library = Library("described0");
  const std::pair<const char*, const char*> kRight[] = {
      {"fast", "true"}, {"fast", "0"},      {"threads", "-9223372036854775808"},
      {"threads", "4"}, {"scale", "-1e-3"}, {"scale", "2"},
      {"ops", ""},      {"ops", "0,18"}};
  for (const auto& [key, value] : kRight) {
    EXPECT_EQ(CreationError(library, {{key, value}}), "") << key << "=" << value;
  }
  EXPECT_EQ(CreationError(library, {{"colour", "red"}}),
            "unknown option 'colour': expected one of 'ops', 'log', 'groups', 'fast', 'threads', "
            "'scale')");
  EXPECT_EQ(CreationError(library, {{"fast", "yes"}}),
            "option 'fast': expected true, false, 1 or 0, found 'yes')");
  for (const char* value : {"", "many", "4 ", "0x10", "1.5", "9223372036854775808"}) {
    EXPECT_EQ(CreationError(library, {{"ops", "0"}, {"threads", value}}),
              std::string("option 'threads': expected a decimal integer of 64 bits, found '") +
                  value + "')");
  }
  for (const char* value : {"", "fast", "1.5f", "nan", "1e999"}) {
    EXPECT_EQ(CreationError(library, {{"scale", value}}),
              std::string("option 'scale': expected a decimal number, found '") + value + "')");
  }
}

TEST_F(PluginDescription, missing_keys_and_values_are_reported) {
  DeputyPlugin* plugin = DeputyPluginLoad(Library("elementwise").c_str());
  ASSERT_NE(plugin, nullptr);
  const char* strings[] = {"ops", nullptr};
  EXPECT_EQ(DeputyPluginCreateDelegate(plugin, strings, strings + 1, 1), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("(option 0 'ops': expected a value, found NULL)"));
  EXPECT_EQ(DeputyPluginCreateDelegate(plugin, strings + 1, strings, 1), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("(option 0: expected a key, found NULL)"));
  EXPECT_EQ(DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 2), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("2 options: expected their keys and values"));
  DeputyPluginRelease(plugin);
}

// ---- The registry -------------------------------------------------------------------------------

DeputyPluginInfo Describe(const DeputyPlugin* plugin) {
  DeputyPluginInfo info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(DeputyPluginDescribe(plugin, &info), kTfLiteOk);
  return info;
}

TEST_F(PluginRegistry, lists_the_operators_of_a_plug_in) {
  DeputyPlugin* described = DeputyPluginLoad(Library("described0").c_str());
  DeputyPlugin* older = DeputyPluginLoad(Library("described_first_release").c_str());
  ASSERT_TRUE(described != nullptr && older != nullptr);
  std::vector<std::string> found;
  const auto note = [](void* data, const DeputyDelegateOperator* op) {
    auto* names = static_cast<std::vector<std::string>*>(data);
    names->push_back(std::to_string(op->builtin_code) + " v" + std::to_string(op->max_version) +
                     (op->custom_name == nullptr ? "" : op->custom_name));
  };
  EXPECT_EQ(DeputyPluginListOperators(described, note, &found), kTfLiteOk);
  EXPECT_EQ(found, (std::vector<std::string>{"0 v2", "32 v1Bead"}));
  EXPECT_EQ(DeputyPluginListOperators(older, note, &found), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a plug-in that can list its operators"));
  EXPECT_EQ(DeputyPluginListOperators(described, nullptr, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a callback, found NULL"));
  EXPECT_EQ(DeputyPluginListOperators(nullptr, note, &found), kTfLiteError);
  EXPECT_EQ(found.size(), 2u);
  DeputyPluginRelease(described);
  DeputyPluginRelease(older);
}

TEST_F(PluginRegistry, lists_the_devices_of_a_plug_in) {
  DeputyPlugin* described = DeputyPluginLoad(Library("described0").c_str());
  DeputyPlugin* older = DeputyPluginLoad(Library("described_first_release").c_str());
  ASSERT_TRUE(described != nullptr && older != nullptr);
  std::vector<std::string> found;
  const auto note = [](void* data, const DeputyDeviceInfo* device) {
    auto* names = static_cast<std::vector<std::string>*>(data);
    names->push_back(std::to_string(device->index) + device->name);
    // The struct of the second device is one of the first release.
    if (device->struct_size >= sizeof *device) names->back() += device->preferred_precision;
  };
  EXPECT_EQ(DeputyPluginListDevices(described, note, &found), kTfLiteOk);
  EXPECT_EQ(found, (std::vector<std::string>{"0abacusint8", "1fingers"}));
  setenv("ELEMENTWISE_DEVICES", "0", 1);
  EXPECT_EQ(DeputyPluginListDevices(described, note, &found), kTfLiteError);
  unsetenv("ELEMENTWISE_DEVICES");
  EXPECT_THAT(DeputyLastError(), HasSubstr("cannot list its devices: its devices are all asleep"));
  EXPECT_EQ(DeputyPluginListDevices(older, note, &found), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a plug-in that can list its devices"));
  EXPECT_EQ(DeputyPluginListDevices(described, nullptr, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a callback, found NULL"));
  EXPECT_EQ(DeputyPluginListDevices(nullptr, note, &found), kTfLiteError);
  EXPECT_EQ(found.size(), 2u);
  DeputyPluginRelease(described);
  DeputyPluginRelease(older);
}

TEST_F(PluginDescription, partitions_and_events_are_those_of_the_inner_delegate) {
  std::string found;
  const auto text = [](void* data, int32_t first_node, const char* stage, const char* words) {
    *static_cast<std::string*>(data) +=
        std::to_string(first_node) + " " + stage + ": " + words + "; ";
  };
  const auto event = [](void* data, const DeputyDeviceEvent* device_event) {
    *static_cast<std::string*>(data) +=
        std::to_string(device_event->node) + " " + device_event->name + "; ";
  };
  const Handle delegate = External("described0");
  EXPECT_EQ(DeputyPluginDescribePartitions(delegate.get(), text, &found), kTfLiteOk);
  EXPECT_EQ(DeputyPluginTakeEvents(delegate.get(), event, &found), kTfLiteOk);
  EXPECT_EQ(found, "");
  EXPECT_EQ(RunWith(delegate.get()), RunOnCpu());
  EXPECT_EQ(DeputyPluginDescribePartitions(delegate.get(), text, &found), kTfLiteOk);
  EXPECT_EQ(DeputyPluginTakeEvents(delegate.get(), event, &found), kTfLiteOk);
  EXPECT_EQ(found, "-1 counted: 3 nodes; -1 node; -1 node; -1 node; ");
  EXPECT_EQ(DeputyPluginTakeEvents(delegate.get(), nullptr, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a callback, found NULL"));
}

TEST_F(PluginDescription, missing_descriptions_are_reported) {
  const auto text = [](void*, int32_t, const char*, const char*) { FAIL(); };
  const auto event = [](void*, const DeputyDeviceEvent*) { FAIL(); };
  const Handle older = External("described_first_release");
  EXPECT_EQ(DeputyPluginDescribePartitions(older.get(), text, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a plug-in that can describe its partitions"));
  EXPECT_EQ(DeputyPluginTakeEvents(older.get(), event, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a plug-in that can take times"));
  TfLiteDelegate plain = TfLiteDelegateCreate();
  EXPECT_EQ(DeputyPluginTakeEvents(&plain, event, nullptr), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("a delegate without a plug-in: expected"));
  EXPECT_EQ(DeputyPluginTakeEvents(nullptr, event, nullptr), kTfLiteError);
}

TEST_F(PluginRegistry, describes_each_kind) {
  DeputyPlugin* external = DeputyPluginLoad(Library("elementwise").c_str());
  DeputyPlugin* described = DeputyPluginLoad(Library("described0").c_str());
  DeputyPlugin* stable = DeputyPluginLoad(Library("stable_1.7.2").c_str());
  ASSERT_TRUE(external != nullptr && described != nullptr && stable != nullptr)
      << DeputyLastError();
  EXPECT_EQ(Describe(external).kind, kDeputyPluginExternal);
  EXPECT_EQ(Describe(external).path, Library("elementwise"));
  EXPECT_STREQ(Describe(external).name, "libelementwise.so");
  EXPECT_STREQ(Describe(external).version, "");
  EXPECT_EQ(Describe(described).kind, kDeputyPluginDeputy);
  EXPECT_STREQ(Describe(described).name, "elementwise");
  EXPECT_STREQ(Describe(described).vendor, "Deputy's tests");
  ASSERT_EQ(Describe(described).option_count, 6u);
  EXPECT_STREQ(Describe(described).options[4].name, "threads");
  EXPECT_EQ(Describe(described).preferred_layout, kDeputyLayoutNhwc);
  EXPECT_EQ(Describe(stable).kind, kDeputyPluginStable);
  EXPECT_STREQ(Describe(stable).name, "deputy_opaque_add");
  EXPECT_STREQ(Describe(stable).version, "0.9");
  DeputyPluginInfo small{};
  small.struct_size = sizeof small - 8;
  EXPECT_EQ(DeputyPluginDescribe(stable, &small), kTfLiteError);
  EXPECT_EQ(DeputyPluginDescribe(nullptr, &small), kTfLiteError);
  for (DeputyPlugin* plugin : {external, described, stable}) DeputyPluginRelease(plugin);
}

// A call that loads a plug-in may have its own reporter.
TEST(PluginReports, are_passed_to_the_callers_reporter) {
  std::string all, own;
  const auto keep = [](void* text, const char* format, va_list args) {
    char line[1024];
    std::vsnprintf(line, sizeof line, format, args);
    *static_cast<std::string*>(text) += line;
  };
  DeputySetDefaultReporter(keep, &all);
  EXPECT_EQ(DeputyPluginLoadWithErrorReporter("/nowhere/liba.so", keep, &own), nullptr);
  EXPECT_THAT(own, HasSubstr("/nowhere/liba.so"));
  EXPECT_THAT(DeputyLastError(), HasSubstr("/nowhere/liba.so"));
  own.clear();
  DeputyPlugin* plugin =
      DeputyPluginLoadWithErrorReporter(Library("null_result").c_str(), keep, &own);
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(DeputyPluginCreateDelegateWithErrorReporter(plugin, nullptr, nullptr, 0, keep, &own),
            nullptr);
  EXPECT_THAT(own, HasSubstr("libnull_result.so"));
  EXPECT_EQ(DeputyPluginCreateDelegateWithErrorReporter(nullptr, nullptr, nullptr, 0, keep, &own),
            nullptr);
  EXPECT_EQ(all, "");
  EXPECT_EQ(DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0), nullptr);
  EXPECT_THAT(all, HasSubstr("libnull_result.so"));
  DeputySetDefaultReporter(nullptr, nullptr);
  DeputyPluginRelease(plugin);
}

TEST_F(PluginRegistry, stable_delegates_accept_settings) {
  DeputyPlugin* plugin = DeputyPluginLoad(Library("stable_1.0.0").c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  EXPECT_EQ(std::string(getenv("TFLITE_STABLE_DELEGATE_LIBRARY_PATH")), PluginFolder() + "/");
  EXPECT_EQ(DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0), nullptr);
  EXPECT_THAT(DeputyLastError(),
              HasSubstr("(expected a delegate that takes options, found a stable delegate)"));
  EXPECT_EQ(DeputyPluginCreateStableDelegate(plugin, ""), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("(the plug-in returned NULL and gave no reason)"));
  for (const char* settings : {"some", static_cast<const char*>(nullptr)}) {
    TfLiteDelegate* delegate = DeputyPluginCreateStableDelegate(plugin, settings);
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    EXPECT_EQ(RunWith(delegate), RunOnCpu());
    DeputyPluginDeleteDelegate(delegate);
  }
  DeputyPluginRelease(plugin);
  DeputyPlugin* other = DeputyPluginLoad(Library("elementwise").c_str());
  EXPECT_EQ(DeputyPluginCreateStableDelegate(other, nullptr), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("(expected a stable delegate, which takes settings"));
  DeputyPluginRelease(other);
}

TEST_F(PluginRegistry, another_major_version_of_the_stable_abi_is_refused) {
  EXPECT_EQ(DeputyPluginLoad(Library("stable_2.0.0").c_str()), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("'TFL_TheStableDelegate': expected ABI version 1.0.0 or "
                                           "later of the same major number, found 2.0.0"));
}

TEST_F(PluginRegistry, folders_and_files_and_the_environment_are_searched) {
  const std::string folder = ScratchFile("folder");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/sub.so");
  std::filesystem::copy_file(Library("described0"), folder + "/libb.so.1.2");
  std::filesystem::create_symlink("libb.so.1.2", folder + "/libb.so.1");
  std::filesystem::copy_file(Library("no_create"), folder + "/liba.so");
  WriteBytes(folder + "/libc.so", {'x'});
  WriteBytes(folder + "/readme.txt", {'x'});
  const std::string paths = folder + "::" + Library("elementwise") + ":/none.so";
  setenv("DEPUTY_PLUGIN_PATH", paths.c_str(), 1);
  for (const char* given : {paths.c_str(), static_cast<const char*>(nullptr)}) {
    DeputyPluginList* list = DeputyPluginListCreate(given);
    ASSERT_EQ(DeputyPluginListGetCount(list), 5u);
    const auto error = [&](size_t i) { return std::string(DeputyPluginListGetError(list, i)); };
    EXPECT_THAT(error(0), HasSubstr("does not export 'tflite_plugin_create_delegate' nor "
                                    "'TFL_TheStableDelegate'"));
    EXPECT_EQ(DeputyPluginListGetPlugin(list, 0), nullptr);
    EXPECT_EQ(DeputyPluginListGetPath(list, 1), folder + "/libb.so.1");
    EXPECT_EQ(error(1), "");
    EXPECT_STREQ(Describe(DeputyPluginListGetPlugin(list, 1)).name, "elementwise");
    EXPECT_THAT(error(2), HasSubstr("is not an ELF file"));
    EXPECT_EQ(error(3), "");
    EXPECT_THAT(error(4), HasSubstr("No such file"));
    EXPECT_EQ(DeputyPluginListGetPlugin(list, 5), nullptr);
    EXPECT_EQ(DeputyPluginListGetPath(list, 5), nullptr);
    EXPECT_EQ(DeputyPluginListGetError(list, 5), nullptr);
    DeputyPlugin* kept = DeputyPluginRetain(DeputyPluginListGetPlugin(list, 3));
    DeputyPluginListDelete(list);
    EXPECT_EQ(Describe(kept).kind, kDeputyPluginExternal);
    DeputyPluginRelease(kept);
  }
  unsetenv("DEPUTY_PLUGIN_PATH");
  DeputyPluginList* none = DeputyPluginListCreate(nullptr);
  EXPECT_EQ(DeputyPluginListGetCount(none), 0u);
  DeputyPluginListDelete(none);
}

TEST_F(PluginRegistry, names_are_searched_in_the_search_path) {
  const std::string folder = ScratchFile("names");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(Library("described0"), folder + "/libmine.so");
  std::filesystem::copy_file(Library("elementwise"), folder + "/libdeputy_ours.so");
  setenv("DEPUTY_PLUGIN_PATH", (folder + ":" + Library("handles")).c_str(), 1);
  const std::string file = std::filesystem::path(Library("handles")).filename();
  for (const std::string& name :
       {std::string("mine"), std::string("libmine.so"), std::string("ours"), file}) {
    DeputyPlugin* plugin = DeputyPluginLoad(name.c_str());
    ASSERT_NE(plugin, nullptr) << name << ": " << DeputyLastError();
    EXPECT_EQ(Describe(plugin).path[0], '/') << Describe(plugin).path;
    DeputyPluginRelease(plugin);
  }
  EXPECT_EQ(DeputyPluginLoad("nobodys"), nullptr);
  unsetenv("DEPUTY_PLUGIN_PATH");
  EXPECT_EQ(DeputyPluginLoad("mine"), nullptr);
}

// ---- Life cycles --------------------------------------------------------------------------------

// Creates a delegate on a separate thread, deletes it, ends the thread, and waits until the
// library's own code has run once more.
void UseThreadAfterDeletion(const std::string& library) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::thread([&] {
    TfLiteExternalDelegateDelete(
        CreateExternal(library, {{"descriptor", std::to_string(ends[1])}}));
  }).join();
  char done = 0;
  EXPECT_EQ(read(ends[0], &done, 1), 1);
  EXPECT_EQ(done, '!');
  for (const int end : ends) close(end);
}

// Runs UseThreadAfterDeletion in a child process, because executing unloaded code crashes the
// process.
bool SurvivesDeletion(const std::string& library) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    UseThreadAfterDeletion(library);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(PluginLifetime, a_thread_of_the_library_outlives_its_last_delegate) {
  EXPECT_TRUE(SurvivesDeletion(Library("lingering_thread")));
}

TEST_F(PluginLifetime, a_thread_local_destructor_of_the_library_outlives_its_last_delegate) {
  EXPECT_TRUE(SurvivesDeletion(Library("lingering_key")));
}

TEST_F(PluginLifetime, the_library_is_loaded_once_and_never_unloaded) {
  const std::string library = Library("elementwise");
  DeputyPlugin* plugin = DeputyPluginLoad(library.c_str());
  TfLiteDelegate* first = DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0);
  TfLiteDelegate* second = CreateExternal(library);
  EXPECT_EQ(Unwrap(first).inner->Prepare, Unwrap(second).inner->Prepare);
  DeputyPluginRelease(plugin);
  EXPECT_EQ(RunWith(first), RunOnCpu());
  DeputyPluginDeleteDelegate(second);
  TfLiteExternalDelegateDelete(first);
  EXPECT_TRUE(IsLoaded(library));
}

int CountMappings() {
  std::ifstream maps("/proc/self/maps");
  int lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

TEST_F(PluginLifetime, a_thousand_cycles_do_not_grow_memory) {
  const char* kLibraries[] = {"elementwise", "described0", "opaque", "throwing"};
  const auto cycle = [&](int i) {
    TfLiteDelegate* delegate = CreateExternal(Library(kLibraries[i % 4]));
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    if (i % 10 == 0) RunWith(delegate);
    TfLiteExternalDelegateDelete(delegate);
    EXPECT_NE(CreationError(Library("null_result")), "");
  };
  // The work runs on a new thread, because the allocator counts the cache of a thread as in use
  // until the thread ends.
  const auto run = [&](int cycles) {
    std::thread([&] {
      for (int i = 0; i < cycles; ++i) cycle(i);
    }).join();
  };
  run(100);
  const int mappings = CountMappings();
  const size_t bytes = conformance::MeasureUsage().heap_bytes;
  run(1000);
  if (!kSanitized) {  // a sanitizer's allocator keeps freed memory
    EXPECT_LE(CountMappings(), mappings + 2);
    // A leak in each cycle would add up to at least 8 bytes per cycle.
    EXPECT_LE(conformance::MeasureUsage().heap_bytes, bytes + 7999);
  }
}

}  // namespace
}  // namespace deputy::plugin_test
