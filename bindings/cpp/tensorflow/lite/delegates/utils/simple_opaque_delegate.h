// SPDX-License-Identifier: Apache-2.0
//
// Base classes of delegates in C++ that use opaque types only; see simple_delegate.h. A program
// that uses them links libdeputy or another library that exports c_api_opaque.h.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_OPAQUE_DELEGATE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_OPAQUE_DELEGATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/c_api_opaque.h"
#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"
#include "tensorflow/lite/core/c/operator.h"

namespace tflite {

using TfLiteOpaqueDelegateUniquePtr =
    std::unique_ptr<TfLiteOpaqueDelegate, void (*)(TfLiteOpaqueDelegate*)>;

// Runs the nodes of one partition; see SimpleDelegateKernelInterface.
class SimpleOpaqueDelegateKernelInterface {
 public:
  virtual ~SimpleOpaqueDelegateKernelInterface() = default;

  virtual TfLiteStatus Init(TfLiteOpaqueContext* context,
                            const TfLiteOpaqueDelegateParams* params) = 0;
  virtual TfLiteStatus Prepare(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) = 0;
  virtual TfLiteStatus Eval(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) = 0;
};

// Describes a delegate; see SimpleDelegateInterface.
class SimpleOpaqueDelegateInterface {
 public:
  virtual ~SimpleOpaqueDelegateInterface() = default;

  virtual bool IsNodeSupportedByDelegate(const TfLiteOperator* registration_external,
                                         const TfLiteOpaqueNode* node,
                                         TfLiteOpaqueContext* context) const = 0;
  virtual TfLiteStatus Initialize(TfLiteOpaqueContext* context) = 0;
  virtual const char* Name() const = 0;
  virtual std::unique_ptr<SimpleOpaqueDelegateKernelInterface> CreateDelegateKernelInterface() = 0;

  virtual TfLiteStatus CopyFromBufferHandle(TfLiteOpaqueContext* /*context*/,
                                            TfLiteBufferHandle /*buffer_handle*/,
                                            TfLiteOpaqueTensor* /*tensor*/) {
    return kTfLiteError;
  }
  virtual TfLiteStatus CopyToBufferHandle(TfLiteOpaqueContext* /*context*/,
                                          TfLiteBufferHandle /*buffer_handle*/,
                                          const TfLiteOpaqueTensor* /*tensor*/) {
    return kTfLiteError;
  }
  virtual void FreeBufferHandle(TfLiteOpaqueContext* /*context*/, TfLiteBufferHandle* /*handle*/) {}
};

namespace simple_delegate_internal {

// Hidden for the reason that simple_delegate.h gives.
struct __attribute__((visibility("hidden"))) OpaqueCallbacks {
  static SimpleOpaqueDelegateInterface* DelegateOf(void* data) {
    return static_cast<SimpleOpaqueDelegateInterface*>(data);
  }

  static void* InitKernel(void* /*user_data*/, TfLiteOpaqueContext* context, const char* buffer,
                          std::size_t /*length*/) {
    const auto* params = reinterpret_cast<const TfLiteOpaqueDelegateParams*>(buffer);
    if (params == nullptr) return inline_c::KernelInitFailed();
    std::unique_ptr<SimpleOpaqueDelegateKernelInterface> kernel =
        DelegateOf(params->delegate_data)->CreateDelegateKernelInterface();
    if (kernel != nullptr && kernel->Init(context, params) != kTfLiteOk) {
      return inline_c::KernelInitFailed();
    }
    return kernel.release();
  }

  // Null if Init failed: runtimes before TensorFlow 2.20 store the failure as user data.
  static SimpleOpaqueDelegateKernelInterface* KernelOf(void* user_data) {
    return user_data == inline_c::KernelInitFailed()
               ? nullptr
               : static_cast<SimpleOpaqueDelegateKernelInterface*>(user_data);
  }

  static void FreeKernel(void* /*user_data*/, TfLiteOpaqueContext* /*context*/, void* buffer) {
    delete KernelOf(buffer);
  }

  static TfLiteStatus PrepareKernel(void* /*user_data*/, TfLiteOpaqueContext* context,
                                    TfLiteOpaqueNode* node) {
    auto* kernel = KernelOf(TfLiteOpaqueNodeGetUserData(node));
    return kernel == nullptr ? kTfLiteDelegateError : kernel->Prepare(context, node);
  }

  static TfLiteStatus InvokeKernel(void* /*user_data*/, TfLiteOpaqueContext* context,
                                   TfLiteOpaqueNode* node) {
    auto* kernel = KernelOf(TfLiteOpaqueNodeGetUserData(node));
    return kernel == nullptr ? kTfLiteDelegateError : kernel->Eval(context, node);
  }

