// SPDX-License-Identifier: Apache-2.0
//
// Restrictions that the process imposes on itself, in two stages: before it loads the delegate, and
// when drivers have loaded their libraries and run their compilers. That is before the first call
// with the profile strict. With the profile device it is before a partition runs for the second
// time, since some drivers compile when a kernel runs first. Each step that the kernel does not
// permit is left out and reported; none is fatal.
#ifndef DEPUTY_BRIDGES_SANDBOX_HOST_CONFINEMENT_H_
#define DEPUTY_BRIDGES_SANDBOX_HOST_CONFINEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bridges/sandbox/messages.h"

namespace deputy::sandbox {

struct Confinement {
  Profile profile = Profile::kDevice;
  int64_t memory_bytes = 0;           // limit of private memory; 0: none
  std::vector<std::string> writable;  // folders
};

// Applies the first stage to the calling thread, which must be the only one, and returns its text
// for reports: "profile strict: no new privileges, limits, namespaces, Landlock 7, seccomp".
std::string EnterFirstStage(const Confinement& confinement);

// Applies the second stage to all threads: programs can no longer be executed, and with the profile
// strict no file can be opened. Returns false if the kernel did not permit it.
bool EnterSecondStage(const Confinement& confinement);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_HOST_CONFINEMENT_H_
