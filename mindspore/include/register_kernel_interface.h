// SPDX-License-Identifier: Apache-2.0
//
// Registers shape inference for operators with registered kernels (register_kernel.h).
//
//     std::shared_ptr<mindspore::kernel::KernelInterface> CreateInfer() {...}
//     REGISTER_CUSTOM_KERNEL_INTERFACE(Vendor, MyOperator, CreateInfer)
#ifndef DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_INTERFACE_H_
#define DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_INTERFACE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kernel.h"
#include "kernel_interface.h"
#include "register_kernel_c.h"
#include "schema.h"
#include "status.h"

namespace mindspore {
namespace registry {

using KernelInterfaceCreator = std::function<std::shared_ptr<kernel::KernelInterface>()>;

namespace detail {

// Returns the name of a custom operator; "" for another operator.
inline std::string CustomTypeOf(const schema::Primitive* primitive) {
  const schema::Custom* custom = primitive == nullptr ? nullptr : primitive->value_as_Custom();
  return custom == nullptr || custom->type() == nullptr ? "" : custom->type()->str();
}

inline DeputyMSKernelKey KeyOf(const std::string& arch, const std::string& provider, int data_type,
                               int op_type, const std::string& custom_type) {
  return {sizeof(DeputyMSKernelKey),          arch.c_str(), provider.c_str(),
          static_cast<MSDataType>(data_type), op_type,      custom_type.c_str()};
}

// A registered creator with the object that it has created.
class InterfaceEntry {
 public:
  explicit InterfaceEntry(KernelInterfaceCreator creator) : creator_(std::move(creator)) {}

  std::shared_ptr<kernel::KernelInterface> Get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (created_ == nullptr) created_ = creator_();
    return created_;
  }

 private:
  const KernelInterfaceCreator creator_;
  std::mutex mutex_;
  std::shared_ptr<kernel::KernelInterface> created_;
};

}  // namespace detail

class RegisterKernelInterface {
 public:
  // Register a creator for a custom operator, by its name, or for another operator. The first
  // search that finds it calls it. Return kLiteParamInvalid if a string is empty or the type is out
  // of range, kLiteNullptr for an empty creator.
  static Status CustomReg(const std::string& provider, const std::string& op_type,
                          const KernelInterfaceCreator& creator) {
    return Add(provider, schema::PrimitiveType_Custom, op_type, creator);
  }
  static Status Reg(const std::string& provider, int op_type,
                    const KernelInterfaceCreator& creator) {
    return Add(provider, op_type, "", creator);
  }

  // Returns the object for an operator, given by its kernel or its primitive; null if there is
  // none. The provider of a custom operator is ignored.
  static std::shared_ptr<kernel::KernelInterface> GetKernelInterface(
      const std::string& provider, const schema::Primitive* primitive,
      const kernel::Kernel* kernel = nullptr) {
    if (kernel != nullptr && kernel->primitive() != nullptr) primitive = kernel->primitive();
    if (primitive == nullptr) return nullptr;
    const std::string custom_type = detail::CustomTypeOf(primitive);
    const DeputyMSKernelKey key =
        detail::KeyOf("", provider, 0, static_cast<int>(primitive->value_type()), custom_type);
    auto* entry = static_cast<detail::InterfaceEntry*>(DeputyMSFindKernelInterface(&key));
    return entry == nullptr ? nullptr : entry->Get();
  }

 private:
  static Status Add(const std::string& provider, int op_type, const std::string& custom_type,
                    const KernelInterfaceCreator& creator) {
    if (creator == nullptr) return {kLiteNullptr, "the creator is null"};
    auto entry = std::make_unique<detail::InterfaceEntry>(creator);
    const DeputyMSKernelKey key = detail::KeyOf("", provider, 0, op_type, custom_type);
    const MSStatus status = DeputyMSRegisterKernelInterface(&key, entry.get());
    // The registry refers to the entry as long as the process runs.
    if (status == kMSStatusSuccess) static_cast<void>(entry.release());
    return mindspore::detail::ToStatus(status);
  }
};

// Registers in its constructor, for static objects.
class KernelInterfaceReg {
 public:
  KernelInterfaceReg(const std::string& provider, int op_type,
                     const KernelInterfaceCreator& creator) {
    RegisterKernelInterface::Reg(provider, op_type, creator);
  }
  KernelInterfaceReg(const std::string& provider, const std::string& op_type,
                     const KernelInterfaceCreator& creator) {
    RegisterKernelInterface::CustomReg(provider, op_type, creator);
  }
  KernelInterfaceReg(const KernelInterfaceReg&) = delete;
  KernelInterfaceReg& operator=(const KernelInterfaceReg&) = delete;
  virtual ~KernelInterfaceReg() = default;
};

}  // namespace registry
}  // namespace mindspore

#define DEPUTY_MS_JOIN_(left, right) left##right
#define DEPUTY_MS_JOIN(left, right) DEPUTY_MS_JOIN_(left, right)

// Register a KernelInterfaceCreator when the program starts. `provider`, and the name of a custom
// operator, are words without quotes.
#define REGISTER_KERNEL_INTERFACE(provider, op_type, creator)                                   \
  namespace {                                                                                   \
  const mindspore::registry::KernelInterfaceReg DEPUTY_MS_JOIN(g_kernel_interface_,             \
                                                               __COUNTER__)(#provider, op_type, \
                                                                            creator);           \
  }
#define REGISTER_CUSTOM_KERNEL_INTERFACE(provider, op_type, creator)                             \
  namespace {                                                                                    \
  const mindspore::registry::KernelInterfaceReg DEPUTY_MS_JOIN(g_kernel_interface_,              \
                                                               __COUNTER__)(#provider, #op_type, \
                                                                            creator);            \
  }

#endif  // DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_INTERFACE_H_
