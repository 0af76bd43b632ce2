// SPDX-License-Identifier: Apache-2.0
//
// MindSpore Lite models (.ms, identifier MSL2) as TensorFlow Lite models. The result goes through
// the one loader and its checks, like any other .tflite file:
//
//   std::string error;
//   const std::vector<uint8_t> tflite = deputy::ms::ConvertMsModel(bytes, {}, &error);
//   TfLiteModel* model = tflite.empty() ? nullptr : TfLiteModelCreate(tflite.data(),
//   tflite.size());
//
// What is read is in ms.fbs; which primitive becomes which operators is in map_*.cc.
#ifndef DEPUTY_MINDSPORE_MS_CONVERT_H_
#define DEPUTY_MINDSPORE_MS_CONVERT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::ms {

// True for bytes that open like a .ms file of any generation with an identifier. The file's name
// plays no part.
bool IsMsModel(std::span<const uint8_t> bytes);

// A .tflite file that computes what the .ms file does, or nothing and why not in `error`, which
// names node, primitive and tensor. `bytes` may hold anything, and need no alignment. In `limits`,
// 0 is the default of DeputyLimits; struct_size is not looked at. The result takes a bounded
// multiple of the input's size. Throws nothing but std::bad_alloc.
std::vector<uint8_t> ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits,
                                    std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_CONVERT_H_
