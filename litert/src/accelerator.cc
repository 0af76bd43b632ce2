// SPDX-License-Identifier: Apache-2.0
#include "litert/src/accelerator.h"

#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace deputy::litert {

LiteRtHwAcceleratorSet HardwareOf(const LiteRtAcceleratorT& accelerator) {
  LiteRtHwAcceleratorSet hardware = kLiteRtHwAcceleratorNone;
  if (accelerator.get_hardware == nullptr ||
      accelerator.get_hardware(&accelerator, &hardware) != kLiteRtStatusOk) {
    return kLiteRtHwAcceleratorNone;
  }
  return hardware;
}

}  // namespace deputy::litert

namespace {

// Sets a function of an accelerator that is not registered yet.
template <typename Function>
LiteRtStatus SetFunction(LiteRtAccelerator accelerator, Function LiteRtAcceleratorT::*member,
                         Function function) {
  if (accelerator == nullptr) return kLiteRtStatusErrorInvalidArgument;
  accelerator->*member = function;
  return kLiteRtStatusOk;
}

}  // namespace

// ---- Registration -------------------------------------------------------------------------------

LiteRtStatus LiteRtCreateAccelerator(LiteRtAccelerator* accelerator) {
  if (accelerator == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    *accelerator = new LiteRtAcceleratorT();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtDestroyAccelerator(LiteRtAccelerator accelerator) {
  if (accelerator == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (accelerator->environment != nullptr) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "accelerator: expected one that is not registered; the environment owns this one");
  }
  delete accelerator;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetAcceleratorGetName(LiteRtAccelerator accelerator,
                                         LiteRtStatus (*GetName)(LiteRtAcceleratorConst accelerator,
                                                                 const char** name)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::get_name, GetName);
}

LiteRtStatus LiteRtSetAcceleratorGetVersion(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetVersion)(LiteRtAcceleratorConst accelerator, LiteRtApiVersion* version)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::get_version, GetVersion);
}

LiteRtStatus LiteRtSetAcceleratorGetHardwareSupport(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetHardwareSupport)(LiteRtAcceleratorConst accelerator,
                                       LiteRtHwAcceleratorSet* supported_hardware)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::get_hardware, GetHardwareSupport);
}

LiteRtStatus LiteRtSetDelegateFunction(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*CreateDelegate)(LiteRtRuntimeContext* runtime_context, LiteRtEnvironment env,
                                   LiteRtAcceleratorConst accelerator, LiteRtOptions options,
                                   LiteRtDelegateWrapper* delegate)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::create_delegate, CreateDelegate);
}

LiteRtStatus LiteRtSetIsAcceleratorDelegateResponsibleForJitCompilation(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*IsTfLiteDelegateResponsibleForJitCompilation)(LiteRtAcceleratorConst accelerator,
                                                                 bool* does_jit_compilation)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::is_compiler,
                     IsTfLiteDelegateResponsibleForJitCompilation);
}

LiteRtStatus LiteRtSetAcceleratorStartMetricsCollection(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*StartMetricsCollection)(LiteRtRuntimeContext* runtime_context,
                                           LiteRtDelegateWrapper delegate, int detail_level)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::start_metrics, StartMetricsCollection);
}

LiteRtStatus LiteRtSetAcceleratorStopMetricsCollection(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*StopMetricsCollection)(LiteRtRuntimeContext* runtime_context,
                                          LiteRtDelegateWrapper delegate, LiteRtMetrics metrics)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::stop_metrics, StopMetricsCollection);
}

LiteRtStatus LiteRtSetAcceleratorGetHooks(
    LiteRtAccelerator accelerator,
    LiteRtStatus (*GetHooks)(LiteRtRuntimeContext* runtime_context, LiteRtDelegateWrapper delegate,
                             LiteRtHook* hook, void** user_data)) {
  return SetFunction(accelerator, &LiteRtAcceleratorT::get_hooks, GetHooks);
}

// ---- Queries ------------------------------------------------------------------------------------

LiteRtStatus LiteRtGetAcceleratorName(LiteRtAcceleratorConst accelerator, const char** name) {
  if (accelerator == nullptr || accelerator->get_name == nullptr || name == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return accelerator->get_name(accelerator, name);
}

LiteRtStatus LiteRtGetAcceleratorId(LiteRtAcceleratorConst accelerator, LiteRtAcceleratorId* id) {
  if (accelerator == nullptr || accelerator->environment == nullptr || id == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *id = accelerator->id;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetAcceleratorVersion(LiteRtAcceleratorConst accelerator,
                                         LiteRtApiVersion* version) {
  if (accelerator == nullptr || accelerator->get_version == nullptr || version == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return accelerator->get_version(accelerator, version);
}

LiteRtStatus LiteRtGetAcceleratorHardwareSupport(LiteRtAcceleratorConst accelerator,
                                                 LiteRtHwAcceleratorSet* supported_hardware) {
  if (accelerator == nullptr || accelerator->get_hardware == nullptr ||
      supported_hardware == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return accelerator->get_hardware(accelerator, supported_hardware);
}

LiteRtStatus LiteRtGetAcceleratorEnvironment(LiteRtAcceleratorConst accelerator,
                                             LiteRtEnvironment* environment) {
  if (accelerator == nullptr || environment == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *environment = accelerator->environment;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtIsAcceleratorDelegateResponsibleForJitCompilation(
    LiteRtAcceleratorConst accelerator, bool* does_jit_compilation) {
  if (accelerator == nullptr || does_jit_compilation == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *does_jit_compilation = false;
  return accelerator->is_compiler == nullptr
             ? kLiteRtStatusOk
             : accelerator->is_compiler(accelerator, does_jit_compilation);
}

// ---- Delegates ----------------------------------------------------------------------------------

LiteRtStatus LiteRtWrapDelegate(TfLiteOpaqueDelegate* delegate,
                                void (*deleter)(TfLiteOpaqueDelegate*),
                                LiteRtDelegateWrapper* wrapper) {
  if (delegate == nullptr || deleter == nullptr || wrapper == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    auto* const created = new LiteRtDelegateWrapperT();
    created->delegate = delegate;
    created->deleter = deleter;
    *wrapper = created;
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtUnwrapDelegate(LiteRtDelegateWrapper wrapper, TfLiteOpaqueDelegate** delegate) {
  if (wrapper == nullptr || delegate == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *delegate = wrapper->delegate;
  return kLiteRtStatusOk;
}

void LiteRtDestroyDelegateWrapper(LiteRtDelegateWrapper wrapper) { delete wrapper; }
