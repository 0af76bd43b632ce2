// SPDX-License-Identifier: Apache-2.0
//
// A table of OpenCL functions between the delegate and a library: it counts calls and objects, and
// makes a chosen call fail. Only one can exist at a time, because OpenCL's functions have no user
// data argument. Thread-safe.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_SPY_H_
#define DEPUTY_TESTS_GPU_CL_GPU_SPY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu_cl/device/cl_api.h"

namespace deputy::gpu_cl {

// A command that was enqueued. Commands are identified by their position in the log.
struct SpiedCommand {
  std::string function;  // without the prefix "clEnqueue"
  cl_command_queue queue = nullptr;
  std::vector<size_t> waits;  // commands of its wait list; events of clients are left out
};

// Returns true if `later` cannot begin before `earlier` has completed: by wait lists and by the
// order of commands within a queue.
bool Follows(const std::vector<SpiedCommand>& commands, size_t later, size_t earlier);

class ClSpy {
 public:
  // Intercepts the functions of `api` until it is destroyed. Later calls of its table are forwarded
  // to the library.
  explicit ClSpy(const ClApi& api);
  ~ClSpy();
  ClSpy(const ClSpy&) = delete;
  ClSpy& operator=(const ClSpy&) = delete;

  // Returns the table whose functions call the spy. Spies of one library have the same functions.
  std::shared_ptr<const ClApi> api() const { return api_; }

  // Makes call number `index` (from 0, counted from now on) of a function fail with `code` without
  // calling the library. The function's name is without the prefix "cl".
  void Fail(const std::string& function, int64_t index, cl_int code);
  // Returns true if the call that Fail selected was made.
  bool failed() const;

  // calls() returns the number of calls since the spy was created, by function; objects() the
  // number of objects not yet released, by kind: Context, CommandQueue, MemObject, Program, Kernel,
  // Event.
  std::map<std::string, int64_t> calls() const;
  std::map<std::string, int64_t> objects() const;
  // Starts a log of commands, which is empty. Commands() ends it and returns it.
  void LogCommands();
  std::vector<SpiedCommand> Commands();
  // Returns "" or the problems: objects that are not released, sub-buffers that were released in an
  // order that crashes a driver, and calls by a callback of an event.
  std::string Unbalanced() const;

 private:
  std::shared_ptr<const ClApi> api_;
};

// Returns the OpenCL library of this machine, which the first call loads; its `api` is null if
// there is none.
const LoadedCl& RealCl();
// Returns "" or the reason why there is no device to test with, as text for GTEST_SKIP.
std::string NoDeviceReason();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_SPY_H_
