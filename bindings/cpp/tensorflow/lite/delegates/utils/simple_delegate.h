// SPDX-License-Identifier: Apache-2.0
//
// Base classes of delegates in C++: a delegate that declares which nodes it supports, and a kernel
// that runs one partition of them. TfLiteDelegateFactory creates a TfLiteDelegate from them, which
// works in every runtime with TensorFlow Lite's C ABI.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_DELEGATE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_DELEGATE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"
#include "tensorflow/lite/delegates/utils.h"
#include "tensorflow/lite/logger.h"
#include "tensorflow/lite/minimal_logger.h"

namespace tflite {

using TfLiteDelegateUniquePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// Runs the nodes of one partition. Called on the threads that use the interpreter, one at a time.
class SimpleDelegateKernelInterface {
 public:
  virtual ~SimpleDelegateKernelInterface() = default;

  // Called once. `params` names the nodes and tensors; it is valid as long as the kernel, but the
  // nodes themselves can be read in this call only.
  virtual TfLiteStatus Init(TfLiteContext* context, const TfLiteDelegateParams* params) = 0;

  // Called after each change of shapes.
  virtual TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) = 0;

  // Computes the outputs of the partition.
  virtual TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) = 0;
};

// Describes a delegate. It must outlive every interpreter that it is applied to.
class SimpleDelegateInterface {
 public:
  struct Options {
    // Upper bound on the partitions, the largest of which are replaced; 0 and below: no bound.
    int max_delegated_partitions = 0;
    // Smaller partitions are not replaced.
    int min_nodes_per_partition = 0;
  };

  virtual ~SimpleDelegateInterface() = default;

  // True if the kernel can run the node.
  virtual bool IsNodeSupportedByDelegate(const TfLiteRegistration* registration,
                                         const TfLiteNode* node, TfLiteContext* context) const = 0;

  // Called before the nodes are inspected, once per subgraph and application. A failure fails the
  // application of the delegate.
  virtual TfLiteStatus Initialize(TfLiteContext* context) = 0;

  // Name in profiles and messages. Must outlive the interpreters.
  virtual const char* Name() const = 0;

  // Returns the kernel of one partition.
  virtual std::unique_ptr<SimpleDelegateKernelInterface> CreateDelegateKernelInterface() = 0;

  virtual Options DelegateOptions() const = 0;

  // For delegates with buffer handles; see the callbacks of TfLiteDelegate.
  virtual TfLiteStatus CopyFromBufferHandle(TfLiteContext* /*context*/,
                                            TfLiteBufferHandle /*buffer_handle*/,
                                            TfLiteTensor* /*tensor*/) {
    return kTfLiteError;
  }
  virtual TfLiteStatus CopyToBufferHandle(TfLiteContext* /*context*/,
                                          TfLiteBufferHandle /*buffer_handle*/,
                                          const TfLiteTensor* /*tensor*/) {
    return kTfLiteError;
  }
  virtual void FreeBufferHandle(TfLiteContext* /*context*/, TfLiteBufferHandle* /*handle*/) {}
};

namespace simple_delegate_internal {

// The functions of the kernel and the delegate. Hidden, so that a plug-in with its own copy can be
// unloaded and is not bound to the copy of another library.
struct __attribute__((visibility("hidden"))) Callbacks {
  static SimpleDelegateInterface* DelegateOf(const TfLiteDelegate* delegate) {
    return static_cast<SimpleDelegateInterface*>(delegate->data_);
  }

  // Null if Init failed: runtimes before TensorFlow 2.20 store the failure as user data.
  static SimpleDelegateKernelInterface* KernelOf(void* user_data) {
    return user_data == inline_c::KernelInitFailed()
               ? nullptr
               : static_cast<SimpleDelegateKernelInterface*>(user_data);
  }

  static void* InitKernel(TfLiteContext* context, const char* buffer, std::size_t /*length*/) {
    const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    if (params == nullptr) {
      TF_LITE_KERNEL_LOG(context, "NULL TfLiteDelegateParams passed.");
      return inline_c::KernelInitFailed();
    }
    std::unique_ptr<SimpleDelegateKernelInterface> kernel =
        DelegateOf(params->delegate)->CreateDelegateKernelInterface();
    if (kernel == nullptr || kernel->Init(context, params) != kTfLiteOk) {
      return inline_c::KernelInitFailed();
    }
    return kernel.release();
  }

  static void FreeKernel(TfLiteContext* /*context*/, void* user_data) {
    delete KernelOf(user_data);
  }

