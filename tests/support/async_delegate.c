// SPDX-License-Identifier: Apache-2.0
#include "tests/support/async_delegate.h"

#include <stdlib.h>
#include <string.h>

#include "c_api/include/async_task.h"
#include "c_api/include/builtin_ops.h"

typedef struct Buffer {
  bool registered, is_slice;
  char* data;
} Buffer;

// Data of a delegate's node.
typedef struct Node {
  AsyncDelegate* delegate;
  TfLiteAsyncKernel* kernel;
  int left, right, sum;  // tensors
  Buffer buffers[kAsyncMaxBuffers];
} Node;

typedef struct Execution {
  AsyncDelegate* delegate;
  pthread_t thread;
  const float *left, *right;
  float* sum;
  size_t count;
  TfLiteSynchronization* sync;
  bool done;
} Execution;

// Counts a call; throws if the script selects it; otherwise returns the script's status.
static TfLiteStatus Enter(AsyncDelegate* delegate, AsyncCallback callback) {
  pthread_mutex_lock(&delegate->mutex);
  ++delegate->calls[callback];
  pthread_mutex_unlock(&delegate->mutex);
  if (delegate->throws[callback]) delegate->throw_now();
  return delegate->results[callback];
}

static void CountExecutions(AsyncDelegate* delegate, int change) {
  pthread_mutex_lock(&delegate->mutex);
  delegate->live_executions += change;
  pthread_mutex_unlock(&delegate->mutex);
}

static Node* NodeOf(const TfLiteAsyncKernel* kernel) {
  return (Node*)TfLiteAsyncKernelGetKernelData(kernel);
}

// ---- Buffers ------------------------------------------------------------------------------------

static bool HasType(const TfLiteAttributeMap* attrs, const char* expected) {
  const char* type = NULL;
  return TfLiteAttributeMapGetStringBufferAttr(attrs, kTfLiteBufferAttrKeyResourceTypeName,
                                               &type) &&
         strcmp(type, expected) == 0;
}

static Buffer* Find(Node* node, TfLiteBufferHandle handle) {
  if (handle < 0 || handle >= kAsyncMaxBuffers || !node->buffers[handle].registered) return NULL;
  return &node->buffers[handle];
}

static TfLiteStatus RegisterBuffer(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                   TfLiteIoType io_type, const TfLiteBackendBuffer* buffer,
                                   const TfLiteAttributeMap* attrs, TfLiteBufferHandle handle) {
  (void)context;
  Node* node = NodeOf(kernel);
  const TfLiteStatus status = Enter(node->delegate, kAsyncRegisterBuffer);
  node->delegate->io_type = io_type;
  if (status != kTfLiteOk) return status;
  if (handle < 0 || handle >= kAsyncMaxBuffers || !HasType(attrs, "host_memory")) {
    return kTfLiteError;
  }
  node->buffers[handle].registered = true;
  node->buffers[handle].data = (char*)TfLiteBackendBufferGetPtr(buffer);
  return kTfLiteOk;
}

static TfLiteStatus RegisterSlice(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                  TfLiteBufferHandle pool, const TfLiteAttributeMap* attrs,
                                  TfLiteBufferHandle handle) {
  (void)context;
  Node* node = NodeOf(kernel);
  const TfLiteStatus status = Enter(node->delegate, kAsyncRegisterSlice);
  if (status != kTfLiteOk) return status;
  const Buffer* whole = Find(node, pool);
  size_t offset = 0;
  if (whole == NULL || whole->is_slice || handle < 0 || handle >= kAsyncMaxBuffers ||
      !TfLiteAttributeMapGetSizeTBufferAttr(attrs, kTfLiteBufferAttrKeyOffset, &offset)) {
    return kTfLiteError;
  }
  node->buffers[handle].registered = node->buffers[handle].is_slice = true;
  node->buffers[handle].data = whole->data + offset;
  return kTfLiteOk;
}

static TfLiteStatus UnregisterBuffer(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                     TfLiteBufferHandle handle) {
  (void)context;
  Node* node = NodeOf(kernel);
  const TfLiteStatus status = Enter(node->delegate, kAsyncUnregisterBuffer);
  if (status != kTfLiteOk) return status;
  Buffer* buffer = Find(node, handle);
  if (buffer == NULL) return kTfLiteError;
  memset(buffer, 0, sizeof *buffer);
  return kTfLiteOk;
}

// ---- Attributes ---------------------------------------------------------------------------------

static void BufferTypes(const TfLiteAsyncKernel* kernel, TfLiteIoType io_type,
                        const char* const** types, size_t* count) {
  static const char* const kTypes[] = {"host_memory", "other_memory"};
  Enter(NodeOf(kernel)->delegate, kAsyncBufferTypes);
  *types = kTypes;
  *count = io_type == kTfLiteIoTypeInput ? 2 : 1;
}

