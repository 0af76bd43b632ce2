// SPDX-License-Identifier: Apache-2.0
//
// Creates the delegates requested on a command line. An absent delegate is not an error, because
// inference works without it; exception: --delegate, which names a file just as MODEL does.
#ifndef DEPUTY_TOOLS_PROVIDE_H_
#define DEPUTY_TOOLS_PROVIDE_H_

#include <set>
#include <string>
#include <vector>

#include "delegate_option.h"

namespace deputy::tools {

// A requested delegate; kept in the order of the command line.
struct DelegateRequest {
  std::string provider;  // a key of providers.h, or kGivenLibrary
  std::string path;      // path of the library or settings file, if the option names one
  DelegateSettings options = {};
  DelegateSettings settings = {};  // settings for LoadDelegate
};

// Provider of the delegates of --delegate.
inline constexpr const char* kGivenLibrary = "library";

// Provider of the delegate of a device that --device-policy chose; it may be absent.
inline constexpr const char* kChosenDevice = "device";

// Maximum number of partitions of a delegate, and minimum number of nodes in each; 0: the
// delegate's default.
struct PartitionLimits {
  int max_partitions = 0, min_nodes = 0;
};

// Converts the limits to settings of delegates.
DelegateSettings SettingsOf(const PartitionLimits& limits);

// Prints one line on standard error for each limit for which no delegate declares an option.
// `declared` are the keys of all settings that the delegates declare.
void WarnOfIgnoredLimits(const PartitionLimits& limits, const std::set<std::string>& declared);

// Parses the value of --delegate.
DelegateRequest RequestOf(const std::string& delegate);

// Return the display name of a request, "XNNPACK" or "libmy.so", and the option that requested it,
// "--use_xnnpack".
std::string NameOf(const DelegateRequest& request);
std::string FlagOf(const DelegateRequest& request);

// Creates a delegate. Returns it or, without a handle, the reason: library, searched directory,
// missing function or error code. Ends the command with kExitUsage if --delegate names no usable
// library, if the settings file of a stable delegate cannot be read, if the library of a stable
// delegate gets options, or if there are more options of --external_delegate_options than an
// external delegate can take.
LoadedDelegate Provide(const DelegateRequest& request);

// Prints one line on standard error for an absent delegate.
void WarnOfAbsence(const std::string& flag, const std::string& problem);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROVIDE_H_
