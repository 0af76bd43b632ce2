// SPDX-License-Identifier: Apache-2.0
//
// Test double of Qualcomm's libhexagon_interface.so: the same twenty functions, implemented with
// plain loops on the CPU. Tests with it say nothing about any device.
//
// The double records the graphs and computes them in real numbers: a quantised tensor is min + q
// (max - min) / 255. Where the real library chooses the range of a result itself, so does the
// double. It enforces the order of calls: a call that is too early, too late or repeated fails.
//
// The functions declared here are for tests, which load them with dlsym.
#ifndef DEPUTY_TESTS_DOUBLES_HEXAGON_HEXAGON_DOUBLE_H_
#define DEPUTY_TESTS_DOUBLES_HEXAGON_HEXAGON_DOUBLE_H_

extern "C" {

// Returns the calls since the last reset, one per line: "global_init", "append_node Reshape", ...
const char* hexagon_double_log();
// Returns the number of open graphs.
int hexagon_double_graphs();
// Clears the log and makes the function `failing` ("prepare") fail from its next call on; "" makes
// none fail. Three functions return other results instead: "is_device_supported" returns false,
// "version" an incompatible version, "op_id_to_name" the names of another release.
void hexagon_double_reset(const char* failing);
}

#endif  // DEPUTY_TESTS_DOUBLES_HEXAGON_HEXAGON_DOUBLE_H_
