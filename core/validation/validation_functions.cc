// SPDX-License-Identifier: Apache-2.0
//
// Checks of the validation layer for the context's functions: caller, time and arguments.
#include <optional>

#include "core/base/guard.h"
#include "core/delegation/delegation.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/validation/validation.h"

namespace deputy {
namespace {

bool IsStatic(int64_t flags) {
  const int64_t open = kTfLiteDelegateFlagsAllowDynamicTensors |
                       kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate;
  return (flags & open) == 0;
}

}  // namespace

bool Validation::EnterFunction(Subgraph* subgraph, const char* function) {
  // A call of another thread may end at any time, so it is copied under the lock.
  std::optional<Call> of_other_thread;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool other = !calls_.empty() && calls_.back()->thread != std::this_thread::get_id();
    if (other) of_other_thread.emplace(calls_.back()->subject);
  }
  if (of_other_thread) {
    Report(Rule::kWrongThread, &*of_other_thread, -1,
           "calls %s from another thread than it was called on", function);
    return false;
  }
  const Call* call = Current();
  if (call == nullptr) {
    Report(Rule::kContextAfterCall, nullptr, -1,
           "%s of subgraph %d is called while no callback runs; a context is valid only inside the "
           "call that it is passed to",
           function, subgraph->index());
    return false;
  }
  if (call->subgraph != subgraph && DelegationOf(subgraph).mode_depth() == 0) {
    Report(Rule::kWrongContext, call, -1, "calls %s of subgraph %d, which it has not acquired",
           function, subgraph->index());
    return false;
  }
  return true;
}

void Validation::ForbiddenFunction(Subgraph* subgraph, const char* function) {
  if (!EnterFunction(subgraph, function)) return;
  Report(Rule::kDelegateFunctionOutsidePrepare, Current(), -1,
         "calls %s, which works only while a delegate's Prepare runs", function);
}

// ---- Tensors ------------------------------------------------------------------------------------

void Validation::BeforeResize(Subgraph* subgraph, const TfLiteTensor* tensor,
                              const TfLiteIntArray* dims) {
  Call* call = Current();
  if (call->before == nullptr || call->subgraph != subgraph) return;
  const int index = subgraph->graph().IndexOf(tensor);
  if (index < 0) {
    Report(Rule::kIndexOutOfRange, call, -1,
           "resizes a tensor that does not belong to the context; the array moves when tensors are "
           "added");
    return;
  }
  if (tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLiteMemNone) {
    Report(Rule::kResizesForeignTensor, call, index, "resizes a tensor of fixed size");
    return;
  }
  const Role role = index < static_cast<int>(call->before->roles.size())
                        ? call->before->roles[static_cast<size_t>(index)]
                        : Role::kOther;
  if (role == Role::kOther || role == Role::kInput) {
    Report(Rule::kResizesForeignTensor, call, index,
           "resizes a tensor that is neither its output nor its temporary");
    return;
  }
  if (role != Role::kOutput || dims == nullptr || tensor->dims == nullptr ||
      tensor->allocation_type == kTfLiteDynamic || TfLiteIntArrayEqual(tensor->dims, dims) != 0) {
    return;
  }
  if (call->subject.callback == Callback::kInvoke) {
    Report(Rule::kShapeInInvoke, call, index,
           "gets another shape than was prepared, but is not dynamic");
  } else if (DelegationOf(subgraph).applying() && IsStatic(call->flags)) {
    Report(Rule::kShapeInPrepare, call, index,
           "gets another shape than the replaced nodes compute");
  }
}

void Validation::AfterResize(Subgraph* subgraph, const TfLiteTensor* tensor) {
  Call* call = Current();
  if (call == nullptr || call->before == nullptr || call->subgraph != subgraph) return;
  call->before->fields.RefreshTensor(subgraph->graph().IndexOf(tensor));
}

void Validation::BeforeAddTensors(Subgraph* subgraph, int count) {
  Call* call = Current();
  if (call->subgraph != subgraph) return;
  if (count < 0) Report(Rule::kIndexOutOfRange, call, -1, "adds %d tensors", count);
  if (call->before == nullptr) return;
  if (call->subject.callback == Callback::kInvoke) {
    Report(Rule::kAddsTensorsInInvoke, call, -1,
           "adds %d tensors, which is allowed in prepare only", count);
  }
}

// Attributes the added tensors to the delegate, unless there is no memory for the record.
void Validation::AfterAddTensors(Subgraph* subgraph, int first) {
  Call* call = Current();
  if (call == nullptr) return;
  Guard(Ignore, [&] {
    for (int i = first; i < subgraph->graph().tensor_count(); ++i) {
      added_tensors_[subgraph][i] = call->inner;
    }
    if (call->before == nullptr || call->subgraph != subgraph) return;
    call->before->fields.RefreshAddedTensors();
    call->before->roles.resize(static_cast<size_t>(subgraph->graph().tensor_count()), Role::kOwn);
  });
}

