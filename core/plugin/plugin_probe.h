// SPDX-License-Identifier: Apache-2.0
//
// Loading a library in a child process first. What a library's own code does when it is loaded
// cannot be checked; a child that it ends takes nothing with it.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_PROBE_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_PROBE_H_

#include <functional>
#include <string>

namespace deputy {

// Whether the environment asks for it, with DEPUTY_PLUGIN_PROBE=1.
bool PluginProbeWanted();

// Runs `load` in a child process and waits for it. Returns "" if `load` came to its end there,
// whatever its result; otherwise what happened, as the end of a sentence about the library.
//
// The child is a copy of this process with one thread, made by fork: a process of another program
// would lack the libraries and symbols that this one has, and no other program is sure to be there.
// The price is that `load` may wait for ever for a lock that another thread held at that moment; it
// is killed when the time is over. (glibc and musl take care of their own: those of malloc, stdio
// and dlopen.)
std::string ProbeInChild(const std::function<void()>& load, int timeout_ms);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_PROBE_H_
