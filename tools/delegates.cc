// SPDX-License-Identifier: Apache-2.0
#include "tools/delegates.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/session.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

// The library reports what goes wrong while a plug-in is loaded; the command says it once, as the
// text of its own failure.
class QuietLibrary {
 public:
  QuietLibrary() { DeputySetDefaultReporter(&Ignore, nullptr); }
  ~QuietLibrary() { DeputySetDefaultReporter(nullptr, nullptr); }
  QuietLibrary(const QuietLibrary&) = delete;
  QuietLibrary& operator=(const QuietLibrary&) = delete;

 private:
  static void Ignore(void*, const char*, va_list) {}
};

TfLiteDelegate* Create(DeputyPlugin* plugin, int kind, const DelegateSpec& spec) {
  if (kind == kDeputyPluginStable) {
    if (!spec.options.empty()) {
      FailUsage("--delegate %s: a stable delegate takes no key=value options", spec.path.c_str());
    }
    return DeputyPluginCreateStableDelegate(plugin, nullptr);
  }
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : spec.options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return DeputyPluginCreateDelegate(plugin, keys.data(), values.data(), keys.size());
}

}  // namespace

DelegateSpec ParseDelegateSpec(const std::string& text) {
  DelegateSpec spec;
  size_t at = std::min(text.find(','), text.size());
  spec.path = text.substr(0, at);
  if (spec.path.empty()) FailUsage("--delegate '%s': expected LIB.so,key=value", text.c_str());
  while (at < text.size()) {
    const size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string part = text.substr(at + 1, end - at - 1);
    const size_t equals = part.find('=');
    if (equals != std::string::npos && equals > 0) {
      spec.options.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    } else if (equals == std::string::npos && !spec.options.empty()) {
      spec.options.back().second += "," + part;
    } else {
      FailUsage("--delegate %s: expected key=value, found '%s'", text.c_str(), part.c_str());
    }
    at = end;
  }
  return spec;
}

LoadedDelegate::LoadedDelegate(const std::string& text)
    : plugin_(nullptr, &DeputyPluginRelease), delegate_(nullptr, &DeputyPluginDeleteDelegate) {
  const DelegateSpec spec = ParseDelegateSpec(text);
  path_ = spec.path;
  // A name without a slash is looked for in the loader's folders.
  if (path_.find('/') != std::string::npos) CheckReadable(path_);
  const QuietLibrary quiet;
  plugin_.reset(DeputyPluginLoad(path_.c_str()));
  if (plugin_ == nullptr) FailWork("--delegate %s: %s", path_.c_str(), DeputyLastError());
  DeputyPluginInfo info = {};
  info.struct_size = sizeof(info);
  if (DeputyPluginDescribe(plugin_.get(), &info) != kTfLiteOk) {
    FailWork("--delegate %s: %s", path_.c_str(), DeputyLastError());
  }
  name_ = OneLine(info.name);
  version_ = OneLine(info.version);
  vendor_ = OneLine(info.vendor);
  delegate_.reset(Create(plugin_.get(), info.kind, spec));
  if (delegate_ == nullptr) FailWork("--delegate %s: %s", path_.c_str(), DeputyLastError());
}

void AddPlacement(const std::string& selector, const TfLiteDelegate* delegate,
                  TfLiteInterpreterOptions* options) {
  DeputyPlacement placement = {};
  placement.struct_size = sizeof(placement);
  placement.subgraph_index = -1;
  placement.delegate = delegate;
  const size_t hash = selector.find('#');
  std::string name;
  bool readable = true;
  if (selector.rfind("op:", 0) == 0) {
    placement.selector = kDeputySelectOperator;
    name = selector.substr(3);
    readable = !name.empty();
  } else if (selector.rfind("tensor:", 0) == 0) {
    placement.selector = kDeputySelectOutputTensor;
    name = selector.substr(7);
  } else {
    placement.selector = kDeputySelectIndex;
    readable = hash != std::string::npos &&
               (hash == 0 || ParseNumber(selector.substr(0, hash), &placement.subgraph_index)) &&
               ParseNumber(selector.substr(hash + 1), &placement.node_index);
  }
  if (!readable) {
    FailUsage("'%s': expected #NODE, SUBGRAPH#NODE, op:OPERATOR or tensor:NAME", selector.c_str());
  }
  placement.name = name.c_str();
  if (DeputyInterpreterOptionsAddPlacement(options, &placement) != kTfLiteOk) {
    FailWork("'%s': the library refuses this placement", selector.c_str());
  }
}

void AddPin(const std::string& pin, const std::vector<LoadedDelegate>& delegates,
            TfLiteInterpreterOptions* options) {
  const size_t equals = pin.rfind('=');
  int index = 0;
  if (equals == std::string::npos || !ParseNumber(pin.substr(equals + 1), &index)) {
    FailUsage("--pin %s: expected SELECTOR=DELEGATE, the delegate's number from 0", pin.c_str());
  }
  if (static_cast<size_t>(index) >= delegates.size()) {
    FailUsage("--pin %s: no delegate %d, there are %zu", pin.c_str(), index, delegates.size());
  }
  AddPlacement(pin.substr(0, equals), delegates[static_cast<size_t>(index)].get(), options);
}

}  // namespace deputy::tools
