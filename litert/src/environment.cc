// SPDX-License-Identifier: Apache-2.0
#include "litert/src/environment.h"

#include <utility>

#include "litert/src/log.h"

using deputy::litert::BufferHandlers;
using deputy::litert::Fail;

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
  const LiteRtAny* const value = options_.Find(tag);
  if (value == nullptr || value->type != kLiteRtAnyTypeVoidPtr) return nullptr;
  return const_cast<void*>(value->ptr_value);
}

const char* LiteRtEnvironmentT::TextOption(LiteRtEnvOptionTag tag) const {
  const LiteRtAny* const value = options_.Find(tag);
  return value == nullptr || value->type != kLiteRtAnyTypeString ? nullptr : value->str_value;
}