static void SyncTypes(const TfLiteAsyncKernel* kernel, TfLiteIoType io_type,
                      const char* const** types, size_t* count) {
  static const char* const kTypes[] = {"no_sync_obj", "flag"};
  Enter(NodeOf(kernel)->delegate, kAsyncSyncTypes);
  *types = kTypes;
  *count = io_type == kTfLiteIoTypeInput ? 1 : 2;
}

// Buffers need the type "host_memory" and an alignment of at least 16.
static bool Reconcile(const TfLiteAsyncKernel* kernel, const TfLiteOpaqueContext* context,
                      const TfLiteOpaqueNode* node, int tensor, const TfLiteAttributeMap* user,
                      TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict) {
  (void)context, (void)node;
  NodeOf(kernel)->delegate->tensor = tensor;
  if (Enter(NodeOf(kernel)->delegate, kAsyncReconcile) != kTfLiteOk) return false;
  TfLiteAttributeMapCopy(user, merged);
  size_t alignment = 0;
  TfLiteAttributeMapGetSizeTBufferAttr(user, kTfLiteBufferAttrKeyAlignment, &alignment);
  TfLiteAttributeMapSetSizeTBufferAttr(merged, kTfLiteBufferAttrKeyAlignment,
                                       alignment < 16 ? 16 : alignment);
  if (HasType(user, "host_memory")) return true;
  TfLiteAttributeMapSetStringBufferAttr(conflict, kTfLiteBufferAttrKeyResourceTypeName,
                                        "host_memory");
  return false;
}

static TfLiteStatus SetAttributes(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                                  TfLiteOpaqueNode* node, int tensor,
                                  const TfLiteAttributeMap* attrs) {
  (void)context, (void)node;
  NodeOf(kernel)->delegate->tensor = tensor;
  const TfLiteStatus status = Enter(NodeOf(kernel)->delegate, kAsyncSetAttributes);
  if (status != kTfLiteOk) return status;
  return HasType(attrs, "host_memory") ? kTfLiteOk : kTfLiteError;
}

static TfLiteStatus SetBufferAttributes(TfLiteAsyncKernel* kernel,
                                        const TfLiteBackendBuffer* buffer,
                                        const TfLiteAttributeMap* attrs) {
  (void)kernel, (void)buffer, (void)attrs;
  return kTfLiteOk;
}

static TfLiteStatus GetBufferAttributes(TfLiteAsyncKernel* kernel,
                                        const TfLiteBackendBuffer* buffer,
                                        TfLiteAttributeMap* attrs) {
  (void)kernel, (void)buffer, (void)attrs;
  return kTfLiteOk;
}

static TfLiteStatus Prepare(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                            TfLiteOpaqueNode* node) {
  (void)context, (void)node;
  return Enter(NodeOf(kernel)->delegate, kAsyncPrepare);
}

// ---- Execution ----------------------------------------------------------------------------------

static void* Run(void* data) {
  Execution* execution = (Execution*)data;
  AsyncDelegate* delegate = execution->delegate;
  pthread_mutex_lock(&delegate->mutex);
  while (delegate->held) pthread_cond_wait(&delegate->changed, &delegate->mutex);
  pthread_mutex_unlock(&delegate->mutex);
  for (size_t i = 0; i < execution->count; ++i) {
    execution->sum[i] = execution->left[i] + execution->right[i];
  }
  pthread_mutex_lock(&delegate->mutex);
  int* flag = (int*)TfLiteSynchronizationGetPtr(execution->sync);
  if (flag != NULL) *flag = 1;
  execution->done = true;
  pthread_cond_broadcast(&delegate->changed);
  pthread_mutex_unlock(&delegate->mutex);
  return NULL;
}

static void Await(Execution* execution) {
  pthread_mutex_lock(&execution->delegate->mutex);
  while (!execution->done) {
    pthread_cond_wait(&execution->delegate->changed, &execution->delegate->mutex);
  }
  pthread_mutex_unlock(&execution->delegate->mutex);
}

// Waits for the task's execution and frees it.
static void Clear(TfLiteExecutionTask* task, TfLiteAsyncKernel* kernel) {
  Execution* execution = (Execution*)TfLiteExecutionTaskGetDelegateExecutionData(task, kernel);
  if (execution == NULL) return;
  Await(execution);
  pthread_join(execution->thread, NULL);
  CountExecutions(execution->delegate, -1);
  free(execution);
  TfLiteExecutionTaskSetDelegateExecutionData(task, kernel, NULL);
}

