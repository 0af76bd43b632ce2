// SPDX-License-Identifier: Apache-2.0
//
// Compilation of a model by compiler plug-ins.
#ifndef DEPUTY_LITERT_SRC_PLUGIN_COMPILATION_H_
#define DEPUTY_LITERT_SRC_PLUGIN_COMPILATION_H_

#include <memory>
#include <string>
#include <vector>

#include "litert/src/compiler_plugin.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/model.h"
#include "litert/src/partition.h"

namespace deputy::litert {

struct PluginCompilation {
  CompilerPlugins plugins;
  // The model with operators DISPATCH_OP; null: no plug-in has compiled an operator.
  std::unique_ptr<LiteRtModelT> model;
  // Handles that a plug-in has returned in place of byte code, and the results that they belong to.
  JitHandles handles;
  JitHandles programs;  // the handles, and null for each name of a program in byte code
  std::vector<std::shared_ptr<void>> results;
  LiteRtStatus failure = kLiteRtStatusOk;  // of the first plug-in that failed
};

// Compiles a copy of the model with the plug-ins in the environment's folder
// (kLiteRtEnvOptionTagCompilerPluginLibraryDir) for the hardware that the options select. A plug-in
// that fails is left out. `soc_model` may be null. For files, which cannot contain handles, only
// byte code is used. The environment and the options must outlive the result.
LiteRtStatus CompileWithPlugins(LiteRtEnvironment environment, LiteRtOptions options,
                                const LiteRtModelT& model, const char* soc_model, bool is_for_file,
                                PluginCompilation* out_compilation);

// Groups of operators and the programs that a plug-in has compiled for them.
struct GroupCompilation {
  std::string refusal;  // the reason why other operators are not in a group
  std::vector<OpGroup> groups;
  std::vector<std::unique_ptr<LiteRtOpT>> calls;  // byte code and entry point of each group
  JitHandles programs;  // handles of programs, and null for each name of a program in byte code
  std::shared_ptr<void> result;  // to which the handles belong
};

// Lets the first plug-in that selects operators of a subgraph compile them, without those for which
// `is_usable` is false. The model does not change: transformations are not applied and composites
// not replaced. With `selects_only`, nothing is compiled. `soc_model` may be null. There are no
// groups if no plug-in selects an operator. The environment and the options must outlive the
// result.
LiteRtStatus CompileGroups(LiteRtEnvironment environment, LiteRtOptions options,
                           const LiteRtModelT& model, LiteRtSubgraph subgraph,
                           const std::vector<bool>& is_usable, const char* soc_model,
                           bool selects_only, GroupCompilation* out_compilation);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_PLUGIN_COMPILATION_H_
