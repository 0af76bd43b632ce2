// SPDX-License-Identifier: Apache-2.0
//
// The part of an output that an element-by-element kernel is to compute: all of it, on all threads,
// or the range that a step (core/kernel_api/step.h) has come to.
#ifndef DEPUTY_KERNELS_COMMON_PORTION_H_
#define DEPUTY_KERNELS_COMMON_PORTION_H_

#include <cstdint>

#include "core/kernel_api/step.h"
#include "kernels/common/kernel.h"

namespace deputy {

struct Portion {
  int64_t first = 0, last = -1;

  bool is_whole() const { return last < 0; }
};

// A function of a range that outlives the call it is passed to; without its type, so that what is
// below exists once.
struct RangeCall {
  const void* function;
  void (*call)(const void* function, int64_t first, int64_t last);

  void operator()(int64_t first, int64_t last) const { call(function, first, last); }
};

// function(first, last) for ranges that together are the portion of `count` elements. The whole is
// spread over the threads, and followers run behind it.
void RunPortion(TfLiteContext* context, const Portion& portion, int64_t count, RangeCall function);

template <typename Function>
void ForPortion(TfLiteContext* context, const Portion& portion, int64_t count,
                const Function& function) {
  RunPortion(context, portion, count, {&function, [](const void* of, int64_t first, int64_t last) {
                                         (*static_cast<const Function*>(of))(first, last);
                                       }});
}

// A function (context, node, portion) as an invoke, and as what a follower runs.
template <auto function>
TfLiteStatus EvalWhole(TfLiteContext* context, TfLiteNode* node) {
  return function(context, node, Portion{});
}
template <auto function>
void EvalRange(TfLiteContext* context, TfLiteNode* node, int64_t first, int64_t last) {
  function(context, node, Portion{first, last});
}

// For prepare: the node, whose invoke is Guarded<&EvalWhole<function>>, can follow. Leading would
// cost more than it gains: chains of such nodes are faster one by one.
template <auto function>
void OfferPortions(TfLiteContext* context, const TfLiteNode* node, uint32_t matching_inputs) {
  OfferStep(context, node,
            {.invoke = &Guarded<&EvalWhole<function>>,
             .run_range = &EvalRange<function>,
             .matching_inputs = matching_inputs});
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_PORTION_H_
