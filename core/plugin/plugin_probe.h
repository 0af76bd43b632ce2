// SPDX-License-Identifier: Apache-2.0
//
// Loads a library in a child process first. The code that a library runs while it is loaded cannot
// be checked; if it crashes the child, this process is unaffected.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_PROBE_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_PROBE_H_

#include <functional>
#include <string>

namespace deputy {

// Returns true if the environment variable DEPUTY_PLUGIN_PROBE is 1.
bool IsPluginProbeEnabled();

// Runs `load` in a child process and waits for it. Returns "" if `load` returned there, whatever
// its result; otherwise the problem, as the end of a sentence about the library.
//
// The child is a fork of this process with one thread: another program would lack the libraries and
// symbols of this one, and may not be installed. The drawback is that `load` may block forever on a
// lock that another thread held during the fork; the child is killed after the timeout. (glibc and
// musl handle their own locks: those of malloc, stdio and dlopen.)
std::string ProbeInChild(const std::function<void()>& load, int timeout_ms);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_PROBE_H_
