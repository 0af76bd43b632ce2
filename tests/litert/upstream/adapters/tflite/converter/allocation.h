// SPDX-License-Identifier: Apache-2.0
//
// The library has no LiteRtCreateModelFromAllocation: its parameter is a C++ object of TensorFlow
// Lite. Tests that use it only to load a model create the model from the same bytes.
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_TFLITE_CONVERTER_ALLOCATION_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_TFLITE_CONVERTER_ALLOCATION_H_

#include <cstddef>

#include "litert/c/litert_model.h"

namespace tflite {

inline void* DefaultErrorReporter() { return nullptr; }

class MemoryAllocation {
 public:
  MemoryAllocation(const void* data, size_t size, void*) : data(data), size(size) {}
  const void* const data;
  const size_t size;
};

class MMAPAllocation {
 public:
  static bool IsSupported() { return true; }
};

}  // namespace tflite

inline LiteRtStatus LiteRtCreateModelFromAllocation(LiteRtEnvironment environment,
                                                    tflite::MemoryAllocation* allocation,
                                                    LiteRtModel* model) {
  return LiteRtCreateModelFromBuffer(environment, allocation->data, allocation->size, model);
}

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_TFLITE_CONVERTER_ALLOCATION_H_
