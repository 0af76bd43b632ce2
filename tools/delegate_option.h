// SPDX-License-Identifier: Apache-2.0
//
// --delegate LIB.so[,KEY=VALUE...]: a delegate from a library, with its options. Deputy's own go by
// their names: "gpu" is the libdeputy_gpu.so beside libdeputy.
#ifndef DEPUTY_TOOLS_DELEGATE_OPTION_H_
#define DEPUTY_TOOLS_DELEGATE_OPTION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::tools {

struct DelegateOption {
  std::string library;
  std::vector<std::pair<std::string, std::string>> options;
};

// "lib.so,log=x,ops=0,18" is lib.so with log = "x" and ops = "0,18": a piece without "=" belongs to
// the value before it. Ends the command with kExitUsage when there is no value before.
DelegateOption ParseDelegateOption(const std::string& text);

using DelegateHandle = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// A delegate and what its library says of itself, "" where it says nothing.
struct LoadedDelegate {
  DelegateHandle handle;
  std::string library, name, version, vendor;
};

// Ends the command with kExitUsage when the library cannot be loaded or gives no delegate. It must
// outlive the interpreters it is applied to.
LoadedDelegate LoadDelegate(const DelegateOption& option);

// The same, but without a handle where there would be an end; DeputyLastError says why.
LoadedDelegate TryLoadDelegate(const DelegateOption& option);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DELEGATE_OPTION_H_
