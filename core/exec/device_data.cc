// SPDX-License-Identifier: Apache-2.0
#include "core/exec/device_data.h"

#include "core/base/delegate_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph_parts.h"

namespace deputy {

TfLiteStatus EnsureReadable(SubgraphParts* parts, int tensor_index) {
  TfLiteTensor* stale = parts->graph.tensor(tensor_index);
  if (stale == nullptr) return kTfLiteError;
  if (!stale->data_is_stale) return kTfLiteOk;
  const TfLiteDelegate* holder = stale->delegate;
  const TfLiteStatus status = CopyFromDelegate(parts, tensor_index);
  if (status != kTfLiteOk) parts->delegates.fallback->NoteLostTensor(holder);
  return status;
}

TfLiteStatus CopyFromDelegate(SubgraphParts* parts, int tensor_index) {
  TfLiteTensor* stale = &parts->graph.tensors()[tensor_index];
  if (stale->delegate == nullptr || stale->buffer_handle == kTfLiteNullBufferHandle) {
    return Fail(parts->interpreter->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s' is stale: expected a delegate and a buffer handle",
                parts->index, tensor_index, stale->name == nullptr ? "" : stale->name);
  }
  const ForeignCall call = {.callback = Callback::kCopyFrom,
                            .context = &parts->context,
                            .delegate = stale->delegate,
                            .tensor = tensor_index};
  const TfLiteStatus status =
      CallCopyFromBufferHandle(parts->interpreter->call_observer(), call, stale).status;
  // If the copy fails, data_is_stale stays set: the CPU's bytes are still older than the
  // delegate's.
  if (status == kTfLiteOk) {
    stale->data_is_stale = false;
    return kTfLiteOk;
  }
  return Fail(parts->interpreter->reporter(), status,
              "subgraph %d: tensor %d '%s': the delegate could not copy buffer handle %d",
              parts->index, tensor_index, stale->name == nullptr ? "" : stale->name,
              stale->buffer_handle);
}

bool FreeBufferHandle(SubgraphParts* parts, int tensor_index) {
  TfLiteTensor& holder = parts->graph.tensors()[tensor_index];
  const ForeignCall call = {.callback = Callback::kFreeHandle,
                            .context = &parts->context,
                            .delegate = holder.delegate,
                            .tensor = tensor_index};
  const bool freed =
      CallFreeBufferHandle(parts->interpreter->call_observer(), call, &holder.buffer_handle);
  Observer* const observer = parts->interpreter->observer();
  if (observer != nullptr && !freed) observer->HandleNotFreed(parts->subgraph, tensor_index);
  return freed;
}

}  // namespace deputy
