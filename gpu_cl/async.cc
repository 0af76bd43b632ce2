// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/async.h"

#include <iterator>
#include <memory>
#include <string>

#include "gpu_cl/async_tasks.h"
#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/partition.h"

namespace deputy::gpu_cl {
namespace {

TfLiteContext* ContextOf(const TfLiteOpaqueContext* context) {
  return reinterpret_cast<TfLiteContext*>(const_cast<TfLiteOpaqueContext*>(context));
}

AsyncTasks& TasksOf(const TfLiteAsyncKernel* kernel) {
  return *static_cast<AsyncTasks*>(reinterpret_cast<const DeputyAsyncKernel*>(kernel)->kernel_data);
}

// Calls function(tasks) and reports the text that it returns.
template <typename Function>
TfLiteStatus CallKernel(TfLiteAsyncKernel* table, const TfLiteOpaqueContext* context,
                        const Function& function) {
  AsyncTasks& tasks = TasksOf(table);
  TfLiteContext* const plain = ContextOf(context);
  return GuardedOn(tasks.owner(), plain, [&]() -> TfLiteStatus {
    const std::string problem = function(tasks);
    if (problem.empty()) return kTfLiteOk;
    return Fail(plain, kTfLiteError, "asynchronous execution: " + problem);
  });
}

void BufferTypes(const TfLiteAsyncKernel*, TfLiteIoType, const char* const** types, size_t* count) {
  static const char* const kTypes[] = {kHostMemoryType, kClMemType};
  *types = kTypes;
  *count = std::size(kTypes);
}

void SyncTypes(const TfLiteAsyncKernel*, TfLiteIoType, const char* const** types, size_t* count) {
  static const char* const kTypes[] = {kNoSyncType, kClEventType, kEventFdType};
  *types = kTypes;
  *count = std::size(kTypes);
}

bool Reconcile(const TfLiteAsyncKernel* kernel, const TfLiteOpaqueContext*, const TfLiteOpaqueNode*,
               int, const TfLiteAttributeMap* user, TfLiteAttributeMap* merged,
               TfLiteAttributeMap* conflict) {
  const DeputyAsyncRuntime& runtime = TasksOf(kernel).runtime();
  runtime.copy_map(user, merged);
  if (!runtime.is_buffer_map(user)) {
    if (SyncTypeOf(runtime, user)) return true;
    const auto key = kTfLiteSynchronizationAttrKeyObjectTypeName;
    if (conflict != nullptr) runtime.set_sync_string(conflict, key, kClEventType);
    return false;
  }
  if (!BufferTypeOf(runtime, user).empty()) return true;
  const auto key = kTfLiteBufferAttrKeyResourceTypeName;
  if (conflict != nullptr) runtime.set_string(conflict, key, kHostMemoryType);
  return false;
}

TfLiteStatus WaitForTask(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                         TfLiteExecutionTask* task) {
  ClStatus status;
  const TfLiteStatus called = CallKernel(kernel, context, [&](AsyncTasks& tasks) {
    status = tasks.Await(task, false);
    return status.text;
  });
  return status.ok() ? called : kTfLiteError;
}

DeputyAsyncKernel Functions() {
  DeputyAsyncKernel functions{};
  functions.register_buffer = [](TfLiteAsyncKernel* table, TfLiteOpaqueContext* context,
                                 TfLiteIoType, const TfLiteBackendBuffer* buffer,
                                 const TfLiteAttributeMap* attributes, TfLiteBufferHandle handle) {
    return CallKernel(table, context, [&](AsyncTasks& tasks) {
      return tasks.RegisterBuffer(buffer, attributes, handle);
    });
  };
  functions.register_buffer_slice =
      [](TfLiteAsyncKernel* table, TfLiteOpaqueContext* context, TfLiteBufferHandle pool,
         const TfLiteAttributeMap* attributes, TfLiteBufferHandle handle) {
        return CallKernel(table, context, [&](AsyncTasks& tasks) {
          return tasks.RegisterSlice(pool, attributes, handle);
        });
      };
  functions.unregister_buffer = [](TfLiteAsyncKernel* table, TfLiteOpaqueContext* context,
                                   TfLiteBufferHandle handle) {
    return CallKernel(table, context,
                      [&](AsyncTasks& tasks) { return tasks.UnregisterBuffer(handle); });
  };
  functions.supported_buffer_types = &BufferTypes;
  functions.supported_synchronizations = &SyncTypes;
  functions.reconcile_restrictions = &Reconcile;
  functions.set_attributes = [](TfLiteAsyncKernel* table, TfLiteOpaqueContext* context,
                                TfLiteOpaqueNode*, int tensor,
                                const TfLiteAttributeMap* attributes) {
    return CallKernel(table, context,
                      [&](AsyncTasks& tasks) { return tasks.SetAttributes(tensor, attributes); });
  };
  functions.prepare = [](TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
    return kTfLiteOk;
  };
  functions.eval = [](TfLiteAsyncKernel* table, TfLiteOpaqueContext* context, TfLiteOpaqueNode*,
                      TfLiteExecutionTask* task) {
    return CallKernel(table, context, [&](AsyncTasks& tasks) { return tasks.Eval(task); });
  };
  functions.wait = &WaitForTask;
  functions.finish = [](TfLiteAsyncKernel* table, TfLiteOpaqueContext* context,
                        TfLiteExecutionTask* task) {
    return CallKernel(table, context, [&](AsyncTasks& tasks) {
      (void)tasks.Await(task, true);
      return std::string();
    });
  };
  return functions;
}

struct AsyncKernel {
  AsyncKernel(Partition* partition, const DeputyAsyncRuntime& runtime) : tasks(partition, runtime) {
    functions.kernel_data = &tasks;
  }

  AsyncTasks tasks;
  DeputyAsyncKernel functions = Functions();
};

}  // namespace

TfLiteAsyncKernel* NewAsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                  TfLiteNode* node, const DeputyAsyncRuntime* runtime) {
  GpuDelegate& gpu = Of(delegate);
  TfLiteAsyncKernel* created = nullptr;
  (void)GuardedOn(gpu, context, [&]() -> TfLiteStatus {
    auto* const partition = static_cast<Partition*>(node->user_data);
    if (partition == nullptr || partition->executor == nullptr) return kTfLiteError;
    const ClApi& api = gpu.context->api();
    if (api.SetEventCallback == nullptr || api.EnqueueMarkerWithWaitList == nullptr) {
      return Fail(context, kTfLiteError,
                  "asynchronous execution: the OpenCL library lacks clSetEventCallback or "
                  "clEnqueueMarkerWithWaitList");
    }
    const auto kernel = std::make_shared<AsyncKernel>(partition, *runtime);
    const std::lock_guard lock(gpu.mutex);
    partition->async_kernels.push_back(kernel);
    created = reinterpret_cast<TfLiteAsyncKernel*>(&kernel->functions);
    return kTfLiteOk;
  });
  return created;
}

}  // namespace deputy::gpu_cl
