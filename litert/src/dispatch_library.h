// SPDX-License-Identifier: Apache-2.0
//
// Dispatch plug-ins: libraries of vendors that run byte code on an NPU.
#ifndef DEPUTY_LITERT_SRC_DISPATCH_LIBRARY_H_
#define DEPUTY_LITERT_SRC_DISPATCH_LIBRARY_H_

#include <string>

#include "litert/c/litert_common.h"
#include "litert/vendors/c/litert_dispatch_api.h"

namespace deputy::litert {

// A loaded plug-in, which is initialised once and never unloaded.
struct DispatchLibrary {
  std::string path, vendor;
  LiteRtDispatchInterface calls = {};
  bool is_async = false;  // the plug-in can run asynchronously
  LiteRtDispatchAsyncInterface async_calls = {};
  LiteRtCustomTensorBufferHandlersDef buffer_handlers = {};  // for the plug-in's own buffers
};

// Returns the plug-in in the environment's folder (kLiteRtEnvOptionTagDispatchLibraryDir): the
// first file whose name begins with libLiteRtDispatch. Null if there is none that fits;
// `out_reason` then names the file and the reason.
const DispatchLibrary* OpenDispatchLibrary(LiteRtEnvironment environment, LiteRtOptions options,
                                           std::string* out_reason);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_DISPATCH_LIBRARY_H_
