// SPDX-License-Identifier: Apache-2.0
//
// Accelerators: sets of functions that create delegates for a kind of hardware. Clients and vendors
// register their own; the library has one for each of its delegates.
#ifndef DEPUTY_LITERT_SRC_ACCELERATOR_H_
#define DEPUTY_LITERT_SRC_ACCELERATOR_H_

#include <memory>
#include <vector>

#include "litert/c/internal/litert_accelerator.h"
#include "litert/c/internal/litert_accelerator_registration.h"
#include "litert/c/internal/litert_delegate_wrapper.h"

class LiteRtAcceleratorT {
 public:
  LiteRtAcceleratorT() = default;
  ~LiteRtAcceleratorT() {
    if (release_data != nullptr) release_data(data);
  }
  LiteRtAcceleratorT(const LiteRtAcceleratorT&) = delete;
  LiteRtAcceleratorT& operator=(const LiteRtAcceleratorT&) = delete;

  LiteRtEnvironment environment = nullptr;  // null until it is registered
  LiteRtAcceleratorId id = 0;               // index in the environment
  void* data = nullptr;
  void (*release_data)(void* data) = nullptr;
  bool has_layers = false;  // DEPUTY_LAYERS applies to its delegates

  LiteRtStatus (*get_name)(LiteRtAcceleratorConst, const char** name) = nullptr;
  LiteRtStatus (*get_version)(LiteRtAcceleratorConst, LiteRtApiVersion* version) = nullptr;
  LiteRtStatus (*get_hardware)(LiteRtAcceleratorConst,
                               LiteRtHwAcceleratorSet* supported_hardware) = nullptr;
  LiteRtStatus (*is_compiler)(LiteRtAcceleratorConst, bool* does_jit_compilation) = nullptr;
  LiteRtStatus (*create_delegate)(LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst,
                                  LiteRtOptions, LiteRtDelegateWrapper*) = nullptr;
  LiteRtStatus (*start_metrics)(LiteRtRuntimeContext*, LiteRtDelegateWrapper,
                                int detail_level) = nullptr;
  LiteRtStatus (*stop_metrics)(LiteRtRuntimeContext*, LiteRtDelegateWrapper,
                               LiteRtMetrics) = nullptr;
  LiteRtStatus (*get_hooks)(LiteRtRuntimeContext*, LiteRtDelegateWrapper, LiteRtHook*,
                            void** user_data) = nullptr;
};

class LiteRtDelegateWrapperT {
 public:
  ~LiteRtDelegateWrapperT() {
    if (deleter != nullptr) deleter(delegate);
  }

  TfLiteOpaqueDelegate* delegate = nullptr;
  void (*deleter)(TfLiteOpaqueDelegate*) = nullptr;
};

namespace deputy::litert {

using AcceleratorList = std::vector<std::unique_ptr<LiteRtAcceleratorT>>;

// Returns the hardware of an accelerator, or none.
LiteRtHwAcceleratorSet HardwareOf(const LiteRtAcceleratorT& accelerator);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_ACCELERATOR_H_
