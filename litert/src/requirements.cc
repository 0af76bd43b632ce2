// SPDX-License-Identifier: Apache-2.0
#include "litert/src/requirements.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace {

// The objects of clients and plug-ins, which a plug-in may confuse.
struct ClientObjects {
  std::mutex mutex;
  std::unordered_set<const LiteRtTensorBufferRequirementsT*> all;
};

ClientObjects& Objects() {
  static auto* const objects = new ClientObjects();  // plug-ins may use it at exit
  return *objects;
}

// Passes an object to the client.
LiteRtStatus Give(std::unique_ptr<LiteRtTensorBufferRequirementsT> created,
                  LiteRtTensorBufferRequirements* out_requirements) {
  const std::scoped_lock lock(Objects().mutex);
  Objects().all.insert(created.get());
  *out_requirements = created.release();
  return kLiteRtStatusOk;
}

}  // namespace

bool deputy::litert::TakeRequirements(LiteRtTensorBufferRequirements requirements) {
  const std::scoped_lock lock(Objects().mutex);
  return Objects().all.erase(requirements) > 0;
}

LiteRtStatus LiteRtCreateTensorBufferRequirementsWithAlignment(
    int num_supported_tensor_buffer_types,
    const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
    int num_strides, const uint32_t* strides, size_t alignment,
    LiteRtTensorBufferRequirements* requirements) {
  if (num_supported_tensor_buffer_types < 1 || supported_tensor_buffer_types == nullptr ||
      requirements == nullptr || num_strides < 0 || (num_strides > 0 && strides == nullptr) ||
      alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    auto created = std::make_unique<LiteRtTensorBufferRequirementsT>();
    created->types.assign(supported_tensor_buffer_types,
                          supported_tensor_buffer_types + num_supported_tensor_buffer_types);
    created->bytes = buffer_size;
    if (num_strides > 0) created->strides.assign(strides, strides + num_strides);
    created->alignment = alignment;
    return Give(std::move(created), requirements);
  });
}

LiteRtStatus LiteRtCreateTensorBufferRequirements(
    int num_supported_tensor_buffer_types,
    const LiteRtTensorBufferType* supported_tensor_buffer_types, size_t buffer_size,
    int num_strides, const uint32_t* strides, LiteRtTensorBufferRequirements* requirements) {
  return LiteRtCreateTensorBufferRequirementsWithAlignment(
      num_supported_tensor_buffer_types, supported_tensor_buffer_types, buffer_size, num_strides,
      strides, LITERT_HOST_MEMORY_BUFFER_ALIGNMENT, requirements);
}

LiteRtStatus LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(
    LiteRtTensorBufferRequirements requirements, int* num_types) {
  if (requirements == nullptr || num_types == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *num_types = static_cast<int>(requirements->types.size());
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(
    LiteRtTensorBufferRequirements requirements, int type_index, LiteRtTensorBufferType* type) {
  if (requirements == nullptr || type == nullptr || type_index < 0 ||
      static_cast<size_t>(type_index) >= requirements->types.size()) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *type = requirements->types[static_cast<size_t>(type_index)];
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferRequirementsBufferSize(
    LiteRtTensorBufferRequirements requirements, size_t* buffer_size) {
  if (requirements == nullptr || buffer_size == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *buffer_size = requirements->bytes;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferRequirementsStrides(LiteRtTensorBufferRequirements requirements,
                                                      int* num_strides, const uint32_t** strides) {
  if (requirements == nullptr || num_strides == nullptr || strides == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *num_strides = static_cast<int>(requirements->strides.size());
  *strides = requirements->strides.data();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorBufferRequirementsAlignment(LiteRtTensorBufferRequirements requirements,
                                                        size_t* alignment) {
  if (requirements == nullptr || alignment == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *alignment = requirements->alignment;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtJoinTensorBufferRequirements(
    LiteRtTensorBufferRequirements src_requirements_1,
    LiteRtTensorBufferRequirements src_requirements_2,
    LiteRtTensorBufferRequirements* joined_requirements) {
  if (src_requirements_1 == nullptr || src_requirements_2 == nullptr ||
      joined_requirements == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const auto &first = *src_requirements_1, &second = *src_requirements_2;
  if (first.strides != second.strides) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "requirements cannot be joined: the strides differ");
  }
  return Guard([&] {
    auto joined = std::make_unique<LiteRtTensorBufferRequirementsT>();
    for (LiteRtTensorBufferType type : first.types) {
      if (std::count(second.types.begin(), second.types.end(), type) > 0) {
        joined->types.push_back(type);
      }
    }
    if (joined->types.empty()) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "requirements cannot be joined: no buffer type is supported by both");
    }
    joined->bytes = std::max(first.bytes, second.bytes);
    joined->strides = first.strides;
    joined->alignment = std::max(first.alignment, second.alignment);
    return Give(std::move(joined), joined_requirements);
  });
}

void LiteRtDestroyTensorBufferRequirements(LiteRtTensorBufferRequirements requirements) {
  if (requirements == nullptr) return;
  if (deputy::litert::TakeRequirements(requirements)) {
    delete requirements;
  } else {
    deputy::litert::Log(kLiteRtLogSeverityError,
                        "requirements: the object to destroy does not belong to the caller");
  }
}
