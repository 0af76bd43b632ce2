// SPDX-License-Identifier: Apache-2.0
//
// Delegates that command-line tools create from flags. A program registers providers with
// REGISTER_DELEGATE_PROVIDER; the list belongs to the program, and no header registers any.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_DELEGATES_DELEGATE_PROVIDER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_DELEGATES_DELEGATE_PROVIDER_H_

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/tools/command_line_flags.h"
#include "tensorflow/lite/tools/logging.h"
#include "tensorflow/lite/tools/tool_params.h"

namespace tflite {
namespace tools {

using TfLiteDelegatePtr = std::unique_ptr<TfLiteOpaqueDelegate, void (*)(TfLiteOpaqueDelegate*)>;

class DelegateProvider {
 public:
  virtual ~DelegateProvider() = default;

  // Flags that set values in `params`, which outlives them.
  virtual std::vector<Flag> CreateFlags(ToolParams* params) const = 0;

  // Prints the parameters that were set; all of them if `verbose` is true.
  virtual void LogParams(const ToolParams& params, bool verbose) const = 0;

  // Null if the parameters do not select the delegate.
  virtual TfLiteDelegatePtr CreateTfLiteDelegate(const ToolParams& params) const = 0;

  // Returns the delegate with the position of its flag; delegates are applied in ascending order of
  // the positions.
  virtual std::pair<TfLiteDelegatePtr, int> CreateRankedTfLiteDelegate(
      const ToolParams& params) const = 0;

  virtual std::string GetName() const = 0;

  const ToolParams& DefaultParams() const { return default_params_; }

 protected:
  // A flag that sets the parameter of the same name.
  template <typename T>
  Flag CreateFlag(const char* name, ToolParams* params, const std::string& usage) const {
    return Flag(
        name,
        [params, name](const T& value, int position) { params->Set<T>(name, value, position); },
        default_params_.Get<T>(name), usage, Flag::kOptional);
  }

  ToolParams default_params_;
};

using DelegateProviderPtr = std::unique_ptr<DelegateProvider>;
using DelegateProviderList = std::vector<DelegateProviderPtr>;

class DelegateProviderRegistrar {
 public:
  DelegateProviderRegistrar(const DelegateProviderRegistrar&) = delete;
  DelegateProviderRegistrar& operator=(const DelegateProviderRegistrar&) = delete;

  template <typename T>
  struct Register {
    Register() { GetSingleton()->providers_.push_back(std::make_unique<T>()); }
  };

  static const DelegateProviderList& GetProviders() { return GetSingleton()->providers_; }

 private:
  DelegateProviderRegistrar() = default;

  // Never destroyed, because providers may be used while the program exits.
  static DelegateProviderRegistrar* GetSingleton() {
    static auto* const instance = new DelegateProviderRegistrar();
    return instance;
  }

  DelegateProviderList providers_;
};

inline const DelegateProviderList& GetRegisteredDelegateProviders() {
  return DelegateProviderRegistrar::GetProviders();
}

inline TfLiteDelegatePtr CreateNullDelegate() {
  return TfLiteDelegatePtr(nullptr, [](TfLiteOpaqueDelegate* /*delegate*/) {});
}

// The registered providers, with the parameters of a tool.
class ProvidedDelegateList {
 public:
  struct ProvidedDelegate {
    const DelegateProvider* provider = nullptr;
    TfLiteDelegatePtr delegate = CreateNullDelegate();
    int rank = 0;
  };

  ProvidedDelegateList() : ProvidedDelegateList(nullptr) {}

  // Borrows the parameters; null permits only the functions that do not use them: providers(),
  // RemoveCmdlineFlag and CreateAllRankedDelegates(params).
  explicit ProvidedDelegateList(ToolParams* params)
      : providers_(GetRegisteredDelegateProviders()), params_(params) {}

  const DelegateProviderList& providers() const { return providers_; }

  void AddAllDelegateParams() const {
    for (const auto& provider : providers_) params_->Merge(provider->DefaultParams());
  }

  void AppendCmdlineFlags(std::vector<Flag>& flags) const {
    for (const auto& provider : providers_) {
      const std::vector<Flag> more = provider->CreateFlags(params_);
      flags.insert(flags.end(), more.begin(), more.end());
    }
  }

  void RemoveCmdlineFlag(std::vector<Flag>& flags, const std::string& name) const {
    const auto has_name = [&name](const Flag& flag) { return flag.GetFlagName() == name; };
    flags.erase(std::remove_if(flags.begin(), flags.end(), has_name), flags.end());
  }

  // The delegates that the parameters select, in the order in which they are to be applied.
  std::vector<ProvidedDelegate> CreateAllRankedDelegates(const ToolParams& params) const {
    std::vector<ProvidedDelegate> delegates;
    for (const auto& provider : providers_) {
      auto [delegate, rank] = provider->CreateRankedTfLiteDelegate(params);
      if (delegate == nullptr) continue;
      TFLITE_LOG(INFO) << provider->GetName() << " delegate created.";
      ProvidedDelegate provided;
      provided.provider = provider.get();
      provided.delegate = std::move(delegate);
      provided.rank = rank;
      delegates.push_back(std::move(provided));
    }
    std::stable_sort(
        delegates.begin(), delegates.end(),
        [](const ProvidedDelegate& a, const ProvidedDelegate& b) { return a.rank < b.rank; });
    return delegates;
  }
  std::vector<ProvidedDelegate> CreateAllRankedDelegates() const {
    return CreateAllRankedDelegates(*params_);
  }

 private:
  const DelegateProviderList& providers_;
  ToolParams* const params_;
};

}  // namespace tools
}  // namespace tflite

// Registers the class T when the program starts.
#define REGISTER_DELEGATE_PROVIDER_VNAME(T) gDelegateProvider_##T##_
#define REGISTER_DELEGATE_PROVIDER(T) \
  static tflite::tools::DelegateProviderRegistrar::Register<T> REGISTER_DELEGATE_PROVIDER_VNAME(T);

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_TOOLS_DELEGATES_DELEGATE_PROVIDER_H_
