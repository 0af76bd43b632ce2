// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/zero_delegate.h"

#include <cstring>

namespace deputy::fuzz {
namespace {

// Returns true if zeros are valid contents of the tensor; they are not for strings, resources and
// variants.
bool CanBeZeroed(const TfLiteContext* context, int tensor) {
  if (tensor < 0 || static_cast<size_t>(tensor) >= context->tensors_size) return false;
  const TfLiteType type = context->tensors[tensor].type;
  return type != kTfLiteString && type != kTfLiteResource && type != kTfLiteVariant;
}

bool CanClaim(const TfLiteContext* context, const TfLiteNode* node) {
  for (int i = 0; i < node->outputs->size; ++i) {
    if (!CanBeZeroed(context, node->outputs->data[i])) return false;
  }
  return true;
}

}  // namespace

ZeroDelegate::ZeroDelegate(Random random) : random_(random) {
  claims_one_in_ = 1 + random_.Below(3);
  on_device_ = random_.OneIn(3);
  may_fail_ = random_.OneIn(3);
  base_.data_ = this;
  base_.Prepare = &Claim;
  base_.CopyFromBufferHandle = &CopyFrom;
  base_.FreeBufferHandle = &FreeHandle;
  if (random_.OneIn(2)) base_.flags |= kTfLiteDelegateFlagsAllowDynamicTensors;
  if (random_.OneIn(3)) base_.flags |= kTfLiteDelegateFlagsRequirePropagatedShapes;
}

TfLiteStatus ZeroDelegate::Claim(TfLiteContext* context, TfLiteDelegate* base) {
  auto* self = static_cast<ZeroDelegate*>(base->data_);
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* taken = TfLiteIntArrayCreate(plan->size);
  taken->size = 0;
  for (int i = 0; i < plan->size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) !=
        kTfLiteOk) {
      break;
    }
    if (self->random_.OneIn(self->claims_one_in_) && CanClaim(context, node)) {
      taken->data[taken->size++] = plan->data[i];
    }
  }
  TfLiteRegistration kernel = {};
  kernel.init = &Init;
  kernel.prepare = &PrepareKernel;
  kernel.invoke = &Invoke;
  kernel.custom_name = "Zero";
  kernel.version = 1;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, taken, base);
  TfLiteIntArrayFree(taken);
  return self->may_fail_ && self->random_.OneIn(8) ? kTfLiteError : status;
}

void* ZeroDelegate::Init(TfLiteContext*, const char* buffer, size_t) {
  return reinterpret_cast<const TfLiteDelegateParams*>(buffer)->delegate->data_;
}

TfLiteStatus ZeroDelegate::PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  auto* self = static_cast<ZeroDelegate*>(node->user_data);
  if (self->may_fail_ && self->random_.OneIn(8)) return kTfLiteError;
  for (int i = 0; self->on_device_ && i < node->outputs->size; ++i) {
    TfLiteTensor& output = context->tensors[node->outputs->data[i]];
    output.delegate = self->get();
    output.buffer_handle = i;
  }
  return kTfLiteOk;
}

TfLiteStatus ZeroDelegate::Invoke(TfLiteContext* context, TfLiteNode* node) {
  auto* self = static_cast<ZeroDelegate*>(node->user_data);
  if (self->may_fail_ && self->random_.OneIn(8)) return kTfLiteError;
  for (int i = 0; i < node->outputs->size; ++i) {
    TfLiteTensor& output = context->tensors[node->outputs->data[i]];
    if (output.data.raw != nullptr) memset(output.data.raw, 0, output.bytes);
    output.data_is_stale = self->on_device_;
  }
  return kTfLiteOk;
}

TfLiteStatus ZeroDelegate::CopyFrom(TfLiteContext*, TfLiteDelegate* base, TfLiteBufferHandle,
                                    TfLiteTensor* tensor) {
  auto* self = static_cast<ZeroDelegate*>(base->data_);
  if (self->may_fail_ && self->random_.OneIn(8)) return kTfLiteError;
  if (tensor->data.raw != nullptr) memset(tensor->data.raw, 0, tensor->bytes);
  return kTfLiteOk;
}

void ZeroDelegate::FreeHandle(TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle* handle) {
  *handle = kTfLiteNullBufferHandle;
}

}  // namespace deputy::fuzz
