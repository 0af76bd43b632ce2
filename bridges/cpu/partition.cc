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
void UseHostMemory(TfLiteTensor* tensor) {
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
  config.cpu = &Cpu();
  config.fusion = EnvironmentChoice("DEPUTY_PLAN", {"fused", "off"}) != "off" &&
                  std::string_view(config.cpu->name) != "reference";
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
  std::vector<int> mirror_inputs, mirror_outputs;
  for (const int host : IndicesOf(params.input_tensors)) {
    if (host < 0) continue;
    const TensorPair pair = {host, graph_.Mirror(host)};
    if (MirrorOf(pair)->allocation_type == kTfLiteMmapRo) continue;
    UseHostMemory(MirrorOf(pair));
    inputs_.push_back(pair);
    mirror_inputs.push_back(pair.mirror);
  }
  for (const int host : IndicesOf(params.output_tensors)) {
    if (host < 0) continue;
    const TensorPair pair = {host, graph_.Mirror(host)};
    UseHostMemory(MirrorOf(pair));
    outputs_.push_back(pair);
    mirror_outputs.push_back(pair.mirror);
  }
  graph_.graph().graph().SetInputs(mirror_inputs);
  graph_.graph().graph().SetOutputs(mirror_outputs);
  return kTfLiteOk;
}

TfLiteStatus Partition::Prepare(TfLiteContext* context) {
  Subgraph& graph = graph_.graph();
  for (const TensorPair& pair : inputs_) {
    const TfLiteTensor& host = context->tensors[pair.host];
    TfLiteTensor* const mirror = MirrorOf(pair);
    const bool same_type = host.type == mirror->type;
    if (same_type && TfLiteIntArrayEqual(host.dims, mirror->dims) != 0) continue;
    // A node of the host may have changed the type in its prepare, which changes the number of
    // bytes.
    mirror->type = host.type;
    mirror->data.raw = nullptr;
    if (graph.ResizeInputTensor(pair.mirror, IndicesOf(host.dims)) != kTfLiteOk) {
      return kTfLiteError;
    }
    graph.RequireAllocation();
  }
  if (graph.AllocateTensors() != kTfLiteOk) return kTfLiteError;
  // Checks that the outputs of all nodes have fixed sizes. This is expected, because ChooseNodes
  // rejects nodes with dynamic outputs, and because the property does not depend on shapes.
  bool fixed = true;
  for (const int node : graph.graph().plan()) {
    fixed &= !graph.graph().HasDynamicTensor(IndicesOf(graph.graph().node(node)->outputs));
  }
  for (const TensorPair& pair : outputs_) fixed &= MirrorOf(pair)->allocation_type == kTfLiteCustom;
  if (!fixed) {
    context->ReportError(context, "deputy_cpu: an output of the partition has no fixed size");
    return kTfLiteError;
  }
  for (const TensorPair& pair : outputs_) {
    TfLiteIntArray* dims = TfLiteIntArrayCopy(MirrorOf(pair)->dims);
    if (dims == nullptr) return kTfLiteError;
    const TfLiteStatus status = context->ResizeTensor(context, &context->tensors[pair.host], dims);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Partition::Invoke(TfLiteContext* context) {
  for (const TensorPair& pair : inputs_) {
    MirrorOf(pair)->data.raw = context->tensors[pair.host].data.raw;
  }
  for (const TensorPair& pair : outputs_) {
    const TfLiteTensor& host = context->tensors[pair.host];
    TfLiteTensor* const mirror = MirrorOf(pair);
    if (mirror->bytes > host.bytes || (host.data.raw == nullptr && mirror->bytes > 0)) {
      context->ReportError(context, "deputy_cpu: tensor %d: expected %zu bytes, found %zu",
                           pair.host, mirror->bytes, host.data.raw == nullptr ? 0 : host.bytes);
      return kTfLiteError;
    }
    mirror->data.raw = host.data.raw;
  }
  return graph_.Invoke(&graph_.graph(), false);
}

}  // namespace deputy::cpu
