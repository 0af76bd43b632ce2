// SPDX-License-Identifier: Apache-2.0
#include "litert/src/buffer_context.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "deputy/deputy.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::RequirementsPtr;
using deputy::litert::TakeRequirements;
using deputy::litert::TensorBufferPtr;
using deputy::litert::TensorId;

namespace deputy::litert {

LiteRtStatus TypeOf(const TfLiteTensor& tensor, LiteRtRankedTensorType* out_type) {
  const int rank = tensor.dims == nullptr ? 0 : tensor.dims->size;
  if (rank > LITERT_TENSOR_MAX_RANK) {
    return Fail(kLiteRtStatusErrorUnsupported,
                "tensor '%s': expected a rank of at most %d, found %d", tensor.name,
                LITERT_TENSOR_MAX_RANK, rank);
  }
  *out_type = {};
  // Element types have the numbers of TfLiteType.
  out_type->element_type = static_cast<LiteRtElementType>(tensor.type);
  out_type->layout.rank = static_cast<unsigned>(rank) & 0x7f;
  for (int axis = 0; axis < rank; ++axis) {
    out_type->layout.dimensions[axis] = tensor.dims->data[axis];
  }
  return kLiteRtStatusOk;
}

bool Accepts(const LiteRtTensorBufferRequirementsT& requirements,
             const LiteRtTensorBufferT& buffer) {
  const auto has_type = [&](const LiteRtTensorBufferType& type) {
    return NumberOf(type) == NumberOf(buffer.type);
  };
  if (std::none_of(requirements.types.begin(), requirements.types.end(), has_type) ||
      buffer.bytes < requirements.bytes || !requirements.strides.empty()) {
    return false;
  }
  const auto address = reinterpret_cast<uintptr_t>(buffer.address) + buffer.offset;
  return buffer.type != kLiteRtTensorBufferTypeHostMemory ||
         (requirements.alignment > 0 && address % requirements.alignment == 0);
}

}  // namespace deputy::litert

namespace {

// Joins requirements with those in `to`.
LiteRtStatus Join(LiteRtTensorBufferRequirementsT from, LiteRtTensorBufferRequirementsT* to) {
  LiteRtTensorBufferRequirements joined = nullptr;
  LITERT_TRY(LiteRtJoinTensorBufferRequirements(to, &from, &joined));
  (void)TakeRequirements(joined);
  const RequirementsPtr owned(joined);
  *to = *joined;
  return kLiteRtStatusOk;
}

}  // namespace

LiteRtExternalLiteRtBufferContextT::LiteRtExternalLiteRtBufferContextT(LiteRtEnvironment env)
    : TfLiteExternalContext{.type = kTfLiteLiteRtBufferContext, .Refresh = nullptr},
      environment(env) {}

void LiteRtExternalLiteRtBufferContextT::Reset(const TfLiteInterpreter* interpreter) {
  interpreter_ = interpreter;
  requirements_.clear();
  buffers_.clear();
}

bool LiteRtExternalLiteRtBufferContextT::Find(const TfLiteTensor* tensor, TensorId* out_id) const {
  const int32_t subgraphs = DeputyInterpreterGetSubgraphCount(interpreter_);
  for (int32_t subgraph = 0; subgraph < subgraphs; ++subgraph) {
    const TfLiteTensor* const first = DeputyInterpreterGetTensor(interpreter_, subgraph, 0);
    const int32_t count = DeputyInterpreterGetTensorCount(interpreter_, subgraph);
    // The tensors of a subgraph are an array.
    if (first == nullptr || std::less<>()(tensor, first) || !std::less<>()(tensor, first + count)) {
      continue;
    }
    *out_id = {subgraph, static_cast<int32_t>(tensor - first)};
    return true;
  }
  return false;
}

LiteRtStatus LiteRtExternalLiteRtBufferContextT::SetRequirements(
    TensorId id, const void* user, const LiteRtTensorBufferRequirementsT& requirements) {
  Entry& entry = requirements_[id];
  ++registrations_;
  LiteRtTensorBufferRequirementsT& own = entry.by_user[user];
  if (user != nullptr || own.types.empty()) {
    own = requirements;
  } else {
    LITERT_TRY(Join(requirements, &own));
  }
  RequirementsPtr joined;
  entry.joined = nullptr;
  for (const auto& [each, added] : entry.by_user) {
    if (joined == nullptr) {
      joined = std::make_unique<LiteRtTensorBufferRequirementsT>(added);
    } else {
      LITERT_TRY(Join(added, joined.get()));
    }
  }
  entry.joined = std::move(joined);
  return kLiteRtStatusOk;
}

void LiteRtExternalLiteRtBufferContextT::RemoveRequirements(const void* user) {
  for (auto each = requirements_.begin(); each != requirements_.end();) {
    const bool is_user = each->second.by_user.erase(user) > 0;
    each = is_user && each->second.by_user.empty() ? requirements_.erase(each) : std::next(each);
  }
}

