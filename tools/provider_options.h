// SPDX-License-Identifier: Apache-2.0
//
// Command-line flags generated from the list of providers (providers.h), and the delegates that
// they request.
#ifndef DEPUTY_TOOLS_PROVIDER_OPTIONS_H_
#define DEPUTY_TOOLS_PROVIDER_OPTIONS_H_

#include <vector>

#include "provide.h"

namespace CLI {
class App;
}

namespace deputy::tools {

// Heading of the delegates' options in the help.
inline constexpr const char* kDelegatesGroup = "Delegates, applied in the order given";

// Adds --use_<key>, the options that name a library, and the flags of each provider. The flags
// appear in the help only if `shows_all`, but options of a named library always.
void AddProviderOptions(CLI::App* command, bool shows_all);

// Adds --max_delegated_partitions and --min_nodes_per_partition, spelled as in TFLite's
// benchmark_model.
void AddPartitionOptions(CLI::App* command, PartitionLimits* limits);

// Returns the delegates of --delegate and of the options of AddProviderOptions in command-line
// order. CLI11 stores the values of each option separately, so the order among options comes from
// its parse order. Warns of flags whose provider is not requested. Ends the command with kExitUsage
// for invalid values.
std::vector<DelegateRequest> RequestsInOrder(const CLI::App& command);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROVIDER_OPTIONS_H_
