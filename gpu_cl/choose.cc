// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/choose.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <numeric>
#include <string>

#include "compiler/import.h"
#include "gpu_cl/cost.h"
#include "tensorflow/lite/builtin_ops.h"

namespace deputy::gpu_cl {
namespace {

bool HasType(const TfLiteContext* context, const TfLiteNode& node,
             std::initializer_list<TfLiteType> types) {
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      if (indices->data[i] < 0) continue;
      const TfLiteTensor& tensor = context->tensors[indices->data[i]];
      if (std::find(types.begin(), types.end(), tensor.type) != types.end()) return true;
    }
  }
  return false;
}

// Returns the reason why the delegate leaves a node to the CPU; nullopt if it supports the node.
std::optional<Refusal> Refuse(const GpuDelegate& gpu, TfLiteContext* context, int index,
                              Work* out_work) {
  TfLiteNode* node;
  TfLiteRegistration* registration;
  if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
    return Refusal{kDeputyReasonOther, "the node does not exist"};
  }
  if (!gpu.options.quantized && HasType(context, *node, {kTfLiteInt8, kTfLiteUInt8})) {
    return Refusal{kDeputyReasonQuantization,
                   "quantised operators are disabled by the option 'quantized'"};
  }
  // Sums of INT16 products exceed float32's precision: a result may be off by a step of the scale.
  const bool product = registration->builtin_code == kTfLiteBuiltinBatchMatmul ||
                       registration->builtin_code == kTfLiteBuiltinFullyConnected ||
                       registration->builtin_code == kTfLiteBuiltinConv2d;
  if (product && HasType(context, *node, {kTfLiteInt16})) {
    return Refusal{kDeputyReasonType,
                   "INT16 is not supported (its sums exceed float32's precision)"};
  }
  return compiler::CheckNode(context, index, *node, *registration, out_work);
}

CostModel ModelFor(const GpuDelegate& gpu, const TfLiteContext* context) {
  return CostModelOf(gpu.context->device().profile, ClassOf(gpu), context->recommended_num_threads);
}

// Previews the partitions of a set of nodes. The result is valid until the next preview.
TfLiteStatus Preview(TfLiteContext* context, const std::vector<int>& nodes,
                     std::span<const TfLiteDelegateParams>* out_partitions) {
  TfLiteIntArray* wanted = MakeArray(nodes);
  if (wanted == nullptr) return Fail(context, kTfLiteError, "out of memory");
  TfLiteDelegateParams* partitions = nullptr;
  int count = 0;
  const TfLiteStatus status =
      context->PreviewDelegatePartitioning(context, wanted, &partitions, &count);
  free(wanted);
  if (status == kTfLiteOk) *out_partitions = {partitions, static_cast<size_t>(count)};
  return status;
}

// Returns a partition's estimated gain; nullopt if it cannot be imported, which is reported when it
// is compiled.
std::optional<double> EstimateGain(TfLiteContext* context, const CostModel& model,
                                   const TfLiteDelegateParams& partition) {
  compiler::Graph graph;
  if (compiler::Import(context, partition, &graph)) return std::nullopt;
  return GainNs(model, graph);
}

// Returns the `count` partitions with the largest gain; ties are broken by the number of nodes.
std::vector<size_t> BestFirst(const GpuDelegate& gpu, TfLiteContext* context,
                              std::span<const TfLiteDelegateParams> partitions, size_t count) {
  const CostModel model = ModelFor(gpu, context);
  std::vector<double> gains;
  for (const TfLiteDelegateParams& partition : partitions) {
    gains.push_back(EstimateGain(context, model, partition).value_or(-HUGE_VAL));
  }
  std::vector<size_t> order(partitions.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (gains[a] != gains[b]) return gains[a] > gains[b];
    return partitions[a].nodes_to_replace->size > partitions[b].nodes_to_replace->size;
  });
  order.resize(std::min(order.size(), count));
  return order;
}

// Returns the reason why a partition is too slow; nullopt if its gain suffices or is unknown.
std::optional<Refusal> CheckGain(const GpuDelegate& gpu, TfLiteContext* context,
                                 const CostModel& model, const TfLiteDelegateParams& partition) {
  const std::optional<double> gain = EstimateGain(context, model, partition);
  if (!gain || *gain / 1000 >= gpu.options.min_gain_us) return std::nullopt;
  char text[160];
  std::snprintf(text, sizeof text, "partition of %d nodes: gain %.1f us below min_gain_us=%.15g",
                partition.nodes_to_replace->size, *gain / 1000, gpu.options.min_gain_us);
  return Refusal{kDeputyReasonCost, text};
}

// Refuses the nodes of partitions whose gain is below the minimum of the options.
TfLiteStatus RefuseSlowPartitions(const GpuDelegate& gpu, TfLiteContext* context,
                                  const CostModel& model, std::vector<NodeChoice>* choices) {
  std::vector<int> nodes;
  std::map<int, NodeChoice*> choice_of_node;
  for (NodeChoice& choice : *choices) {
    choice_of_node[choice.node] = &choice;
    if (!choice.refusal) nodes.push_back(choice.node);
  }
  if (nodes.empty()) return kTfLiteOk;
  std::span<const TfLiteDelegateParams> partitions;
  const TfLiteStatus status = Preview(context, nodes, &partitions);
  if (status != kTfLiteOk) return status;
  for (const TfLiteDelegateParams& partition : partitions) {
    const std::optional<Refusal> refusal = CheckGain(gpu, context, model, partition);
    if (!refusal) continue;
    const TfLiteIntArray& part = *partition.nodes_to_replace;
    for (int i = 0; i < part.size; ++i) choice_of_node.at(part.data[i])->refusal = refusal;
  }
  return kTfLiteOk;
}

}  // namespace

TfLiteStatus ChooseNodes(const GpuDelegate& gpu, TfLiteContext* context, std::span<const int> plan,
                         std::vector<NodeChoice>* out_choices) {
  const CostModel model = ModelFor(gpu, context);
  out_choices->clear();
  for (int index : plan) {
    NodeChoice& choice = out_choices->emplace_back();
    choice.node = index;
    Work work;
    choice.refusal = Refuse(gpu, context, index, &work);
    if (!choice.refusal) choice.device_ns = TimeNs(model.device, work);
  }
  if (gpu.options.force || gpu.options.min_gain_us <= kNoMinGain) return kTfLiteOk;
  return RefuseSlowPartitions(gpu, context, model, out_choices);
}

TfLiteStatus KeepBest(const GpuDelegate& gpu, TfLiteContext* context, std::vector<int>* nodes) {
  if (gpu.options.max_partitions == 0 || nodes->empty()) return kTfLiteOk;
  std::span<const TfLiteDelegateParams> partitions;
  const TfLiteStatus status = Preview(context, *nodes, &partitions);
  if (status != kTfLiteOk) return status;
  const auto wanted = static_cast<size_t>(gpu.options.max_partitions);
  if (partitions.size() <= wanted) return kTfLiteOk;
  nodes->clear();
  for (const size_t index : BestFirst(gpu, context, partitions, wanted)) {
    const TfLiteIntArray& part = *partitions[index].nodes_to_replace;
    nodes->insert(nodes->end(), part.data, part.data + part.size);
  }
  std::sort(nodes->begin(), nodes->end());
  return kTfLiteOk;
}

}  // namespace deputy::gpu_cl
