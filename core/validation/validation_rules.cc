// SPDX-License-Identifier: Apache-2.0
#include "core/validation/validation_rules.h"

#include <cstddef>
#include <iterator>

namespace deputy {
namespace {

constexpr Severity kError = Severity::kError;
constexpr Severity kSuspicion = Severity::kSuspicion;

constexpr RuleInfo kRules[] = {
    {Rule::kCallOrder, "V01 call-order", kError},
    {Rule::kReenters, "V02 reenters-interpreter", kError},
    {Rule::kDelegateFunctionOutsidePrepare, "V03 delegate-function-outside-prepare", kError},
    {Rule::kReplaceInsideInit, "V04 replace-inside-init", kError},
    {Rule::kContextAfterCall, "V05 context-after-call", kError},
    {Rule::kWrongThread, "V06 wrong-thread", kError},
    {Rule::kWrongContext, "V07 wrong-context", kError},
    {Rule::kIndexOutOfRange, "V10 index-out-of-range", kError},
    {Rule::kClaimsWrongNode, "V11 claims-wrong-node", kError},
    {Rule::kReplaceForAnother, "V12 replace-for-another-delegate", kError},
    {Rule::kSwallowsReplaceFailure, "V13 swallows-replace-failure", kError},
    {Rule::kRegistrationFields, "V14 registration-fields", kSuspicion},
    {Rule::kInitSentinel, "V15 init-sentinel", Severity::kPortability},
    {Rule::kSharedUserData, "V16 shared-user-data", kSuspicion},
    {Rule::kException, "V17 exception", kError},
    {Rule::kTimeBudget, "V18 time-budget", kSuspicion},
    {Rule::kResizesForeignTensor, "V20 resizes-foreign-tensor", kError},
    {Rule::kShapeInInvoke, "V21 shape-changed-in-invoke", kError},
    {Rule::kShapeInPrepare, "V22 shape-other-than-the-model", kError},
    {Rule::kAddsTensorsInInvoke, "V23 adds-tensors-in-invoke", kError},
    {Rule::kForeignTemporary, "V24 foreign-temporary", kError},
    {Rule::kOutputNotWritten, "V30 output-not-written", kSuspicion},
    {Rule::kWritesOutsideOutput, "V31 writes-outside-output", kError},
    {Rule::kWritesInput, "V32 writes-input", kError},
    {Rule::kWritesConstant, "V33 writes-constant", kError},
    {Rule::kWritesOtherTensor, "V34 writes-other-tensor", kError},
    {Rule::kContextField, "V40 context-field", kError},
    {Rule::kTensorField, "V41 tensor-field", kError},
    {Rule::kNodeField, "V42 node-field", kError},
    {Rule::kHandleWithoutDelegate, "V50 handle-without-delegate", kError},
    {Rule::kStaleWithoutHandle, "V51 stale-without-handle", kError},
    {Rule::kStaleForeignTensor, "V52 stale-foreign-tensor", kError},
    {Rule::kForeignHandle, "V53 handle-of-another-delegate", kError},
    {Rule::kCopyWritesNothing, "V54 copy-writes-nothing", kSuspicion},
    {Rule::kHandleFreedTwice, "V55 handle-freed-twice", kError},
    {Rule::kKernelNeverFreed, "V60 kernel-never-freed", kSuspicion},
    {Rule::kHandleNeverFreed, "V61 handle-never-freed", kSuspicion},
    {Rule::kSubgraphNotReleased, "V62 subgraph-not-released", kError},
    {Rule::kSubgraphReleasedTooOften, "V63 subgraph-released-too-often", kError},
};

constexpr bool InOrder() {
  for (size_t i = 0; i < std::size(kRules); ++i) {
    if (static_cast<size_t>(kRules[i].rule) != i) return false;
  }
  return std::size(kRules) == static_cast<size_t>(Rule::kSubgraphReleasedTooOften) + 1;
}
static_assert(InOrder(), "the table has the order of the enum");

}  // namespace

const RuleInfo& InfoOf(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

}  // namespace deputy
