// SPDX-License-Identifier: Apache-2.0
//
// The accelerators of an environment.
#include <memory>
#include <utility>

#include "litert/src/accelerator.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

// Takes ownership of the accelerator and its data, also on failure.
LiteRtStatus LiteRtRegisterAccelerator(LiteRtEnvironment environment, LiteRtAccelerator accelerator,
                                       void* data, void (*ReleaseData)(void*)) {
  if (accelerator != nullptr && accelerator->environment != nullptr) {
    return Fail(kLiteRtStatusErrorInvalidArgument, "accelerator: it is registered already");
  }
  std::unique_ptr<LiteRtAcceleratorT> taken(accelerator);
  if (taken == nullptr) {
    if (ReleaseData != nullptr) ReleaseData(data);
    return kLiteRtStatusErrorInvalidArgument;
  }
  taken->data = data;
  taken->release_data = ReleaseData;
  if (environment == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    environment->Add(std::move(taken));
    return kLiteRtStatusOk;
  });
}

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
