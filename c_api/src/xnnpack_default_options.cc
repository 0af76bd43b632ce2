// SPDX-License-Identifier: Apache-2.0
//
// The XNNPACK delegate's default options, for callers of every release.
//
// The struct is returned by value into memory of the caller, who has room for the struct of the
// release that it was compiled with: 24 bytes from TensorFlow 2.12 on, 32, 48, 56 or 64 later.
// Nothing says which, so no more than 24 bytes may be written. That is why this file does not see
// xnnpack_delegate.h, where the function returns today's 64: the type below is what it returns
// here. A struct of more than 16 bytes is returned through a pointer that the caller passes,
// whatever its size, by the procedure call standards of x86-64 and AArch64. Structs of up to 16
// bytes, as they were until TensorFlow 2.11, are returned in registers; the same function cannot do
// both.
#include <cstdint>

#include "c_api/include/c_api_types.h"

namespace {

// The layout of TensorFlow 2.12. Later layouts have other fields in the same places, so that zero,
// which is a default in each of them, is the one value that can stand here.
struct SmallestOptions {
  int32_t num_threads;
  uint32_t flags;
  void* weights_cache;
  bool handle_variable_ops;
};

static_assert(sizeof(SmallestOptions) == 24, "callers of TensorFlow 2.12 have no more room");
static_assert(sizeof(SmallestOptions) > 16, "the result would travel in registers");

}  // namespace

extern "C" {

TFL_CAPI_EXPORT SmallestOptions TfLiteXNNPackDelegateOptionsDefault(void);

SmallestOptions TfLiteXNNPackDelegateOptionsDefault(void) { return {}; }

}  // extern "C"
