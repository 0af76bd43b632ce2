// SPDX-License-Identifier: Apache-2.0
#include "bridges/cpu/partition.h"

#include <cstdio>
#include <string_view>
#include <utility>

#include "core/base/environment.h"
#include "kernels/cpu/cpu.h"

namespace deputy::cpu {
namespace {

// Error reporter of the mirror graph, which forwards to the host.
void ReportToHost(void* host, const char* format, va_list args) {
  char text[1024];
  vsnprintf(text, sizeof text, format, args);
  auto* context = static_cast<TfLiteContext*>(host);
  context->ReportError(context, "deputy_cpu: %s", text);
}

// Marks a tensor as stored in the host's memory, so that the mirror graph allocates none.
void MakeHosts(TfLiteTensor* tensor) {
  tensor->allocation_type = kTfLiteCustom;
  tensor->data.raw = nullptr;
}

}  // namespace

std::unique_ptr<Partition> Partition::Create(TfLiteContext* context,
                                             const TfLiteDelegateParams& params,
                                             const Options& options,
                                             std::shared_ptr<ThreadPool> pool) {
  InterpreterConfig config;
  config.reporter = ErrorReporter(&ReportToHost, context);
  config.arithmetic = options.reference ? Arithmetic::kReference : Arithmetic::kDefault;
  config.pool = std::move(pool);
  config.steps = EnvironmentChoice("DEPUTY_PLAN", {"steps", "off"}) != "off" &&
                 std::string_view(Cpu().name) != "reference";
  std::unique_ptr<Partition> partition(new Partition(context, config));
  return partition->Build(context, params) == kTfLiteOk ? std::move(partition) : nullptr;
}

TfLiteStatus Partition::Build(TfLiteContext* context, const TfLiteDelegateParams& params) {
  for (const int index : IndicesOf(params.nodes_to_replace)) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    TfLiteStatus status = context->GetNodeAndRegistration(context, index, &node, &registration);
    if (status == kTfLiteOk) status = graph_.AddNode(*node, *registration);
    if (status != kTfLiteOk) return status;
  }
  std::vector<int> own_inputs, own_outputs;
  for (const int host : IndicesOf(params.input_tensors)) {
    if (host < 0) continue;
    const Pair pair = {host, graph_.Mirror(host)};
    if (Own(pair)->allocation_type == kTfLiteMmapRo) continue;
    MakeHosts(Own(pair));
    inputs_.push_back(pair);
    own_inputs.push_back(pair.own);
  }
  for (const int host : IndicesOf(params.output_tensors)) {
    if (host < 0) continue;
    const Pair pair = {host, graph_.Mirror(host)};
    MakeHosts(Own(pair));
    outputs_.push_back(pair);
    own_outputs.push_back(pair.own);
  }
  graph_.graph().graph().SetInputs(own_inputs);
  graph_.graph().graph().SetOutputs(own_outputs);
  return kTfLiteOk;
}

TfLiteStatus Partition::Prepare(TfLiteContext* context) {
  Subgraph& graph = graph_.graph();
  for (const Pair& pair : inputs_) {
    const TfLiteTensor& host = context->tensors[pair.host];
    TfLiteTensor* const own = Own(pair);
    const bool same_type = host.type == own->type;
    if (same_type && TfLiteIntArrayEqual(host.dims, own->dims) != 0) continue;
    // A node of the host may have changed the type in its prepare, which changes the number of
    // bytes.
    own->type = host.type;
    own->data.raw = nullptr;
    if (graph.ResizeInputTensor(pair.own, IndicesOf(host.dims)) != kTfLiteOk) return kTfLiteError;
    graph.RequireAllocation();
  }
  if (graph.AllocateTensors() != kTfLiteOk) return kTfLiteError;
  // ChooseNodes rejects nodes with dynamic outputs, and this property does not depend on shapes.
  bool fixed = true;
  for (const int node : graph.plan()) {
    fixed &= !graph.graph().HasDynamicTensor(IndicesOf(graph.node(node)->outputs));
  }
  for (const Pair& pair : outputs_) fixed &= Own(pair)->allocation_type == kTfLiteCustom;
  if (!fixed) {
    context->ReportError(context, "deputy_cpu: a kernel wants memory of its own for its output");
    return kTfLiteError;
  }
  for (const Pair& pair : outputs_) {
    TfLiteIntArray* dims = TfLiteIntArrayCopy(Own(pair)->dims);
    if (dims == nullptr) return kTfLiteError;
    const TfLiteStatus status = context->ResizeTensor(context, &context->tensors[pair.host], dims);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Partition::Invoke(TfLiteContext* context) {
  for (const Pair& pair : inputs_) Own(pair)->data.raw = context->tensors[pair.host].data.raw;
  for (const Pair& pair : outputs_) {
    const TfLiteTensor& host = context->tensors[pair.host];
    TfLiteTensor* const own = Own(pair);
    if (own->bytes > host.bytes || (host.data.raw == nullptr && own->bytes > 0)) {
      context->ReportError(context, "deputy_cpu: tensor %d: expected %zu bytes, found %zu",
                           pair.host, own->bytes, host.data.raw == nullptr ? 0 : host.bytes);
      return kTfLiteError;
    }
    own->data.raw = host.data.raw;
  }
  return graph_.Invoke(&graph_.graph(), false);
}

}  // namespace deputy::cpu
