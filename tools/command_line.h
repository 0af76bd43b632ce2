// SPDX-License-Identifier: Apache-2.0
//
// The command line of `deputy`: all its subcommands with their options and help.
#ifndef DEPUTY_TOOLS_COMMAND_LINE_H_
#define DEPUTY_TOOLS_COMMAND_LINE_H_

namespace deputy::tools {

// Reads the command line and does what it asks for. Ends the command with kExitUsage when it cannot
// be read; what the subcommands throw passes through.
void RunCommandLine(int argc, char** argv);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_COMMAND_LINE_H_
