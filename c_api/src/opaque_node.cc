// SPDX-License-Identifier: Apache-2.0
//
// Functions on opaque nodes and delegates. An opaque node is a TfLiteNode, an opaque delegate a
// TfLiteDelegate; only the static type differs.
#include <cstring>
#include <new>

#include "c_api/include/c_api_opaque.h"

namespace {

const TfLiteNode* Plain(const TfLiteOpaqueNode* node) {
  return reinterpret_cast<const TfLiteNode*>(node);
}

int SizeOf(const TfLiteIntArray* array) { return array == nullptr ? 0 : array->size; }

// Returns the entry at `position`, or -1 if out of range; -1 is also the entry of an absent
// optional input.
int IndexAt(const TfLiteIntArray* array, int position) {
  return position < 0 || position >= SizeOf(array) ? kTfLiteOptionalTensor : array->data[position];
}

TfLiteTensor* TensorAt(const TfLiteOpaqueContext* opaque_context, const TfLiteIntArray* indices,
                       int position) {
  const auto* context = reinterpret_cast<const TfLiteContext*>(opaque_context);
  const int index = IndexAt(indices, position);
  if (context == nullptr || index < 0 || static_cast<size_t>(index) >= context->tensors_size) {
    return nullptr;
  }
  return &context->tensors[index];
}

TfLiteStatus Expose(const TfLiteIntArray* array, const int** out_data, int* out_count) {
  if (out_data == nullptr || out_count == nullptr) return kTfLiteError;
  *out_data = array == nullptr ? nullptr : array->data;
  *out_count = SizeOf(array);
  return kTfLiteOk;
}

}  // namespace

extern "C" {

// ---- Nodes ----

const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(const TfLiteOpaqueContext* opaque_context,
                                                   const TfLiteOpaqueNode* opaque_node, int index) {
  if (opaque_node == nullptr) return nullptr;
  return reinterpret_cast<TfLiteOpaqueTensor*>(
      TensorAt(opaque_context, Plain(opaque_node)->inputs, index));
}

TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext* opaque_context,
                                              const TfLiteOpaqueNode* opaque_node, int index) {
  if (opaque_node == nullptr) return nullptr;
  return reinterpret_cast<TfLiteOpaqueTensor*>(
      TensorAt(opaque_context, Plain(opaque_node)->outputs, index));
}

int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* opaque_node) {
  return opaque_node == nullptr ? 0 : SizeOf(Plain(opaque_node)->inputs);
}

int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* opaque_node) {
  return opaque_node == nullptr ? 0 : SizeOf(Plain(opaque_node)->outputs);
}

void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* opaque_node) {
  return opaque_node == nullptr ? nullptr : Plain(opaque_node)->user_data;
}

void* TfLiteOpaqueNodeGetBuiltinData(const TfLiteOpaqueNode* opaque_node) {
  return opaque_node == nullptr ? nullptr : Plain(opaque_node)->builtin_data;
}

TfLiteStatus TfLiteOpaqueNodeGetCustomInitialData(const TfLiteOpaqueNode* opaque_node,
                                                  const void** init_data, int* size) {
  if (opaque_node == nullptr || init_data == nullptr || size == nullptr) return kTfLiteError;
  *init_data = Plain(opaque_node)->custom_initial_data;
  *size = Plain(opaque_node)->custom_initial_data_size;
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueNodeInputs(const TfLiteOpaqueNode* opaque_node, const int** inputs,
                                    int* num_inputs) {
  if (opaque_node == nullptr) return kTfLiteError;
  return Expose(Plain(opaque_node)->inputs, inputs, num_inputs);
}

TfLiteStatus TfLiteOpaqueNodeOutputs(const TfLiteOpaqueNode* opaque_node, const int** outputs,
                                     int* num_outputs) {
  if (opaque_node == nullptr) return kTfLiteError;
  return Expose(Plain(opaque_node)->outputs, outputs, num_outputs);
}

TfLiteStatus TfLiteOpaqueNodeTemporaries(const TfLiteOpaqueNode* opaque_node,
                                         const int** temporaries, int* num_temporaries) {
  if (opaque_node == nullptr) return kTfLiteError;
  return Expose(Plain(opaque_node)->temporaries, temporaries, num_temporaries);
}

TfLiteStatus TfLiteOpaqueNodeSetTemporaries(TfLiteOpaqueNode* opaque_node, const int* temporaries,
                                            int num_temporaries) {
  if (opaque_node == nullptr || num_temporaries < 0) return kTfLiteError;
  if (num_temporaries > 0 && temporaries == nullptr) return kTfLiteError;
  TfLiteIntArray* copy = TfLiteIntArrayCreate(num_temporaries);
  if (copy == nullptr) return kTfLiteError;
  if (num_temporaries > 0) {
    memcpy(copy->data, temporaries, sizeof(int) * static_cast<size_t>(num_temporaries));
  }
  auto* node = reinterpret_cast<TfLiteNode*>(opaque_node);
  TfLiteIntArrayFree(node->temporaries);
  node->temporaries = copy;
  return kTfLiteOk;
}

int TfLiteOpaqueNodeGetInputTensorIndex(const TfLiteOpaqueNode* opaque_node, int index_of_input) {
  if (opaque_node == nullptr) return kTfLiteOptionalTensor;
  return IndexAt(Plain(opaque_node)->inputs, index_of_input);
}

int TfLiteOpaqueNodeGetOutputTensorIndex(const TfLiteOpaqueNode* opaque_node, int index_of_output) {
  if (opaque_node == nullptr) return kTfLiteOptionalTensor;
  return IndexAt(Plain(opaque_node)->outputs, index_of_output);
}

// ---- Delegates ----

TfLiteOpaqueDelegate* TfLiteOpaqueDelegateCreate(
    const TfLiteOpaqueDelegateBuilder* opaque_delegate_builder) {
  if (opaque_delegate_builder == nullptr) return nullptr;
  auto* delegate = new (std::nothrow) TfLiteDelegate();
  auto* builder = new (std::nothrow) TfLiteOpaqueDelegateBuilder(*opaque_delegate_builder);
  if (delegate == nullptr || builder == nullptr) {
    delete delegate;
    delete builder;
    return nullptr;
  }
  delegate->opaque_delegate_builder = builder;
  return delegate;
}

void TfLiteOpaqueDelegateDelete(TfLiteOpaqueDelegate* delegate) {
  if (delegate == nullptr) return;
  // A delegate with public fields may have the older, shorter struct without the builder field.
  if (delegate->Prepare == nullptr) delete delegate->opaque_delegate_builder;
  delete delegate;
}

void* TfLiteOpaqueDelegateGetData(const TfLiteOpaqueDelegate* delegate) {
  if (delegate == nullptr) return nullptr;
  if (delegate->Prepare == nullptr && delegate->opaque_delegate_builder != nullptr) {
    return delegate->opaque_delegate_builder->data;
  }
  return delegate->data_;
}

}  // extern "C"
