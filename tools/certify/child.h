// SPDX-License-Identifier: Apache-2.0
//
// Runs work in child processes with a time limit, so that a crash, hang or exit inside the tested
// library becomes a row of the report. The child reports its progress line by line through a pipe,
// so that the parent can name the operation during which it ended.
#ifndef DEPUTY_TOOLS_CERTIFY_CHILD_H_
#define DEPUTY_TOOLS_CERTIFY_CHILD_H_

#include <functional>
#include <string>
#include <vector>

namespace deputy::certify {

enum class Status {
  kPass,
  kRemark,   // passed, with a note for the user
  kSkipped,  // not applicable
  kNotRun,   // interrupted before its end
  kFail,
  kCrash,  // the process died during the row or at exit
  kTimeout,
};
// Returns "pass", "remark", "skipped", "not run", "fail", "crash", "timeout".
const char* Name(Status status);
bool IsBad(Status status);

struct Outcome {
  Status status = Status::kNotRun;
  std::string text;
  std::vector<std::string> results;  // the lines passed to Child::AddResult
  double seconds = 0;
};

// The child's end of the pipe through which it reports to the parent.
class Child {
 public:
  explicit Child(int pipe) : pipe_(pipe) {}
  void Note(const std::string& what);  // announces the next operation and restarts the time limit
  void AddResult(const std::string& line);  // appends a line to the result
  void End(Status status, const std::string& text);

 private:
  void Write(char kind, const std::string& text);
  const int pipe_;
};

struct Work {
  std::function<void(Child*)> run;  // function that runs in the child and calls End last
  int seconds = 60;                 // time limit between two notes
  bool alone = false;               // no other work may run at the same time
  // true: ends through exit(), so that static destructors run and are tested
  bool ends_as_programs_do = false;
};

// Callbacks of RunAll, called on its thread with the index of the work.
struct Events {
  std::function<void(size_t, const std::string& note)>
      doing;  // the work has started or sent a note
  std::function<void(size_t, const Outcome&)> done;
};

// Runs all works, `jobs` at a time, in unspecified order. Output of children does not reach the
// terminal; if a child crashes, the last line of its output is included in its outcome.
void RunAll(const std::vector<Work>& works, int jobs, const Events& events);

// Makes the first SIGINT or SIGTERM end RunAll early: running children are killed, and neither they
// nor the remaining works are reported. A second signal of the same kind ends the process. Signals
// that were ignored stay ignored.
void StopOnSignals();
bool WasInterrupted();

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_CHILD_H_
