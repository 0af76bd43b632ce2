// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/graph_view.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include "bridges/sandbox/digest.h"
#include "bridges/sandbox/node_options.h"
#include "core/support/type_size.h"
#include "tensorflow/lite/builtin_ops.h"

namespace deputy::sandbox {
namespace {

struct Node {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
};

Node NodeAt(TfLiteContext* context, int index) {
  Node found;
  if (context->GetNodeAndRegistration(context, index, &found.node, &found.registration) !=
      kTfLiteOk) {
    throw std::runtime_error("node " + std::to_string(index) + " cannot be read");
  }
  return found;
}

std::span<const int> Indices(const TfLiteIntArray* array) {
  if (array == nullptr) return {};
  return {array->data, static_cast<size_t>(array->size)};
}

const TfLiteTensor* TensorAt(const TfLiteContext* context, int index) {
  if (index < 0 || static_cast<size_t>(index) >= context->tensors_size) return nullptr;
  return &context->tensors[index];
}

std::vector<int32_t> Sorted(std::span<const int32_t> values) {
  std::vector<int32_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

IntArrayPtr MakeIntArray(std::span<const int32_t> values) {
  IntArrayPtr array(DeputyIntArrayCreate(static_cast<int>(values.size())));
  if (array == nullptr) throw std::bad_alloc();
  std::copy(values.begin(), values.end(), array->data);
  return array;
}

std::vector<int32_t> NodesOf(std::span<const Claim* const> claims) {
  std::vector<int32_t> nodes;
  for (const Claim* const claim : claims) {
    nodes.insert(nodes.end(), claim->nodes.begin(), claim->nodes.end());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

int64_t SharedBytes(const TfLiteTensor& tensor) {
  switch (tensor.type) {
    case kTfLiteNoType:
    case kTfLiteString:
    case kTfLiteResource:
    case kTfLiteVariant:
      return -1;
    default:
      break;
  }
  const bool is_fixed = tensor.allocation_type == kTfLiteArenaRw ||
                        tensor.allocation_type == kTfLiteCustom ||
                        tensor.allocation_type == kTfLitePersistentRo ||
                        (tensor.is_variable && tensor.allocation_type == kTfLiteArenaRwPersistent);
  if (!is_fixed || tensor.dims == nullptr) return -1;
  return static_cast<int64_t>(tensor.bytes);
}

std::vector<HostTensor> TensorsOf(const TfLiteContext& context) {
  std::vector<HostTensor> tensors(context.tensors_size);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TfLiteTensor& tensor = context.tensors[i];
    tensors[i].identity = IdentityOf(tensor);
    tensors[i].is_dynamic = tensor.allocation_type == kTfLiteDynamic;
    if (tensor.dims == nullptr) continue;
    tensors[i].has_dims = true;
    tensors[i].dims.assign(tensor.dims->data, tensor.dims->data + tensor.dims->size);
  }
  return tensors;
}

GraphView::GraphView(TfLiteContext* context, bool has_dynamic_sizes)
    : context_(context), has_dynamic_sizes_(has_dynamic_sizes) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) {
    throw std::runtime_error("the execution plan cannot be read");
  }
  // The plan belongs to the context until the next call.
  const std::vector<int32_t> nodes(plan->data, plan->data + plan->size);
  for (const int32_t index : nodes) {
    const Node at = NodeAt(context, index);
    if (at.node->delegate == nullptr && at.registration->builtin_code != kTfLiteBuiltinDelegate) {
      available_.push_back(index);
    }
  }
  std::sort(available_.begin(), available_.end());
}

bool GraphView::IsAvailable(int32_t node) const {
  return std::binary_search(available_.begin(), available_.end(), node);
}

uint64_t GraphView::DigestOfNode(int32_t index, size_t constant_bytes) const {
  const Node at = NodeAt(context_, index);
  const char* const name = at.registration->custom_name;
  Digest digest(constant_bytes);
  digest.AddNode(at.registration->builtin_code, name == nullptr ? "" : name,
                 Indices(at.node->inputs), Indices(at.node->outputs),
                 [&](int tensor) { return TensorAt(context_, tensor); });
  AddOptions(at.registration->builtin_code, *at.node, &digest);
  return digest.value();
}

void GraphView::ComputeDigests() {
  digests_.clear();
  for (const int32_t index : available_) {
    digests_.push_back(DigestOfNode(index, Digest::kAllBytes));
  }
}

// The nodes of the claim are available.
uint64_t GraphView::DigestOf(const Claim& claim) const {
  Digest all;
  for (const int32_t index : claim.nodes) {
    const auto position =
        std::lower_bound(available_.begin(), available_.end(), index) - available_.begin();
    all.AddInt(static_cast<int64_t>(digests_.empty() ? DigestOfNode(index, Digest::kAllBytes)
                                                     : digests_[static_cast<size_t>(position)]));
  }
  return all.value();
}

uint64_t GraphView::Outline() const {
  Digest all;
  for (const int32_t index : available_) {
    all.AddInt(static_cast<int64_t>(DigestOfNode(index, kOutlineConstantBytes)));
  }
  return all.value();
}

std::span<const TfLiteDelegateParams> GraphView::Preview(std::span<const int32_t> nodes) const {
  const IntArrayPtr array = MakeIntArray(nodes);
  TfLiteDelegateParams* params = nullptr;
  int count = 0;
  if (context_->PreviewDelegatePartitioning(context_, array.get(), &params, &count) != kTfLiteOk) {
    throw std::runtime_error("the nodes cannot be previewed");
  }
  return {params, static_cast<size_t>(count)};
}

std::string GraphView::CompareBorder(const Claim& claim, const TfLiteDelegateParams& params) const {
  std::vector<int32_t> inputs;
  for (const int index : Indices(params.input_tensors)) {
    const TfLiteTensor* const tensor = TensorAt(context_, index);
    if (tensor != nullptr && tensor->allocation_type != kTfLiteMmapRo) inputs.push_back(index);
  }
  // The partition has more inputs here if the delegate has connected its nodes to float16 constants
  // in place of the DEQUANTIZE nodes that widen them.
  const std::vector<int32_t> here = Sorted(inputs), there = Sorted(claim.inputs);
  if (!std::includes(here.begin(), here.end(), there.begin(), there.end()) ||
      Sorted(Indices(params.output_tensors)) != Sorted(claim.outputs)) {
    return "its inputs or outputs differ from those of the program";
  }
  return "";
}

std::string GraphView::CompareBorder(const Claim& claim) const {
  const auto partitions = Preview(claim.nodes);
  if (partitions.size() != 1) {
    return "its nodes form " + std::to_string(partitions.size()) + " partitions here";
  }
  return CompareBorder(claim, partitions[0]);
}

void GraphView::KeepSeparable(std::vector<const Claim*>* claims) const {
  // The partitions of the remaining nodes may differ, so that they are previewed again.
  constexpr int kMaxPreviews = 4;
  for (int i = 0; i < kMaxPreviews && !claims->empty(); ++i) {
    std::map<int32_t, const TfLiteDelegateParams*> partitions;  // by the first node
    for (const TfLiteDelegateParams& params : Preview(NodesOf(*claims))) {
      partitions.emplace(params.nodes_to_replace->data[0], &params);
    }
    const size_t removed = std::erase_if(*claims, [&](const Claim* claim) {
      const auto found = partitions.find(claim->nodes[0]);
      return found == partitions.end() ||
             !std::ranges::equal(claim->nodes, Indices(found->second->nodes_to_replace)) ||
             !CompareBorder(*claim, *found->second).empty();
    });
    if (removed == 0) return;
  }
  claims->clear();
}

bool GraphView::CanCross(const TfLiteTensor& tensor) const {
  if (SharedBytes(tensor) >= 0) return true;
  return has_dynamic_sizes_ && tensor.allocation_type == kTfLiteDynamic && !tensor.is_variable &&
         HasFixedSize(tensor.type);
}

std::string GraphView::Refuse(const Claim& claim) const {
  if (claim.nodes.empty()) return "it has no nodes";
  for (size_t i = 0; i < claim.nodes.size(); ++i) {
    if (!IsAvailable(claim.nodes[i]) || (i > 0 && claim.nodes[i] <= claim.nodes[i - 1])) {
      return "node " + std::to_string(claim.nodes[i]) + " is not available";
    }
  }
  if (DigestOf(claim) != claim.digest)
    return "its nodes, options or constants differ from those of the program";
  for (const auto* indices : {&claim.inputs, &claim.outputs}) {
    for (const int32_t index : *indices) {
      const TfLiteTensor* const tensor = TensorAt(context_, index);
      if (tensor == nullptr || !CanCross(*tensor)) {
        return "tensor " + std::to_string(index) + " is a string, a resource or of dynamic size";
      }
    }
  }
  return "";
}

std::vector<Slot> GraphView::SlotsOf(std::span<const Claim* const> claims) const {
  std::set<int32_t> tensors, outputs;
  for (const Claim* const claim : claims) {
    tensors.insert(claim->inputs.begin(), claim->inputs.end());
    outputs.insert(claim->outputs.begin(), claim->outputs.end());
  }
  tensors.insert(outputs.begin(), outputs.end());
  std::vector<Slot> slots;
  slots.reserve(tensors.size());
  int64_t end = 0;
  for (const int32_t index : tensors) {
    const TfLiteTensor& tensor = context_->tensors[index];
    const int64_t bytes = SharedBytes(tensor);
    if (bytes < 0) continue;
    slots.push_back({index, 0, bytes});
    if (outputs.contains(index) || tensor.allocation_type != kTfLiteArenaRw) continue;
    slots.back().input_offset = end;
    end += AlignedBytes(bytes);
  }
  return slots;
}

int64_t GraphView::MaxInputBytes() const {
  int64_t total = 0;
  for (size_t i = 0; i < context_->tensors_size; ++i) {
    const TfLiteTensor& tensor = context_->tensors[i];
    if (tensor.allocation_type == kTfLiteArenaRw) total += AlignedBytes(SharedBytes(tensor));
  }
  return total;
}

}  // namespace deputy::sandbox
