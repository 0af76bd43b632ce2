// SPDX-License-Identifier: Apache-2.0
//
// The XNNPACK delegate's C functions. The delegate claims no node: our own kernels do the work.
//
// The options struct had seven layouts in as many releases and says nothing about which one it is,
// so of a caller's struct only `num_threads`, which never moved, is read. The function that returns
// one is in xnnpack_default_options.cc.
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "c_api/include/xnnpack_delegate.h"
#include "c_api/src/noop_delegate.h"

struct TfLiteXNNPackDelegateWeightsCache {
  bool finalized = false;
};

namespace {

// The delegate first: the client holds a pointer to it.
struct XnnpackDelegate {
  TfLiteDelegate base;
  TfLiteXNNPackDelegateOptions options;
};

XnnpackDelegate* Whole(TfLiteDelegate* delegate) {
  return reinterpret_cast<XnnpackDelegate*>(delegate);
}

// Today's struct with what the original's usual builds have in it.
TfLiteXNNPackDelegateOptions OwnOptions(int32_t num_threads) {
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
  delegate->options = OwnOptions(options == nullptr ? 0 : options->num_threads);
  return &delegate->base;
}

TfLiteDelegate* TfLiteXNNPackDelegateCreateWithThreadpool(
    const TfLiteXNNPackDelegateOptions* options, TfLiteContext*) {
  return TfLiteXNNPackDelegateCreate(options);
}

void* TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate*) { return nullptr; }

const TfLiteXNNPackDelegateOptions* TfLiteXNNPackDelegateGetOptions(TfLiteDelegate* delegate) {
  return delegate == nullptr ? nullptr : &Whole(delegate)->options;
}

int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate* delegate) {
  return delegate == nullptr ? 0 : static_cast<int>(Whole(delegate)->options.flags);
}

void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate) { delete Whole(delegate); }

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

// The name that the function above had up to TensorFlow 2.9.
TFL_CAPI_EXPORT void TfLiteXNNPackWeightsCacheDelete(
    struct TfLiteXNNPackDelegateWeightsCache* cache) {
  TfLiteXNNPackDelegateWeightsCacheDelete(cache);
}

}  // extern "C"
