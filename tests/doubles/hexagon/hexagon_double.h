// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for Qualcomm's libhexagon_interface.so: the same twenty functions, over plain loops on
// the CPU. It is a test's double. What runs on it has been tested with a stand-in, and says nothing
// of any device.
//
// It records the graphs and computes them in real numbers: a quantised tensor is min + q (max -
// min) / 255. Where the real library chooses the range of a result itself, so does this one. It
// holds the caller to the order of calls: what comes too early, too late or twice fails.
//
// These functions are for tests, found by dlsym.
#ifndef DEPUTY_TESTS_DOUBLES_HEXAGON_HEXAGON_DOUBLE_H_
#define DEPUTY_TESTS_DOUBLES_HEXAGON_HEXAGON_DOUBLE_H_

extern "C" {

// The calls since the last clearing, a line each: "global_init", "append_node Reshape", ...
const char* hexagon_double_log();
// Graphs that are open.
int hexagon_double_graphs();
// Clears the log, and has the function `name` ("prepare") fail from its next call on; "": none
// does. Of the three that return no status, "is_device_supported" returns false, "version" a
// version that does not fit, "op_id_to_name" another release's names.
void hexagon_double_reset(const char* failing);
}

#endif  // DEPUTY_TESTS_DOUBLES_HEXAGON_HEXAGON_DOUBLE_H_
