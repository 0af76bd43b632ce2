// SPDX-License-Identifier: Apache-2.0
//
// The flags of the list of providers (providers.h) on a subcommand's line, and what they ask for.
#ifndef DEPUTY_TOOLS_PROVIDER_OPTIONS_H_
#define DEPUTY_TOOLS_PROVIDER_OPTIONS_H_

#include <vector>

#include "provide.h"

namespace CLI {
class App;
}

namespace deputy::tools {

// Their group in the help.
inline constexpr const char* kDelegatesGroup = "Delegates, applied in the order given";

// --use_<key>, the options that name a library, and the flags of each. The latter are in the help
// only if `shows_all`.
void AddProviderOptions(CLI::App* command, bool shows_all);

// --max_delegated_partitions and --min_nodes_per_partition, as TFLite's benchmark_model has them.
void AddPartitionOptions(CLI::App* command, PartitionLimits* limits);

// --delegate and what AddProviderOptions has added, in the order of the command line; CLI11 keeps
// the values of each option apart, so the order among different ones comes from its parse order.
// Warns of flags whose provider is not asked for. Ends the command with kExitUsage where a value is
// none.
std::vector<DelegateRequest> RequestsInOrder(const CLI::App& command);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PROVIDER_OPTIONS_H_
