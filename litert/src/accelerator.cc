// SPDX-License-Identifier: Apache-2.0
#include "litert/src/accelerator.h"

#include <string>
#include <utility>

#include "deputy/deputy.h"
#include "litert/src/dispatch_delegate.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"
#include "litert/src/options.h"

using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::Log;

namespace deputy::litert {
namespace {

// ---- The library's accelerators -----------------------------------------------------------------

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

LiteRtStatus CreateGpuDelegate(LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst,
                               LiteRtOptions, LiteRtDelegateWrapper* wrapper) {
  *wrapper = nullptr;
  DeputyPlugin* const plugin = DeputyPluginLoad("gpu");
  TfLiteDelegate* const delegate =
      plugin == nullptr ? nullptr : DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0);
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
  TfLiteOpaqueDelegate* const delegate =
      CreateDispatchDelegate(*library, environment, options, ModelBeingCompiled::bytes());
  if (delegate == nullptr) return kLiteRtStatusErrorRuntimeFailure;
  const LiteRtStatus status = LiteRtWrapDelegate(delegate, &DeleteDispatchDelegate, wrapper);
  if (status != kLiteRtStatusOk) DeleteDispatchDelegate(delegate);
  return status;
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

void Add(LiteRtEnvironment environment, std::unique_ptr<LiteRtAcceleratorT> accelerator) {
  accelerator->environment = environment;
  accelerator->id = environment->accelerators().size();
  environment->accelerators().push_back(std::move(accelerator));
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
    Add(environment, std::move(npu));
  }
  if ((wanted & kLiteRtHwAcceleratorGpu) != 0) {
    auto gpu = OwnAccelerator<kLiteRtHwAcceleratorGpu, kGpuName>();
    gpu->create_delegate = &CreateGpuDelegate;
    Add(environment, std::move(gpu));
  }
  if ((wanted & kLiteRtHwAcceleratorCpu) != 0) {
    auto cpu = OwnAccelerator<kLiteRtHwAcceleratorCpu, kCpuName>();
    cpu->create_delegate = &CreateNoDelegate;
    Add(environment, std::move(cpu));
  }
  return kLiteRtStatusOk;
}

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
                "accelerator: it is registered and belongs to the environment");
  }
  delete accelerator;
  return kLiteRtStatusOk;
}

// Takes the accelerator and its data, also on failure.
LiteRtStatus LiteRtRegisterAccelerator(LiteRtEnvironment environment, LiteRtAccelerator accelerator,
                                       void* data, void (*ReleaseData)(void*)) {
  std::unique_ptr<LiteRtAcceleratorT> taken(accelerator);
  if (taken == nullptr) {
    if (ReleaseData != nullptr) ReleaseData(data);
    return kLiteRtStatusErrorInvalidArgument;
  }
  taken->data = data;
  taken->release_data = ReleaseData;
  if (environment == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    deputy::litert::Add(environment, std::move(taken));
    return kLiteRtStatusOk;
  });
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

LiteRtStatus LiteRtGetNumAccelerators(LiteRtEnvironment environment,
                                      LiteRtParamIndex* num_accelerators) {
  if (environment == nullptr || num_accelerators == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *num_accelerators = environment->accelerators().size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetAccelerator(LiteRtEnvironment environment, LiteRtParamIndex index,
                                  LiteRtAccelerator* accelerator) {
  if (environment == nullptr || accelerator == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (index >= environment->accelerators().size()) return kLiteRtStatusErrorNotFound;
  *accelerator = environment->accelerators()[index].get();
  return kLiteRtStatusOk;
}

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