  static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
    SimpleDelegateKernelInterface* kernel = KernelOf(node->user_data);
    if (kernel != nullptr) return kernel->Prepare(context, node);
    TF_LITE_KERNEL_LOG(context, "Delegate kernel was not initialized");
    return kTfLiteError;
  }

  static TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
    SimpleDelegateKernelInterface* kernel = KernelOf(node->user_data);
    return kernel == nullptr ? kTfLiteError : kernel->Eval(context, node);
  }

  static TfLiteRegistration RegistrationOf(const SimpleDelegateInterface& delegate) {
    TfLiteRegistration registration{};
    registration.init = &InitKernel;
    registration.free = &FreeKernel;
    registration.prepare = &PrepareKernel;
    registration.invoke = &InvokeKernel;
    registration.builtin_code = kTfLiteBuiltinDelegate;
    registration.custom_name = delegate.Name();
    registration.version = 1;
    return registration;
  }

  // Replaces the supported nodes of a subgraph.
  static TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* base_delegate) {
    SimpleDelegateInterface* delegate = DelegateOf(base_delegate);
    SimpleDelegateInterface::Options options = delegate->DelegateOptions();
    if (options.max_delegated_partitions <= 0) {
      options.max_delegated_partitions = std::numeric_limits<int>::max();
    }
    TF_LITE_ENSURE_STATUS(delegate->Initialize(context));
    delegates::GraphPartitionHelper helper(
        context, [delegate](TfLiteContext* node_context, TfLiteNode* node,
                            TfLiteRegistration* registration, std::string* /*details*/) {
          return delegate->IsNodeSupportedByDelegate(registration, node, node_context);
        });
    TF_LITE_ENSURE_STATUS(helper.Partition(nullptr));
    const std::vector<int> nodes = helper.GetNodesOfFirstNLargestPartitions(
        options.max_delegated_partitions, options.min_nodes_per_partition);
    static const bool has_logged = [&] {
      logging_internal::MinimalLogger::Log(
          TFLITE_LOG_INFO, "%s delegate: %d nodes delegated out of %d nodes with %d partitions.\n",
          delegate->Name(), static_cast<int>(nodes.size()), helper.num_total_nodes(),
          helper.num_partitions());
      return true;
    }();
    static_cast<void>(has_logged);
    const IntArrayUniquePtr list = BuildTfLiteArray(nodes);
    if (list == nullptr) return kTfLiteError;
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, RegistrationOf(*delegate),
                                                          list.get(), base_delegate);
  }

  static TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* delegate,
                               TfLiteBufferHandle handle, TfLiteTensor* tensor) {
    return DelegateOf(delegate)->CopyFromBufferHandle(context, handle, tensor);
  }
  static TfLiteStatus CopyTo(TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle handle, TfLiteTensor* tensor) {
    return DelegateOf(delegate)->CopyToBufferHandle(context, handle, tensor);
  }
  static void FreeHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                         TfLiteBufferHandle* handle) {
    DelegateOf(delegate)->FreeBufferHandle(context, handle);
  }
};

}  // namespace simple_delegate_internal

class TfLiteDelegateFactory {
 public:
  // Returns a delegate that owns `simple_delegate`; DeleteSimpleDelegate deletes both. `flags` are
  // those of TfLiteDelegateFlags. Null for null.
  static TfLiteDelegate* CreateSimpleDelegate(
      std::unique_ptr<SimpleDelegateInterface> simple_delegate,
      std::int64_t flags = kTfLiteDelegateFlagsNone) {
    using Callbacks = simple_delegate_internal::Callbacks;
    if (simple_delegate == nullptr) return nullptr;
    auto delegate = std::make_unique<TfLiteDelegate>();
    delegate->Prepare = &Callbacks::PrepareDelegate;
    delegate->CopyFromBufferHandle = &Callbacks::CopyFrom;
    delegate->CopyToBufferHandle = &Callbacks::CopyTo;
    delegate->FreeBufferHandle = &Callbacks::FreeHandle;
    delegate->flags = flags;
    delegate->data_ = simple_delegate.release();
    return delegate.release();
  }

  // Null is ignored.
  static void DeleteSimpleDelegate(TfLiteDelegate* delegate) {
    if (delegate == nullptr) return;
    delete simple_delegate_internal::Callbacks::DelegateOf(delegate);
    delete delegate;
  }

  static TfLiteDelegateUniquePtr Create(std::unique_ptr<SimpleDelegateInterface> simple_delegate) {
    return TfLiteDelegateUniquePtr(CreateSimpleDelegate(std::move(simple_delegate)),
                                   &DeleteSimpleDelegate);
  }
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_SIMPLE_DELEGATE_H_
