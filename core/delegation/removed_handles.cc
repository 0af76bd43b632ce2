// SPDX-License-Identifier: Apache-2.0
//
// Buffer handles of delegates that are removed. They are freed at once instead of with the
// interpreter, so that device memory is released, and because the client may delete a delegate that
// is no longer applied.
#include <algorithm>
#include <vector>

#include "core/base/guard.h"
#include "core/delegation/delegation.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {

bool Delegation::WillBeRemoved(const TfLiteDelegate* delegate) const {
  const AppliedDelegates::Order& applied = delegates_.applied();
  const AppliedDelegate* current = delegates_.current();
  return (current != nullptr && current->Is(delegate)) ||
         std::any_of(applied.begin(), applied.end(),
                     [&](const AppliedDelegate* each) { return each->Is(delegate); });
}

// ---- Contents -----------------------------------------------------------------------------------

TfLiteStatus Delegation::ReadBackInputs(SavedContents* out_contents) {
  TfLiteStatus first_failure = kTfLiteOk;
  for (const int index : subgraph_->graph().inputs()) {
    const TfLiteTensor* input = subgraph_->graph().tensor(index);
    if (input == nullptr || !input->data_is_stale || !WillBeRemoved(input->delegate)) continue;
    const auto out_of_memory = [&] {
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteError, "out of memory");
    };
    const TfLiteStatus status = Guard(out_of_memory, [&] { return ReadBack(index, out_contents); });
    if (first_failure == kTfLiteOk) first_failure = status;
  }
  return first_failure;
}

// Reads into a separate buffer: after a resize, the tensor's memory may be released or have another
// size.
TfLiteStatus Delegation::ReadBack(int tensor_index, SavedContents* out_contents) {
  std::vector<char> bytes(subgraph_->graph().tensor(tensor_index)->bytes);
  const TfLitePtrUnion memory = subgraph_->graph().tensor(tensor_index)->data;
  subgraph_->graph().tensor(tensor_index)->data.raw = bytes.data();
  const TfLiteStatus status = subgraph_->CopyFromDelegate(tensor_index);
  TfLiteTensor& tensor = *subgraph_->graph().tensor(tensor_index);
  if (status == kTfLiteOk) out_contents->Save(tensor_index, tensor);
  tensor.data = memory;
  return status;
}

// ---- Handles ------------------------------------------------------------------------------------

template <typename Predicate>
void Delegation::FreeHandles(const Predicate& is_removed) {
  for (int i = 0; i < subgraph_->graph().tensor_count(); ++i) {
    const TfLiteTensor* holder = subgraph_->graph().tensor(i);
    if (holder->delegate == nullptr || holder->buffer_handle == kTfLiteNullBufferHandle) continue;
    if (!is_removed(holder->delegate)) continue;
    subgraph_->FreeBufferHandle(i);
    TfLiteTensor& tensor = *subgraph_->graph().tensor(i);
    tensor.buffer_handle = kTfLiteNullBufferHandle;
    tensor.delegate = nullptr;
    tensor.data_is_stale = false;
  }
}

void Delegation::FreeHandlesOfRemoved() {
  FreeHandles([this](const TfLiteDelegate* delegate) { return WillBeRemoved(delegate); });
}

void Delegation::FreeHandlesOfForgotten(std::span<TfLiteDelegate* const> handles) {
  FreeHandles([&](const TfLiteDelegate* delegate) {
    const AppliedDelegate* known = delegates_.Find(delegate);
    return known != nullptr && !delegates_.IsApplied(*known) &&
           std::find(handles.begin(), handles.end(), known->handle) != handles.end();
  });
}

}  // namespace deputy
