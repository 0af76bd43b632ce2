// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/plugin_target.h"

#include <memory>

#include "c_api/include/c_api_experimental.h"

namespace deputy::conformance {
namespace {

// The delegates of one target. Keeps one delegate alive as long as the target, so that resources
// shared by the delegates of a device are created once.
class TargetDelegates {
 public:
  TargetDelegates(const std::string& path, const PluginOptions& options)
      : library_(path, options) {}

  std::shared_ptr<TfLiteDelegate> Make(std::string* out_error) {
    if (kept_ == nullptr) kept_ = library_.Create(out_error);
    return kept_ == nullptr ? nullptr : library_.Create(out_error);
  }

 private:
  PluginLibrary library_;
  std::shared_ptr<TfLiteDelegate> kept_;
};

}  // namespace

Target PluginTarget(const std::string& name, const std::string& path, const PluginOptions& options,
                    MayRefuse may_refuse) {
  Target target;
  target.name = name;
  const auto delegates = std::make_shared<TargetDelegates>(path, options);
  target.apply = [delegates](TfLiteInterpreter* interpreter, KeepAlive* keep_alive,
                             std::string* out_error) {
    const auto delegate = delegates->Make(out_error);
    if (delegate == nullptr) return kTfLiteDelegateError;
    keep_alive->Add(delegate);
    return TfLiteInterpreterModifyGraphWithDelegate(interpreter, delegate.get());
  };
  target.may_refuse = may_refuse;
  target.steps = 1;
  return target;
}

std::string UnavailableReason(const std::string& path, const PluginOptions& options) {
  std::string error;
  return PluginLibrary(path, options).Create(&error) == nullptr ? error : "";
}

std::string ReportedReason(const NodeLeft& node) { return node.delegate_reason; }

}  // namespace deputy::conformance
