// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of `deputy`, one file each. Every function adds its options to the application
// and a callback that does the work; the callback ends the command early by throwing a ToolError.
#ifndef DEPUTY_TOOLS_COMMANDS_H_
#define DEPUTY_TOOLS_COMMANDS_H_

namespace CLI {
class App;
}

namespace deputy::tools {

void AddRunCommand(CLI::App* app);
void AddBenchCommand(CLI::App* app);
void AddInspectCommand(CLI::App* app);
void AddExplainCommand(CLI::App* app);
void AddPluginsCommand(CLI::App* app);
void AddDevicesCommand(CLI::App* app);
void AddOpsCommand(CLI::App* app);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_COMMANDS_H_
