// SPDX-License-Identifier: Apache-2.0
//
// A small model that holds one of everything a file can hold, for tests of loading.
#ifndef DEPUTY_TESTS_SAMPLE_MODEL_H_
#define DEPUTY_TESTS_SAMPLE_MODEL_H_

#include <cstdint>
#include <vector>

#include "core/model/model.h"

namespace deputy {

// Subgraph 0: y = ADD(x, w), then z = IF(condition, y), then a custom node; besides, tensors of
// every kind. Subgraph 1: one DEQUANTIZE. One signature, one metadata entry.
std::vector<uint8_t> SampleModel();

// Reads every byte that a description points at; a sum of them, so that nothing is left out.
uint64_t ReadAll(const ModelDesc& desc);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SAMPLE_MODEL_H_
