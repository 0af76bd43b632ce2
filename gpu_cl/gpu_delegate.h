// SPDX-License-Identifier: Apache-2.0
//
// What a delegate of ours is made of, for the files that make up the delegate.
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

#include "gpu_cl/bound_plans.h"
#include "gpu_cl/buffer_table.h"
#include "gpu_cl/cl_api.h"
#include "gpu_cl/clblast.h"
#include "gpu_cl/device.h"
#include "gpu_cl/options.h"
#include "gpu_cl/process.h"
#include "gpu_cl/program_cache.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

struct Partition;

// Time spent on compiling and tuning all partitions so far, and results of cache lookups.
struct Costs {
  std::atomic<int64_t> compile_ns = 0, tune_ns = 0;
  // Programs that were found in the cache on disk, and those that were not; 0 without a cache.
  std::atomic<int64_t> cache_hits = 0, cache_misses = 0;
};

// What `data_` of the delegate points to. Interpreters on several threads may use one delegate.
struct GpuDelegate {
  TfLiteDelegate delegate{};
  ProcessMark process;  // in forked children nothing below may be locked, called or released
  Options options;
  std::shared_ptr<SharedContext> context;     // null: it cannot work
  ClQueue queue;                              // the client's, if it brought one
  std::string failure;                        // and why
  std::shared_ptr<const ProgramCache> cache;  // null: none
  std::shared_ptr<const ClblastApi> clblast;  // null: none, or nothing is tuned
  std::string cache_problem;                  // why the options' folder is not used; "": it is
  std::atomic<size_t> device_bytes = 0;
  Costs costs;

  BufferTable buffers;  // what the handles of tensors stand for

  std::mutex mutex;                    // for what follows
  ClQueue copies;                      // for copies outside of runs, made when it is first needed
  std::vector<Partition*> partitions;  // those that live, in the order in which they were made
  size_t most_partitions = 0;          // that lived at a time
  std::set<const TfLiteContext*> graphs;   // that it was applied to
  std::set<const TfLiteContext*> resized;  // that it was applied to again
  BoundPlans kept;                         // executors of shapes that these had before
};

inline GpuDelegate& Of(TfLiteDelegate* delegate) {
  return *static_cast<GpuDelegate*>(delegate->data_);
}

// No exception leaves the library: function() or, if it throws, an error that is reported.
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

// Guarded() for functions that use the delegate's OpenCL; reports an error in a forked child.
template <typename Function>
TfLiteStatus GuardedOn(const GpuDelegate& gpu, TfLiteContext* context, const Function& function) {
  return Guarded(context, [&]() -> TfLiteStatus {
    const std::string problem = gpu.process.ForkError();
    return problem.empty() ? function() : Fail(context, kTfLiteDelegateError, problem);
  });
}

// The runtime frees arrays that it is given with free(); null if memory is short.
TfLiteIntArray* MakeArray(const std::vector<int>& values);

// What kernels of a delegate with a context are written for.
DeviceClass ClassOf(const GpuDelegate& gpu);

// Returns true if results within a partition are stored as float16.
bool StoresHalf(const GpuDelegate& gpu);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_GPU_DELEGATE_H_