const LiteRtTensorBufferRequirementsT* LiteRtExternalLiteRtBufferContextT::Requirements(
    TensorId id) const {
  const auto found = requirements_.find(id);
  return found == requirements_.end() ? nullptr : found->second.joined.get();
}

void LiteRtExternalLiteRtBufferContextT::SetBuffer(TensorId id, TensorBufferPtr buffer) {
  buffers_[id] = std::move(buffer);
}

LiteRtTensorBufferT* LiteRtExternalLiteRtBufferContextT::Buffer(TensorId id) const {
  const auto found = buffers_.find(id);
  return found == buffers_.end() ? nullptr : found->second.get();
}

void LiteRtExternalLiteRtBufferContextT::EndRun() {
  buffers_.clear();
  is_async = false;
  run_options = nullptr;
  scheduling = nullptr;
}

// ---- C functions --------------------------------------------------------------------------------

namespace {

// Calls `function` with the identifier of a tensor.
template <typename Function>
LiteRtStatus WithTensor(LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
                        const Function& function) {
  return Guard([&] {
    TensorId id;
    if (!context->Find(tensor, &id)) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "buffer context: the tensor does not belong to the compiled model");
    }
    return function(id);
  });
}

}  // namespace

LiteRtStatus LiteRtGetExternalLiteRtBufferContextTensorBuffer(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBuffer* tensor_buffer) {
  if (context == nullptr || tensor == nullptr || tensor_buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return WithTensor(context, tensor, [&](TensorId id) {
    LiteRtTensorBufferT* const found = context->Buffer(id);
    if (found == nullptr) return kLiteRtStatusErrorNotFound;
    found->Retain();
    *tensor_buffer = found;
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtExternalLiteRtBufferContextCreateBufferForTensor(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBuffer* buffer) {
  if (context == nullptr || tensor == nullptr || buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return WithTensor(context, tensor, [&](TensorId id) {
    const LiteRtTensorBufferRequirementsT* const found = context->Requirements(id);
    if (found == nullptr) {
      return Fail(kLiteRtStatusErrorNotFound, "buffer context: tensor '%s' has no requirements",
                  tensor->name);
    }
    LiteRtRankedTensorType type;
    LITERT_TRY(deputy::litert::TypeOf(*tensor, &type));
    LiteRtTensorBufferRequirementsT copy = *found;
    return LiteRtCreateManagedTensorBufferFromRequirements(context->environment, &type, &copy,
                                                           buffer);
  });
}

LiteRtStatus LiteRtExternalLiteRtBufferContextRegisterTensorBuffer(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBuffer buffer) {
  if (context == nullptr || tensor == nullptr || buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return WithTensor(context, tensor, [&](TensorId id) {
    context->SetBuffer(id, TensorBufferPtr(buffer));
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtExternalLiteRtBufferContextUnregisterTensorBuffer(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor) {
  if (context == nullptr || tensor == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return WithTensor(context, tensor, [&](TensorId id) {
    return context->RemoveBuffer(id) ? kLiteRtStatusOk : kLiteRtStatusErrorNotFound;
  });
}

LiteRtStatus LiteRtExternalLiteRtBufferContextRegisterBufferRequirements(
    LiteRtExternalLiteRtBufferContext context, const TfLiteTensor* tensor,
    LiteRtTensorBufferRequirements buffer_requirements) {
  if (context == nullptr || tensor == nullptr || buffer_requirements == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (!TakeRequirements(buffer_requirements)) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "buffer context: expected requirements that the caller owns");
  }
  const RequirementsPtr owned(buffer_requirements);
  return WithTensor(context, tensor,
                    [&](TensorId id) { return context->SetRequirements(id, nullptr, *owned); });
}

LiteRtStatus LiteRtExternalLiteRtBufferContextGetEnvironment(
    LiteRtExternalLiteRtBufferContext context, LiteRtEnvironment* env) {
  if (context == nullptr || env == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *env = context->environment;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtExternalLiteRtBufferContextIsAsyncExecutionMode(
    LiteRtExternalLiteRtBufferContext context, bool* is_async_execution_mode) {
  if (context == nullptr || is_async_execution_mode == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *is_async_execution_mode = context->is_async;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtExternalLiteRtBufferContextGetRunOptions(
    LiteRtExternalLiteRtBufferContext context, LiteRtOptions* run_options) {
  if (context == nullptr || run_options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *run_options = context->run_options;
  return kLiteRtStatusOk;
}

// Contexts belong to compiled models.
void LiteRtDestroyExternalLiteRtBufferContext(LiteRtExternalLiteRtBufferContext context) {
  if (context == nullptr) return;
  deputy::litert::Log(kLiteRtLogSeverityWarning,
                      "buffer context: it belongs to a compiled model and is not destroyed");
}
