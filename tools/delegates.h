// SPDX-License-Identifier: Apache-2.0
//
// The delegates of `--delegate`: libraries loaded, delegates made from them, and what the command
// line says about who may run what.
#ifndef DEPUTY_TOOLS_DELEGATES_H_
#define DEPUTY_TOOLS_DELEGATES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/c_api.h"
#include "c_api/deputy.h"

namespace deputy::tools {

struct DelegateSpec {
  std::string path;
  std::vector<std::pair<std::string, std::string>> options;
};

// "LIB.so,key=value,key=value". A part without '=' goes on with the value before it, so that values
// may hold commas. Ends the command with kExitUsage when there is no path or a value has no key.
DelegateSpec ParseDelegateSpec(const std::string& text);

// One delegate, from its library.
class LoadedDelegate {
 public:
  // Ends the command with kExitUsage when the file cannot be read, with kExitFailed when it is no
  // plug-in or makes no delegate.
  explicit LoadedDelegate(const std::string& spec);

  TfLiteDelegate* get() const { return delegate_.get(); }
  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }        // the plug-in's or the file's
  const std::string& version() const { return version_; }  // "" if it has none
  const std::string& vendor() const { return vendor_; }

 private:
  std::string path_, name_, version_, vendor_;
  std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin_;
  std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)> delegate_;
};

// Hands `selector`, "#12", "1#12", "op:CONV_2D" or "tensor:NAME", to the options; NULL excludes the
// nodes from delegation. Ends the command with kExitUsage when it is none of these.
void AddPlacement(const std::string& selector, const TfLiteDelegate* delegate,
                  TfLiteInterpreterOptions* options);
// "SELECTOR=INDEX", the index being a position in `delegates`.
void AddPin(const std::string& pin, const std::vector<LoadedDelegate>& delegates,
            TfLiteInterpreterOptions* options);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DELEGATES_H_
