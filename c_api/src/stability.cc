// SPDX-License-Identifier: Apache-2.0
//
// Table of the stability of a tensor's address and contents by allocation type, for the five
// queries of common.h and their variants on opaque tensors.
#include "c_api/include/c_api_opaque.h"
#include "c_api/include/common.h"

namespace {

struct Traits {
  TfLiteAllocationStrategy strategy;
  TfLiteRunStability address;
  TfLiteRunStability data;
  TfLiteRunStep data_known;
  TfLiteRunStep shape_known;
};

constexpr Traits kUnknown = {kTfLiteAllocationStrategyUnknown, kTfLiteRunStabilityUnknown,
                             kTfLiteRunStabilityUnknown, kTfLiteRunStepUnknown,
                             kTfLiteRunStepUnknown};

// Stability of each TfLiteAllocationType.
constexpr Traits kTraits[] = {
    /* MemNone */ {kTfLiteAllocationStrategyNone, kTfLiteRunStabilityAcrossRuns,
                   kTfLiteRunStabilityAcrossRuns, kTfLiteRunStepInit, kTfLiteRunStepInit},
    /* MmapRo */
    {kTfLiteAllocationStrategyMMap, kTfLiteRunStabilityAcrossRuns, kTfLiteRunStabilityAcrossRuns,
     kTfLiteRunStepInit, kTfLiteRunStepInit},
    /* ArenaRw */
    {kTfLiteAllocationStrategyArena, kTfLiteRunStabilityUnstable, kTfLiteRunStabilitySingleRun,
     kTfLiteRunStepEval, kTfLiteRunStepPrepare},
    /* ArenaRwPersistent */
    {kTfLiteAllocationStrategyArena, kTfLiteRunStabilityUnstable, kTfLiteRunStabilityAcrossRuns,
     kTfLiteRunStepEval, kTfLiteRunStepPrepare},
    /* Dynamic */
    {kTfLiteAllocationStrategyMalloc, kTfLiteRunStabilitySingleRun, kTfLiteRunStabilitySingleRun,
     kTfLiteRunStepEval, kTfLiteRunStepEval},
    /* PersistentRo */
    {kTfLiteAllocationStrategyMalloc, kTfLiteRunStabilitySingleRun, kTfLiteRunStabilitySingleRun,
     kTfLiteRunStepPrepare, kTfLiteRunStepPrepare},
    /* Custom */ kUnknown,
    /* VariantObject */
    {kTfLiteAllocationStrategyNew, kTfLiteRunStabilityAcrossRuns, kTfLiteRunStabilitySingleRun,
     kTfLiteRunStepEval, kTfLiteRunStepEval},
    /* NonCpu */ kUnknown,
};

const Traits& TraitsOf(const TfLiteTensor* tensor) {
  if (tensor == nullptr) return kUnknown;
  const auto type = static_cast<unsigned>(tensor->allocation_type);
  return type < sizeof kTraits / sizeof *kTraits ? kTraits[type] : kUnknown;
}

const Traits& TraitsOf(const TfLiteOpaqueTensor* tensor) {
  return TraitsOf(reinterpret_cast<const TfLiteTensor*>(tensor));
}

}  // namespace

extern "C" {

TfLiteAllocationStrategy TfLiteTensorGetAllocationStrategy(const TfLiteTensor* t) {
  return TraitsOf(t).strategy;
}

TfLiteRunStability TfLiteTensorGetBufferAddressStability(const TfLiteTensor* t) {
  return TraitsOf(t).address;
}

TfLiteRunStability TfLiteTensorGetDataStability(const TfLiteTensor* t) { return TraitsOf(t).data; }

TfLiteRunStep TfLiteTensorGetDataKnownStep(const TfLiteTensor* t) { return TraitsOf(t).data_known; }

TfLiteRunStep TfLiteTensorGetShapeKnownStep(const TfLiteTensor* t) {
  return TraitsOf(t).shape_known;
}

TfLiteAllocationStrategy TfLiteOpaqueTensorGetAllocationStrategy(const TfLiteOpaqueTensor* t) {
  return TraitsOf(t).strategy;
}

TfLiteRunStability TfLiteOpaqueTensorGetBufferAddressStability(const TfLiteOpaqueTensor* t) {
  return TraitsOf(t).address;
}

TfLiteRunStability TfLiteOpaqueTensorGetDataStability(const TfLiteOpaqueTensor* t) {
  return TraitsOf(t).data;
}

TfLiteRunStep TfLiteOpaqueTensorGetDataKnownStep(const TfLiteOpaqueTensor* t) {
  return TraitsOf(t).data_known;
}

TfLiteRunStep TfLiteOpaqueTensorGetShapeKnownStep(const TfLiteOpaqueTensor* t) {
  return TraitsOf(t).shape_known;
}

}  // extern "C"
