// SPDX-License-Identifier: Apache-2.0
#include "litert/src/own_accelerators.h"

#include <memory>
#include <string>
#include <utility>

#include "deputy/deputy.h"
#include "litert/c/internal/litert_dispatch_delegate.h"
#include "litert/src/accelerator.h"
#include "litert/src/dispatch_delegate.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

constexpr LiteRtApiVersion kVersion = {1, 0, 0};

LiteRtStatus GetOwnVersion(LiteRtAcceleratorConst, LiteRtApiVersion* version) {
  if (version == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *version = kVersion;
  return kLiteRtStatusOk;
}

LiteRtStatus IsOwnCompiler(LiteRtAcceleratorConst, bool* does_jit_compilation) {
  if (does_jit_compilation == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *does_jit_compilation = true;
  return kLiteRtStatusOk;
}

// The CPU needs no delegate.
LiteRtStatus CreateNoDelegate(LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst,
                              LiteRtOptions, LiteRtDelegateWrapper* wrapper) {
  *wrapper = nullptr;
  return kLiteRtStatusOk;
}

void DeletePluginDelegate(TfLiteOpaqueDelegate* delegate) {
  DeputyPluginDeleteDelegate(reinterpret_cast<TfLiteDelegate*>(delegate));
}

// Creates a delegate that shares the environment's OpenCL, so that it uses buffers of its context.
TfLiteDelegate* CreateOnOpenCl(DeputyPlugin* plugin, LiteRtEnvironment environment) {
  std::string reason;
  const std::shared_ptr<OpenCl> open_cl = environment->FindOpenCl(&reason);
  if (open_cl == nullptr) return nullptr;
  const char *const key = "client_objects", *const value = open_cl->delegate_option().c_str();
  TfLiteDelegate* const delegate = DeputyPluginCreateDelegate(plugin, &key, &value, 1);
  if (delegate == nullptr) {
    Log(kLiteRtLogSeverityWarning,
        "accelerator GPU: it cannot use the environment's OpenCL, so that OpenCL buffers are "
        "copied: %s",
        DeputyLastError());
  }
  return delegate;
}

LiteRtStatus CreateGpuDelegate(LiteRtRuntimeContext*, LiteRtEnvironment environment,
                               LiteRtAcceleratorConst, LiteRtOptions,
                               LiteRtDelegateWrapper* wrapper) {
  *wrapper = nullptr;
  DeputyPlugin* const plugin = DeputyPluginLoad("gpu");
  TfLiteDelegate* delegate = plugin == nullptr ? nullptr : CreateOnOpenCl(plugin, environment);
  if (plugin != nullptr && delegate == nullptr) {
    delegate = DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0);
  }
  DeputyPluginRelease(plugin);
  if (delegate == nullptr) {
    Log(kLiteRtLogSeverityWarning, "accelerator GPU: it is not available: %s", DeputyLastError());
    return kLiteRtStatusOk;
  }
  const LiteRtStatus status = LiteRtWrapDelegate(reinterpret_cast<TfLiteOpaqueDelegate*>(delegate),
                                                 &DeletePluginDelegate, wrapper);
  if (status != kLiteRtStatusOk) DeputyPluginDeleteDelegate(delegate);
  return status;
}

LiteRtStatus CreateNpuDelegate(LiteRtRuntimeContext*, LiteRtEnvironment environment,
                               LiteRtAcceleratorConst, LiteRtOptions options,
                               LiteRtDelegateWrapper* wrapper) {
  *wrapper = nullptr;
  std::string reason;
  const DispatchLibrary* const library = OpenDispatchLibrary(environment, options, &reason);
  if (library == nullptr) {
    Log(kLiteRtLogSeverityWarning, "accelerator NPU: no dispatch plug-in: %s", reason.c_str());
    return kLiteRtStatusOk;
  }
  TfLiteOpaqueDelegate* const delegate = CreateDispatchDelegate(
      *library, environment, options, ModelBeingCompiled::bytes(), ModelBeingCompiled::handles());
  if (delegate == nullptr) return kLiteRtStatusErrorRuntimeFailure;
  const LiteRtStatus status = LiteRtWrapDelegate(delegate, &DeleteDispatchDelegate, wrapper);
  if (status != kLiteRtStatusOk) DeleteDispatchDelegate(delegate);
  return status;
}

// A plug-in without measurements has no values.
LiteRtStatus OkIfUnsupported(LiteRtStatus status) {
  return status == kLiteRtStatusErrorUnsupported ? kLiteRtStatusOk : status;
}

LiteRtStatus StartNpuMetrics(LiteRtRuntimeContext*, LiteRtDelegateWrapper wrapper,
                             int detail_level) {
  return OkIfUnsupported(
      LiteRtDispatchDelegateStartMetricsCollection(wrapper->delegate, detail_level));
}

LiteRtStatus StopNpuMetrics(LiteRtRuntimeContext*, LiteRtDelegateWrapper wrapper,
                            LiteRtMetrics metrics) {
  return OkIfUnsupported(LiteRtDispatchDelegateStopMetricsCollection(wrapper->delegate, metrics));
}

LiteRtStatus GetNpuHooks(LiteRtRuntimeContext*, LiteRtDelegateWrapper wrapper, LiteRtHook* hook,
                         void** user_data) {
  return LiteRtDispatchDelegateGetHooks(wrapper->delegate, hook, user_data);
}

template <LiteRtHwAccelerators kHardware>
LiteRtStatus GetOwnHardware(LiteRtAcceleratorConst, LiteRtHwAcceleratorSet* supported_hardware) {
  if (supported_hardware == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *supported_hardware = kHardware;
  return kLiteRtStatusOk;
}

template <const char* kName>
LiteRtStatus GetOwnName(LiteRtAcceleratorConst, const char** name) {
  if (name == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *name = kName;
  return kLiteRtStatusOk;
}

constexpr char kCpuName[] = "CpuAccelerator";
constexpr char kGpuName[] = "GPU OpenCL";
constexpr char kNpuName[] = "NpuAccelerator";

template <LiteRtHwAccelerators kHardware, const char* kName>
std::unique_ptr<LiteRtAcceleratorT> OwnAccelerator() {
  auto created = std::make_unique<LiteRtAcceleratorT>();
  created->get_name = &GetOwnName<kName>;
  created->get_version = &GetOwnVersion;
  created->get_hardware = &GetOwnHardware<kHardware>;
  created->is_compiler = &IsOwnCompiler;
  return created;
}

}  // namespace

LiteRtStatus RegisterOwnAccelerators(LiteRtEnvironment environment) {
  LiteRtHwAcceleratorSet wanted =
      kLiteRtHwAcceleratorCpu | kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorNpu;
  if (const LiteRtAny* const option =
          environment->options().Find(kLiteRtEnvOptionTagAutoRegisterAccelerators)) {
    if (option->type == kLiteRtAnyTypeInt) {
      wanted = static_cast<LiteRtHwAcceleratorSet>(option->int_value);
    } else {
      Log(kLiteRtLogSeverityWarning,
          "environment: expected an integer as the set of accelerators; it has no effect");
    }
  }
  const bool has_folder = environment->TextOption(kLiteRtEnvOptionTagDispatchLibraryDir) != nullptr;
  if ((wanted & kLiteRtHwAcceleratorNpu) != 0 && has_folder) {
    auto npu = OwnAccelerator<kLiteRtHwAcceleratorNpu, kNpuName>();
    npu->create_delegate = &CreateNpuDelegate;
    npu->has_layers = true;
    npu->start_metrics = &StartNpuMetrics;
    npu->stop_metrics = &StopNpuMetrics;
    npu->get_hooks = &GetNpuHooks;
    environment->Add(std::move(npu));
  }
  if ((wanted & kLiteRtHwAcceleratorGpu) != 0) {
    auto gpu = OwnAccelerator<kLiteRtHwAcceleratorGpu, kGpuName>();
    gpu->create_delegate = &CreateGpuDelegate;
    environment->Add(std::move(gpu));
    environment->PermitOpenCl(false);
  }
  if ((wanted & kLiteRtHwAcceleratorCpu) != 0) {
    auto cpu = OwnAccelerator<kLiteRtHwAcceleratorCpu, kCpuName>();
    cpu->create_delegate = &CreateNoDelegate;
    environment->Add(std::move(cpu));
  }
  return kLiteRtStatusOk;
}

}  // namespace deputy::litert
