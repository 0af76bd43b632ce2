// SPDX-License-Identifier: Apache-2.0
//
// The rules of the delegate contract that the validation layer checks. docs/validation.md says what
// each of them means. Numbers are stable: a rule that goes leaves a gap.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_RULES_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_RULES_H_

namespace deputy {

// In the order of the table in validation_rules.cc.
enum class Rule {
  // Order of calls.
  kCallOrder,
  kReenters,
  kDelegateFunctionOutsidePrepare,
  kReplaceInsideInit,
  kContextAfterCall,
  kWrongThread,
  kWrongContext,
  // Arguments of the context's functions, and what callbacks answer.
  kIndexOutOfRange,
  kClaimsWrongNode,
  kReplaceForAnother,
  kSwallowsReplaceFailure,
  kRegistrationFields,
  kInitSentinel,
  kSharedUserData,
  kException,
  kTimeBudget,
  // Shapes.
  kResizesForeignTensor,
  kShapeInInvoke,
  kShapeInPrepare,
  kAddsTensorsInInvoke,
  kForeignTemporary,
  // Bytes.
  kOutputNotWritten,
  kWritesOutsideOutput,
  kWritesInput,
  kWritesConstant,
  kWritesOtherTensor,
  // Fields of structs that belong to the runtime.
  kContextField,
  kTensorField,
  kNodeField,
  // Buffer handles.
  kHandleWithoutDelegate,
  kStaleWithoutHandle,
  kStaleForeignTensor,
  kForeignHandle,
  kCopyWritesNothing,
  kHandleFreedTwice,
  // What is left at the end.
  kKernelNeverFreed,
  kHandleNeverFreed,
  kSubgraphNotReleased,
  kSubgraphReleasedTooOften,
};

enum class Severity {
  kError,        // the contract is broken
  kSuspicion,    // nearly always an error; there are delegates that mean it
  kPortability,  // fine here, not in every release of TensorFlow Lite
};

struct RuleInfo {
  Rule rule;
  const char* id;  // "V01 call-order"
  Severity severity;
};

const RuleInfo& InfoOf(Rule rule);

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_RULES_H_
