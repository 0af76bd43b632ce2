// SPDX-License-Identifier: Apache-2.0
//
// --stable_delegate_settings_file of benchmark_model: names the library of a stable delegate and
// its settings.
#ifndef DEPUTY_TOOLS_STABLE_SETTINGS_H_
#define DEPUTY_TOOLS_STABLE_SETTINGS_H_

#include <string>

#include "deputy/deputy.h"

namespace deputy::tools {

// Creates the delegate named by stable_delegate_loader_settings.delegate_path in a JSON file of
// TensorFlow Lite's TFLiteSettings. The delegate receives delegate_path, delegate_name and
// max_delegated_partitions; other settings at the top level of the file print a warning. Returns
// null with the reason in `out_problem` on failure; ends the command with kExitUsage if the file
// cannot be read. Delete the result with DeputyPluginDeleteDelegate.
TfLiteDelegate* MakeStableDelegate(const std::string& path, std::string* out_problem);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_STABLE_SETTINGS_H_
