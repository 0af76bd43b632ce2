// SPDX-License-Identifier: Apache-2.0
//
// A small model that contains one of every kind of object in a file, for tests of loading.
#ifndef DEPUTY_TESTS_SUPPORT_SAMPLE_MODEL_H_
#define DEPUTY_TESTS_SUPPORT_SAMPLE_MODEL_H_

#include <cstdint>
#include <vector>

#include "core/model/model.h"

namespace deputy {

// The model's subgraph 0 is y = ADD(x, w), then z = IF(condition, y), then a custom node, and
// tensors of every kind. Its subgraph 1 is one DEQUANTIZE. It has one signature and one metadata
// entry.
std::vector<uint8_t> SampleModel();

// Reads every byte to which a description points; returns their sum, so that no read is optimised
// away.
uint64_t ReadAll(const ModelDesc& desc);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_SAMPLE_MODEL_H_
