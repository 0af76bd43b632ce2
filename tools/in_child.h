// SPDX-License-Identifier: Apache-2.0
//
// Runs work in a child process with separate memory: a crash in an untrusted library is returned as
// a text instead of ending the command.
#ifndef DEPUTY_TOOLS_IN_CHILD_H_
#define DEPUTY_TOOLS_IN_CHILD_H_

#include <functional>
#include <string>

namespace deputy::tools {

struct ChildResult {
  std::string bytes;    // result of the work
  std::string problem;  // reason for a missing result: a ToolError's text, or how the process ended
  int exit_code = 0;    // exit code of the ToolError; kExitFailed if the process crashed
};

// Runs `work` in a fork of this process, which must have no other threads, and waits for it. Its
// output goes to standard error. Ends the command with kExitFailed if no process can be created.
ChildResult RunInChild(const std::function<std::string()>& work);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_IN_CHILD_H_
