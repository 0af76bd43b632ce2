// SPDX-License-Identifier: Apache-2.0
//
// The options of `deputy bench`.
#ifndef DEPUTY_TOOLS_BENCH_CONFIG_H_
#define DEPUTY_TOOLS_BENCH_CONFIG_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/provide.h"
#include "tools/session.h"

namespace deputy::tools {

// Options that select the contents of the inputs; see inputs.h.
struct BenchInputOptions {
  std::string layers;  // names: "a,b"
  std::string shapes;  // one per name: "1,224,224,3:1,10"
  std::string ranges;  // name, low, high: "a,0,255:b,-1,1"
  std::string files;   // name and path: "a:x.npy,b:y.raw"
  unsigned seed = 0;   // seed of the random values
};

// Maximum widths of the columns that PrintState prints, in characters.
struct StateColumns {
  unsigned name = 25, type = 15, memory = 18;
};

struct BenchOptions {
  SessionOptions session;
  BenchInputOptions inputs;
  std::vector<DelegateRequest> delegates;
  DelegateSettings settings;             // for each delegate, also those of --all-delegates
  bool require_delegate = false;         // every requested delegate must claim at least one node
  bool require_full_delegation = false;  // fail if any node stays on the CPU
  bool show_cpu_nodes = false;
  bool all_delegates = false;  // compare all available delegates in a table instead (rank.h)
  int runs = 50, warmup = 1;
  double min_secs = 1, max_secs = 150, warmup_secs = 0.5, run_delay = 0;
  double run_frequency = 0;  // inferences per second, replaces run_delay; 0: unlimited
  bool dry_run = false;      // do everything except the inferences
  bool preinvoke_state = false, postinvoke_state = false, peak_memory = false;
  bool list_signatures = false;
  StateColumns columns;
  std::string output_file;  // file that receives all outputs of the last inference, concatenated
  // True to print all options with their `values`.
  bool verbose = false;
  std::vector<std::pair<std::string, std::string>> values;
  bool profile = true, whole_profile = false;
  int nodes = 10;
  std::string profile_mode = "stdout", profile_file, trace;
  bool json = false;
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_CONFIG_H_
