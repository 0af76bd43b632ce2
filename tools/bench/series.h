// SPDX-License-Identifier: Apache-2.0
//
// Runs the inferences of `deputy bench`: opens the model, then runs the warm-up and the measured
// series.
#ifndef DEPUTY_TOOLS_BENCH_SERIES_H_
#define DEPUTY_TOOLS_BENCH_SERIES_H_

#include <memory>
#include <vector>

#include "tools/bench/config.h"
#include "tools/session.h"

namespace deputy::tools {

// Bounds of a series: at least `runs` inferences and `min_secs` seconds, but at most `max_secs`
// seconds. `delay` is the pause between two inferences in seconds; a `frequency` other than 0 sets
// inferences per second instead.
struct Series {
  int runs;
  double min_secs, max_secs, delay, frequency;
};

// Returns the series that the options select.
Series SeriesOf(const BenchOptions& options);

// Opens the session. If the model rejects the given shapes, the library's error names a node, and
// the shapes stored in the model are added to the error. Ends the command as Session does.
std::unique_ptr<Session> OpenForBench(const SessionOptions& options);

// Runs the warm-up inferences after the model's first one and returns their times in milliseconds.
std::vector<double> WarmUp(Session* session, const BenchOptions& options);

// Runs a series and returns the time of each inference in milliseconds.
std::vector<double> Measure(Session* session, const Series& series);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_SERIES_H_
