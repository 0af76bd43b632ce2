// SPDX-License-Identifier: Apache-2.0
//
// Batch segments: parts of a plan that run once per micro-batch, a few images of the batch, so that
// intermediate values stay in the cache. An image is one element of dimension 0, which the tensors
// of a segment have in common. The nodes of a segment are prepared for a micro-batch. Clients see
// tensors of the whole batch: a MicroBatchView gives them the shape of a micro-batch while a node
// of the segment is prepared or runs.
#ifndef DEPUTY_CORE_EXEC_BATCH_SEGMENTS_H_
#define DEPUTY_CORE_EXEC_BATCH_SEGMENTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/arena.h"
#include "core/exec/int_array.h"
#include "core/fusion/fusion_groups.h"
#include "core/graph/graph.h"

namespace deputy {

// The properties of a node on which the choice of segments depends.
struct BatchNode {
  bool by_image = false;  // each image of the outputs depends on that image of the inputs only
  // Size of one image of the outputs that later nodes read. Intermediate values of a fusion group
  // are not stored, so they do not count.
  size_t image_bytes = 0;
  size_t constant_bytes = 0;  // size of the constants that the node reads for each image
  bool continues = false;     // a fusion group contains this node and an earlier one
};

struct BatchRange {
  int first = 0, last = -1;  // plan positions, both inclusive
  int images = 1;            // number of images of a micro-batch, a divisor of the batch

  friend bool operator==(const BatchRange&, const BatchRange&) = default;
};

// Returns the nodes of the plan's positions [0, end). `images` is the size of dimension 0.
std::vector<BatchNode> DescribeNodes(const Graph& graph, const PlanGroups& groups, int images,
                                     int end);

// Returns the ranges that become segments, in plan order. Among adjacent nodes that work by image
// it is the range with the largest positive gain per image: the bytes that its nodes pass to later
// ones in the cache, less the bytes of constants, which a batch reads only once. Only outputs of
// which a batch exceeds half of `cache_bytes` are a gain; constants cost nothing if those of all
// adjacent nodes fit into half of it. A range does not divide a fusion group. Micro-batches are as
// large as possible so that none of these nodes' outputs exceeds half of the cache.
std::vector<BatchRange> FindBatchRanges(std::span<const BatchNode> nodes, int images,
                                        size_t cache_bytes);

// Returns the first and last position at which each tensor is used. Inputs of the graph are used
// before the first position, outputs after the last one.
std::vector<Lifetime> TensorUses(const Graph& graph);

class BatchSegment {
 public:
  BatchSegment(const Graph& graph, std::span<const Lifetime> uses, BatchRange range, int images);

  const BatchRange& range() const { return range_; }
  int micro_batches() const { return micro_batches_; }
  // Returns true if the tensors have the shapes that they had when the segment was created, except
  // for dimension 0, which is that of a micro-batch. Requires a MicroBatchView.
  bool HasMicroBatchShapes(const Graph& graph) const;
  // Returns the tensors that nodes outside of the segment or clients use as well. All their images
  // exist during the whole segment.
  std::span<const int> external() const { return external_; }
  // Updates the addresses after memory was planned: all micro-batches of a tensor that shares no
  // memory with an external one have the same address.
  void NoteMemory(std::span<const Arena::Slot> slots);
  // Returns true if memory of the client overlaps that of another tensor of the segment.
  bool OverlapsClientMemory(const Graph& graph) const;

 private:
  friend class MicroBatchView;

  struct Sliced {
    int tensor = -1;
    IntArray dims;         // shape of a micro-batch; in a MicroBatchView, that of the batch
    size_t bytes = 0;      // size of a micro-batch; in a MicroBatchView, that of the batch
    char* data = nullptr;  // in a MicroBatchView: address of the batch
    bool stored = true;    // false: all micro-batches have the same address
  };

  BatchRange range_;
  int micro_batches_;
  std::vector<Sliced> tensors_;
  std::vector<int> external_;
};

// RAII guard: the tensors of a segment have the shape of a micro-batch.
class MicroBatchView {
 public:
  MicroBatchView(Graph* graph, BatchSegment* segment) : graph_(graph), segment_(segment) {
    Exchange();
  }
  ~MicroBatchView();
  MicroBatchView(const MicroBatchView&) = delete;
  MicroBatchView& operator=(const MicroBatchView&) = delete;

  // Sets the tensors' addresses to those of a micro-batch. `keeps_all`: all micro-batches of
  // intermediate tensors are kept, for segments that run node by node.
  void Select(int micro_batch, bool keeps_all);

 private:
  void Exchange();

  Graph* const graph_;
  BatchSegment* const segment_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_BATCH_SEGMENTS_H_
