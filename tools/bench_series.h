// SPDX-License-Identifier: Apache-2.0
//
// The inferences of `deputy bench`: a model opened for them, those before it measures, and series
// of measured ones.
#ifndef DEPUTY_TOOLS_BENCH_SERIES_H_
#define DEPUTY_TOOLS_BENCH_SERIES_H_

#include <memory>
#include <vector>

#include "bench_config.h"
#include "session.h"

namespace deputy::tools {

// How long a series goes on: at least `runs` inferences and `min_secs` seconds, but no more than
// `max_secs`; `delay` seconds between two inferences, or as many in a second as `frequency` says
// where that is not 0.
struct Series {
  int runs;
  double min_secs, max_secs, delay, frequency;
};

// The series that the options ask for.
Series SeriesOf(const BenchOptions& options);

// A model that refuses the shapes it was given says so in terms of its first node; this adds the
// shapes that it came with. Ends the command as Session does.
std::unique_ptr<Session> OpenForBench(const SessionOptions& options);

// The inferences before those that count, in milliseconds; the first one of the model is not among
// them.
std::vector<double> WarmUp(Session* session, const BenchOptions& options);

// Milliseconds of each inference.
std::vector<double> Measure(Session* session, const Series& series);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_SERIES_H_
