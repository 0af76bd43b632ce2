// SPDX-License-Identifier: Apache-2.0
//
// Layers of DEPUTY_LAYERS (docs/layers.md) around delegates of this library.
#ifndef DEPUTY_LITERT_SRC_LAYERS_H_
#define DEPUTY_LITERT_SRC_LAYERS_H_

#include <memory>
#include <string>

#include "deputy/c_api.h"
#include "litert/c/litert_common.h"

namespace deputy::litert {

struct DeleteLayered {
  void operator()(TfLiteDelegate* delegate) const;
};
using LayeredDelegate = std::unique_ptr<TfLiteDelegate, DeleteLayered>;

// Returns the layers of DEPUTY_LAYERS without those that interpreters implement; "" if there are
// none.
std::string DelegateLayers();

// Creates a delegate that passes the calls of `delegate`, which must outlive it, through the
// layers. Null without layers. Fails after a log line if there are layers that cannot be applied.
LiteRtStatus WrapInLayers(TfLiteDelegate* delegate, LayeredDelegate* out_layered);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_LAYERS_H_
