// SPDX-License-Identifier: Apache-2.0
//
// Compilation of models by LiteRT's compiler plug-ins.
#ifndef DEPUTY_TOOLS_COMPILE_LITERT_H_
#define DEPUTY_TOOLS_COMPILE_LITERT_H_

#include <string>
#include <vector>

#include "core/support/compiled_model.h"

namespace deputy::tools {

// Continues in a child process, which is killed after a time. The parent exits with the code of the
// child, or with a message if it was killed or ended by a signal. For functions of plug-ins that
// hang or crash.
void ContinueInChild(const std::string& folder, double seconds);

// Returns the compiler plug-ins below a folder as owners of a compiled model. Exits with a message
// if there is none.
std::vector<CompiledTarget> ListCompilerPlugins(const std::string& folder);

// Returns a .tflite file in which byte code replaces the operators that the plug-ins select. `soc`
// is the device; "" is the default of each plug-in. Exits with a message on failure.
std::string CompileWithPlugins(const std::string& folder, const std::string& soc,
                               const std::string& model);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_COMPILE_LITERT_H_
