// SPDX-License-Identifier: Apache-2.0
//
// The command line of `deputy`: all its subcommands with their options and help.
#ifndef DEPUTY_TOOLS_COMMAND_LINE_H_
#define DEPUTY_TOOLS_COMMAND_LINE_H_

namespace deputy::tools {

// Parses the command line and runs its subcommand. Ends the command with kExitUsage if parsing
// fails; exceptions of subcommands propagate.
void RunCommandLine(int argc, char** argv);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_COMMAND_LINE_H_