static TfLiteStatus Eval(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                         TfLiteOpaqueNode* opaque, TfLiteExecutionTask* task) {
  (void)opaque;
  Node* node = NodeOf(kernel);
  const TfLiteStatus status = Enter(node->delegate, kAsyncEval);
  if (status != kTfLiteOk) return status;
  Clear(task, kernel);
  const Buffer* left = Find(node, TfLiteExecutionTaskGetBufferByIndex(task, node->left));
  const Buffer* right = Find(node, TfLiteExecutionTaskGetBufferByIndex(task, node->right));
  const Buffer* sum = Find(node, TfLiteExecutionTaskGetBufferByIndex(task, node->sum));
  if (left == NULL || right == NULL || sum == NULL) return kTfLiteError;
  Execution* execution = (Execution*)calloc(1, sizeof *execution);
  execution->delegate = node->delegate;
  execution->left = (const float*)left->data;
  execution->right = (const float*)right->data;
  execution->sum = (float*)sum->data;
  execution->count =
      TfLiteOpaqueTensorByteSize(TfLiteOpaqueContextGetOpaqueTensor(context, node->sum)) /
      sizeof(float);
  execution->sync = TfLiteExecutionTaskGetSyncByIndex(task, node->sum);
  if (pthread_create(&execution->thread, NULL, Run, execution) != 0) {
    free(execution);
    return kTfLiteError;
  }
  CountExecutions(node->delegate, 1);
  TfLiteExecutionTaskSetDelegateExecutionData(task, kernel, execution);
  return kTfLiteOk;
}

static TfLiteStatus Wait(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                         TfLiteExecutionTask* task) {
  (void)context;
  const TfLiteStatus status = Enter(NodeOf(kernel)->delegate, kAsyncWait);
  Execution* execution = (Execution*)TfLiteExecutionTaskGetDelegateExecutionData(task, kernel);
  if (execution != NULL) Await(execution);
  return status;
}

static TfLiteStatus Finish(TfLiteAsyncKernel* kernel, TfLiteOpaqueContext* context,
                           TfLiteExecutionTask* task) {
  (void)context;
  Clear(task, kernel);
  return Enter(NodeOf(kernel)->delegate, kAsyncFinish);
}

// ---- The delegate -------------------------------------------------------------------------------

static void SetFunctions(TfLiteAsyncKernel* kernel, const bool* missing) {
  TfLiteAsyncKernelSetRegisterBuffer(kernel, missing[kAsyncRegisterBuffer] ? NULL : RegisterBuffer);
  TfLiteAsyncKernelSetRegisterBufferSlice(kernel,
                                          missing[kAsyncRegisterSlice] ? NULL : RegisterSlice);
  TfLiteAsyncKernelSetUnregisterBuffer(kernel,
                                       missing[kAsyncUnregisterBuffer] ? NULL : UnregisterBuffer);
  TfLiteAsyncKernelSetSupportedBufferTypes(kernel, missing[kAsyncBufferTypes] ? NULL : BufferTypes);
  TfLiteAsyncKernelSetSupportedSynchronizations(kernel,
                                                missing[kAsyncSyncTypes] ? NULL : SyncTypes);
  TfLiteAsyncKernelSetReconcileRestrictions(kernel, missing[kAsyncReconcile] ? NULL : Reconcile);
  TfLiteAsyncKernelSetSetAttributes(kernel, missing[kAsyncSetAttributes] ? NULL : SetAttributes);
  TfLiteAsyncKernelSetSetBufferAttributes(kernel, SetBufferAttributes);
  TfLiteAsyncKernelSetGetBufferAttributes(kernel, GetBufferAttributes);
  TfLiteAsyncKernelSetPrepare(kernel, missing[kAsyncPrepare] ? NULL : Prepare);
  TfLiteAsyncKernelSetEval(kernel, missing[kAsyncEval] ? NULL : Eval);
  TfLiteAsyncKernelSetWait(kernel, missing[kAsyncWait] ? NULL : Wait);
  TfLiteAsyncKernelSetFinish(kernel, missing[kAsyncFinish] ? NULL : Finish);
}

static void* InitNode(TfLiteOpaqueContext* context, const char* buffer, size_t length) {
  (void)context, (void)length;
  const TfLiteOpaqueDelegateParams* params = (const TfLiteOpaqueDelegateParams*)buffer;
  Node* node = (Node*)calloc(1, sizeof *node);
  node->delegate = (AsyncDelegate*)params->delegate_data;
  node->left = params->input_tensors->data[0];
  node->right = params->input_tensors->data[params->input_tensors->size - 1];
  node->sum = params->output_tensors->data[0];
  node->kernel = TfLiteAsyncKernelCreate(node);
  SetFunctions(node->kernel, node->delegate->missing);
  ++node->delegate->live_kernels;
  return node;
}

