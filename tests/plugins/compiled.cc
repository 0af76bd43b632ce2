// SPDX-License-Identifier: Apache-2.0
//
// A delegate that compiles its partition (compiler/) and computes the graph with the compiler's
// reference code: it tests the import and the passes without a device. Options:
//   passes=1      runs the passes, and checks the graph after each
//   integers=1    imports products of quantised values as products of integers
//   most_steps=N  fails to prepare graphs that take more than N steps
//   fails_at=X    fails to run nodes whose first input begins with the float32 value X
//   only=I        claims only the node with this index
// With COPIES_CONSTANTS it has the flag kDeputyPluginCopiesConstants.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/fold.h"
#include "compiler/graph.h"
#include "compiler/import.h"
#include "compiler/passes.h"
#include "compiler/reference.h"
#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

using deputy::compiler::Graph;

// Data of one node of the delegate.
struct Kernel {
  Graph graph;
  std::string failure;
};

struct Compiled {
  TfLiteDelegate delegate;
  bool passes = false;
  bool integers = false;
  int64_t max_steps = INT64_MAX;
  float fails_at = NAN;
  int only = -1;
  std::vector<std::string> texts;  // texts of the last support query
};

// Allocates an array with malloc, because the runtime frees the arrays that it receives with
// free().
TfLiteIntArray* MakeArray(const std::vector<int>& values) {
  auto* array =
      static_cast<TfLiteIntArray*>(malloc(sizeof(TfLiteIntArray) + values.size() * sizeof(int)));
  if (array == nullptr) return nullptr;
  array->size = static_cast<int>(values.size());
  if (!values.empty()) memcpy(array->data, values.data(), values.size() * sizeof(int));
  return array;
}

// Runs all passes one by one and then the sequence that back ends use. Returns the problem of the
// resulting graph, or "".
std::string RunPasses(Graph* graph) {
  for (const auto& row : deputy::compiler::AllPasses()) {
    row.pass(graph);
    const std::string fault = deputy::compiler::FindFault(*graph);
    if (!fault.empty()) return std::string("after ") + row.name + ": " + fault;
  }
  deputy::compiler::RunPasses(graph, nullptr);
  return deputy::compiler::FindFault(*graph);
}

// Returns the reason why a graph is too expensive to compute; "" if it is not.
std::string TooLong(const Graph& graph, int64_t max_steps) {
  int64_t left = max_steps;
  for (const auto& operation : graph.operations) {
    const int64_t steps = deputy::compiler::StepsOf(graph, operation);
    if (steps > left) return "it takes more than " + std::to_string(max_steps) + " steps";
    left -= steps;
  }
  return "";
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  auto kernel = std::make_unique<Kernel>();
  const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  const auto& options = *static_cast<const Compiled*>(params->delegate->data_);
  const auto refusal =
      deputy::compiler::Import(context, *params, &kernel->graph,
                               options.integers ? deputy::compiler::Products::kIntegers
                                                : deputy::compiler::Products::kReals);
  kernel->failure = refusal ? refusal->text : deputy::compiler::FindFault(kernel->graph);
  if (options.passes && kernel->failure.empty()) kernel->failure = RunPasses(&kernel->graph);
  if (kernel->failure.empty()) kernel->failure = TooLong(kernel->graph, options.max_steps);
  return kernel.release();
}

void Free(TfLiteContext*, void* buffer) { delete static_cast<Kernel*>(buffer); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const auto& kernel = *static_cast<Kernel*>(node->user_data);
  if (!kernel.failure.empty()) {
    context->ReportError(context, "compiled: %s", kernel.failure.c_str());
    return kTfLiteError;
  }
  for (const int id : kernel.graph.outputs) {
    const auto& value = kernel.graph.value(id);
    TfLiteIntArray* dims = MakeArray(value.shape);
    if (dims == nullptr) return kTfLiteError;
    TfLiteTensor* output = &context->tensors[value.tensor];
    if (context->ResizeTensor(context, output, dims) != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Graph& graph = static_cast<Kernel*>(node->user_data)->graph;
  std::vector<const std::byte*> inputs;
  for (const int id : graph.inputs) {
    inputs.push_back(
        reinterpret_cast<const std::byte*>(context->tensors[graph.value(id).tensor].data.raw));
  }
  const auto& options = *static_cast<const Compiled*>(node->delegate->data_);
  float first = 0;
  if (!graph.inputs.empty() && graph.value(graph.inputs[0]).bytes() >= sizeof first) {
    memcpy(&first, inputs[0], sizeof first);
  }
  if (first == options.fails_at) return kTfLiteError;
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  if (!deputy::compiler::ComputeGraph(graph, inputs, &outputs, &error)) {
    context->ReportError(context, "compiled: %s", error.c_str());
    return kTfLiteError;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    memcpy(context->tensors[graph.value(graph.outputs[i]).tensor].data.raw, outputs[i].data(),
           outputs[i].size());
  }
  return kTfLiteOk;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* plan;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  std::vector<int> taken;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node;
    TfLiteRegistration* registration;
    const int index = plan->data[i];
    const int only = static_cast<const Compiled*>(delegate->data_)->only;
    if (only >= 0 && index != only) continue;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) break;
    if (!deputy::compiler::CheckNode(context, index, *node, *registration)) {
      taken.push_back(index);
    }
  }
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = "Compiled";
  registration.version = 1;
  TfLiteIntArray* nodes = MakeArray(taken);
  if (nodes == nullptr) return kTfLiteError;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, delegate);
  free(nodes);
  return status;
}

TfLiteStatus Support(TfLiteDelegate* delegate, TfLiteContext* context,
                     DeputySupportResult* result) {
  auto& texts = static_cast<Compiled*>(delegate->data_)->texts;
  texts.assign(result->node_count, "");
  for (size_t i = 0; i < result->node_count; ++i) {
    TfLiteNode* node;
    TfLiteRegistration* registration;
    const int index = result->nodes[i];
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      return kTfLiteError;
    }
    const auto refusal = deputy::compiler::CheckNode(context, index, *node, *registration);
    result->supported[i] = refusal ? 0 : 1;
    if (!refusal) continue;
    result->reason_of_node[i] = refusal->reason;
    texts[i] = refusal->text;
    result->text_of_node[i] = texts[i].c_str();
  }
  return kTfLiteOk;
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*)(const char*)) {
  auto* compiled = new Compiled();
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(keys[i], "passes") == 0) compiled->passes = strcmp(values[i], "1") == 0;
    if (strcmp(keys[i], "integers") == 0) compiled->integers = strcmp(values[i], "1") == 0;
    if (strcmp(keys[i], "fails_at") == 0) compiled->fails_at = strtof(values[i], nullptr);
    if (strcmp(keys[i], "only") == 0) compiled->only = atoi(values[i]);
    if (strcmp(keys[i], "most_steps") == 0) compiled->max_steps = strtoll(values[i], nullptr, 10);
  }
  compiled->delegate.data_ = compiled;
  compiled->delegate.Prepare = &Apply;
  return &compiled->delegate;
}

void Destroy(TfLiteDelegate* delegate) { delete static_cast<Compiled*>(delegate->data_); }

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("compiled", "1", "Deputy");
    plugin.create = &Create;
    plugin.destroy = &Destroy;
    plugin.get_support = &Support;
#ifdef COPIES_CONSTANTS
    plugin.flags = kDeputyPluginCopiesConstants;
#endif
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
