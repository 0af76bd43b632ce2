// SPDX-License-Identifier: Apache-2.0
//
// Nodes that run as one step. The first node of a step, its head, computes its output in blocks;
// behind each block the followers compute theirs, while what they read is still in the cache. A
// follower's output depends, position by position, on what the head has just finished.
//
// In prepare a kernel offers what its node can do (OfferStep); the subgraph decides. In invoke the
// head's kernel says what is final (StepTail::Finish). Followers compute what they compute alone,
// so that results are the same bits.
#ifndef DEPUTY_CORE_KERNEL_API_STEP_H_
#define DEPUTY_CORE_KERNEL_API_STEP_H_

#include <cstdint>
#include <span>

#include "c_api/include/common.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// Elements after which followers may well run: few enough to be found in the second-level cache,
// enough that the calls do not count. The first level would be faster by less than more calls cost.
inline constexpr int64_t kStepElements = 16384;

// What is running: the followers of the node that is being invoked, in the order of the plan. To be
// made on the invoking thread; used by all workers.
class StepTail {
 public:
  // Nobody follows.
  StepTail() = default;
  explicit StepTail(TfLiteContext* context) : context_(context) {
    if (const Runtime* runtime = RuntimeOf(context)) followers_ = runtime->followers();
  }

  bool empty() const { return followers_.empty(); }

  // Elements [first, last) of the head's output are final: runs the followers on them. To be called
  // once for every element.
  void Finish(int64_t first, int64_t last) const {
    for (const StepFollower& follower : followers_) {
      follower.run_range(context_, follower.node, first, last);
    }
  }

  // The same for columns [first_column, last_column) of rows [first_row, last_row), of a matrix
  // with `columns`.
  void FinishTile(int64_t first_row, int64_t last_row, int64_t columns, int64_t first_column,
                  int64_t last_column) const {
    if (followers_.empty()) return;
    if (last_column - first_column == columns) {
      Finish(first_row * columns, last_row * columns);
      return;
    }
    for (int64_t row = first_row; row < last_row; ++row) {
      Finish(row * columns + first_column, row * columns + last_column);
    }
  }

 private:
  TfLiteContext* context_ = nullptr;
  std::span<const StepFollower> followers_;
};

// For prepare, as its last act: see Runtime::OfferStep. Nothing under a foreign context.
inline void OfferStep(TfLiteContext* context, const TfLiteNode* node, const StepOffer& offer) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->OfferStep(node, offer);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_STEP_H_