static void FreeNode(TfLiteOpaqueContext* context, void* data) {
  (void)context;
  Node* node = (Node*)data;
  --node->delegate->live_kernels;
  TfLiteAsyncKernelDelete(node->kernel);
  free(node);
}

static TfLiteStatus PrepareNode(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  (void)context, (void)node;
  return kTfLiteOk;
}

// The synchronous function adds, too.
static TfLiteStatus InvokeNode(TfLiteOpaqueContext* context, TfLiteOpaqueNode* opaque) {
  const Node* node = (const Node*)TfLiteOpaqueNodeGetUserData(opaque);
  const TfLiteOpaqueTensor* left = TfLiteOpaqueContextGetOpaqueTensor(context, node->left);
  const TfLiteOpaqueTensor* right = TfLiteOpaqueContextGetOpaqueTensor(context, node->right);
  const TfLiteOpaqueTensor* sum = TfLiteOpaqueContextGetOpaqueTensor(context, node->sum);
  float* out = (float*)TfLiteOpaqueTensorData(sum);
  for (size_t i = 0; i < TfLiteOpaqueTensorByteSize(sum) / sizeof(float); ++i) {
    out[i] = ((const float*)TfLiteOpaqueTensorData(left))[i] +
             ((const float*)TfLiteOpaqueTensorData(right))[i];
  }
  return kTfLiteOk;
}

static TfLiteAsyncKernel* GetKernel(TfLiteOpaqueContext* context, TfLiteOpaqueNode* opaque) {
  (void)context;
  const Node* node = (const Node*)TfLiteOpaqueNodeGetUserData(opaque);
  Enter(node->delegate, kAsyncGetKernel);
  return node->delegate->has_kernel ? node->kernel : NULL;
}

static TfLiteAsyncKernel* GetKernelWithData(void* data, TfLiteOpaqueContext* context,
                                            TfLiteOpaqueNode* opaque) {
  const Node* node = (const Node*)TfLiteOpaqueNodeGetUserData(opaque);
  return data == node->delegate ? GetKernel(context, opaque) : NULL;
}

static TfLiteOperator* CreateOperator(AsyncDelegate* delegate) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "Async", 1, delegate);
  TfLiteOperatorSetInit(op, InitNode);
  TfLiteOperatorSetFree(op, FreeNode);
  TfLiteOperatorSetPrepare(op, PrepareNode);
  TfLiteOperatorSetInvoke(op, InvokeNode);
  if (delegate->with_data) {
    TfLiteOperatorSetAsyncKernelWithData(op, GetKernelWithData);
  } else {
    TfLiteOperatorSetAsyncKernel(op, GetKernel);
  }
  return op;
}

static TfLiteStatus PrepareDelegate(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* opaque,
                                    void* data) {
  AsyncDelegate* delegate = (AsyncDelegate*)data;
  TfLiteIntArray* plan = NULL;
  if (TfLiteOpaqueContextGetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* claimed = TfLiteIntArrayCreate(plan->size);
  claimed->size = 0;
  for (int i = 0; i < plan->size && claimed->size < delegate->max_claims; ++i) {
    TfLiteOpaqueNode* node = NULL;
    TfLiteOperator* op = NULL;
    if (TfLiteOpaqueContextGetNodeAndRegistration(context, plan->data[i], &node, &op) ==
            kTfLiteOk &&
        TfLiteOperatorGetBuiltInCode(op) == kTfLiteBuiltinAdd) {
      claimed->data[claimed->size++] = plan->data[i];
    }
  }
  const TfLiteStatus status = TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
      context, CreateOperator(delegate), claimed, opaque);
  TfLiteIntArrayFree(claimed);
  return status;
}

void AsyncDelegateInit(AsyncDelegate* delegate) {
  memset(delegate, 0, sizeof *delegate);
  delegate->max_claims = 1000;
  delegate->has_kernel = true;
  pthread_mutex_init(&delegate->mutex, NULL);
  pthread_cond_init(&delegate->changed, NULL);
}

void AsyncDelegateDestroy(AsyncDelegate* delegate) {
  pthread_cond_destroy(&delegate->changed);
  pthread_mutex_destroy(&delegate->mutex);
}

TfLiteOpaqueDelegate* AsyncDelegateCreate(AsyncDelegate* delegate) {
  delegate->builder.data = delegate;
  delegate->builder.Prepare = PrepareDelegate;
  return TfLiteOpaqueDelegateCreate(&delegate->builder);
}

void AsyncDelegateRelease(AsyncDelegate* delegate) {
  pthread_mutex_lock(&delegate->mutex);
  delegate->held = false;
  pthread_cond_broadcast(&delegate->changed);
  pthread_mutex_unlock(&delegate->mutex);
}
