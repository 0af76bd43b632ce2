// SPDX-License-Identifier: Apache-2.0
//
// The preparation of delegates for one set of input shapes, in an interpreter of its own, on a
// thread of its own.
#ifndef DEPUTY_CORE_DELEGATION_BACKGROUND_PREPARATION_H_
#define DEPUTY_CORE_DELEGATION_BACKGROUND_PREPARATION_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/common.h"
#include "core/delegation/placed_node.h"
#include "core/exec/interpreter.h"

namespace deputy {

// Reports of an interpreter that is prepared on another thread: collected at first, then passed to
// the client's reporter.
class BackgroundReports {
 public:
  // Receives a report of the interpreter; `self` is this object.
  static void Receive(void* self, const char* format, va_list args);

  // Passes later reports to `reporter`, on the thread that makes them.
  void PassTo(ErrorReporter* reporter) { reporter_ = reporter; }
  // Returns the reports that were collected, joined by "; "; bounded.
  const std::string& text() const { return text_; }

 private:
  ErrorReporter* reporter_ = nullptr;
  std::string text_;
};

// Shapes of the inputs of one subgraph.
struct RootShapes {
  int subgraph = 0;
  std::vector<std::vector<int>> inputs;
  bool operator==(const RootShapes&) const = default;
};

// Inputs of a preparation; without references to the client's interpreter.
struct BackgroundTask {
  using MakeInterpreter = std::function<std::unique_ptr<Interpreter>(const InterpreterConfig&)>;

  MakeInterpreter make;
  InterpreterConfig config;
  std::vector<TfLiteDelegate*> delegates;
  std::vector<std::vector<PlacedNode>> placed_nodes;  // by subgraph
  std::vector<RootShapes> shapes;  // of the subgraphs that the client has allocated
};

// Result of a preparation. `reports` must outlive `interpreter`.
struct BackgroundPlan {
  std::unique_ptr<BackgroundReports> reports;
  std::unique_ptr<Interpreter> interpreter;  // null: the preparation has failed
  std::string failure;                       // reason of the failure
  std::chrono::nanoseconds duration{0};
};

class BackgroundPreparation {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts the thread. If it cannot be started, the preparation has failed. Throws if out of
  // memory.
  static std::shared_ptr<BackgroundPreparation> Begin(BackgroundTask task);
  ~BackgroundPreparation();
  BackgroundPreparation(const BackgroundPreparation&) = delete;
  BackgroundPreparation& operator=(const BackgroundPreparation&) = delete;

  const std::vector<RootShapes>& shapes() const { return task_.shapes; }
  Clock::time_point begun() const { return begun_; }
  bool is_done();
  // Waits until the preparation has ended, at the latest until `end`. Returns true if it has ended.
  bool WaitUntil(Clock::time_point end);
  // Waits for the end of the thread and returns the result.
  BackgroundPlan Take();
  // Makes the thread discard its result; nothing waits for it any more.
  void Abandon();

 private:
  explicit BackgroundPreparation(BackgroundTask task) : task_(std::move(task)) {}
  void Run() noexcept;
  void Prepare();
  TfLiteStatus ApplyDelegates();

  BackgroundTask task_;
  const Clock::time_point begun_ = Clock::now();
  BackgroundPlan plan_;  // written by the thread until `done_`
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false, abandoned_ = false;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_BACKGROUND_PREPARATION_H_