// ---- Indices ------------------------------------------------------------------------------------

void Validation::CheckNodeIndex(Subgraph* subgraph, int node, const char* function) {
  if (node >= 0 && node < subgraph->graph().node_count()) return;
  Report(Rule::kIndexOutOfRange, Current(), -1, "%s of node %d: expected an index below %d",
         function, node, subgraph->graph().node_count());
}

void Validation::CheckTensorIndex(Subgraph* subgraph, int tensor, const char* function) {
  if (!EnterFunction(subgraph, function)) return;
  if (tensor >= 0 && tensor < subgraph->graph().tensor_count()) return;
  Report(Rule::kIndexOutOfRange, Current(), -1, "%s of tensor %d: expected an index below %d",
         function, tensor, subgraph->graph().tensor_count());
}

void Validation::CheckSubgraphIndex(Subgraph* subgraph, int index, const char* function) {
  const int count = subgraph->interpreter()->subgraph_count();
  if (index >= 0 && index < count) return;
  Report(Rule::kIndexOutOfRange, Current(), -1, "%s of subgraph %d: expected an index below %d",
         function, index, count);
}

// ---- Replacing ----------------------------------------------------------------------------------

void Validation::CheckClaim(Subgraph* subgraph, const TfLiteIntArray* nodes, const char* function) {
  const Call* call = Current();
  if (nodes == nullptr) return;
  std::vector<bool> seen(static_cast<size_t>(subgraph->graph().node_count()), false);
  const std::vector<int>& plan = subgraph->graph().plan();
  for (int i = 0; i < nodes->size; ++i) {
    const int node = nodes->data[i];
    CheckNodeIndex(subgraph, node, function);
    if (node < 0 || node >= subgraph->graph().node_count()) continue;
    if (seen[static_cast<size_t>(node)]) {
      Report(Rule::kClaimsWrongNode, call, -1, "%s: node %d is listed twice", function, node);
    } else if (subgraph->graph().node(node)->delegate != nullptr) {
      Report(Rule::kClaimsWrongNode, call, -1, "%s: node %d belongs to a delegate", function, node);
    } else if (std::find(plan.begin(), plan.end(), node) == plan.end()) {
      Report(Rule::kClaimsWrongNode, call, -1, "%s: node %d is not in the execution plan", function,
             node);
    }
    seen[static_cast<size_t>(node)] = true;
  }
}

// If out of memory, BeforePreview and BeforeReplace do not check the call.
void Validation::BeforePreview(Subgraph* subgraph, const TfLiteIntArray* nodes) {
  Guard(Ignore, [&] {
    const Call* call = Current();
    if (call->subject.callback == Callback::kInit) {
      Report(Rule::kReplaceInsideInit, call, -1, "calls PreviewDelegatePartitioning");
    }
    CheckClaim(subgraph, nodes, "PreviewDelegatePartitioning");
  });
}

void Validation::CheckRegistration(const Call* call, const TfLiteRegistration& registration) {
  if (registration.custom_name == nullptr) {
    Report(Rule::kRegistrationFields, call, -1, "the registration has no custom_name");
  }
  if (registration.version == 0) {
    Report(Rule::kRegistrationFields, call, -1,
           "the registration has version 0, expected 1 or more");
  }
  if (registration.invoke == nullptr && registration.registration_external == nullptr) {
    Report(Rule::kRegistrationFields, call, -1, "the registration has no invoke");
  }
}

void Validation::BeforeReplace(Subgraph* subgraph, const TfLiteRegistration& registration,
                               const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
  static constexpr char kReplace[] = "ReplaceNodeSubsetsWithDelegateKernels";
  Call* call = Current();
  call->replacing = delegate;
  Guard(Ignore, [&] {
    if (call->subject.callback == Callback::kInit) {
      Report(Rule::kReplaceInsideInit, call, -1, "calls %s", kReplace);
    }
    if (registration.custom_name != nullptr && delegate != nullptr) {
      std::string& name = names_[delegate];
      if (name.empty()) name = registration.custom_name;
      std::string& caller = names_[call->subject.delegate];
      if (caller.empty()) caller = registration.custom_name;
    }
    if (call->before != nullptr) CheckFields(call);
    CheckClaim(subgraph, nodes, kReplace);
    if (delegate != nullptr && !call->IsDelegate(delegate)) {
      Report(Rule::kReplaceForAnother, call, -1, "replaces nodes on behalf of another delegate");
    }
    CheckRegistration(call, registration);
  });
}

void Validation::AfterReplace(Subgraph* subgraph, TfLiteStatus status) {
  Call* call = Current();
  if (call == nullptr) return;
  call->replacing = nullptr;
  if (status != kTfLiteOk) call->replace_failed = true;
  if (call->before == nullptr || call->subgraph != subgraph) return;
  Guard([&] { call->before.reset(); },
        [&] {
          call->before->fields.Refresh();
          call->before->roles = Roles(*call);
        });
}

}  // namespace deputy
