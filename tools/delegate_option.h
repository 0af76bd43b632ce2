// SPDX-License-Identifier: Apache-2.0
//
// --delegate LIB.so[,KEY=VALUE...]: a delegate from a library, with its options. Deputy's own go by
// their names: "gpu" is the libdeputy_gpu.so beside libdeputy, or in deputy/plugins there.
#ifndef DEPUTY_TOOLS_DELEGATE_OPTION_H_
#define DEPUTY_TOOLS_DELEGATE_OPTION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::tools {

using DelegateSettings = std::vector<std::pair<std::string, std::string>>;

struct DelegateOption {
  std::string library;
  DelegateSettings options;
};

// "lib.so,log=x,ops=0,18" is lib.so with log = "x" and ops = "0,18": a piece without "=" belongs to
// the value before it. Ends the command with kExitUsage when there is no value before.
DelegateOption ParseDelegateOption(const std::string& text);

// Why a delegate that goes by its name (providers.h) has no library here; "" if it has one, and for
// other names.
std::string WhyNotBuilt(const std::string& name);

// Where the library of a name is: our own go by their names, a file in this folder is meant before
// one that the loader would search for.
std::string LibraryPath(const std::string& library);

// Keeps the library from reporting to standard error while it lives: the command says it in one
// line.
class QuietReports {
 public:
  QuietReports();
  ~QuietReports();
  QuietReports(const QuietReports&) = delete;
  QuietReports& operator=(const QuietReports&) = delete;
};

using DelegateHandle = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// A delegate and what its library says of itself, "" where it says nothing; without a handle, why
// there is no delegate.
struct LoadedDelegate {
  DelegateHandle handle;
  std::string library, name, version, vendor;
  // Keys of the settings that its library declares, and limits that it has no option for.
  std::vector<std::string> declared;
  DelegateSettings undeclared;
  std::string problem;
};

// Ends the command with kExitUsage when the library cannot be loaded or gives no delegate. It must
// outlive the interpreters it is applied to. `settings` are set where the library declares such
// options, and what `option` says counts more.
LoadedDelegate LoadDelegate(const DelegateOption& option, const DelegateSettings& settings = {});

// The same, but without a handle where there would be an end.
LoadedDelegate TryLoadDelegate(const DelegateOption& option, const DelegateSettings& settings = {});

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DELEGATE_OPTION_H_
