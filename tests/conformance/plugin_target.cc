// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/plugin_target.h"

#include <utility>

#include "c_api/include/c_api_experimental.h"

namespace deputy::conformance {
namespace {

// A library that is loaded when first needed: examining it takes longer than most cases.
class Library {
 public:
  Library(std::string path, PluginOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  std::shared_ptr<TfLiteDelegate> MakeDelegate(std::string* out_error) {
    if (plugin_ == nullptr) plugin_.reset(DeputyPluginLoad(path_.c_str()), &DeputyPluginRelease);
    // One of them stays as long as the target: what delegates of a device share is made once.
    if (plugin_ != nullptr && kept_ == nullptr) kept_ = Create();
    auto delegate = kept_ == nullptr ? nullptr : Create();
    if (delegate == nullptr) out_error->append(DeputyLastError());
    return delegate;
  }

 private:
  std::shared_ptr<TfLiteDelegate> Create() const {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options_) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    TfLiteDelegate* delegate =
        DeputyPluginCreateDelegate(plugin_.get(), keys.data(), values.data(), keys.size());
    if (delegate == nullptr) return nullptr;
    return {delegate, &DeputyPluginDeleteDelegate};
  }

  const std::string path_;
  const PluginOptions options_;
  std::shared_ptr<DeputyPlugin> plugin_;
  std::shared_ptr<TfLiteDelegate> kept_;
};

}  // namespace

Target PluginTarget(const std::string& name, const std::string& path, const PluginOptions& options,
                    MayRefuse may_refuse) {
  Target target;
  target.name = name;
  const auto library = std::make_shared<Library>(path, options);
  target.apply = [library](TfLiteInterpreter* interpreter, Held* held, std::string* out_error) {
    const auto delegate = library->MakeDelegate(out_error);
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
  return Library(path, options).MakeDelegate(&error) == nullptr ? error : "";
}

std::string WhatItTells(const NodeLeft& node) { return node.told; }

}  // namespace deputy::conformance
