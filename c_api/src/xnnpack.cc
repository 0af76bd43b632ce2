// SPDX-License-Identifier: Apache-2.0
//
// C functions of the XNNPACK delegate. The delegate claims no node: Deputy's kernels compute them.
//
// The options struct had seven layouts in as many releases and does not identify its layout, so
// only `num_threads`, whose offset never changed, is read from a caller's struct. The function that
// returns the struct is in xnnpack_default_options.cc.
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "c_api/include/xnnpack_delegate.h"
#include "c_api/src/noop_delegate.h"

struct TfLiteXNNPackDelegateWeightsCache {
  bool finalized = false;
};

namespace {

// A delegate with its options. `base` is the first member, because the client has a pointer to it.
struct XnnpackDelegate {
  TfLiteDelegate base;
  TfLiteXNNPackDelegateOptions options;
};

XnnpackDelegate* FromBase(TfLiteDelegate* delegate) {
  return reinterpret_cast<XnnpackDelegate*>(delegate);
}

// Returns the current struct with the defaults of the original's usual builds.
TfLiteXNNPackDelegateOptions DefaultOptions(int32_t num_threads) {
  TfLiteXNNPackDelegateOptions options{};
  options.num_threads = num_threads;
  options.flags = TFLITE_XNNPACK_DELEGATE_FLAG_QS8 | TFLITE_XNNPACK_DELEGATE_FLAG_QU8;
  options.weight_cache_file_descriptor = -1;
  return options;
}

bool Finalize(TfLiteXNNPackDelegateWeightsCache* cache) {
  if (cache == nullptr) return false;
  cache->finalized = true;
  return true;
}

}  // namespace

extern "C" {

TfLiteDelegate* TfLiteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions* options) {
  auto* delegate = new (std::nothrow) XnnpackDelegate();
  if (delegate == nullptr) return nullptr;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = deputy::NoOpPrepare;
  delegate->base.flags =
      kTfLiteDelegateFlagsPerOperatorProfiling | kTfLiteDelegateFlagsAllowDynamicTensors;
  delegate->options = DefaultOptions(options == nullptr ? 0 : options->num_threads);
  return &delegate->base;
}

TfLiteDelegate* TfLiteXNNPackDelegateCreateWithThreadpool(
    const TfLiteXNNPackDelegateOptions* options, TfLiteContext*) {
  return TfLiteXNNPackDelegateCreate(options);
}

void* TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate*) { return nullptr; }

const TfLiteXNNPackDelegateOptions* TfLiteXNNPackDelegateGetOptions(TfLiteDelegate* delegate) {
  return delegate == nullptr ? nullptr : &FromBase(delegate)->options;
}

int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate* delegate) {
  return delegate == nullptr ? 0 : static_cast<int>(FromBase(delegate)->options.flags);
}

void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate) { delete FromBase(delegate); }

bool TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider(void) {
  const int descriptor = memfd_create("deputy-probe", MFD_CLOEXEC);
  if (descriptor < 0) return false;
  close(descriptor);
  return true;
}

const char* TfLiteXNNPackDelegateInMemoryFilePath(void) { return ":memory"; }

struct TfLiteXNNPackDelegateWeightsCache* TfLiteXNNPackDelegateWeightsCacheCreate(void) {
  return new (std::nothrow) TfLiteXNNPackDelegateWeightsCache();
}

struct TfLiteXNNPackDelegateWeightsCache* TfLiteXNNPackDelegateWeightsCacheCreateWithSize(size_t) {
  return TfLiteXNNPackDelegateWeightsCacheCreate();
}

bool TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(
    struct TfLiteXNNPackDelegateWeightsCache* cache) {
  return Finalize(cache);
}

bool TfLiteXNNPackDelegateWeightsCacheFinalizeHard(
    struct TfLiteXNNPackDelegateWeightsCache* cache) {
  return Finalize(cache);
}

void TfLiteXNNPackDelegateWeightsCacheDelete(struct TfLiteXNNPackDelegateWeightsCache* cache) {
  delete cache;
}

// Name of TfLiteXNNPackDelegateWeightsCacheDelete in TensorFlow 2.9 and older.
TFL_CAPI_EXPORT void TfLiteXNNPackWeightsCacheDelete(
    struct TfLiteXNNPackDelegateWeightsCache* cache) {
  TfLiteXNNPackDelegateWeightsCacheDelete(cache);
}

}  // extern "C"
