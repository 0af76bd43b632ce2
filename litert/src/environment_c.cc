// SPDX-License-Identifier: Apache-2.0
//
// The C functions of environments.
#include <memory>
#include <string>

#include "litert/c/internal/litert_tensor_buffer_registry.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"
#include "litert/src/own_accelerators.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace {

// Returns true for options of graphics interfaces that the library does not support.
bool IsUnsupported(LiteRtEnvOptionTag tag) {
  switch (tag) {
    case kLiteRtEnvOptionTagEglDisplay:
    case kLiteRtEnvOptionTagEglContext:
    case kLiteRtEnvOptionTagWebGpuDevice:
    case kLiteRtEnvOptionTagWebGpuQueue:
    case kLiteRtEnvOptionTagWebGpuInstance:
    case kLiteRtEnvOptionTagMetalDevice:
    case kLiteRtEnvOptionTagMetalCommandQueue:
    case kLiteRtEnvOptionTagVulkanEnvironment:
      return true;
    default:
      return false;
  }
}

bool IsOfOpenCl(LiteRtEnvOptionTag tag) {
  return tag == kLiteRtEnvOptionTagOpenClDeviceId || tag == kLiteRtEnvOptionTagOpenClPlatformId ||
         tag == kLiteRtEnvOptionTagOpenClContext || tag == kLiteRtEnvOptionTagOpenClCommandQueue;
}

}  // namespace

LiteRtStatus LiteRtCreateEnvironment(int num_options, const LiteRtEnvOption* options,
                                     LiteRtEnvironment* environment) {
  if (environment == nullptr || num_options < 0 || (num_options > 0 && options == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    auto created = std::make_unique<LiteRtEnvironmentT>();
    for (int i = 0; i < num_options; ++i) {
      if (IsUnsupported(options[i].tag)) {
        return Fail(kLiteRtStatusErrorUnsupported, "environment: option %d is not supported",
                    options[i].tag);
      }
      if (options[i].tag == kLiteRtEnvOptionTagMinLoggerSeverity) {
        deputy::litert::SetMinSeverity(static_cast<LiteRtLogSeverity>(options[i].value.int_value));
      }
      if (IsOfOpenCl(options[i].tag)) created->PermitOpenCl(true);
      LITERT_TRY(created->options().Set(options[i], true));
    }
    LITERT_TRY(deputy::litert::RegisterOwnAccelerators(created.get()));
    *environment = created.release();
    return kLiteRtStatusOk;
  });
}

void LiteRtDestroyEnvironment(LiteRtEnvironment environment) { delete environment; }

LiteRtStatus LiteRtGetEnvironmentOptions(LiteRtEnvironment environment,
                                         LiteRtEnvironmentOptions* options) {
  if (environment == nullptr || options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *options = &environment->options();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetEnvironmentOptionsValue(LiteRtEnvironmentOptions options,
                                              LiteRtEnvOptionTag tag, LiteRtAny* value) {
  if (options == nullptr || value == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return options->Read(tag, value) ? kLiteRtStatusOk : kLiteRtStatusErrorNotFound;
}

LiteRtStatus LiteRtAddEnvironmentOptions(LiteRtEnvironment environment, int num_options,
                                         const LiteRtEnvOption* options, bool overwrite) {
  if (environment == nullptr || num_options < 0 || options == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    for (int i = 0; i < num_options; ++i) {
      LITERT_TRY(environment->options().Set(options[i], overwrite));
    }
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtGpuEnvironmentCreate(LiteRtEnvironment environment, int num_options,
                                        const LiteRtEnvOption* options) {
  if (environment == nullptr || num_options < 0 || (num_options > 0 && options == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (environment->has_gpu_environment()) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "environment: it has a GPU environment already");
  }
  if (num_options > 0) {
    LITERT_TRY(LiteRtAddEnvironmentOptions(environment, num_options, options, true));
  }
  return Guard([&] {
    environment->PermitOpenCl(true);
    // The lack of OpenCL is no error, as in LiteRT. Later calls that use OpenCL fail.
    std::string reason;
    if (environment->FindOpenCl(&reason) == nullptr) {
      deputy::litert::Log(kLiteRtLogSeverityWarning, "environment: %s", reason.c_str());
    }
    return kLiteRtStatusOk;
  });
}

void LiteRtEnvironmentHasGpuEnvironment(LiteRtEnvironment environment, bool* has_gpu_environment) {
  if (has_gpu_environment == nullptr) return;
  *has_gpu_environment = environment != nullptr && environment->has_gpu_environment();
}

// LiteRT's function returns an object of a C++ class of its sources, for use by the library itself.
extern "C" LITERT_CAPI_EXPORT void* LiteRtGetGpuEnvironment(LiteRtEnvironment environment);
void* LiteRtGetGpuEnvironment(LiteRtEnvironment) {
  deputy::litert::Log(kLiteRtLogSeverityError,
                      "LiteRtGetGpuEnvironment is not supported: the options of the environment "
                      "contain its OpenCL objects");
  return nullptr;
}

LiteRtStatus LiteRtEnvironmentSupportsClGlInterop(LiteRtEnvironment environment,
                                                  bool* is_supported) {
  if (environment == nullptr || is_supported == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *is_supported = false;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtEnvironmentSupportsAhwbClInterop(LiteRtEnvironment environment,
                                                    bool* is_supported) {
  return LiteRtEnvironmentSupportsClGlInterop(environment, is_supported);
}

LiteRtStatus LiteRtEnvironmentSupportsAhwbGlInterop(LiteRtEnvironment environment,
                                                    bool* is_supported) {
  return LiteRtEnvironmentSupportsClGlInterop(environment, is_supported);
}

LiteRtStatus LiteRtEnvironmentSupportsFP16(LiteRtEnvironment environment, bool* is_supported) {
  return LiteRtEnvironmentSupportsClGlInterop(environment, is_supported);
}

// The registry is an object of a C++ class of LiteRT.
LiteRtStatus LiteRtGetTensorBufferRegistry(LiteRtEnvironment env, void** registry) {
  if (env == nullptr || registry == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Fail(kLiteRtStatusErrorUnsupported,
              "environment: the registry of buffers is not accessible; use "
              "LiteRtRegisterTensorBufferHandlers");
}

LiteRtStatus LiteRtRegisterTensorBufferHandlers(
    LiteRtEnvironment env, LiteRtTensorBufferType buffer_type, CreateCustomTensorBuffer create_func,
    DestroyCustomTensorBuffer destroy_func, LockCustomTensorBuffer lock_func,
    UnlockCustomTensorBuffer unlock_func, ClearCustomTensorBuffer clear_func,
    ImportCustomTensorBuffer import_func, LiteRtEnvOptionTag device_tag,
    LiteRtEnvOptionTag queue_tag) {
  if (env == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    return env->AddHandlers(buffer_type, {.create = create_func,
                                          .destroy = destroy_func,
                                          .lock = lock_func,
                                          .unlock = unlock_func,
                                          .clear = clear_func,
                                          .import = import_func,
                                          .device_tag = device_tag,
                                          .queue_tag = queue_tag});
  });
}
