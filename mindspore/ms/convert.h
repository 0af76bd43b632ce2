// SPDX-License-Identifier: Apache-2.0
//
// Converts MindSpore Lite models (.ms, identifier MSL2) to TensorFlow Lite models. The result
// passes through the loader and its checks like any other .tflite file:
//
//   std::string error;
//   const std::vector<uint8_t> tflite = deputy::ms::ConvertMsModel(bytes, {}, &error);
//   TfLiteModel* model = tflite.empty() ? nullptr : TfLiteModelCreate(tflite.data(),
//   tflite.size());
//
// ms.fbs lists the parts of the format that are read; map_*.cc map primitives to operators.
#ifndef DEPUTY_MINDSPORE_MS_CONVERT_H_
#define DEPUTY_MINDSPORE_MS_CONVERT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::ms {

// Returns true if the bytes begin like a .ms file of any generation that has an identifier. The
// file's name is irrelevant.
bool IsMsModel(std::span<const uint8_t> bytes);

// Returns a .tflite file that computes the same as the .ms file. On failure returns an empty
// vector, and `error` names the node, primitive and tensor. `bytes` may be arbitrary and need no
// alignment. A field of `limits` that is 0 selects the default of DeputyLimits; struct_size is
// ignored. Memory use is bounded by a multiple of the input's size. Throws only std::bad_alloc.
std::vector<uint8_t> ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits,
                                    std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_CONVERT_H_
