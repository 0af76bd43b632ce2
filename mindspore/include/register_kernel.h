// SPDX-License-Identifier: Apache-2.0
//
// Registers CPU kernels for operators of models. register_kernel_c.h has the rule by which nodes
// get kernels. A KernelInterface (register_kernel_interface.h) sets the shapes of the outputs.
// Without one, ReSize sets those of a custom operator, and the runtime infers all others.
//
//     std::shared_ptr<mindspore::kernel::Kernel> Create(
//         const std::vector<mindspore::MSTensor>& inputs,
//         const std::vector<mindspore::MSTensor>& outputs,
//         const mindspore::schema::Primitive* primitive, const mindspore::Context* context) {...}
//     const auto kFloat32 = mindspore::DataType::kNumberTypeFloat32;
//     REGISTER_CUSTOM_KERNEL(CPU, Vendor, kFloat32, MyOperator, Create)
#ifndef DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_H_
#define DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "context.h"
#include "delegate.h"
#include "kernel.h"
#include "register_kernel_c.h"
#include "register_kernel_interface.h"
#include "schema.h"
#include "status.h"
#include "types.h"

namespace mindspore {
namespace registry {

// Key of a registered kernel.
struct KernelDesc {
  DataType data_type;
  int type;  // PrimitiveType
  std::string arch;
  std::string provider;
};

// Creates a kernel. Inputs and outputs are the node's; the primitive and the context are valid as
// long as the kernel exists. The context is null if the model was built with the C API.
using CreateKernel = std::function<std::shared_ptr<kernel::Kernel>(
    const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs,
    const schema::Primitive* primitive, const mindspore::Context* context)>;

namespace detail {

struct CreatorEntry {
  CreateKernel create;
  std::string provider;
};

// A kernel returned by a registered creator, with the objects to which it refers.
class RegisteredKernel {
 public:
  static int Create(void* user_data, const DeputyMSKernel* original,
                    const DeputyMSPrimitive* primitive, MSContextHandle context,
                    DeputyMSKernelFunctions* out_functions, void** out_user_data) {
    const auto* entry = static_cast<const CreatorEntry*>(user_data);
    auto result = std::make_unique<RegisteredKernel>(entry->provider, primitive, context);
    result->kernel_ = entry->create(mindspore::detail::ToTensors(DeputyMSKernelInputs(original)),
                                    mindspore::detail::ToTensors(DeputyMSKernelOutputs(original)),
                                    result->primitive(), result->object_.context.get());
    if (result->kernel_ == nullptr) return lite::RET_NULL_PTR;
    kernel::Kernel& created = *result->kernel_;
    if (created.name().empty()) created.set_name(DeputyMSKernelName(original));
    created.SetConfig(result->object_.config.get());
    const std::string custom_type = CustomTypeOf(result->primitive());
    if (!custom_type.empty() && created.GetAttr("type").empty()) {
      created.SetAttr("type", custom_type);
    }
    *out_functions = Functions();
    *out_user_data = result.release();
    return lite::RET_OK;
  }

  RegisteredKernel(std::string provider, const DeputyMSPrimitive* primitive,
                   MSContextHandle context)
      : provider_(std::move(provider)) {
    const void* data = nullptr;
    size_t size = 0;
    DeputyMSPrimitiveGetBuffer(primitive, &data, &size);
    const auto* bytes = static_cast<const uint8_t*>(data);
    primitive_.assign(bytes, bytes + size);
    const auto* object =
        static_cast<mindspore::detail::ContextObject*>(DeputyMSContextGetObject(context));
    if (object != nullptr) object_ = *object;
  }

 private:
  static RegisteredKernel* Of(void* user_data) { return static_cast<RegisteredKernel*>(user_data); }
  static DeputyMSKernelFunctions Functions() {
    DeputyMSKernelFunctions functions = {};
    functions.struct_size = sizeof functions;
    functions.prepare = [](void* user_data) { return Of(user_data)->Prepare(); };
    functions.execute = [](void* user_data) { return Of(user_data)->Execute(); };
    functions.resize = [](void* user_data) { return Of(user_data)->Resize(); };
    functions.release = [](void* user_data) { delete Of(user_data); };
    return functions;
  }

  const schema::Primitive* primitive() const {
    return primitive_.empty() ? nullptr
                              : flatbuffers::GetRoot<schema::Primitive>(primitive_.data());
  }

  // Infers the shapes of the outputs; RET_INFER_INVALID postpones that to Execute.
  int Infer() {
    const std::shared_ptr<kernel::KernelInterface> inference =
        RegisterKernelInterface::GetKernelInterface(provider_, primitive());
    if (inference == nullptr) return lite::RET_OK;
    std::vector<MSTensor> inputs = kernel_->inputs(), outputs = kernel_->outputs();
    const int code =
        static_cast<int>(inference->Infer(&inputs, &outputs, primitive(), kernel_.get()));
    is_postponed_ = code == lite::RET_INFER_INVALID;
    return code;
  }

