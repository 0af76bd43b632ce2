// SPDX-License-Identifier: Apache-2.0
#include "core/exec/batch_segments.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "c_api/include/builtin_ops.h"
#include "core/exec/tensor_shapes.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

// Returns true if the images of a tensor can be accessed one by one.
bool HasImages(const TfLiteTensor& tensor, int images) {
  const bool is_planned =
      tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteCustom;
  const bool has_whole_bytes = tensor.type == kTfLiteFloat32 || tensor.type == kTfLiteInt8 ||
                               tensor.type == kTfLiteUInt8 || tensor.type == kTfLiteInt16;
  return is_planned && has_whole_bytes && !tensor.is_variable && tensor.delegate == nullptr &&
         tensor.dims != nullptr && tensor.dims->size >= 2 && tensor.dims->data[0] == images &&
         tensor.bytes > 0 && tensor.bytes % static_cast<size_t>(images) == 0;
}

// Roles of the inputs of operators that compute images independently of each other.
struct ImageOperator {
  // Index of the only input with images; the others are constants. -1: any input may have images;
  // these have the rank of the output.
  int input;
};

std::optional<ImageOperator> FindImageOperator(const TfLiteRegistration& registration) {
  switch (registration.builtin_code) {
    case kTfLiteBuiltinConv2d:
    case kTfLiteBuiltinDepthwiseConv2d:
    case kTfLiteBuiltinAveragePool2d:
    case kTfLiteBuiltinMaxPool2d:
    case kTfLiteBuiltinPad:
    case kTfLiteBuiltinPadv2:
    case kTfLiteBuiltinResizeBilinear:
    case kTfLiteBuiltinResizeNearestNeighbor:
    case kTfLiteBuiltinDepthToSpace:
    case kTfLiteBuiltinSpaceToDepth:
    case kTfLiteBuiltinMean:
    case kTfLiteBuiltinReshape:
    case kTfLiteBuiltinQuantize:
    case kTfLiteBuiltinDequantize:
    case kTfLiteBuiltinPrelu:
    case kTfLiteBuiltinRelu:
    case kTfLiteBuiltinRelu6:
    case kTfLiteBuiltinHardSwish:
    case kTfLiteBuiltinLogistic:
    case kTfLiteBuiltinTanh:
      return ImageOperator{0};
    case kTfLiteBuiltinAdd:
    case kTfLiteBuiltinSub:
    case kTfLiteBuiltinMul:
    case kTfLiteBuiltinMaximum:
    case kTfLiteBuiltinMinimum:
    case kTfLiteBuiltinConcatenation:
      return ImageOperator{-1};
    case kTfLiteBuiltinCustom:
      if (strcmp(OperatorName(registration), "Convolution2DTransposeBias") == 0) {
        return ImageOperator{0};
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Returns true for a node that computes constants once for all inferences, before the first image.
bool ComputesConstants(const Graph& graph, const TfLiteNode& node) {
  for (int index : IndicesOf(node.outputs)) {
    const TfLiteTensor* const tensor = graph.tensor(index);
    if (tensor == nullptr || tensor->allocation_type != kTfLitePersistentRo) return false;
  }
  return true;
}

// `stores` is true if later nodes read the output from memory.
BatchNode DescribeNode(const Graph& graph, int node_index, int images, bool stores) {
  const TfLiteNode& node = *graph.node(node_index);
  BatchNode result;
  if (node.delegate != nullptr) return result;
  if (ComputesConstants(graph, node)) return {.by_image = true};
  const auto kind = FindImageOperator(*graph.registration(node_index));
  if (!kind || node.outputs->size != 1) return result;
  const TfLiteTensor* const output = graph.tensor(node.outputs->data[0]);
  if (output == nullptr || !HasImages(*output, images)) return result;
  if (stores) result.image_bytes = output->bytes / static_cast<size_t>(images);
  bool has_images = false;
  for (int n = 0; n < node.inputs->size; ++n) {
    const TfLiteTensor* const input = graph.tensor(node.inputs->data[n]);
    if (input == nullptr) continue;
    const bool may_have_images = kind->input < 0 || kind->input == n;
    if (may_have_images && HasImages(*input, images)) {
      if (kind->input < 0 && input->dims->size != output->dims->size) return {};
      has_images = true;
    } else if (IsConstant(*input)) {
      // The constant differs between images.
      if (kind->input < 0 && input->dims->size == output->dims->size && input->dims->size > 0 &&
          input->dims->data[0] == images) {
        return {};
      }
      result.constant_bytes += input->bytes;
    } else {
      return {};
    }
  }
  result.by_image = has_images;
  return result;
}

// Finds the best range among adjacent nodes that work by image.
class RangeSearch {
 public:
  RangeSearch(std::span<const BatchNode> nodes, int images, size_t cache_bytes)
      : nodes_(nodes), images_(static_cast<size_t>(images)), cache_bytes_(cache_bytes) {}

  // Considers the adjacent nodes [first, end).
  void Run(size_t first, size_t end) {
    const size_t micro_batch = MicroBatchOf(nodes_.subspan(first, end - first));
    size_t constants = 0;
    for (size_t n = first; n < end; ++n) constants += nodes_[n].constant_bytes;
    const double constant_cost =
        constants <= cache_bytes_ / 2 ? 0.0 : 1.0 / static_cast<double>(micro_batch);
    double sum = 0, best = 0;
    size_t begin = end;  // first node of the sum; `end`: none
    BatchRange found;
    for (size_t n = first; n < end; ++n) {
      if (!nodes_[n].continues && (begin == end || sum <= 0)) {
        begin = n;
        sum = 0;
      }
      sum -= constant_cost * static_cast<double>(nodes_[n].constant_bytes);
      const bool ends = n + 1 == nodes_.size() || !nodes_[n + 1].continues;
      if (begin != end && ends && sum >= best && sum > 0) {
        best = sum;
        found = {static_cast<int>(begin), static_cast<int>(n), static_cast<int>(micro_batch)};
      }
      sum += BytesKept(nodes_[n], micro_batch);
    }
    if (found.last > found.first) ranges_.push_back(found);
  }

  std::vector<BatchRange> ranges() && { return std::move(ranges_); }

 private:
  // Returns the number of images of a micro-batch, the largest divisor of the batch for which no
  // output exceeds half of the cache.
  size_t MicroBatchOf(std::span<const BatchNode> nodes) const {
    size_t largest = 1;
    for (const BatchNode& node : nodes) largest = std::max(largest, node.image_bytes);
    size_t images = std::clamp<size_t>(cache_bytes_ / 2 / largest, 1, images_);
    while (images_ % images != 0) --images;
    return images;
  }

  // Returns the number of bytes per image that stay in the cache if the node runs once per
  // micro-batch.
  double BytesKept(const BatchNode& node, size_t micro_batch) const {
    // Minimum size of a micro-batch of a node for which the additional calls are cheap.
    constexpr size_t kMinBytes = 64 << 10;
    const bool exceeds_cache = node.image_bytes * micro_batch >= kMinBytes &&
                               node.image_bytes > cache_bytes_ / 2 / images_;
    return exceeds_cache ? static_cast<double>(node.image_bytes) : 0.0;
  }

  const std::span<const BatchNode> nodes_;
  const size_t images_, cache_bytes_;
  std::vector<BatchRange> ranges_;
};

}  // namespace

std::vector<BatchNode> DescribeNodes(const Graph& graph, const PlanGroups& groups, int images,
                                     int end) {
  std::vector<uint8_t> is_output(graph.tensors().size());
  for (int index : graph.outputs()) {
    if (index >= 0) is_output[static_cast<size_t>(index)] = 1;
  }
  std::vector<BatchNode> nodes;
  int group_end = -1;  // last position of the groups that began before
  for (int position = 0; position < end; ++position) {
    const PlannedGroup* const group = groups.At(position);
    const int node = graph.plan()[static_cast<size_t>(position)];
    const std::span<const int> outputs = IndicesOf(graph.node(node)->outputs);
    const int output = outputs.empty() ? -1 : outputs[0];
    const bool stores = output >= 0 && is_output[static_cast<size_t>(output)] == 0 &&
                        (group == nullptr || output == OutputOf(group->run));
    nodes.push_back(DescribeNode(graph, node, images, stores));
    nodes.back().continues = position <= group_end;
    if (group != nullptr) group_end = std::max(group_end, group->nodes.back());
  }
  return nodes;
}

std::vector<BatchRange> FindBatchRanges(std::span<const BatchNode> nodes, int images,
                                        size_t cache_bytes) {
  RangeSearch search(nodes, images, cache_bytes);
  for (size_t n = 0, end; n < nodes.size(); n = end + 1) {
    end = n;
    while (end < nodes.size() && nodes[end].by_image) ++end;
    search.Run(n, end);
  }
  return std::move(search).ranges();
}

std::vector<Lifetime> TensorUses(const Graph& graph) {
  std::vector<Lifetime> uses(graph.tensors().size());
  const auto include = [&](std::span<const int> indices, int position) {
    for (int index : indices) {
      if (index >= 0) uses[static_cast<size_t>(index)].Include(position);
    }
  };
  include(graph.inputs(), -1);
  include(graph.outputs(), kForever);
  for (int position = 0; position < static_cast<int>(graph.plan().size()); ++position) {
    const TfLiteNode& node = *graph.node(graph.plan()[static_cast<size_t>(position)]);
    include(IndicesOf(node.inputs), position);
    include(IndicesOf(node.outputs), position);
  }
  return uses;
}

BatchSegment::BatchSegment(const Graph& graph, std::span<const Lifetime> uses, BatchRange range,
                           int images)
    : range_(range), micro_batches_(images / range.images) {
  std::vector<int> indices;
  for (int position = range.first; position <= range.last; ++position) {
    const TfLiteNode& node = *graph.node(graph.plan()[static_cast<size_t>(position)]);
    for (const TfLiteIntArray* tensors : {node.inputs, node.outputs}) {
      for (int index : IndicesOf(tensors)) {
        if (index >= 0 && !IsConstant(*graph.tensor(index))) indices.push_back(index);
      }
    }
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  for (int index : indices) {
    const TfLiteTensor& tensor = *graph.tensor(index);
    const Lifetime& use = uses[static_cast<size_t>(index)];
    const bool is_inside = use.first >= range.first && use.last <= range.last;
    if (!is_inside || tensor.allocation_type == kTfLiteCustom) external_.push_back(index);
    IntArray dims = MakeArray(IndicesOf(tensor.dims));
    dims->data[0] = range.images;
    tensors_.push_back({.tensor = index,
                        .dims = std::move(dims),
                        .bytes = tensor.bytes / static_cast<size_t>(micro_batches_)});
  }
}

bool BatchSegment::HasMicroBatchShapes(const Graph& graph) const {
  for (const Sliced& sliced : tensors_) {
    const TfLiteTensor& tensor = *graph.tensor(sliced.tensor);
    const TfLiteIntArray &now = *tensor.dims, &batch = *sliced.dims;
    if (now.size != batch.size || now.data[0] != range_.images ||
        tensor.bytes != sliced.bytes / static_cast<size_t>(micro_batches_) ||
        (tensor.allocation_type != kTfLiteArenaRw && tensor.allocation_type != kTfLiteCustom)) {
      return false;
    }
    for (int axis = 1; axis < now.size; ++axis) {
      if (now.data[axis] != batch.data[axis]) return false;
    }
  }
  return true;
}

void BatchSegment::NoteMemory(std::span<const Arena::Slot> slots) {
  const auto owner_of = [&](int tensor) {
    const int owner = slots[static_cast<size_t>(tensor)].owner;
    return owner < 0 ? tensor : owner;
  };
  std::vector<int> owners;
  for (int tensor : external_) owners.push_back(owner_of(tensor));
  std::sort(owners.begin(), owners.end());
  for (Sliced& sliced : tensors_) {
    sliced.stored = std::binary_search(owners.begin(), owners.end(), owner_of(sliced.tensor));
  }
}

bool BatchSegment::OverlapsClientMemory(const Graph& graph) const {
  for (int index : external_) {
    const TfLiteTensor& own = *graph.tensor(index);
    if (own.allocation_type != kTfLiteCustom) continue;
    for (const Sliced& sliced : tensors_) {
      const TfLiteTensor& other = *graph.tensor(sliced.tensor);
      if (sliced.tensor != index && own.data.raw < other.data.raw + other.bytes &&
          other.data.raw < own.data.raw + own.bytes) {
        return true;
      }
    }
  }
  return false;
}

// Exchanges the shapes of the batch and of a micro-batch. A kernel's prepare may have replaced the
// array of a micro-batch.
void MicroBatchView::Exchange() {
  for (BatchSegment::Sliced& sliced : segment_->tensors_) {
    TfLiteTensor& tensor = *graph_->tensor(sliced.tensor);
    TfLiteIntArray* const dims = sliced.dims.release();
    sliced.dims.reset(std::exchange(tensor.dims, dims));
    std::swap(tensor.bytes, sliced.bytes);
    sliced.data = tensor.data.raw;
  }
}

MicroBatchView::~MicroBatchView() {
  for (BatchSegment::Sliced& sliced : segment_->tensors_) {
    graph_->tensor(sliced.tensor)->data.raw = sliced.data;
  }
  Exchange();
}

void MicroBatchView::Select(int micro_batch, bool keeps_all) {
  for (BatchSegment::Sliced& sliced : segment_->tensors_) {
    TfLiteTensor& tensor = *graph_->tensor(sliced.tensor);
    const size_t offset =
        keeps_all || sliced.stored ? static_cast<size_t>(micro_batch) * tensor.bytes : 0;
    tensor.data.raw = sliced.data == nullptr ? nullptr : sliced.data + offset;
  }
}

}  // namespace deputy
