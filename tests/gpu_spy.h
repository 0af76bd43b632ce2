// SPDX-License-Identifier: Apache-2.0
//
// A table of OpenCL between the delegate and a library: it counts calls and objects, and makes a
// chosen call fail. There is one at a time in a process, since OpenCL's functions have no place for
// a pointer of ours. Threads may call it at the same time.
#ifndef DEPUTY_TESTS_GPU_SPY_H_
#define DEPUTY_TESTS_GPU_SPY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "gpu_cl/cl_api.h"

namespace deputy::gpu_cl {

class ClSpy {
 public:
  // Stands before the functions of `api`, until it is destroyed. Calls of its table after that go
  // through to the library.
  explicit ClSpy(const ClApi& api);
  ~ClSpy();
  ClSpy(const ClSpy&) = delete;
  ClSpy& operator=(const ClSpy&) = delete;

  // The table with the spy in it. Every spy has the same functions.
  std::shared_ptr<const ClApi> api() const { return api_; }

  // Makes call number `index` (from 0, counted from now on) of a function fail with `code`, without
  // reaching the library. The name is without its "cl".
  void Fail(const std::string& function, int64_t index, cl_int code);
  // Whether that call came.
  bool failed() const;

  // Calls since the spy was made, by function, and the objects that were created and not released,
  // by kind: Context, CommandQueue, MemObject, Program, Kernel, Event.
  std::map<std::string, int64_t> calls() const;
  std::map<std::string, int64_t> objects() const;
  // "" or which objects are left, and whether parts of a buffer went in an order that crashes a
  // driver.
  std::string Unbalanced() const;

 private:
  std::shared_ptr<const ClApi> api_;
};

// The library that the environment has; null where there is none. Opened once.
const LoadedCl& RealCl();
// "" or why there is no device to test with, as text for GTEST_SKIP.
std::string WhyNoDevice();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_SPY_H_
