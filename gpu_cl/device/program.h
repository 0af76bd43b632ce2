// SPDX-License-Identifier: Apache-2.0
//
// A compiled program with its kernels: built from source, or loaded from the cache on disk.
//
// A binary that the driver rejects is deleted, and the program is built from source. The binary is
// stored in the cache after every kernel has run once: some drivers finish compiling only then, and
// their binary contains that work.
//
// Threads: programs of a context are shared by their key and may be used by any thread. A kernel
// belongs to one executor, since two threads must not set arguments of one kernel at the same time.
#ifndef DEPUTY_GPU_CL_DEVICE_PROGRAM_H_
#define DEPUTY_GPU_CL_DEVICE_PROGRAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/program_cache.h"

namespace deputy::gpu_cl {

// Source and options of a program.
struct ProgramRequest {
  std::string source;
  std::string build_options;
  // Names of the program's kernels.
  std::vector<std::string> kernels;
  // Text chosen by the user to separate entries of the cache (ProgramIdentity::token).
  std::string cache_token;
};

// Limits of a device for one kernel.
struct KernelLimits {
  size_t max_group_size = 0;
  // Number that local sizes should be a multiple of, as the driver reports it.
  size_t group_multiple = 0;
  uint64_t local_bytes = 0;
  uint64_t private_bytes = 0;
};

// Details of a failure: `in_build` if clBuildProgram failed for the source, and the kernel
// concerned, "" if the log does not name it.
struct ProgramFailure {
  bool in_build = false;
  std::string kernel;
};

// Returns the identity of a device for the cache; source, options and token of the program are
// added by the caller.
ProgramIdentity DeviceIdentity(const DeviceProfile& profile);

class Program {
 public:
  // Returns the program of the context with this source, options and token; creates it from `cache`
  // (which may be null) or from source if there is none. A shared program keeps the cache of its
  // first caller. All kernels are created once, so that a missing one is detected here. Returns
  // null on failure; for a source that does not compile, the text contains the kernel's name and
  // the first 20 lines of the compiler's log. Loss of the device poisons the context.
  // `out_failure`, which may be null, receives details of a failure.
  static std::shared_ptr<Program> Get(const std::shared_ptr<SharedContext>& context,
                                      const ProgramRequest& request,
                                      std::shared_ptr<const ProgramCache> cache,
                                      ClStatus* out_status, ProgramFailure* out_failure = nullptr);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Creates a kernel that the caller owns; empty on failure. The program must outlive it.
  ClKernel NewKernel(const std::string& name, ClStatus* out_status) const;
  // Returns null for a kernel that the request did not name.
  const KernelLimits* LimitsOf(const std::string& name) const;
  // Returns the messages of the driver's compiler about the last build.
  std::string BuildLog() const;

  bool from_cache() const { return from_cache_; }
  // Returns the tuning records stored with the binary.
  const std::string& tuning() const { return tuning_; }
  // Returns a warning about the cache; "" if there is none.
  const std::string& cache_problem() const { return cache_problem_; }

  // Fetches the driver's current binary.
  ClStatus FetchBinary(std::string* out_binary) const;
  // Stores the binary in the cache, if there is a cache and the binary did not come from it. Must
  // be called after the first run of every kernel; later calls do nothing. Returns "" or a warning.
  std::string Save(const std::string& tuning);

 private:
  Program(SharedContext* context, const ProgramRequest& request,
          std::shared_ptr<const ProgramCache> cache, const Digest& key);

  ClStatus Build();
  ClStatus BuildFromCache();
  ClStatus BuildFromSource();
  ClStatus Compile(const char* step);
  ClStatus QueryKernels();

  SharedContext* const context_;  // outlives the program
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

// Returns the kernel that contains the first error of a compiler's log; "" if the log does not name
// one.
std::string KernelOfError(const std::string& source, const std::string& log);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_PROGRAM_H_
