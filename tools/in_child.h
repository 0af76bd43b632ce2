// SPDX-License-Identifier: Apache-2.0
//
// Work in a process of its own: its memory is its own, and if a stranger's library crashes in it,
// that is a text and not the end.
#ifndef DEPUTY_TOOLS_IN_CHILD_H_
#define DEPUTY_TOOLS_IN_CHILD_H_

#include <functional>
#include <string>

namespace deputy::tools {

struct ChildResult {
  std::string bytes;    // what the work returned
  std::string problem;  // why it returned nothing: a ToolError's text, or how the process ended
  int exit_code = 0;    // that of the ToolError; kExitFailed if the process crashed
};

// Runs `work` in a fork of this process, which must have no other threads, and waits for it. What
// it prints goes to standard error. Ends the command with kExitFailed if there can be no process.
ChildResult RunInChild(const std::function<std::string()>& work);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_IN_CHILD_H_
