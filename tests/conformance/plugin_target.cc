// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/plugin_target.h"

#include "c_api/include/c_api_experimental.h"

namespace deputy::conformance {
namespace {

std::shared_ptr<TfLiteDelegate> MakeDelegate(const std::string& path, const PluginOptions& options,
                                             std::string* out_error) {
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
  if (delegate != nullptr) return {delegate, &DeputyPluginDeleteDelegate};
  out_error->append(DeputyLastError());
  return nullptr;
}

}  // namespace

Target PluginTarget(const std::string& name, const std::string& path, const PluginOptions& options,
                    MayRefuse may_refuse) {
  Target target;
  target.name = name;
  // One of them stays as long as the target: what delegates of a device share is made once.
  const auto kept = std::make_shared<std::shared_ptr<TfLiteDelegate>>();
  target.apply = [path, options, kept](TfLiteInterpreter* interpreter, Held* held,
                                       std::string* out_error) {
    if (*kept == nullptr) *kept = MakeDelegate(path, options, out_error);
    const auto delegate = *kept == nullptr ? nullptr : MakeDelegate(path, options, out_error);
    if (delegate == nullptr) return kTfLiteDelegateError;
    held->Add(delegate);
    return TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate.get());
  };
  target.may_refuse = may_refuse;
  target.steps = 1;
  return target;
}

std::string WhyNotHere(const std::string& path, const PluginOptions& options) {
  std::string error;
  return MakeDelegate(path, options, &error) == nullptr ? error : "";
}

std::string WhatItTells(const NodeLeft& node) { return node.told; }

}  // namespace deputy::conformance
