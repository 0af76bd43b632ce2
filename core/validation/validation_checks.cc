// SPDX-License-Identifier: Apache-2.0
//
// Checks of the validation layer after a delegate's callback has returned.
#include <cstring>

#include "core/base/delegate_call.h"
#include "core/base/delegate_params.h"
#include "core/delegation/delegation.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/validation/validation.h"

namespace deputy {
namespace {

bool IsHeap(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteDynamic ||
         tensor.allocation_type == kTfLitePersistentRo || tensor.allocation_type == kTfLiteNonCpu;
}

bool Is(const FieldChange& change, const char* name) { return strcmp(change.name, name) == 0; }

template <typename Visit>
void ForEach(const TfLiteIntArray* indices, Visit&& visit) {
  for (int i = 0; indices != nullptr && i < indices->size; ++i) visit(indices->data[i]);
}

}  // namespace

// ---- Ownership of tensors -----------------------------------------------------------------------

int Validation::ModelTensorCount(const Subgraph* subgraph) const {
  return subgraph->declared_tensor_count();
}

bool Validation::IsOwnAddedTensor(const Call& call, int tensor) const {
  const auto added = added_tensors_.find(call.subgraph);
  if (added == added_tensors_.end()) return false;
  const auto owner = added->second.find(tensor);
  return owner != added->second.end() && owner->second != nullptr && owner->second == call.inner;
}

std::vector<Role> Validation::Roles(const Call& call) const {
  const ForeignCall& subject = call.subject;
  std::vector<Role> roles(static_cast<size_t>(call.subgraph->graph().tensor_count()), Role::kOther);
  const auto set = [&](int tensor, Role role) {
    if (tensor >= 0 && static_cast<size_t>(tensor) < roles.size()) {
      roles[static_cast<size_t>(tensor)] = role;
    }
  };
  for (int i = 0; i < call.subgraph->graph().tensor_count(); ++i) {
    if (IsOwnAddedTensor(call, i)) set(i, Role::kOwn);
  }
  if (subject.node < 0) return roles;
  const TfLiteNode& node = *call.subgraph->graph().node(subject.node);
  MarkReplaced(call, subject.node, &roles);
  ForEach(node.inputs, [&](int tensor) {
    const TfLiteTensor* input = call.subgraph->graph().tensor(tensor);
    set(tensor, input != nullptr && input->is_variable ? Role::kVariable : Role::kInput);
  });
  ForEach(node.outputs, [&](int tensor) { set(tensor, Role::kOutput); });
  return roles;
}

// Marks tensors inside a partition, which only the delegate uses.
void Validation::MarkReplaced(const Call& call, int node_index, std::vector<Role>* roles) const {
  const TfLiteNode& node = *call.subgraph->graph().node(node_index);
  const TfLiteDelegate* delegate =
      node_index == call.subject.node ? call.subject.delegate : node.delegate;
  const auto mark = [&](int tensor) {
    if (tensor >= 0 && static_cast<size_t>(tensor) < roles->size()) {
      (*roles)[static_cast<size_t>(tensor)] = Role::kOwn;
    }
  };
  if (delegate == nullptr) {
    ForEach(node.outputs, mark);
    ForEach(node.temporaries, mark);
    ForEach(node.intermediates, mark);
    return;
  }
  TfLiteNode known = node;  // a copy, since during init a node does not refer to its delegate yet
  known.delegate = const_cast<TfLiteDelegate*>(delegate);
  if (known.builtin_data == nullptr) return;
  for (const TfLiteIntArray* nodes : {ReplacedNodes(known), DescribedNodes(known)}) {
    ForEach(nodes, [&](int replaced) { MarkReplaced(call, replaced, roles); });
  }
}

// ---- After a call -------------------------------------------------------------------------------

void Validation::CheckAfter(Call* call, TfLiteStatus status) {
  const ForeignCall& subject = call->subject;
  if (subject.callback == Callback::kDelegatePrepare && call->replace_failed &&
      status == kTfLiteOk) {
    Report(Rule::kSwallowsReplaceFailure, call, -1,
           "returns Ok although ReplaceNodeSubsetsWithDelegateKernels failed");
  }
  CheckSubgraphsReleased(*call);
  if (subject.callback == Callback::kPrepare || subject.callback == Callback::kInvoke) {
    CheckTemporaries(*call);
  }
  CheckFields(call);
  CheckContents(call, status);
  CheckConstants(*call);
}

void Validation::CheckSubgraphsReleased(const Call& call) {
  for (size_t i = 0; i < call.before->mode_depths.size(); ++i) {
    const Subgraph* subgraph = interpreter_->subgraph(static_cast<int>(i));
    if (DelegationOf(subgraph).mode_depth() <= call.before->mode_depths[i]) continue;
    Report(Rule::kSubgraphNotReleased, &call, -1, "acquires subgraph %zu and does not release it",
           i);
  }
}

// Checks the node's temporaries. Must run before the runtime replaces invalid indices by "absent".
void Validation::CheckTemporaries(const Call& call) {
  const ForeignCall& subject = call.subject;
  ForEach(call.subgraph->graph().node(subject.node)->temporaries, [&](int tensor) {
    if (tensor == kTfLiteOptionalTensor) return;
    if (tensor < 0 || tensor >= call.subgraph->graph().tensor_count()) {
      Report(Rule::kIndexOutOfRange, &call, -1, "temporary %d: expected an index below %d", tensor,
             call.subgraph->graph().tensor_count());
    } else if (call.before->roles[static_cast<size_t>(tensor)] != Role::kOwn) {
      Report(Rule::kForeignTemporary, &call, tensor,
             "is among its temporaries, but the delegate did not add it");
    }
  });
}

// ---- Fields -------------------------------------------------------------------------------------

void Validation::CheckFields(Call* call) {
  call->before->fields.Compare([&](const FieldChange& change) {
    switch (change.of) {
      case StructOf::kContext:
        Report(Rule::kContextField, call, -1, "changes %s of the context", change.name);
        break;
      case StructOf::kTensor:
        CheckTensorChange(call, change);
        break;
      case StructOf::kNode:
        CheckNodeChange(call, change);
        break;
    }
  });
}

void Validation::CheckTensorChange(Call* call, const FieldChange& change) {
  const int index = change.index;
  const Role role = call->before->roles[static_cast<size_t>(index)];
  const bool own = role == Role::kOutput || role == Role::kOwn;
  if (role == Role::kOwn && index >= ModelTensorCount(call->subgraph)) return;
  const TfLiteTensor& before = call->before->fields.tensor(index);
  const TfLiteTensor& now = *call->subgraph->graph().tensor(index);
  if (Is(change, "delegate") || Is(change, "buffer_handle") || Is(change, "data_is_stale")) {
    CheckHandleChange(call, change);
    return;
  }
  const bool target =
      call->subject.callback == Callback::kCopyFrom && index == call->subject.tensor;
  if (Is(change, "data") || Is(change, "dims") || Is(change, "bytes")) {
    if ((own || target) && (IsHeap(before) || IsHeap(now))) return;
  } else if (Is(change, "allocation_type")) {
    if (own && call->subject.callback != Callback::kInvoke) return;
  }
  const char* hint = "";
  if (Is(change, "dims") || Is(change, "bytes")) hint = "; shapes change through ResizeTensor";
  Report(Rule::kTensorField, call, index, "changes its field %s%s", change.name, hint);
}

void Validation::CheckHandleChange(Call* call, const FieldChange& change) {
  const int index = change.index;
  const TfLiteTensor& before = call->before->fields.tensor(index);
  const TfLiteTensor& now = *call->subgraph->graph().tensor(index);
  const Role role = call->before->roles[static_cast<size_t>(index)];
  const bool was_unowned_or_own = before.delegate == nullptr || call->IsDelegate(before.delegate);
  const bool is_unowned_or_own = now.delegate == nullptr || call->IsDelegate(now.delegate);
  if (!was_unowned_or_own || (Is(change, "delegate") && !is_unowned_or_own)) {
    Report(Rule::kForeignHandle, call, index, "changes %s, which belongs to another delegate",
           change.name);
    return;
  }
  if (Is(change, "buffer_handle")) {
    if (now.buffer_handle < kTfLiteNullBufferHandle) {
      Report(Rule::kHandleWithoutDelegate, call, index, "buffer handle %d: expected -1 or more",
             now.buffer_handle);
    }
    HandleSet(now.delegate, now.buffer_handle);
  }
  if (Is(change, "data_is_stale") && now.data_is_stale) {
    if (role == Role::kOther || role == Role::kInput) {
      Report(Rule::kStaleForeignTensor, call, index, "is marked stale, but is not its output");
    } else if (now.buffer_handle == kTfLiteNullBufferHandle) {
      Report(Rule::kStaleWithoutHandle, call, index,
             "is marked stale, but has no buffer handle to read it from");
    }
  }
  const bool has_handle = now.buffer_handle > kTfLiteNullBufferHandle;
  if (!Is(change, "data_is_stale") && has_handle && now.delegate == nullptr) {
    Report(Rule::kHandleWithoutDelegate, call, index,
           "has buffer handle %d, but no delegate that could read it", now.buffer_handle);
  }
}

void Validation::CheckNodeChange(Call* call, const FieldChange& change) {
  const ForeignCall& subject = call->subject;
  if (change.index == subject.node && Is(change, "temporaries")) return;
  if (subject.callback == Callback::kDelegatePrepare && Is(change, "inputs")) {
    const TfLiteIntArray* before = call->before->fields.inputs(change.index);
    const TfLiteIntArray* now = call->subgraph->graph().node(change.index)->inputs;
    const Fp16Weights& weights = DelegationOf(call->subgraph).fp16_weights();
    bool allowed = now != nullptr && before != nullptr && now->size == before->size;
    for (int i = 0; allowed && i < now->size; ++i) {
      allowed = now->data[i] == before->data[i] || weights.MayRead(change.index, i, now->data[i]);
    }
    if (allowed) return;
  }
  if (Is(change, "inputs") || Is(change, "outputs")) {
    const TfLiteNode& node = *call->subgraph->graph().node(change.index);
    bool in_range = true;
    ForEach(Is(change, "inputs") ? node.inputs : node.outputs, [&](int tensor) {
      const bool known =
          tensor >= kTfLiteOptionalTensor && tensor < call->subgraph->graph().tensor_count();
      in_range = in_range && known;
    });
    if (!in_range) {
      Report(Rule::kIndexOutOfRange, call, -1, "gives node %d %s that do not exist", change.index,
             change.name);
      return;
    }
  }
  Report(Rule::kNodeField, call, -1, "changes the field %s of node %d", change.name, change.index);
}

// ---- Bytes --------------------------------------------------------------------------------------

void Validation::CheckContents(Call* call, TfLiteStatus status) {
  call->before->contents.FindDamage([&](const GuardedContents::Damage& damage) {
    if (damage.kind != GuardedContents::Damage::Kind::kInside) {
      const bool before = damage.kind == GuardedContents::Damage::Kind::kBefore;
      Report(Rule::kWritesOutsideOutput, call, damage.tensor,
             "writes %zu bytes %s the tensor, %zu bytes from its %s", damage.bytes,
             before ? "before" : "after", damage.offset, before ? "beginning" : "end");
      return;
    }
    const bool input = call->before->roles[static_cast<size_t>(damage.tensor)] == Role::kInput;
    Report(input ? Rule::kWritesInput : Rule::kWritesOtherTensor, call, damage.tensor,
           "changes %zu bytes of %s, from byte %zu on", damage.bytes,
           input ? "its input" : "a tensor that is not its output", damage.offset);
  });
  for (int tensor : call->before->contents.TakeUntouched()) {
    if (status != kTfLiteOk) continue;
    if (call->subject.callback == Callback::kCopyFrom) {
      Report(Rule::kCopyWritesNothing, call, tensor, "returns Ok and writes nothing");
    } else if (!call->subgraph->graph().tensor(tensor)->data_is_stale) {
      Report(Rule::kOutputNotWritten, call, tensor, "returns Ok and writes nothing to its output");
    }
  }
}

void Validation::CheckConstants(const Call& call) {
  for (int tensor : constants_[call.subgraph].Update(call.subgraph->graph())) {
    Report(Rule::kWritesConstant, &call, tensor, "changes a constant of the model");
  }
}

}  // namespace deputy
