// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/registry.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "deputy/builtin_ops.h"
#include "mindspore/schema/model_generated.h"
#include "mindspore/src/graph.h"
#include "mindspore/src/log.h"

namespace deputy::ms_api {
namespace {

namespace schema = mindspore::schema;

constexpr int kMaxDataType = 64;  // above all element types

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

bool IsCustom(const DeputyMSKernelKey& key) { return key.op_type == DEPUTY_MS_CUSTOM_OPERATOR; }

// Checks the part of a key that kernels and interfaces have in common.
MSStatus CheckKey(const DeputyMSKernelKey& key, const char* function) {
  if (key.struct_size < sizeof key) {
    return Fail(kMSStatusLiteParamInvalid, "%s: expected a key of %zu bytes, found %zu", function,
                sizeof key, key.struct_size);
  }
  if (TextOf(key.provider).empty() || (IsCustom(key) && TextOf(key.custom_type).empty())) {
    return Fail(kMSStatusLiteParamInvalid, "%s: the provider or the custom type is empty",
                function);
  }
  if (key.op_type <= schema::PrimitiveType_NONE || key.op_type > schema::PrimitiveType_MAX) {
    return Fail(kMSStatusLiteParamInvalid, "%s: expected an operator type of 1 to %d, found %d",
                function, static_cast<int>(schema::PrimitiveType_MAX), key.op_type);
  }
  return kMSStatusSuccess;
}

}  // namespace

// ---- Registry -----------------------------------------------------------------------------------

Registry& Registry::Get() {
  static auto* const registry = new Registry;
  return *registry;
}

MSStatus Registry::AddKernel(const DeputyMSKernelKey& key, const DeputyMSKernelCreator& creator) {
  if (const MSStatus status = CheckKey(key, "RegKernel"); status != kMSStatusSuccess) return status;
  if (creator.struct_size < offsetof(DeputyMSKernelCreator, object) || creator.create == nullptr) {
    return Fail(kMSStatusLiteNullptr, "RegKernel: the creator has no function, or no valid size");
  }
  if (TextOf(key.arch).empty() || key.data_type <= 0 || key.data_type > kMaxDataType) {
    return Fail(kMSStatusLiteParamInvalid,
                "RegKernel: expected an architecture and a data type of 1 to %d, found '%s' and %d",
                kMaxDataType, TextOf(key.arch).c_str(), static_cast<int>(key.data_type));
  }
  auto copy = std::make_unique<DeputyMSKernelCreator>();
  std::memcpy(copy.get(), &creator, std::min(creator.struct_size, sizeof *copy));
  const std::scoped_lock lock(mutex_);
  creators_.push_back(std::move(copy));
  const std::string custom_type = IsCustom(key) ? key.custom_type : "";
  kernels_[{key.op_type, custom_type, key.data_type, key.provider, key.arch}] =
      creators_.back().get();
  return kMSStatusSuccess;
}

MSStatus Registry::AddInterface(const DeputyMSKernelKey& key, void* object) {
  if (const MSStatus status = CheckKey(key, "Reg"); status != kMSStatusSuccess) return status;
  if (object == nullptr) return Fail(kMSStatusLiteNullptr, "Reg: the object is NULL");
  const std::scoped_lock lock(mutex_);
  interfaces_[{key.op_type, IsCustom(key) ? key.custom_type : "", key.provider}] = object;
  return kMSStatusSuccess;
}

const DeputyMSKernelCreator* Registry::FindKernel(const DeputyMSKernelKey& key,
                                                  const char** out_arch) {
  const std::string provider = TextOf(key.provider), arch = TextOf(key.arch);
  const std::string custom_type = IsCustom(key) ? TextOf(key.custom_type) : "";
  const std::scoped_lock lock(mutex_);
  auto found = kernels_.find({key.op_type, custom_type, key.data_type, provider, arch});
  if (IsCustom(key) && (provider.empty() || arch.empty())) {
    found = kernels_.lower_bound({key.op_type, custom_type, key.data_type, "", ""});
    const bool matches = found != kernels_.end() && std::get<0>(found->first) == key.op_type &&
                         std::get<1>(found->first) == custom_type &&
                         std::get<2>(found->first) == static_cast<int>(key.data_type);
    if (!matches) found = kernels_.end();
  }
  if (found == kernels_.end()) return nullptr;
  if (out_arch != nullptr) *out_arch = std::get<4>(found->first).c_str();
  return found->second;
}

void* Registry::FindInterface(const DeputyMSKernelKey& key) {
  const std::scoped_lock lock(mutex_);
  if (!IsCustom(key)) {
    const auto found = interfaces_.find({key.op_type, "", TextOf(key.provider)});
    return found == interfaces_.end() ? nullptr : found->second;
  }
  const std::string custom_type = TextOf(key.custom_type);
  const auto first = interfaces_.lower_bound({key.op_type, custom_type, ""});
  const bool matches = first != interfaces_.end() && std::get<0>(first->first) == key.op_type &&
                       std::get<1>(first->first) == custom_type;
  return matches ? first->second : nullptr;
}

bool Registry::MayMatch(const Context& context, const std::set<std::string>& custom) {
  const std::scoped_lock lock(mutex_);
  return std::any_of(kernels_.begin(), kernels_.end(), [&](const auto& entry) {
    const auto& [type, custom_type, data_type, provider, arch] = entry.first;
    if (custom.count(custom_type) > 0) return true;
    return std::any_of(context.devices.begin(), context.devices.end(),
                       [&name = provider](const auto& device) { return device->provider == name; });
  });
}

bool Registry::HasKernels(const std::string& provider, const std::string& arch) {
  const std::scoped_lock lock(mutex_);
  return std::any_of(kernels_.begin(), kernels_.end(), [&](const auto& entry) {
    return (provider.empty() || provider == std::get<3>(entry.first)) &&
           (arch.empty() || arch == std::get<4>(entry.first));
  });
}

// ---- RegisteredKernels --------------------------------------------------------------------------

namespace {

// Object of a delegate that replaces kernels by registered ones.
struct Pass {
  Context* context;
  bool is_resizable;  // which of the two delegates this is
  std::shared_ptr<bool> needs_fixed;

