// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/plugin_target.h"

#include "c_api/include/c_api_experimental.h"

namespace deputy::conformance {
namespace {

TfLiteStatus Apply(TfLiteInterpreter* interpreter, const std::string& path,
                   const PluginOptions& options, Held* held, std::string* out_error) {
  const std::shared_ptr<DeputyPlugin> plugin(DeputyPluginLoad(path.c_str()), &DeputyPluginRelease);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  TfLiteDelegate* delegate =
      plugin == nullptr
          ? nullptr
          : DeputyPluginCreateDelegate(plugin.get(), keys.data(), values.data(), keys.size());
  if (delegate == nullptr) {
    out_error->append(DeputyLastError());
    return kTfLiteDelegateError;
  }
  held->Add(std::shared_ptr<TfLiteDelegate>(delegate, &DeputyPluginDeleteDelegate));
  return TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate);
}

}  // namespace

Target PluginTarget(const std::string& name, const std::string& path, const PluginOptions& options,
                    MayRefuse may_refuse) {
  Target target;
  target.name = name;
  target.apply = [path, options](TfLiteInterpreter* interpreter, Held* held,
                                 std::string* out_error) {
    return Apply(interpreter, path, options, held, out_error);
  };
  target.may_refuse = may_refuse;
  target.steps = 1;
  return target;
}

std::string WhatItTells(const NodeLeft& node) { return node.told; }

}  // namespace deputy::conformance
