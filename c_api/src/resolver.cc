// SPDX-License-Identifier: Apache-2.0
#include "c_api/src/resolver.h"

#include <cstring>

#include "core/base/operator_object.h"
#include "kernels/registry.h"

namespace deputy {
namespace {

// Returns true if the operator has any function. (Upstream ignores operators that have only the
// functions with data; Deputy accepts them.)
bool IsKernel(const TfLiteOperator* op) {
  return op != nullptr &&
         (op->init != nullptr || op->free != nullptr || op->prepare != nullptr ||
          op->invoke != nullptr || op->async_kernel != nullptr || op->init_with_data != nullptr ||
          op->free_with_data != nullptr || op->prepare_with_data != nullptr ||
          op->invoke_with_data != nullptr || op->async_kernel_with_data != nullptr);
}

TfLiteRegistration FromOperator(const TfLiteOperator& op) {
  TfLiteRegistration registration{};
  registration.registration_external = const_cast<TfLiteOperator*>(&op);
  registration.builtin_code = op.builtin_code;
  registration.custom_name = op.custom_name;
  registration.version = op.version;
  registration.inplace_operator = op.inplace_operator;
  return registration;
}

// Converts an older struct, which is a prefix of the current one. Clients of these releases do not
// set the operator object.
template <typename Old>
TfLiteRegistration FromPrefix(const Old& old) {
  TfLiteRegistration registration{};
  memcpy(&registration, &old, sizeof old);
  registration.registration_external = nullptr;
  return registration;
}

}  // namespace

TfLiteRegistration FromOpDef(const OpDef& def, int version) {
  TfLiteRegistration registration{};
  registration.init = def.init;
  registration.free = def.free;
  registration.prepare = def.prepare;
  registration.invoke = def.invoke;
  registration.builtin_code = def.code;
  registration.custom_name = def.code == kTfLiteBuiltinCustom ? def.name : nullptr;
  registration.version = version;
  registration.inplace_operator = def.inplace;
  return registration;
}

const OpDef* FindOwnKernel(const TfLiteRegistration& registration) {
  const auto code = static_cast<TfLiteBuiltinOperator>(registration.builtin_code);
  if (code == kTfLiteBuiltinCustom && registration.custom_name == nullptr) return nullptr;
  const OpDef* const def = code == kTfLiteBuiltinCustom
                               ? FindCustomOp(registration.custom_name, registration.version)
                               : FindBuiltin(code, registration.version);
  const bool is_own = def != nullptr && def->invoke != nullptr &&
                      registration.invoke == def->invoke && registration.prepare == def->prepare &&
                      registration.init == def->init && registration.free == def->free &&
                      registration.registration_external == nullptr;
  return is_own ? def : nullptr;
}

bool ResolverCallbacks::any() const {
  return find_builtin_external != nullptr || find_custom_external != nullptr ||
         find_builtin != nullptr || find_custom != nullptr || find_builtin_v3 != nullptr ||
         find_custom_v3 != nullptr || find_builtin_v2 != nullptr || find_custom_v2 != nullptr ||
         find_builtin_v1 != nullptr || find_custom_v1 != nullptr;
}

void OperatorSet::AddBuiltin(TfLiteBuiltinOperator code, const TfLiteRegistration& registration,
                             int min_version, int max_version) {
  Entry entry{min_version, max_version, registration};
  entry.registration.builtin_code = code;
  entry.registration.custom_name = nullptr;
  builtins_.push_back(entry);
}

void OperatorSet::AddCustom(const char* name, const TfLiteRegistration& registration,
                            int min_version, int max_version) {
  Entry entry{min_version, max_version, registration};
  entry.registration.builtin_code = kTfLiteBuiltinCustom;
  entry.registration.custom_name = name;
  customs_.push_back(entry);
}

void OperatorSet::AddOperator(const TfLiteOperator* op) {
  if (op == nullptr || op->custom_name == nullptr) return;
  TfLiteRegistration registration = FromOperator(*op);
  AddCustom(op->custom_name, registration, op->version, op->version);
}

// Finds a builtin operator. The entry that was added last takes precedence.
const TfLiteRegistration* OperatorSet::FindBuiltin(TfLiteBuiltinOperator code, int version) const {
  for (auto entry = builtins_.rbegin(); entry != builtins_.rend(); ++entry) {
    if (entry->registration.builtin_code == code && version >= entry->min_version &&
        version <= entry->max_version) {
      return &entry->registration;
    }
  }
  return nullptr;
}

const TfLiteRegistration* OperatorSet::FindCustom(const char* name, int version) const {
  for (auto entry = customs_.rbegin(); entry != customs_.rend(); ++entry) {
    if (strcmp(entry->registration.custom_name, name) == 0 && version >= entry->min_version &&
        version <= entry->max_version) {
      return &entry->registration;
    }
  }
  return nullptr;
}

const TfLiteRegistration* ClientResolver::Keep(const TfLiteRegistration& registration) {
  found_ = registration;
  return &found_;
}

const TfLiteRegistration* ClientResolver::FindBuiltinByCallback(TfLiteBuiltinOperator code,
                                                                int version) {
  const ResolverCallbacks& client = operators_.callbacks;
  if (client.find_builtin_external != nullptr) {
    const TfLiteOperator* op = client.find_builtin_external(client.user_data, code, version);
    if (IsKernel(op)) return Keep(FromOperator(*op));
  }
  if (client.find_builtin != nullptr) {
    if (const auto* found = client.find_builtin(client.user_data, code, version)) return found;
  }
  if (client.find_builtin_v3 != nullptr) {
    const auto* found = client.find_builtin_v3(client.user_data, code, version);
    if (found != nullptr) return Keep(FromPrefix(*found));
  }
  if (client.find_builtin_v2 != nullptr) {
    const auto* found = client.find_builtin_v2(client.user_data, code, version);
    if (found != nullptr) return Keep(FromPrefix(*found));
  }
  if (client.find_builtin_v1 != nullptr) {
    const auto* found = client.find_builtin_v1(client.user_data, code, version);
    if (found != nullptr) return Keep(FromPrefix(*found));
  }
  return nullptr;
}

const TfLiteRegistration* ClientResolver::FindCustomByCallback(const char* name, int version) {
  const ResolverCallbacks& client = operators_.callbacks;
  if (client.find_custom_external != nullptr) {
    const TfLiteOperator* op = client.find_custom_external(client.user_data, name, version);
    if (IsKernel(op)) return Keep(FromOperator(*op));
  }
  if (client.find_custom != nullptr) {
    if (const auto* found = client.find_custom(client.user_data, name, version)) return found;
  }
  if (client.find_custom_v3 != nullptr) {
    const auto* found = client.find_custom_v3(client.user_data, name, version);
    if (found != nullptr) return Keep(FromPrefix(*found));
  }
  if (client.find_custom_v2 != nullptr) {
    const auto* found = client.find_custom_v2(client.user_data, name, version);
    if (found != nullptr) return Keep(FromPrefix(*found));
  }
  if (client.find_custom_v1 != nullptr) {
    const auto* found = client.find_custom_v1(client.user_data, name, version);
    if (found != nullptr) return Keep(FromPrefix(*found));
  }
  return nullptr;
}

const TfLiteRegistration* ClientResolver::FindBuiltin(TfLiteBuiltinOperator code, int version) {
  if (operators_.callbacks.any()) return FindBuiltinByCallback(code, version);
  if (const auto* added = operators_.FindBuiltin(code, version)) return added;
  if (!with_builtins_) return nullptr;
  const OpDef* def = deputy::FindBuiltin(code, version);
  return def != nullptr && def->invoke != nullptr ? Keep(FromOpDef(*def, version)) : nullptr;
}

const TfLiteRegistration* ClientResolver::FindCustom(const char* name, int version) {
  if (operators_.callbacks.any()) return FindCustomByCallback(name, version);
  if (const auto* added = operators_.FindCustom(name, version)) return added;
  if (!with_builtins_) return nullptr;
  const OpDef* def = FindCustomOp(name, version);
  return def != nullptr ? Keep(FromOpDef(*def, version)) : nullptr;
}

bool ClientResolver::IsOwnKernel(const TfLiteRegistration& registration) const {
  return FindOwnKernel(registration) != nullptr;
}

const OpDef* ClientResolver::FindParser(TfLiteBuiltinOperator code) {
  return FindBuiltinAnyVersion(code);
}

}  // namespace deputy