  // The runtime takes ownership of the operator in ReplaceNodeSubsetsWithDelegateKernels.
  static TfLiteOperator* CreateOperator(const SimpleOpaqueDelegateInterface& delegate) {
    TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, delegate.Name(), 1, nullptr);
    TfLiteOperatorSetInitWithData(op, &InitKernel);
    TfLiteOperatorSetFreeWithData(op, &FreeKernel);
    TfLiteOperatorSetPrepareWithData(op, &PrepareKernel);
    TfLiteOperatorSetInvokeWithData(op, &InvokeKernel);
    return op;
  }

  static TfLiteStatus PrepareDelegate(TfLiteOpaqueContext* context,
                                      TfLiteOpaqueDelegate* opaque_delegate, void* data) {
    SimpleOpaqueDelegateInterface* delegate = DelegateOf(data);
    TF_LITE_ENSURE_STATUS(delegate->Initialize(context));
    TfLiteIntArray* runtime_plan = nullptr;
    TF_LITE_ENSURE_STATUS(TfLiteOpaqueContextGetExecutionPlan(context, &runtime_plan));
    const IntArrayUniquePtr plan = BuildTfLiteArray(*runtime_plan);
    if (plan == nullptr) return kTfLiteError;
    std::vector<int> supported;
    for (int i = 0; i < plan->size; ++i) {
      TfLiteOpaqueNode* node = nullptr;
      TfLiteOperator* op = nullptr;
      TF_LITE_ENSURE_STATUS(
          TfLiteOpaqueContextGetNodeAndRegistration(context, plan->data[i], &node, &op));
      if (delegate->IsNodeSupportedByDelegate(op, node, context)) {
        supported.push_back(plan->data[i]);
      }
    }
    const IntArrayUniquePtr nodes = BuildTfLiteArray(supported);
    if (nodes == nullptr) return kTfLiteError;
    return TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
        context, CreateOperator(*delegate), nodes.get(), opaque_delegate);
  }

  static TfLiteStatus CopyFrom(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* /*delegate*/,
                               void* data, TfLiteBufferHandle handle, TfLiteOpaqueTensor* tensor) {
    return DelegateOf(data)->CopyFromBufferHandle(context, handle, tensor);
  }
  static TfLiteStatus CopyTo(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* /*delegate*/,
                             void* data, TfLiteBufferHandle handle, TfLiteOpaqueTensor* tensor) {
    return DelegateOf(data)->CopyToBufferHandle(context, handle, tensor);
  }
  static void FreeHandle(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* /*delegate*/,
                         void* data, TfLiteBufferHandle* handle) {
    DelegateOf(data)->FreeBufferHandle(context, handle);
  }
};

}  // namespace simple_delegate_internal

class TfLiteOpaqueDelegateFactory {
 public:
  // Returns a delegate that owns `simple_delegate`; DeleteSimpleDelegate deletes both. Null for
  // null.
  static TfLiteOpaqueDelegate* CreateSimpleDelegate(
      std::unique_ptr<SimpleOpaqueDelegateInterface> simple_delegate,
      std::int64_t flags = kTfLiteDelegateFlagsNone) {
    using Callbacks = simple_delegate_internal::OpaqueCallbacks;
    if (simple_delegate == nullptr) return nullptr;
    TfLiteOpaqueDelegateBuilder builder{};
    builder.data = simple_delegate.release();
    builder.Prepare = &Callbacks::PrepareDelegate;
    builder.CopyFromBufferHandle = &Callbacks::CopyFrom;
    builder.CopyToBufferHandle = &Callbacks::CopyTo;
    builder.FreeBufferHandle = &Callbacks::FreeHandle;
    builder.flags = flags;
    return TfLiteOpaqueDelegateCreate(&builder);
  }

  // Null is ignored.
  static void DeleteSimpleDelegate(TfLiteOpaqueDelegate* opaque_delegate) {
    if (opaque_delegate == nullptr) return;
    delete simple_delegate_internal::OpaqueCallbacks::DelegateOf(
        TfLiteOpaqueDelegateGetData(opaque_delegate));
    TfLiteOpaqueDelegateDelete(opaque_delegate);
  }

  static TfLiteOpaqueDelegateUniquePtr Create(
      std::unique_ptr<SimpleOpaqueDelegateInterface> simple_delegate) {
    return TfLiteOpaqueDelegateUniquePtr(CreateSimpleDelegate(std::move(simple_delegate)),
                                         &DeleteSimpleDelegate);
  }
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_OPAQUE_DELEGATE_H_
