// SPDX-License-Identifier: Apache-2.0
//
// A delegate with live options and run hooks. It claims the node `node`, of one float32 output, and
// computes `factor` times the first input. It appends its calls to the file `log`, each with the
// delegate's `name`. `fault` names the function that fails: set_options, run_start, node, run_end;
// after a `!` it throws. With `crash` the first run of the node ends the process.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"node", kDeputyOptionInt, 0, "0", "Index of the node."},
    {"name", kDeputyOptionString, 0, "", "Name in the log."},
    {"log", kDeputyOptionString, 0, "", "File to which calls are appended."},
    {"factor", kDeputyOptionFloat, 1, "2", "Factor of the result, above 0."},
    {"fault", kDeputyOptionString, 1, "", "Function that fails."},
};

struct Delegate {
  TfLiteDelegate base{};
  int node = 0;
  std::string name, log, fault;
  float factor = 2;
};

Delegate& Of(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

// Appends a call to the log; fails if that is the fault.
TfLiteStatus Note(const Delegate& delegate, const std::string& function,
                  const std::string& argument = "") {
  if (!delegate.log.empty()) {
    std::ofstream(delegate.log, std::ios::app) << delegate.name << function << argument << "; ";
  }
  if (delegate.fault == "!" + function) throw std::runtime_error("as requested");
  return delegate.fault == function ? kTfLiteError : kTfLiteOk;
}

// Returns true if the log has a run of the node.
bool HasRun(const Delegate& delegate) {
  std::stringstream log;
  log << std::ifstream(delegate.log).rdbuf();
  return log.str().find("node") != std::string::npos;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Delegate& delegate = Of(node->delegate);
  const bool crashes = delegate.fault == "crash" && !HasRun(delegate);
  if (Note(delegate, "node") != kTfLiteOk) return kTfLiteError;
  if (crashes) std::abort();
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& output = context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < output.bytes / sizeof(float); ++i) {
    output.data.f[i] = delegate.factor * input.data.f[i];
  }
  return kTfLiteOk;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration registration{};
  registration.invoke = &Invoke;
  registration.custom_name = "Hooks";
  const int claimed[] = {1, Of(delegate).node};  // laid out as a TfLiteIntArray
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, reinterpret_cast<const TfLiteIntArray*>(claimed), delegate);
}

std::string Set(const std::string& key, const char* value, Delegate* delegate) {
  if (key == "node") delegate->node = std::atoi(value);
  if (key == "name") delegate->name = value;
  if (key == "log") delegate->log = value;
  if (key == "fault") delegate->fault = value;
  if (key != "factor") return "";
  delegate->factor = static_cast<float>(std::atof(value));
  return delegate->factor > 0 ? "" : "option 'factor': expected a number above 0";
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*)(const char*)) {
  auto* delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = &Apply;
  for (size_t i = 0; i < count; ++i) (void)Set(keys[i], values[i], delegate);
  return &delegate->base;
}

TfLiteStatus SetOptions(TfLiteDelegate* base, const char* const* keys, const char* const* values,
                        size_t count, void (*report_error)(const char*)) {
  Delegate changed = Of(base);
  for (size_t i = 0; i < count; ++i) {
    const std::string problem = Set(keys[i], values[i], &changed);
    if (problem.empty()) continue;
    report_error(problem.c_str());
    return kTfLiteError;
  }
  if (Note(Of(base), "set_options") != kTfLiteOk) return kTfLiteError;
  Of(base) = changed;
  return kTfLiteOk;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("hooks", "1", "Deputy");
    plugin.options = kOptions;
    plugin.option_count = sizeof kOptions / sizeof kOptions[0];
    plugin.create = &Create;
    plugin.destroy = [](TfLiteDelegate* delegate) { delete &Of(delegate); };
    plugin.set_options = &SetOptions;
    plugin.run_start = [](TfLiteDelegate* delegate, TfLiteContext*) {
      return Note(Of(delegate), "run_start");
    };
    plugin.run_end = [](TfLiteDelegate* delegate, TfLiteContext*, TfLiteStatus status) {
      return Note(Of(delegate), "run_end", " " + std::to_string(status));
    };
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
