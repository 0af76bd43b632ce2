// SPDX-License-Identifier: Apache-2.0
//
// The registry of custom CPU kernels, and the delegates by which models use them.
#ifndef DEPUTY_MINDSPORE_SRC_REGISTRY_H_
#define DEPUTY_MINDSPORE_SRC_REGISTRY_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "mindspore/include/register_kernel_c.h"
#include "mindspore/src/adapter.h"
#include "mindspore/src/context.h"

namespace deputy::ms_api {

// The creators and interfaces of this process. All functions may be called from any thread.
class Registry {
 public:
  // Returns the registry, which is never destroyed: static objects of clients refer to it.
  static Registry& Get();

  MSStatus AddKernel(const DeputyMSKernelKey& key, const DeputyMSKernelCreator& creator);
  MSStatus AddInterface(const DeputyMSKernelKey& key, void* object);
  const DeputyMSKernelCreator* FindKernel(const DeputyMSKernelKey& key, const char** out_arch);
  void* FindInterface(const DeputyMSKernelKey& key);

  // Returns true if a node of a model with this context may get a kernel: one that is registered
  // for the provider of a device, or for an operator in `custom`, the names of the model's
  // operators that MindSpore does not have.
  bool MayMatch(const Context& context, const std::set<std::string>& custom);
  // Returns true if a kernel is registered for this provider and architecture. An empty text
  // matches all.
  bool HasKernels(const std::string& provider, const std::string& arch);

 private:
  // Operator type, custom type and data type, provider, architecture.
  using KernelKey = std::tuple<int, std::string, int, std::string, std::string>;
  using InterfaceKey = std::tuple<int, std::string, std::string>;

  std::mutex mutex_;
  // Creators are never freed, because models and callers of FindKernel keep pointers to them.
  std::vector<std::unique_ptr<DeputyMSKernelCreator>> creators_;
  std::map<KernelKey, const DeputyMSKernelCreator*> kernels_;
  std::map<InterfaceKey, void*> interfaces_;
};

// The delegates that replace a model's nodes by registered kernels: one for kernels that set the
// shapes of their outputs, and one for kernels that the runtime creates again after a resize.
class RegisteredKernels {
 public:
  explicit RegisteredKernels(Context* context);

  TfLiteDelegate* resizable() { return resizable_.delegate(); }
  TfLiteDelegate* fixed() { return fixed_.delegate(); }
  // Returns true if the delegate `fixed` is needed. Valid after `resizable` was applied.
  bool needs_fixed() const { return *needs_fixed_; }
  // Returns the status of the latest failure; kMSStatusSuccess if there was none.
  MSStatus failure() const;
  void ClearFailure();

 private:
  const std::shared_ptr<bool> needs_fixed_ = std::make_shared<bool>(false);
  Adapter resizable_, fixed_;
};

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_REGISTRY_H_
