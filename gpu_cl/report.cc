// SPDX-License-Identifier: Apache-2.0
//
// The report of a delegate: its device, the costs of its partitions, and options without effect.
#include <string>

#include "gpu_cl/delegate.h"
#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/tune.h"

namespace deputy::gpu_cl {
namespace {

// Calls the runtime's callback for options that have no effect.
class IgnoredOptions {
 public:
  IgnoredOptions(DeputyOptionUseCallback callback, void* user_data)
      : callback_(callback), user_data_(user_data) {}

  void Add(const char* name, const std::string& why) const {
    const DeputyOptionUse use = {sizeof use, name, nullptr, kDeputyOptionIgnored, 0, why.c_str()};
    callback_(user_data_, &use);
  }

 private:
  DeputyOptionUseCallback callback_;
  void* user_data_;
};

void AddIgnoredOptions(const GpuDelegate& gpu, const IgnoredOptions& ignored) {
  const Options& options = gpu.options;
  if (options.cache_dir.empty()) {
    ignored.Add("cache_token", "requires cache_dir");
    ignored.Add("cache_max_mb", "requires cache_dir");
  } else if (gpu.cache == nullptr) {
    ignored.Add("cache_dir", gpu.cache_problem);
  }
  if (options.min_gain_us <= kNoMinGain) {
    ignored.Add("force", "requires min_gain_us");
  } else if (options.force) {
    ignored.Add("min_gain_us", "overridden by force");
  }
  if (TuningLevel(options) != options.tuning) {
    ignored.Add("tuning", "overridden by preference, which implies a higher level");
  }
  if (options.has_foreign_objects) {
    ignored.Add("client_objects", "the objects belong to another process");
  }
  if (gpu.queue && options.overlapped_tasks > 0) {
    ignored.Add("overlapped_tasks", "cl_command_queue receives all commands");
  }
}

}  // namespace

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data) {
  const GpuDelegate& gpu = Of(delegate);
  if (gpu.context == nullptr) return kTfLiteOk;
  report->device = gpu.context->device().profile.name.c_str();
  report->precision = StoresHalf(gpu) ? "fp16 storage, fp32 arithmetic" : "fp32";
  report->compile_ns = gpu.costs.compile_ns;
  report->tune_ns = gpu.costs.tune_ns;
  if (gpu.cache != nullptr) {
    report->cache_hits = gpu.costs.cache_hits;
    report->cache_misses = gpu.costs.cache_misses;
  }
  AddIgnoredOptions(gpu, {callback, user_data});
  return kTfLiteOk;
}

}  // namespace deputy::gpu_cl