  int Prepare() {
    const int inferred = Infer();
    if (inferred != lite::RET_OK && !is_postponed_) return inferred;
    const int prepared = kernel_->Prepare();
    return prepared != lite::RET_OK ? prepared : inferred;
  }
  int Resize() {
    const int inferred = Infer();
    return inferred != lite::RET_OK ? inferred : kernel_->ReSize();
  }
  int Execute() {
    if (is_postponed_) {
      const int resized = Resize();
      is_postponed_ = true;  // also for the next inference
      if (resized != lite::RET_OK) return resized;
    }
    return kernel_->Execute();
  }

  const std::string provider_;
  std::vector<uint8_t> primitive_;
  mindspore::detail::ContextObject object_;
  std::shared_ptr<kernel::Kernel> kernel_;
  bool is_postponed_ = false;
};

}  // namespace detail

class RegisterKernel {
 public:
  // Register a creator for an operator, or for a custom operator by its name. Return
  // kLiteParamInvalid if a string is empty or a type is out of range, kLiteNullptr for an empty
  // creator.
  static Status RegKernel(const std::string& arch, const std::string& provider, DataType data_type,
                          int type, const CreateKernel& creator) {
    return Add(detail::KeyOf(arch, provider, static_cast<int>(data_type), type, ""), creator);
  }
  static Status RegCustomKernel(const std::string& arch, const std::string& provider,
                                DataType data_type, const std::string& type,
                                const CreateKernel& creator) {
    return Add(detail::KeyOf(arch, provider, static_cast<int>(data_type),
                             schema::PrimitiveType_Custom, type),
               creator);
  }

  // Returns a creator, or an empty function. For a custom operator, whose name the primitive has,
  // both arch and provider are ignored if one of them is empty. `desc->arch` receives the
  // creator's.
  static CreateKernel GetCreator(const schema::Primitive* primitive, KernelDesc* desc) {
    if (primitive == nullptr || desc == nullptr) return nullptr;
    const std::string custom_type = detail::CustomTypeOf(primitive);
    const DeputyMSKernelKey key = detail::KeyOf(
        desc->arch, desc->provider, static_cast<int>(desc->data_type), desc->type, custom_type);
    const char* arch = nullptr;
    const DeputyMSKernelCreator* found = DeputyMSFindKernel(&key, &arch);
    if (found == nullptr || found->object == nullptr) return nullptr;
    desc->arch = arch;
    return static_cast<const detail::CreatorEntry*>(found->object)->create;
  }

 private:
  static Status Add(const DeputyMSKernelKey& key, const CreateKernel& creator) {
    if (creator == nullptr) return {kLiteNullptr, "the creator is null"};
    auto entry =
        std::make_unique<detail::CreatorEntry>(detail::CreatorEntry{creator, key.provider});
    DeputyMSKernelCreator c = {};
    c.struct_size = sizeof c;
    c.user_data = entry.get();
    c.create = detail::RegisteredKernel::Create;
    c.object = entry.get();
    const MSStatus status = DeputyMSRegisterKernel(&key, &c);
    // The registry refers to the entry as long as the process runs.
    if (status == kMSStatusSuccess) static_cast<void>(entry.release());
    return mindspore::detail::ToStatus(status);
  }
};

// Registers in its constructor, for static objects.
class KernelReg {
 public:
  KernelReg(const std::string& arch, const std::string& provider, DataType data_type, int op_type,
            const CreateKernel& creator) {
    RegisterKernel::RegKernel(arch, provider, data_type, op_type, creator);
  }
  KernelReg(const std::string& arch, const std::string& provider, DataType data_type,
            const std::string& op_type, const CreateKernel& creator) {
    RegisterKernel::RegCustomKernel(arch, provider, data_type, op_type, creator);
  }
};

}  // namespace registry
}  // namespace mindspore

// Register a CreateKernel when the program starts. `arch`, `provider` and the name of a custom
// operator are words without quotes.
#define REGISTER_KERNEL(arch, provider, data_type, op_type, creator)                              \
  namespace {                                                                                     \
  const mindspore::registry::KernelReg DEPUTY_MS_JOIN(g_kernel_, __COUNTER__)(#arch, #provider,   \
                                                                              data_type, op_type, \
                                                                              creator);           \
  }
#define REGISTER_CUSTOM_KERNEL(arch, provider, data_type, op_type, creator)                        \
  namespace {                                                                                      \
  const mindspore::registry::KernelReg DEPUTY_MS_JOIN(g_kernel_, __COUNTER__)(#arch, #provider,    \
                                                                              data_type, #op_type, \
                                                                              creator);            \
  }

#endif  // DEPUTY_MINDSPORE_INCLUDE_REGISTER_KERNEL_H_
