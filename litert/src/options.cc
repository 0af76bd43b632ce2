// SPDX-License-Identifier: Apache-2.0
#include "litert/src/options.h"

#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

LiteRtStatus LiteRtCreateOptions(LiteRtOptions* options) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    *options = new LiteRtOptionsT();
    return kLiteRtStatusOk;
  });
}

void LiteRtDestroyOptions(LiteRtOptions options) {
  if (options == nullptr) return;
  LiteRtDestroyOpaqueOptions(options->opaque);
  delete options;
}

LiteRtStatus LiteRtSetOptionsHardwareAccelerators(LiteRtOptions options,
                                                  LiteRtHwAcceleratorSet hardware_accelerators) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  constexpr LiteRtHwAcceleratorSet kAll =
      kLiteRtHwAcceleratorCpu | kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorNpu;
  if ((hardware_accelerators & ~kAll) != 0) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "options: expected a set of accelerators of at most 0x%x, found 0x%x",
                static_cast<unsigned>(kAll), static_cast<unsigned>(hardware_accelerators));
  }
  options->accelerators = hardware_accelerators;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetOptionsHardwareAccelerators(LiteRtOptions options,
                                                  LiteRtHwAcceleratorSet* hardware_accelerators) {
  if (options == nullptr || hardware_accelerators == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *hardware_accelerators = options->accelerators;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAddOpaqueOptions(LiteRtOptions options, LiteRtOpaqueOptions opaque_options) {
  if (options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return LiteRtAppendOpaqueOptions(&options->opaque, opaque_options);
}

LiteRtStatus LiteRtGetOpaqueOptions(LiteRtOptions options, LiteRtOpaqueOptions* opaque_options) {
  if (options == nullptr || opaque_options == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *opaque_options = options->opaque;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAddCustomOpKernelOption(LiteRtOptions options, const char* custom_op_name,
                                           int custom_op_version,
                                           const LiteRtCustomOpKernel* custom_op_kernel,
                                           void* custom_op_kernel_user_data) {
  if (options == nullptr || custom_op_name == nullptr || custom_op_kernel == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    options->kernels.push_back({.name = custom_op_name,
                                .version = custom_op_version,
                                .functions = *custom_op_kernel,
                                .user_data = custom_op_kernel_user_data});
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtAddExternalTensorBinding(LiteRtOptions options, const char* signature_name,
                                            const char* tensor_name, void* data, int size_bytes) {
  if (options == nullptr || signature_name == nullptr || tensor_name == nullptr ||
      data == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    options->bindings.push_back({.signature = signature_name,
                                 .tensor = tensor_name,
                                 .data = data,
                                 .bytes = static_cast<size_t>(size_bytes)});
    return kLiteRtStatusOk;
  });
}
