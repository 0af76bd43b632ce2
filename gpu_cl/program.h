// SPDX-License-Identifier: Apache-2.0
//
// A compiled program with its kernels: built from source, or taken from the cache on disk.
//
// A binary that the driver refuses is deleted and the source is built; the user notices nothing but
// the time. The binary goes into the cache after every kernel has run once: some drivers finish
// compiling only then, and their binary contains that work.
//
// Threads: programs of a context are shared by their key and may be used by any thread. A kernel
// belongs to one instance, since setting arguments is the one thing two threads must not do at
// once.
#ifndef DEPUTY_GPU_CL_PROGRAM_H_
#define DEPUTY_GPU_CL_PROGRAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu_cl/cl_api.h"
#include "gpu_cl/device.h"
#include "gpu_cl/program_cache.h"

namespace deputy::gpu_cl {

// What to build.
struct ProgramRequest {
  std::string source;
  std::string build_options;
  // The names of its kernels.
  std::vector<std::string> kernels;
  // See ProgramIdentity.
  std::string cache_token;
};

// What a device allows for one kernel.
struct KernelLimits {
  size_t max_group_size = 0;
  // Local sizes are best a multiple of it.
  size_t group_multiple = 0;
  uint64_t local_bytes = 0;
  uint64_t private_bytes = 0;
};

// Whether the compiler failed on the source, and on which kernel; "" if it does not tell.
struct ProgramFailure {
  bool in_build = false;
  std::string kernel;
};

// What an entry of the cache depends on beside its source, its options and its token.
ProgramIdentity DeviceIdentity(const DeviceProfile& profile);

class Program {
 public:
  // The program of the context with this source, options and token; a new one if there is none,
  // from `cache` (which may be null) or from source. One that is shared keeps the cache of its
  // first caller. Its kernels are created once, so that one that is missing shows here. Null on
  // failure; for source that does not compile the text has the kernel's name and the first 20 lines
  // of the compiler's log. Loss of the device poisons the context. `out_failure`, which may be
  // null, says more about a failure.
  static std::shared_ptr<Program> Get(const std::shared_ptr<SharedContext>& context,
                                      const ProgramRequest& request,
                                      std::shared_ptr<const ProgramCache> cache,
                                      ClStatus* out_status, ProgramFailure* out_failure = nullptr);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // A kernel of the caller's own; empty on failure. The program must outlive it.
  ClKernel NewKernel(const std::string& name, ClStatus* out_status) const;
  // Null for a kernel that the request did not name.
  const KernelLimits* LimitsOf(const std::string& name) const;
  // Messages of the driver's compiler about the last build.
  std::string BuildLog() const;

  bool from_cache() const { return from_cache_; }
  // The tuning records that came with the binary.
  const std::string& tuning() const { return tuning_; }
  // What the cache had to complain of; "" if nothing.
  const std::string& cache_problem() const { return cache_problem_; }

  // The binary as the driver has it now.
  ClStatus FetchBinary(std::string* out_binary) const;
  // Puts the binary into the cache, if there is one and it did not come from there. To be called
  // after the first run of every kernel; later calls do nothing. Returns "" or what went wrong,
  // which is no more than a warning.
  std::string Save(const std::string& tuning);

 private:
  Program(SharedContext* context, const ProgramRequest& request,
          std::shared_ptr<const ProgramCache> cache, const Digest& key);

  ClStatus Build();
  ClStatus BuildFromCache();
  ClStatus BuildFromSource();
  ClStatus Compile(const char* step);
  ClStatus QueryKernels();

  SharedContext* const context_;  // outlives it
  ProgramRequest request_;
  std::shared_ptr<const ProgramCache> cache_;
  Digest key_;
  ClProgram program_;
  std::vector<std::pair<std::string, KernelLimits>> limits_;
  std::string tuning_;
  std::string cache_problem_;
  bool from_cache_ = false;
  ProgramFailure failure_;
  std::atomic<bool> saved_ = false;
};

// The kernel in whose text the first error of a compiler's log lies; "" if the log does not tell.
std::string KernelOfError(const std::string& source, const std::string& log);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PROGRAM_H_
