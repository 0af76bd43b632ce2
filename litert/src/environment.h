// SPDX-License-Identifier: Apache-2.0
//
// The environment: options, accelerators, and vendors' functions for tensor buffers.
#ifndef DEPUTY_LITERT_SRC_ENVIRONMENT_H_
#define DEPUTY_LITERT_SRC_ENVIRONMENT_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "litert/c/litert_environment.h"
#include "litert/c/litert_environment_options.h"
#include "litert/src/accelerator.h"
#include "litert/src/buffer_handlers.h"

class LiteRtEnvironmentOptionsT {
 public:
  // Copies an option; strings are copied, too. kLiteRtStatusErrorAlreadyExists if the option is set
  // and `overwrites` is false.
  LiteRtStatus Set(const LiteRtEnvOption& option, bool overwrites);
  // Returns an option, or null.
  const LiteRtAny* Find(LiteRtEnvOptionTag tag) const;
  const std::map<LiteRtEnvOptionTag, LiteRtAny>& values() const { return values_; }

 private:
  std::map<LiteRtEnvOptionTag, LiteRtAny> values_;
  std::map<LiteRtEnvOptionTag, std::string> strings_;
};

class LiteRtEnvironmentT {
 public:
  LiteRtEnvironmentOptionsT& options() { return options_; }
  const deputy::litert::AcceleratorList& accelerators() const { return accelerators_; }
  // Registers an accelerator.
  void Add(std::unique_ptr<LiteRtAcceleratorT> accelerator);

  // Returns the functions for a type of buffers, or null.
  const deputy::litert::BufferHandlers* FindHandlers(LiteRtTensorBufferType type) const;
  LiteRtStatus AddHandlers(LiteRtTensorBufferType type,
                           const deputy::litert::BufferHandlers& added);
  // Returns the pointer that an option contains, or null.
  void* PointerOption(LiteRtEnvOptionTag tag) const;
  // Returns the text that an option contains, or null.
  const char* TextOption(LiteRtEnvOptionTag tag) const;

 private:
  LiteRtEnvironmentOptionsT options_;
  mutable std::mutex handlers_mutex_;
  std::map<LiteRtTensorBufferType, deputy::litert::BufferHandlers> handlers_;
  deputy::litert::AcceleratorList accelerators_;
};

#endif  // DEPUTY_LITERT_SRC_ENVIRONMENT_H_
