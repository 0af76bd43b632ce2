// SPDX-License-Identifier: Apache-2.0
//
// Makes the delegates that a command line asks for. Absence is no error here (a delegate that is
// not there must not break an inference), but for --delegate, which names a file as MODEL does.
#ifndef DEPUTY_TOOLS_PROVIDE_H_
#define DEPUTY_TOOLS_PROVIDE_H_

#include <set>
#include <string>
#include <vector>

#include "delegate_option.h"

namespace deputy::tools {

// A delegate that was asked for, in the order of the command line.
struct DelegateRequest {
  std::string provider;  // a key of providers.h, or kGivenLibrary
  std::string path;      // of the library, where the option names one
  DelegateSettings options = {};
  DelegateSettings settings = {};  // see LoadDelegate
};

// The provider of --delegate.
inline constexpr const char* kGivenLibrary = "library";

// Maximum number of partitions of a delegate, minimum number of nodes in each; 0: its default.
struct PartitionLimits {
  int max_partitions = 0, min_nodes = 0;
};

// The limits as settings of delegates.
DelegateSettings SettingsOf(const PartitionLimits& limits);

// One line on standard error for each limit that none of the delegates has an option for.
// `declared` are the keys of settings that some delegate has.
void WarnOfIgnoredLimits(const PartitionLimits& limits, const std::set<std::string>& declared);

// What --delegate says.
DelegateRequest RequestOf(const std::string& delegate);

// As users know it, "XNNPACK" or "libmy.so", and what asked for it, "--use_xnnpack".
std::string NameOf(const DelegateRequest& request);
std::string FlagOf(const DelegateRequest& request);

// The delegate; without one, why: the library, where it was looked for, the function or the code.
// Ends the command with kExitUsage where --delegate names no usable library, or where no library
// could take the options.
LoadedDelegate Provide(const DelegateRequest& request);

// One line on standard error, for a delegate that is not there.
void WarnOfAbsence(const std::string& flag, const std::string& problem);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROVIDE_H_
