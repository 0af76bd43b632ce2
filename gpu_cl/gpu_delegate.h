// SPDX-License-Identifier: Apache-2.0
//
// Internal state of the delegate, shared by its source files.
#ifndef DEPUTY_GPU_CL_GPU_DELEGATE_H_
#define DEPUTY_GPU_CL_GPU_DELEGATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu_cl/device/buffer_table.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/clblast.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/process.h"
#include "gpu_cl/device/program_cache.h"
#include "gpu_cl/options.h"
#include "gpu_cl/run/bound_plans.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

struct Partition;

// Time spent on compiling and tuning all partitions so far, and results of cache lookups.
struct Costs {
  std::atomic<int64_t> compile_ns = 0, tune_ns = 0;
  // Programs found and not found in the cache on disk; 0 without a cache.
  std::atomic<int64_t> cache_hits = 0, cache_misses = 0;
};

// Target of the delegate's `data_`. Interpreters on several threads may use one delegate.
struct GpuDelegate {
  TfLiteDelegate delegate{};
  ProcessMark process;  // in a forked child nothing below may be locked, called or released
  Options options;
  std::shared_ptr<SharedContext> context;     // null: the delegate cannot work; see `failure`
  ClQueue queue;                              // the client's queue, if it provided one
  std::string failure;                        // reason why `context` is null
  std::shared_ptr<const ProgramCache> cache;  // null: no cache
  // Null if CLBlast is not installed or does not cover the device, or if tuning is off.
  std::shared_ptr<const ClblastApi> clblast;
  // Reason why the cache directory of the options is not used; "" if it is used.
  std::string cache_problem;
  std::atomic<size_t> device_bytes = 0;
  Costs costs;

  BufferTable buffers;  // targets of the tensors' buffer handles

  std::mutex mutex;  // protects the members below except `kept`, which is thread-safe
  ClQueue copies;    // queue for copies outside of runs, created on demand
  std::vector<Partition*> partitions;  // live partitions in order of creation
  size_t peak_partitions = 0;          // maximum number of partitions that lived at the same time
  std::set<const TfLiteContext*> graphs;   // graphs to which the delegate was applied
  std::set<const TfLiteContext*> resized;  // graphs to which it was applied again
  BoundPlans kept;                         // executors for earlier shapes of these graphs
};

inline GpuDelegate& Of(TfLiteDelegate* delegate) {
  return *static_cast<GpuDelegate*>(delegate->data_);
}

// Returns function(), or reports an error if it throws: no exception may leave the library.
template <typename Function>
TfLiteStatus Guarded(TfLiteContext* context, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    context->ReportError(context, "GPU delegate: %s", error.what());
  } catch (...) {
    context->ReportError(context, "GPU delegate: an unknown exception");
  }
  return kTfLiteError;
}

inline TfLiteStatus Fail(TfLiteContext* context, TfLiteStatus status, const std::string& text) {
  context->ReportError(context, "GPU delegate: %s", text.c_str());
  return status;
}

// Calls Guarded() for a function that uses the delegate's OpenCL; reports an error in a forked
// child.
template <typename Function>
TfLiteStatus GuardedOn(const GpuDelegate& gpu, TfLiteContext* context, const Function& function) {
  return Guarded(context, [&]() -> TfLiteStatus {
    const std::string problem = gpu.process.ForkError();
    return problem.empty() ? function() : Fail(context, kTfLiteDelegateError, problem);
  });
}

// Returns an array that the runtime frees with free(); null if out of memory.
TfLiteIntArray* MakeArray(const std::vector<int>& values);

// Returns the device class that kernels of the delegate are written for. Requires a context.
DeviceClass ClassOf(const GpuDelegate& gpu);

// Returns true if results within a partition are stored as float16.
bool StoresHalf(const GpuDelegate& gpu);

// Returns the number of asynchronous tasks of a partition whose transfers overlap with the kernels
// of others; 0 for a delegate with a queue of the client, which receives all commands.
size_t OverlappedTasks(const GpuDelegate& gpu);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_GPU_DELEGATE_H_
