// SPDX-License-Identifier: Apache-2.0
//
// Dispatch plug-ins as delegates of any TensorFlow Lite host. The library exports the functions of
// a delegate plug-in (deputy_plugin.h), so that all layers around delegates apply to them.
#ifndef DEPUTY_LITERT_SRC_PLUGIN_DELEGATE_H_
#define DEPUTY_LITERT_SRC_PLUGIN_DELEGATE_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "deputy/common.h"
#include "deputy/deputy_plugin.h"
#include "litert/src/dispatch_delegate.h"
#include "litert/src/dispatch_library.h"
#include "litert/src/model.h"
#include "litert/src/plugin_compilation.h"

namespace deputy::litert {

// Options of the delegate; "" is the default.
struct PluginDelegateOptions {
  std::string dispatch_library_dir, compiler_plugin_library_dir, soc_model, model;
};

// A delegate that runs operators DISPATCH_OP or, with a folder of compiler plug-ins, the operators
// that these select and compile when the delegate is applied.
class PluginDelegate {
 public:
  explicit PluginDelegate(PluginDelegateOptions options) : settings_(std::move(options)) {}
  ~PluginDelegate();
  PluginDelegate(const PluginDelegate&) = delete;
  PluginDelegate& operator=(const PluginDelegate&) = delete;

  // Loads the dispatch plug-in and creates the delegate.
  LiteRtStatus Open();
  TfLiteDelegate* delegate() { return delegate_; }
  const char* vendor() const { return library_->vendor.c_str(); }

  // Copies the model of the interpreter that calls the next function.
  void SetModel(const void* data, size_t size);
  // Finds the nodes that the delegate would run.
  LiteRtStatus FindSupport(TfLiteContext* context, DeputySupportResult* result);

 private:
  LiteRtStatus LoadModel(std::shared_ptr<LiteRtModelT>* out_model);
  // Selects nodes of the context's graph and, unless `selects_only`, compiles them.
  LiteRtStatus Compile(TfLiteContext* context, bool selects_only,
                       std::shared_ptr<LiteRtModelT>* out_model,
                       std::shared_ptr<GroupCompilation>* out_compilation);
  LiteRtStatus Choose(TfLiteContext* context, std::shared_ptr<const DispatchSource>* out_source);

  const PluginDelegateOptions settings_;
  LiteRtEnvironment environment_ = nullptr;
  LiteRtOptions options_ = nullptr;
  const DispatchLibrary* library_ = nullptr;
  TfLiteDelegate* delegate_ = nullptr;
  ChooseSource choose_;
  std::mutex mutex_;
  std::shared_ptr<LiteRtModelT> model_;  // that of set_model; null: none
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_PLUGIN_DELEGATE_H_
