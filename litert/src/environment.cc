// SPDX-License-Identifier: Apache-2.0
#include "litert/src/environment.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "litert/src/log.h"

using deputy::litert::BufferHandlers;
using deputy::litert::Fail;
using deputy::litert::OpenCl;

LiteRtStatus LiteRtEnvironmentOptionsT::Set(const LiteRtEnvOption& option, bool overwrites) {
  if (!overwrites && values_.count(option.tag) > 0) {
    return Fail(kLiteRtStatusErrorAlreadyExists, "environment: option %d is set already",
                option.tag);
  }
  LiteRtAny value = option.value;
  if (value.type == kLiteRtAnyTypeString) {
    if (value.str_value == nullptr) return kLiteRtStatusErrorInvalidArgument;
    std::string& text = strings_[option.tag];
    text = value.str_value;
    value.str_value = text.c_str();
  }
  values_[option.tag] = value;
  return kLiteRtStatusOk;
}

const LiteRtAny* LiteRtEnvironmentOptionsT::Find(LiteRtEnvOptionTag tag) const {
  const auto found = values_.find(tag);
  return found == values_.end() ? nullptr : &found->second;
}

void LiteRtEnvironmentOptionsT::SetOpenCl(const deputy::litert::OpenClObjects& objects) {
  const std::lock_guard lock(mutex_);
  const std::pair<LiteRtEnvOptionTag, void*> all[] = {
      {kLiteRtEnvOptionTagOpenClDeviceId, objects.device},
      {kLiteRtEnvOptionTagOpenClPlatformId, objects.platform},
      {kLiteRtEnvOptionTagOpenClContext, objects.context},
      {kLiteRtEnvOptionTagOpenClCommandQueue, objects.queue},
  };
  for (const auto& [tag, object] : all) {
    LiteRtAny value = {};
    value.type = kLiteRtAnyTypeInt;
    value.int_value = static_cast<int64_t>(reinterpret_cast<intptr_t>(object));
    generated_[tag] = value;
  }
}

bool LiteRtEnvironmentOptionsT::Read(LiteRtEnvOptionTag tag, LiteRtAny* out_value) const {
  {
    const std::lock_guard lock(mutex_);
    const auto found = generated_.find(tag);
    if (found != generated_.end()) {
      *out_value = found->second;
      return true;
    }
  }
  const LiteRtAny* const given = Find(tag);
  if (given != nullptr) *out_value = *given;
  return given != nullptr;
}

void LiteRtEnvironmentT::Add(std::unique_ptr<LiteRtAcceleratorT> accelerator) {
  accelerator->environment = this;
  accelerator->id = accelerators_.size();
  accelerators_.push_back(std::move(accelerator));
}

const BufferHandlers* LiteRtEnvironmentT::FindHandlers(LiteRtTensorBufferType type) const {
  const std::scoped_lock lock(handlers_mutex_);
  const auto found = handlers_.find(type);
  return found == handlers_.end() ? nullptr : &found->second;
}

LiteRtStatus LiteRtEnvironmentT::AddHandlers(LiteRtTensorBufferType type,
                                             const BufferHandlers& added) {
  const std::scoped_lock lock(handlers_mutex_);
  const BufferHandlers& present = handlers_.emplace(type, added).first->second;
  if (present == added) return kLiteRtStatusOk;
  return Fail(kLiteRtStatusErrorAlreadyExists,
              "environment: other functions for buffers of type %d are registered already", type);
}

void* LiteRtEnvironmentT::PointerOption(LiteRtEnvOptionTag tag) const {
  LiteRtAny value = {};
  if (!options_.Read(tag, &value)) return nullptr;
  if (value.type == kLiteRtAnyTypeVoidPtr) return const_cast<void*>(value.ptr_value);
  // Objects of OpenCL are passed as numbers.
  if (value.type != kLiteRtAnyTypeInt) return nullptr;
  return std::bit_cast<void*>(static_cast<intptr_t>(value.int_value));
}

const char* LiteRtEnvironmentT::TextOption(LiteRtEnvOptionTag tag) const {
  const LiteRtAny* const value = options_.Find(tag);
  return value == nullptr || value->type != kLiteRtAnyTypeString ? nullptr : value->str_value;
}

void LiteRtEnvironmentT::PermitOpenCl(bool is_explicit) {
  const std::lock_guard lock(opencl_mutex_);
  may_open_opencl_ = true;
  wants_opencl_ = wants_opencl_ || is_explicit;
}

bool LiteRtEnvironmentT::has_gpu_environment() {
  const std::lock_guard lock(opencl_mutex_);
  return wants_opencl_ || opencl_ != nullptr;
}

std::shared_ptr<OpenCl> LiteRtEnvironmentT::FindOpenCl(std::string* out_reason) {
  const std::lock_guard lock(opencl_mutex_);
  if (may_open_opencl_ && !has_tried_opencl_) {
    has_tried_opencl_ = true;
    opencl_problem_.clear();
    opencl_ = OpenCl::Open({.platform = PointerOption(kLiteRtEnvOptionTagOpenClPlatformId),
                            .device = PointerOption(kLiteRtEnvOptionTagOpenClDeviceId),
                            .context = PointerOption(kLiteRtEnvOptionTagOpenClContext),
                            .queue = PointerOption(kLiteRtEnvOptionTagOpenClCommandQueue)},
                           &opencl_problem_);
    if (opencl_ != nullptr) options_.SetOpenCl(opencl_->objects());
  }
  *out_reason = opencl_problem_;
  return opencl_;
}
