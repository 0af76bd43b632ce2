// SPDX-License-Identifier: Apache-2.0
//
// --delegate LIB.so[,KEY=VALUE...]: loads a delegate from a library and sets its options. Deputy's
// own delegates have short names: "gpu" is libdeputy_gpu.so in the directory of libdeputy or in its
// deputy/plugins.
#ifndef DEPUTY_TOOLS_DELEGATE_OPTION_H_
#define DEPUTY_TOOLS_DELEGATE_OPTION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::tools {

// First character of an option that an isolated delegate gets only if it declares the option.
inline constexpr char kIfDeclared = '?';

using DelegateSettings = std::vector<std::pair<std::string, std::string>>;

struct DelegateOption {
  std::string library;
  DelegateSettings options;
};

// Parses the value of --delegate: "lib.so,log=x,ops=0,18" is lib.so with log = "x" and ops =
// "0,18", since a piece without "=" continues the value before it. Ends the command with kExitUsage
// if there is no value before it.
DelegateOption ParseDelegateOption(const std::string& text);

// Returns why the provider of that name (providers.h) has no library in this build; "" if it has
// one, and for names that are not in the list.
std::string WhyNotBuilt(const std::string& name);

// Returns the path of a library. Short names refer to Deputy's own libraries; for other names a
// file in the working directory has priority over the loader's search path.
std::string LibraryPath(const std::string& library);

// Returns the paths in which plug-ins are searched for, separated by colons: DEPUTY_PLUGIN_PATH,
// the directory of installed plug-ins, and Deputy's own libraries in a build directory.
std::string PluginSearchPath();

// RAII guard: suppresses the library's reports to standard error, because the command prints the
// error itself in one line.
class QuietReports {
 public:
  QuietReports();
  ~QuietReports();
  QuietReports(const QuietReports&) = delete;
  QuietReports& operator=(const QuietReports&) = delete;
};

using DelegateHandle = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// A delegate and the identification that its library reports, "" for missing fields. Without a
// handle, `problem` has the reason.
struct LoadedDelegate {
  DelegateHandle handle;
  std::string library, name, version, vendor;
  // Keys of the settings that its library declares, and limits for which it declares no option.
  std::vector<std::string> declared;
  DelegateSettings undeclared;
  std::string problem;
};

// Loads a library and creates its delegate. Ends the command with kExitUsage if the library cannot
// be loaded or returns no delegate. The result must outlive the interpreters to which it is
// applied. `settings` are set only if the library declares such options; `option` has priority.
LoadedDelegate LoadDelegate(const DelegateOption& option, const DelegateSettings& settings = {});

// Creates a delegate as LoadDelegate does, but returns a result without a handle instead of ending
// the command.
LoadedDelegate TryLoadDelegate(const DelegateOption& option, const DelegateSettings& settings = {});

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DELEGATE_OPTION_H_
