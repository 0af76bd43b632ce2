// SPDX-License-Identifier: Apache-2.0
//
// C functions of the XNNPACK delegate. The delegate claims no node, because Deputy's kernels are
// faster. DeputyXnnpackDelegateCreate, and TfLiteXNNPackDelegateCreate if DEPUTY_XNNPACK is
// "bridge", create a delegate of the plug-in "xnnpack", which runs nodes in XNNPACK.
//
// The layout of the options struct differs between releases, and the struct does not identify it,
// so only `num_threads`, whose offset never changed, is read from a caller's struct. The function
// that returns the struct is in xnnpack_default_options.cc.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "c_api/include/deputy.h"
#include "c_api/include/xnnpack_delegate.h"
#include "c_api/src/objects.h"
#include "core/base/environment.h"
#include "core/plugin/noop_delegate.h"
#include "core/plugin/plugin_delegate.h"

struct TfLiteXNNPackDelegateWeightsCache {
  bool finalized = false;
};

namespace {

// A delegate with its options. `noop` is the first member, because the client's pointer is that of
// `noop.base`.
struct XnnpackDelegate {
  deputy::NoOpDelegate noop;
  TfLiteXNNPackDelegateOptions options;
};

// Returns null for a delegate of the plug-in.
const XnnpackDelegate* FromBase(const TfLiteDelegate* delegate) {
  return reinterpret_cast<const XnnpackDelegate*>(deputy::AsNoOp(delegate));
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

// Returns true if the environment requests the plug-in's delegate. Reports an unknown value.
bool BridgeIsRequested() {
  return deputy::Guard(false, [] {
    return deputy::EnvironmentChoice("DEPUTY_XNNPACK", {"none", "bridge"}) == "bridge";
  });
}

TfLiteDelegate* CreateNoOp(int32_t num_threads) {
  auto* delegate = new (std::nothrow) XnnpackDelegate();
  if (delegate == nullptr) return nullptr;
  TfLiteDelegate& base = delegate->noop.base;
  base.data_ = delegate;
  base.Prepare = deputy::NoOpPrepare;
  base.flags = kTfLiteDelegateFlagsPerOperatorProfiling | kTfLiteDelegateFlagsAllowDynamicTensors;
  delegate->noop.name = "TfLiteXNNPackDelegate";
  delegate->noop.reason =
      "claims no node, because Deputy's kernels are faster; DEPUTY_XNNPACK=bridge uses XNNPACK";
  delegate->options = DefaultOptions(num_threads);
  return &base;
}

}  // namespace

extern "C" {

TfLiteDelegate* DeputyXnnpackDelegateCreate(int32_t num_threads) {
  return deputy::Guard(nullptr, [&]() -> TfLiteDelegate* {
    deputy::ErrorReporter reporter;
    auto library = deputy::PluginLibrary::Load("xnnpack", false, &reporter);
    if (library == nullptr) return nullptr;
    const std::string threads = std::to_string(std::max(num_threads, 1));
    const char* key = "num_threads";
    const char* value = threads.c_str();
    return deputy::CreatePluginDelegate(std::move(library), {&key, &value, 1}, &reporter);
  });
}

TfLiteDelegate* TfLiteXNNPackDelegateCreate(const TfLiteXNNPackDelegateOptions* options) {
  const int32_t num_threads = options == nullptr ? 0 : options->num_threads;
  if (BridgeIsRequested()) {
    TfLiteDelegate* const from_plugin = DeputyXnnpackDelegateCreate(num_threads);
    if (from_plugin != nullptr) return from_plugin;
  }
  return CreateNoOp(num_threads);
}

TfLiteDelegate* TfLiteXNNPackDelegateCreateWithThreadpool(
    const TfLiteXNNPackDelegateOptions* options, TfLiteContext*) {
  return TfLiteXNNPackDelegateCreate(options);
}

void* TfLiteXNNPackDelegateGetThreadPool(TfLiteDelegate*) { return nullptr; }

const TfLiteXNNPackDelegateOptions* TfLiteXNNPackDelegateGetOptions(TfLiteDelegate* delegate) {
  const XnnpackDelegate* const own = FromBase(delegate);
  return own == nullptr ? nullptr : &own->options;
}

int TfLiteXNNPackDelegateGetFlags(TfLiteDelegate* delegate) {
  const XnnpackDelegate* const own = FromBase(delegate);
  return own == nullptr ? 0 : static_cast<int>(own->options.flags);
}

void TfLiteXNNPackDelegateDelete(TfLiteDelegate* delegate) {
  if (const XnnpackDelegate* const own = FromBase(delegate)) {
    delete own;
    return;
  }
  deputy::ErrorReporter reporter;
  deputy::DeletePluginDelegate(delegate, &reporter);
}

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
