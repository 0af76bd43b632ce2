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
  kFail,
  kCrash,  // the process ended in the middle of it, or as it ended
  kTimeout,
};
// "pass", "remark", "skipped", "fail", "crash", "timeout".
const char* Name(Status status);
bool IsBad(Status status);

struct Outcome {
  Status status = Status::kPass;
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

// Runs all of it, `jobs` at a time, in any order; `done` is called with the number of each piece as
// it ends, on this thread. What children print is kept from the terminal; the last line of it is
// shown for one that crashes.
void RunAll(const std::vector<Work>& works, int jobs,
            const std::function<void(size_t, const Outcome&)>& done);

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_CHILD_H_
