// SPDX-License-Identifier: Apache-2.0
//
// Work in child processes with a time limit: whatever a stranger's library does there (crash, hang,
// exit) is a row of the report. What a child is doing arrives line by line through a pipe, so that
// it is known where one ended.
#ifndef DEPUTY_TOOLS_CERTIFY_CHILD_H_
#define DEPUTY_TOOLS_CERTIFY_CHILD_H_

#include <functional>
#include <string>
#include <vector>

namespace deputy::certify {

enum class Status {
  kPass,
  kRemark,   // right, with something to know
  kSkipped,  // there was nothing to try
  kNotRun,   // interrupted before
  kFail,
  kCrash,  // the process ended in the middle of it, or as it ended
  kTimeout,
};
// "pass", "remark", "skipped", "not run", "fail", "crash", "timeout".
const char* Name(Status status);
bool IsBad(Status status);

struct Outcome {
  Status status = Status::kNotRun;
  std::string text;
  std::vector<std::string> told;  // what Child::Tell was called with
  double seconds = 0;
};

// A child's end of its pipe.
class Child {
 public:
  explicit Child(int pipe) : pipe_(pipe) {}
  void Note(const std::string& what);  // what it does next, which has the whole limit anew
  void Tell(const std::string& line);  // a part of its result
  void End(Status status, const std::string& text);

 private:
  void Write(char kind, const std::string& text);
  const int pipe_;
};

struct Work {
  std::function<void(Child*)> run;   // calls End last
  int seconds = 60;                  // from one note to the next
  bool alone = false;                // no other work runs at the same time
  bool ends_as_programs_do = false;  // with static destructors, which count
};

// Called with the number of a piece of work, on the thread of RunAll.
struct Events {
  std::function<void(size_t, const std::string& note)> doing;  // it begins, or has noted a step
  std::function<void(size_t, const Outcome&)> done;
};

// Runs all of it, `jobs` at a time, in any order. What children print is kept from the terminal;
// the last line of it is shown for one that crashes.
void RunAll(const std::vector<Work>& works, int jobs, const Events& events);

// From now on the first SIGINT or SIGTERM ends RunAll early: what runs is killed, and neither of it
// nor of what would follow anything is said. The second ends the process. One that is ignored stays
// so.
void StopOnSignals();
bool WasInterrupted();

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_CHILD_H_
