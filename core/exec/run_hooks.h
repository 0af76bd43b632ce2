// SPDX-License-Identifier: Apache-2.0
//
// Functions of applied delegates that are called around the runs of an interpreter: run_start and
// run_end of deputy_plugin.h. A run is one call of the client, whichever subgraph it runs.
#ifndef DEPUTY_CORE_EXEC_RUN_HOOKS_H_
#define DEPUTY_CORE_EXEC_RUN_HOOKS_H_

#include <vector>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

class InterpreterState;
class Subgraph;

// A delegate with at least one of the functions.
struct RunHook {
  TfLiteDelegate* delegate = nullptr;  // the inner delegate
  const DeputyDelegatePlugin* plugin = nullptr;
  bool started = false;
};

class RunHooks {
 public:
  explicit RunHooks(InterpreterState* interpreter) : interpreter_(interpreter) {}

  // Calls `run` between the functions of all delegates. Returns the status of `run`, or an error of
  // the functions. `subgraph` is the one that the client runs. May throw bad_alloc before `run`.
  template <typename Run>
  TfLiteStatus Around(Subgraph* subgraph, const Run& run) {
    Update();
    if (hooks_.empty()) return run();
    TfLiteStatus status = Start(subgraph);
    if (status == kTfLiteOk) status = run();
    return End(subgraph, status);
  }

 private:
  void Update();
  TfLiteStatus Start(Subgraph* subgraph);
  TfLiteStatus End(Subgraph* subgraph, TfLiteStatus status);

  InterpreterState* const interpreter_;
  std::vector<RunHook> hooks_;  // in the order in which the delegates were applied
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_RUN_HOOKS_H_
