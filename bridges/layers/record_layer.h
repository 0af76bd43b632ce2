// SPDX-License-Identifier: Apache-2.0
//
// The layer `record`: writes every call of the delegate to a file.
#ifndef DEPUTY_BRIDGES_LAYERS_RECORD_LAYER_H_
#define DEPUTY_BRIDGES_LAYERS_RECORD_LAYER_H_

#include <memory>
#include <string>

#include "bridges/layers/layer.h"

namespace deputy::layers {

// Creates the layer from a text FILE, followed by ",digests" to write digests of tensors without
// data, by ",model" to write the model's bytes, and by ",max_mb=N" (default: 1024). Returns null
// and the reason in `*error` on failure.
std::unique_ptr<Layer> MakeRecord(const std::string& text, std::string* error);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_RECORD_LAYER_H_
