// SPDX-License-Identifier: Apache-2.0
//
// The layer `fault`: injects a fault into chosen calls of a delegate, so that a program can test
// its error handling.
#ifndef DEPUTY_BRIDGES_LAYERS_FAULT_H_
#define DEPUTY_BRIDGES_LAYERS_FAULT_H_

#include <memory>
#include <string>

#include "bridges/layers/layer.h"

namespace deputy::layers {

// Creates the layer from a text CALL:NUMBER:ACTION[:TIME]. CALL is a name of NameOf(CallKind),
// NUMBER the number of the call of this kind from 1, or '*' for every call. The actions are `fail`,
// `delay` (needs TIME, e.g. 50ms), `corrupt` (inverts the bits of the outputs), `hang` and `crash`.
// Returns null, and the reason in `error`, on failure.
std::unique_ptr<Layer> MakeFault(const std::string& text, std::string* error);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_FAULT_H_
