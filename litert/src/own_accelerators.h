// SPDX-License-Identifier: Apache-2.0
//
// The library's accelerators: the CPU, Deputy's GPU delegate and dispatch plug-ins.
#ifndef DEPUTY_LITERT_SRC_OWN_ACCELERATORS_H_
#define DEPUTY_LITERT_SRC_OWN_ACCELERATORS_H_

#include "litert/c/litert_common.h"

namespace deputy::litert {

// Registers the accelerators, unless the option kLiteRtEnvOptionTagAutoRegisterAccelerators of the
// environment leaves them out. The NPU needs a folder of dispatch plug-ins.
LiteRtStatus RegisterOwnAccelerators(LiteRtEnvironment environment);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_OWN_ACCELERATORS_H_
