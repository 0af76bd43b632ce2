// SPDX-License-Identifier: Apache-2.0
//
// --stable_delegate_settings_file of benchmark_model: which library a stable delegate comes from,
// and what it is told.
#ifndef DEPUTY_TOOLS_STABLE_SETTINGS_H_
#define DEPUTY_TOOLS_STABLE_SETTINGS_H_

#include <string>

#include "deputy/deputy.h"

namespace deputy::tools {

// The delegate that a JSON file of TensorFlow Lite's TFLiteSettings names, by
// stable_delegate_loader_settings.delegate_path. It gets delegate_path, delegate_name and
// max_delegated_partitions; whatever else the file says costs a warning. Null with the reason in
// `out_problem` if there is none; ends the command with kExitUsage when the file cannot be read.
// For DeputyPluginDeleteDelegate.
TfLiteDelegate* MakeStableDelegate(const std::string& path, std::string* out_problem);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_STABLE_SETTINGS_H_
