// SPDX-License-Identifier: Apache-2.0
//
// Records of a delegate's calls, for the subcommands that read them.
#ifndef DEPUTY_TOOLS_RECORDS_H_
#define DEPUTY_TOOLS_RECORDS_H_

#include <string>

#include "bridges/layers/record/record_file.h"

namespace deputy::tools {

// Reads a record; ends the command with kExitUsage if the file is no valid one.
record::Record ReadRecord(const std::string& path);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_RECORDS_H_