  static int Build(void* user_data, DeputyMSGraph* graph);
};

// A creator that was found for a kernel of the graph.
struct Match {
  const DeputyMSKernelCreator* creator = nullptr;
  bool is_resizable = false;
  std::string provider;
};

// Returns the data type for which a kernel is searched.
int DataTypeOf(const DeputyMSKernel& kernel) {
  for (MSTensorHandle input : kernel.inputs) {
    const int type = Tensor::Of(input)->type();
    for (const MSDataType preferred :
         {kMSDataTypeNumberTypeFloat32, kMSDataTypeNumberTypeFloat16, kMSDataTypeNumberTypeInt8,
          kMSDataTypeNumberTypeInt32, kMSDataTypeNumberTypeBool}) {
      if (type == preferred) return type;
    }
  }
  return kernel.inputs.empty() ? kMSDataTypeUnknown : Tensor::Of(kernel.inputs[0])->type();
}

std::string CustomTypeOf(const DeputyMSPrimitive& primitive) {
  const auto* root = flatbuffers::GetRoot<schema::Primitive>(primitive.buffer.data());
  const schema::Custom* custom = root->value_as_Custom();
  return custom == nullptr || custom->type() == nullptr ? "" : custom->type()->str();
}

Match FindMatch(const Context& context, const DeputyMSKernel& kernel) {
  const DeputyMSPrimitive& primitive = *kernel.primitive();
  const std::string custom_type = CustomTypeOf(primitive);
  DeputyMSKernelKey key = {};
  key.struct_size = sizeof key;
  key.data_type = static_cast<MSDataType>(DataTypeOf(kernel));
  key.op_type = primitive.type;
  key.custom_type = custom_type.c_str();
  const bool is_custom = IsCustom(key);
  const bool has_no_shapes = is_custom || primitive.builtin_code == kTfLiteBuiltinCustom;
  Registry& registry = Registry::Get();
  for (const auto& device : context.devices) {
    if (device->provider.empty() || device->provider_device.empty()) continue;
    key.provider = device->provider.c_str();
    key.arch = device->provider_device.c_str();
    const DeputyMSKernelCreator* creator = registry.FindKernel(key, nullptr);
    if (creator == nullptr) continue;
    const bool infers = (creator->flags & kDeputyMSKernelInfersShapes) != 0 ||
                        registry.FindInterface(key) != nullptr;
    return {creator, has_no_shapes || infers, device->provider};
  }
  if (!is_custom) return {};
  key.provider = "";
  key.arch = "";
  return {registry.FindKernel(key, nullptr), true, ""};
}

// Calls a creator and catches its exceptions. Returns "" or the reason of the failure.
std::string CreateKernel(const DeputyMSKernelCreator& creator, const DeputyMSKernel& kernel,
                         Context* context, DeputyMSKernelFunctions* functions, void** user_data) {
  try {
    const int code = creator.create(creator.user_data, &kernel, kernel.primitive(), context,
                                    functions, user_data);
    if (code == CodeOf(kMSStatusLiteNullptr)) return "returned no kernel";
    if (code != 0) return "returned " + std::to_string(code);
    return functions->execute == nullptr ? "returned a kernel without 'execute'" : "";
  } catch (const std::exception& error) {
    return std::string("threw an exception: ") + error.what();
  } catch (...) {
    return "threw an exception";
  }
}

int Pass::Build(void* user_data, DeputyMSGraph* graph) {
  auto* const pass = static_cast<Pass*>(user_data);
  if (pass->is_resizable) *pass->needs_fixed = false;
  for (size_t i = 0; i < graph->list.size(); ++i) {
    const DeputyMSKernel& kernel = *graph->list[i];
    if (kernel.foreign || kernel.node < 0) continue;
    const Match match = FindMatch(*pass->context, kernel);
    if (match.creator == nullptr) continue;
    if (match.is_resizable != pass->is_resizable) {
      *pass->needs_fixed = true;
      continue;
    }
    DeputyMSKernelFunctions functions = {};
    void* object = nullptr;
    const std::string problem =
        CreateKernel(*match.creator, kernel, pass->context, &functions, &object);
    if (!problem.empty()) {
      graph->Refuse("kernel '%s': the creator registered for it%s%s %s", kernel.name.c_str(),
                    match.provider.empty() ? "" : " by ", match.provider.c_str(), problem.c_str());
      return CodeOf(kMSStatusLiteError);
    }
    auto created = std::make_unique<DelegateKernel>(functions, object, kernel.name);
    if (graph->Replace(i, i + 1, std::move(created), nullptr) != kMSStatusSuccess) {
      return CodeOf(kMSStatusLiteError);
    }
  }
  return 0;
}

std::shared_ptr<DelegateHolder> HolderOf(Context* context, bool is_resizable,
                                         const std::shared_ptr<bool>& needs_fixed) {
  DeputyMSDelegate delegate = {};
  delegate.struct_size = sizeof delegate;
  delegate.abi_version = DEPUTY_MS_DELEGATE_ABI_VERSION;
  delegate.flags = is_resizable ? 0 : kDeputyMSDelegateStaticShapes;
  delegate.build = Pass::Build;
  delegate.release = [](void* pass) { delete static_cast<Pass*>(pass); };
  auto pass = std::make_unique<Pass>(Pass{context, is_resizable, needs_fixed});
  delegate.user_data = pass.get();
  auto holder = std::make_shared<DelegateHolder>(delegate);
  static_cast<void>(pass.release());  // the holder owns it now
  return holder;
}

}  // namespace

RegisteredKernels::RegisteredKernels(Context* context)
    : resizable_(HolderOf(context, true, needs_fixed_), context, true),
      fixed_(HolderOf(context, false, needs_fixed_), context, true) {}

MSStatus RegisteredKernels::failure() const {
  return resizable_.failure() != kMSStatusSuccess ? resizable_.failure() : fixed_.failure();
}

void RegisteredKernels::ClearFailure() {
  resizable_.ClearFailure();
  fixed_.ClearFailure();
}

}  // namespace deputy::ms_api

