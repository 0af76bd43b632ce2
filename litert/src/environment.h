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
#include "litert/src/opencl.h"

class LiteRtEnvironmentOptionsT {
 public:
  // Copies an option; strings are copied, too. kLiteRtStatusErrorAlreadyExists if the option is set
  // and `overwrites` is false.
  LiteRtStatus Set(const LiteRtEnvOption& option, bool overwrites);
  // Returns an option, or null.
  const LiteRtAny* Find(LiteRtEnvOptionTag tag) const;
  const std::map<LiteRtEnvOptionTag, LiteRtAny>& values() const { return values_; }

  // The environment's own objects, which Find() and values() do not contain.
  void SetOpenCl(const deputy::litert::OpenClObjects& objects);
  // Copies an option or one of the own objects. Returns false if there is none.
  bool Read(LiteRtEnvOptionTag tag, LiteRtAny* out_value) const;

 private:
  mutable std::mutex mutex_;  // of `generated_`
  std::map<LiteRtEnvOptionTag, LiteRtAny> generated_;
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
  // Returns the pointer that an option contains, as such or as a number, or null.
  void* PointerOption(LiteRtEnvOptionTag tag) const;
  // Returns the text that an option contains, or null.
  const char* TextOption(LiteRtEnvOptionTag tag) const;

  // Permits FindOpenCl() to open OpenCL; `is_explicit` if the client requests it.
  void PermitOpenCl(bool is_explicit);
  // Returns the environment's OpenCL, which the first call opens. Returns null and the reason if it
  // cannot be opened, or if the environment has no GPU.
  std::shared_ptr<deputy::litert::OpenCl> FindOpenCl(std::string* out_reason);
  // Returns true if the client has requested OpenCL, or it is open.
  bool has_gpu_environment();

 private:
  std::mutex opencl_mutex_;  // of the members for OpenCL
  bool may_open_opencl_ = false, wants_opencl_ = false, has_tried_opencl_ = false;
  std::string opencl_problem_ = "the environment has no GPU accelerator";
  std::shared_ptr<deputy::litert::OpenCl> opencl_;
  LiteRtEnvironmentOptionsT options_;
  mutable std::mutex handlers_mutex_;
  std::map<LiteRtTensorBufferType, deputy::litert::BufferHandlers> handlers_;
  deputy::litert::AcceleratorList accelerators_;
};

#endif  // DEPUTY_LITERT_SRC_ENVIRONMENT_H_
