// SPDX-License-Identifier: Apache-2.0
//
// --pin and --exclude: restricts which delegate may run which nodes.
#ifndef DEPUTY_TOOLS_PLACEMENT_OPTION_H_
#define DEPUTY_TOOLS_PLACEMENT_OPTION_H_

#include <string>
#include <vector>

#include "delegate_option.h"
#include "deputy/c_api.h"

namespace deputy::tools {

// Excludes "#12", "1#12", "op:CONV_2D" or "tensor:NAME" from delegation in interpreters created
// with these options. Ends the command with kExitUsage for any other selector.
void AddExclusion(const std::string& selector, TfLiteInterpreterOptions* options);

// Parses "SELECTOR=INDEX" and reserves the selected nodes for one of `delegates`.
void AddPin(const std::string& pin, const std::vector<LoadedDelegate>& delegates,
            TfLiteInterpreterOptions* options);

// Ends the command with kExitUsage if a selector of `pins` or `excludes` matches no node of the
// model.
void CheckSelectors(const std::vector<std::string>& pins, const std::vector<std::string>& excludes,
                    const TfLiteInterpreter* interpreter);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_PLACEMENT_OPTION_H_
