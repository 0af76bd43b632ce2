// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims the node `node` and doubles its first input, for which it provides memory:
// `bytes` more bytes than the tensor has, at `offset` in an aligned block. It appends events to the
// file `log`: `provided` or `refused` for each prepare; `shared` for each run with the input in
// that memory, `other` for each other run; and `released`.
#include <cstdlib>
#include <fstream>
#include <string>

#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"node", kDeputyOptionInt, 0, "0", "Index of the node."},
    {"bytes", kDeputyOptionInt, 0, "0", "Bytes by which the memory exceeds the tensor."},
    {"offset", kDeputyOptionInt, 0, "0", "Offset in the block."},
    {"dynamic", kDeputyOptionBool, 0, "false", "Claim nodes of graphs with dynamic tensors."},
    {"log", kDeputyOptionString, 0, "", "File to which events are appended."},
};

struct Delegate {
  TfLiteDelegate base{};
  int node = 0, bytes = 0, offset = 0;
  std::string log;
  TfLiteStatus (*provide)(TfLiteContext*, int32_t, const DeputyInputMemory*) = nullptr;
  char* block = nullptr;  // of the newest prepare
};

// Memory and the log's path; both may outlive the delegate.
struct Block {
  char* data = nullptr;
  std::string log;
};

Delegate& Of(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

void Note(const std::string& log, const char* event) {
  std::ofstream(log, std::ios::app) << event << "; ";
}

void Release(void* owner) {
  auto* const block = static_cast<Block*>(owner);
  Note(block->log, "released");
  std::free(block->data);
  delete block;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  Delegate& delegate = Of(node->delegate);
  const int input = node->inputs->data[0];
  constexpr size_t kSpace = 4096;
  auto* const block = new Block{static_cast<char*>(std::aligned_alloc(64, kSpace)), delegate.log};
  delegate.block = block->data + delegate.offset;
  const DeputyInputMemory memory = {
      delegate.block, context->tensors[input].bytes + static_cast<size_t>(delegate.bytes), block,
      &Release};
  const TfLiteStatus status = delegate.provide(context, input, &memory);
  Note(delegate.log, status == kTfLiteOk ? "provided" : "refused");
  if (status == kTfLiteOk) return kTfLiteOk;
  std::free(block->data);
  delete block;
  return delegate.provide(context, -1, &memory) == kTfLiteError &&
                 delegate.provide(context, input, nullptr) == kTfLiteError
             ? kTfLiteOk
             : kTfLiteError;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Delegate& delegate = Of(node->delegate);
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  const TfLiteTensor& output = context->tensors[node->outputs->data[0]];
  Note(delegate.log, input.data.raw == delegate.block ? "shared" : "other");
  for (size_t i = 0; i < output.bytes / sizeof(float); ++i) {
    output.data.f[i] = 2 * input.data.f[i];
  }
  return kTfLiteOk;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration registration{};
  registration.prepare = &Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = "Providing";
  registration.version = 1;
  const int claimed[] = {1, Of(delegate).node};  // laid out as a TfLiteIntArray
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, reinterpret_cast<const TfLiteIntArray*>(claimed), delegate);
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*)(const char*)) {
  auto* const delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = &Apply;
  for (size_t i = 0; i < count; ++i) {
    const std::string key = keys[i];
    if (key == "node") delegate->node = std::atoi(values[i]);
    if (key == "bytes") delegate->bytes = std::atoi(values[i]);
    if (key == "offset") delegate->offset = std::atoi(values[i]);
    if (key == "dynamic") delegate->base.flags |= kTfLiteDelegateFlagsAllowDynamicTensors;
    if (key == "log") delegate->log = values[i];
  }
  return &delegate->base;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("providing", "1", "Deputy");
    plugin.options = kOptions;
    plugin.option_count = sizeof kOptions / sizeof kOptions[0];
    plugin.create = &Create;
    plugin.destroy = [](TfLiteDelegate* delegate) { delete &Of(delegate); };
    plugin.set_memory_provider = [](TfLiteDelegate* delegate, auto provide) {
      Of(delegate).provide = provide;
    };
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