// ---- The C API ----------------------------------------------------------------------------------

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

MSStatus DeputyMSRegisterKernel(const DeputyMSKernelKey* key,
                                const DeputyMSKernelCreator* creator) {
  if (key == nullptr || creator == nullptr) {
    return Fail(kMSStatusLiteNullptr, "RegKernel: the key or the creator is NULL");
  }
  return Guard([&] { return Registry::Get().AddKernel(*key, *creator); });
}

const DeputyMSKernelCreator* DeputyMSFindKernel(const DeputyMSKernelKey* key,
                                                const char** out_arch) {
  if (key == nullptr) return nullptr;
  return Contain<const DeputyMSKernelCreator*>(
      nullptr, nullptr, [&] { return Registry::Get().FindKernel(*key, out_arch); });
}

MSStatus DeputyMSRegisterKernelInterface(const DeputyMSKernelKey* key, void* object) {
  if (key == nullptr) return Fail(kMSStatusLiteNullptr, "Reg: the key is NULL");
  return Guard([&] { return Registry::Get().AddInterface(*key, object); });
}

void* DeputyMSFindKernelInterface(const DeputyMSKernelKey* key) {
  if (key == nullptr) return nullptr;
  return Contain<void*>(nullptr, nullptr, [&] { return Registry::Get().FindInterface(*key); });
}

MSStatus DeputyMSContextSetObject(MSContextHandle context, void* object,
                                  void (*release)(void* object)) {
  if (context == nullptr || (object != nullptr && release == nullptr)) {
    return Fail(kMSStatusLiteNullptr, "SetObject: the context or the release function is NULL");
  }
  return Guard([&] {
    Context::Of(context)->object = std::shared_ptr<void>(object, release);
    return kMSStatusSuccess;
  });
}

void* DeputyMSContextGetObject(const MSContextHandle context) {
  return context == nullptr ? nullptr : Context::Of(context)->object.get();
}
