// SPDX-License-Identifier: Apache-2.0
#include "litert/src/custom_operator.h"

#include <algorithm>
#include <vector>

#include "deputy/c_api_opaque.h"
#include "deputy/common.h"
#include "litert/src/log.h"
#include "litert/src/tensor_buffer.h"

namespace deputy::litert {
namespace {

// Element types have the numbers of TfLiteType.
LiteRtElementType ElementTypeOf(const TfLiteOpaqueTensor* tensor) {
  return static_cast<LiteRtElementType>(TfLiteOpaqueTensorType(tensor));
}

bool ReadLayout(const TfLiteOpaqueTensor* tensor, LiteRtLayout* out_layout) {
  const int32_t rank = TfLiteOpaqueTensorNumDims(tensor);
  if (rank < 0 || rank > LITERT_TENSOR_MAX_RANK) return false;
  *out_layout = {};
  out_layout->rank = static_cast<unsigned>(rank) & 0x7f;
  for (int32_t axis = 0; axis < rank; ++axis) {
    out_layout->dimensions[axis] = TfLiteOpaqueTensorDim(tensor, axis);
  }
  return true;
}

// The tensors of a node.
struct NodeTensors {
  std::vector<const TfLiteOpaqueTensor*> inputs;
  std::vector<TfLiteOpaqueTensor*> outputs;
};

NodeTensors TensorsOf(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  NodeTensors tensors;
  for (int i = 0; i < TfLiteOpaqueNodeNumberOfInputs(node); ++i) {
    if (const auto* const tensor = TfLiteOpaqueNodeGetInput(context, node, i)) {
      tensors.inputs.push_back(tensor);
    }
  }
  for (int i = 0; i < TfLiteOpaqueNodeNumberOfOutputs(node); ++i) {
    tensors.outputs.push_back(TfLiteOpaqueNodeGetOutput(context, node, i));
  }
  return tensors;
}

// Creates a buffer over the memory of a tensor.
TensorBufferPtr BufferOf(const TfLiteOpaqueTensor* tensor) {
  LiteRtRankedTensorType type = {.element_type = ElementTypeOf(tensor), .layout = {}};
  if (!ReadLayout(tensor, &type.layout)) return nullptr;
  TensorBufferPtr buffer(new LiteRtTensorBufferT(type, kLiteRtTensorBufferTypeHostMemory,
                                                 TfLiteOpaqueTensorByteSize(tensor), 0));
  buffer->address = static_cast<char*>(TfLiteOpaqueTensorData(tensor));
  return buffer;
}

}  // namespace

CustomOperator::CustomOperator(const CustomKernel& kernel) : kernel_(kernel) {
  operator_ =
      TfLiteOperatorCreate(kTfLiteBuiltinCustom, kernel_.name.c_str(), kernel_.version, this);
  if (operator_ == nullptr) return;
  TfLiteOperatorSetInitWithData(operator_, &CustomOperator::Init);
  TfLiteOperatorSetPrepareWithData(operator_, &CustomOperator::Prepare);
  TfLiteOperatorSetInvokeWithData(operator_, &CustomOperator::Invoke);
}

CustomOperator::~CustomOperator() {
  TfLiteOperatorDelete(operator_);
  if (is_initialized_ && kernel_.functions.Destroy != nullptr) {
    (void)kernel_.functions.Destroy(kernel_.user_data);
  }
}

void* CustomOperator::Init(void* self, TfLiteOpaqueContext*, const char* data, size_t bytes) {
  auto* const op = static_cast<CustomOperator*>(self);
  const LiteRtCustomOpKernel& functions = op->kernel_.functions;
  const LiteRtStatus status = Guard([&] {
    return functions.Init == nullptr ? kLiteRtStatusOk
                                     : functions.Init(op->kernel_.user_data, data, bytes);
  });
  if (status != kLiteRtStatusOk) {
    Log(kLiteRtLogSeverityError, "custom operator '%s': Init failed: %s", op->kernel_.name.c_str(),
        LiteRtGetStatusString(status));
    return const_cast<void*>(TfLiteKernelInitFailed());
  }
  op->is_initialized_ = true;
  return op;
}

TfLiteStatus CustomOperator::Prepare(void* self, TfLiteOpaqueContext* context,
                                     TfLiteOpaqueNode* node) {
  const auto* const op = static_cast<const CustomOperator*>(self);
  const LiteRtStatus status = Guard([&]() -> LiteRtStatus {
    const NodeTensors tensors = TensorsOf(context, node);
    std::vector<LiteRtLayout> inputs(tensors.inputs.size()), outputs(tensors.outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!ReadLayout(tensors.inputs[i], &inputs[i])) return kLiteRtStatusErrorUnsupported;
    }
    const LiteRtCustomOpKernel& functions = op->kernel_.functions;
    if (functions.GetOutputLayouts == nullptr || functions.Run == nullptr) {
      return kLiteRtStatusErrorInvalidArgument;
    }
    LITERT_TRY(functions.GetOutputLayouts(op->kernel_.user_data, inputs.size(), inputs.data(),
                                          outputs.size(), outputs.data()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const LiteRtLayout& layout = outputs[i];
      const bool is_valid = layout.rank <= LITERT_TENSOR_MAX_RANK &&
                            std::all_of(layout.dimensions, layout.dimensions + layout.rank,
                                        [](int32_t extent) { return extent >= 0; });
      if (!is_valid) return kLiteRtStatusErrorInvalidArgument;
      TfLiteIntArray* const shape = TfLiteIntArrayCreate(static_cast<int>(layout.rank));
      if (shape == nullptr) return kLiteRtStatusErrorMemoryAllocationFailure;
      std::copy(layout.dimensions, layout.dimensions + layout.rank, shape->data);
      if (TfLiteOpaqueContextResizeTensor(context, tensors.outputs[i], shape) != kTfLiteOk) {
        return kLiteRtStatusErrorRuntimeFailure;
      }
    }
    return kLiteRtStatusOk;
  });
  if (status == kLiteRtStatusOk) return kTfLiteOk;
  Log(kLiteRtLogSeverityError, "custom operator '%s': GetOutputLayouts failed: %s",
      op->kernel_.name.c_str(), LiteRtGetStatusString(status));
  return kTfLiteError;
}

TfLiteStatus CustomOperator::Invoke(void* self, TfLiteOpaqueContext* context,
                                    TfLiteOpaqueNode* node) {
  const auto* const op = static_cast<const CustomOperator*>(self);
  const LiteRtStatus status = Guard([&]() -> LiteRtStatus {
    const NodeTensors tensors = TensorsOf(context, node);
    std::vector<TensorBufferPtr> owned;
    std::vector<LiteRtTensorBuffer> inputs, outputs;
    const auto add = [&](const TfLiteOpaqueTensor* tensor, std::vector<LiteRtTensorBuffer>* to) {
      owned.push_back(BufferOf(tensor));
      to->push_back(owned.back().get());
      return owned.back() != nullptr;
    };
    for (const auto* tensor : tensors.inputs) {
      if (!add(tensor, &inputs)) return kLiteRtStatusErrorUnsupported;
    }
    for (const auto* tensor : tensors.outputs) {
      if (!add(tensor, &outputs)) return kLiteRtStatusErrorUnsupported;
    }
    return op->kernel_.functions.Run(op->kernel_.user_data, inputs.size(), inputs.data(),
                                     outputs.size(), outputs.data());
  });
  if (status == kLiteRtStatusOk) return kTfLiteOk;
  Log(kLiteRtLogSeverityError, "custom operator '%s': Run failed: %s", op->kernel_.name.c_str(),
      LiteRtGetStatusString(status));
  return kTfLiteError;
}

}  // namespace deputy::litert
