// SPDX-License-Identifier: Apache-2.0
//
// The rules of the delegate contract that the validation layer checks. docs/validation.md explains
// them. Numbers are stable: they are not reused when a rule is removed.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_RULES_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_RULES_H_

namespace deputy {

// The order must be that of the table in validation_rules.cc.
enum class Rule {
  // Rules about the order of calls.
  kCallOrder,
  kReenters,
  kDelegateFunctionOutsidePrepare,
  kReplaceInsideInit,
  kContextAfterCall,
  kWrongThread,
  kWrongContext,
  // Rules about arguments of the context's functions, and results of callbacks.
  kIndexOutOfRange,
  kClaimsWrongNode,
  kReplaceForAnother,
  kSwallowsReplaceFailure,
  kRegistrationFields,
  kInitSentinel,
  kSharedUserData,
  kException,
  kTimeBudget,
  // Rules about the shapes of tensors.
  kResizesForeignTensor,
  kShapeInInvoke,
  kShapeInPrepare,
  kAddsTensorsInInvoke,
  kForeignTemporary,
  // Rules about the contents of tensors.
  kOutputNotWritten,
  kWritesOutsideOutput,
  kWritesInput,
  kWritesConstant,
  kWritesOtherTensor,
  // Rules about fields of structs that belong to the runtime.
  kContextField,
  kTensorField,
  kNodeField,
  // Rules about buffer handles.
  kHandleWithoutDelegate,
  kStaleWithoutHandle,
  kStaleForeignTensor,
  kForeignHandle,
  kCopyWritesNothing,
  kHandleFreedTwice,
  // Rules about resources at the end of their lifetime.
  kKernelNeverFreed,
  kHandleNeverFreed,
  kSubgraphNotReleased,
  kSubgraphReleasedTooOften,
};

enum class Severity {
  kError,      // the delegate breaks the contract
  kSuspicion,  // almost always an error of the delegate, but sometimes intended
  // The delegate relies on behaviour that some releases of TensorFlow Lite do not have.
  kPortability,
};

struct RuleInfo {
  Rule rule;
  const char* id;  // number and name, e.g. "V01 call-order"
  Severity severity;
};

const RuleInfo& InfoOf(Rule rule);

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_RULES_H_
