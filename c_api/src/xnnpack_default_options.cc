// SPDX-License-Identifier: Apache-2.0
//
// Default options of the XNNPACK delegate, for callers of every release.
//
// The struct is returned by value in memory of the caller, which has the size of the struct in the
// caller's release: 24 bytes in TensorFlow 2.12, 32, 48, 56 or 64 later. The size is unknown here,
// so at most 24 bytes may be written. This file therefore does not include xnnpack_delegate.h,
// which declares a result of 64 bytes: the struct below replaces it. The procedure call standards
// of x86-64, AArch64 and RISC-V return a struct of more than two pointers through a pointer that
// the caller passes, whatever its size, that of 32-bit ARM one of more than four bytes. The sizes
// here are those of 64-bit machines. Structs of up to 16 bytes, as in TensorFlow 2.11 and older,
// are returned in registers; the same function cannot do both.
#include <cstdint>

#include "c_api/include/c_api_types.h"

namespace {

// Layout of TensorFlow 2.12. Later layouts have other fields at the same offsets; zero is the only
// value that is a default of all of them.
struct SmallestOptions {
  int32_t num_threads;
  uint32_t flags;
  void* weights_cache;
  bool handle_variable_ops;
};

static_assert(sizeof(SmallestOptions) == (sizeof(void*) == 8 ? 24 : 16),
              "callers of TensorFlow 2.12 provide 24 bytes, or 16 if pointers have four");
static_assert(sizeof(SmallestOptions) > 2 * sizeof(void*),
              "a smaller struct would be returned in registers");

}  // namespace

extern "C" {

TFL_CAPI_EXPORT SmallestOptions TfLiteXNNPackDelegateOptionsDefault(void);

SmallestOptions TfLiteXNNPackDelegateOptionsDefault(void) { return {}; }

}  // extern "C"
