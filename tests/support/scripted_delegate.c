// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scripted_delegate.h"

#include <stdlib.h>
#include <string.h>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/builtin_ops.h"

// One node as the kernel computes it.
typedef struct Step {
  int builtin_code;
  int a, b, out;
  bool relu;
} Step;

// Data of a delegate's node: its steps in order, and memory for its internal tensors.
typedef struct Kernel {
  ScriptedDelegate* delegate;
  int step_count;
  Step* steps;
  TfLiteIntArray* outputs;
  float** scratch;  // memory by tensor of the graph; NULL: the runtime's
  int scratch_count;
} Kernel;

// Counts a call of a callback; returns true if the script makes this call fail.
static bool Fails(ScriptedDelegate* delegate, ScriptedCallback callback) {
  const int call = delegate->calls[callback]++;
  const bool fails = delegate->failure != kScriptedNoFailure &&
                     delegate->failing_callback == callback && delegate->failing_call == call;
  if (fails) delegate->failure_reached = true;
  if (fails && delegate->failure == kScriptedThrow) delegate->throw_now();
  return fails;
}

static void FreeKernel(Kernel* kernel) {
  for (int i = 0; i < kernel->scratch_count; ++i) free(kernel->scratch[i]);
  free(kernel->scratch);
  free(kernel->steps);
  TfLiteIntArrayFree(kernel->outputs);
  free(kernel);
}

// ---- The kernel of a delegate's node ------------------------------------------------------------

static Step StepOf(int builtin_code, const TfLiteNode* node) {
  Step step;
  step.builtin_code = builtin_code;
  step.a = node->inputs->data[0];
  step.b = node->inputs->size > 1 ? node->inputs->data[1] : step.a;
  step.out = node->outputs->data[0];
  if (builtin_code == kTfLiteBuiltinCustom) {
    step.relu = false;
    return step;
  }
  const TfLiteFusedActivation activation =
      builtin_code == kTfLiteBuiltinAdd ? ((const TfLiteAddParams*)node->builtin_data)->activation
                                        : ((const TfLiteMulParams*)node->builtin_data)->activation;
  step.relu = activation == kTfLiteActRelu;
  return step;
}

static Kernel* MakeKernel(ScriptedDelegate* delegate, TfLiteContext* context,
                          const TfLiteIntArray* nodes, const TfLiteIntArray* outputs) {
  Kernel* kernel = (Kernel*)calloc(1, sizeof(Kernel));
  kernel->delegate = delegate;
  kernel->steps = (Step*)calloc((size_t)nodes->size, sizeof(Step));
  kernel->outputs = TfLiteIntArrayCopy(outputs);
  for (int i = 0; i < nodes->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, nodes->data[i], &node, &registration) !=
        kTfLiteOk) {
      FreeKernel(kernel);
      return NULL;
    }
    kernel->steps[kernel->step_count++] = StepOf(registration->builtin_code, node);
  }
  if (delegate->partition_count < kScriptedMaxPartitions) {
    delegate->partition_sizes[delegate->partition_count] = nodes->size;
  }
  ++delegate->partition_count;
  return kernel;
}

static bool IsOutput(const Kernel* kernel, int tensor) {
  for (int i = 0; i < kernel->outputs->size; ++i) {
    if (kernel->outputs->data[i] == tensor) return true;
  }
  return false;
}

static TfLiteStatus PrepareKernel(Kernel* kernel, TfLiteContext* context) {
  if (kernel == NULL) return kTfLiteError;
  ScriptedDelegate* delegate = kernel->delegate;
  const bool fails = Fails(delegate, kScriptedPrepareKernel);
  if (fails && delegate->failure == kScriptedErrorStatus) return kTfLiteError;
  for (int i = 0; i < kernel->step_count; ++i) {
    // All operators are element-wise: every tensor has the shape of the step's first input.
    const TfLiteIntArray* dims = context->tensors[kernel->steps[i].a].dims;
    TfLiteIntArray* shape = TfLiteIntArrayCopy(dims);
    if (fails && delegate->failure == kScriptedWrongShape) shape->data[shape->size - 1] += 1;
    TfLiteTensor* out = &context->tensors[kernel->steps[i].out];
    if (context->ResizeTensor(context, out, shape) != kTfLiteOk) return kTfLiteError;
    if (!delegate->outputs_on_device || !IsOutput(kernel, kernel->steps[i].out)) continue;
    out->delegate = delegate->self;
    if (out->buffer_handle == kTfLiteNullBufferHandle) {
      out->buffer_handle = delegate->next_handle++ % 64;
    }
  }
  return kTfLiteOk;
}

// Returns the values of a tensor. The runtime allocates no memory for tensors that only this kernel
// uses, so the kernel has its own.
static const float* Read(const Kernel* kernel, const TfLiteContext* context, int index) {
  const bool inside = index < kernel->scratch_count && kernel->scratch[index] != NULL;
  return inside ? kernel->scratch[index] : context->tensors[index].data.f;
}

static float* Write(Kernel* kernel, const TfLiteContext* context, int index) {
  if (IsOutput(kernel, index)) return context->tensors[index].data.f;
  if (index >= kernel->scratch_count) {
    kernel->scratch = (float**)realloc(kernel->scratch, sizeof(float*) * (size_t)(index + 1));
    while (kernel->scratch_count <= index) kernel->scratch[kernel->scratch_count++] = NULL;
  }
  kernel->scratch[index] =
      (float*)realloc(kernel->scratch[index], context->tensors[index].bytes + 1);
  return kernel->scratch[index];
}

static void Compute(Kernel* kernel, TfLiteContext* context, const Step* step) {
  // A script may have given the output a wrong shape, so the count must be within all three
  // tensors.
  size_t count = context->tensors[step->out].bytes / sizeof(float);
  const size_t operands[] = {context->tensors[step->a].bytes, context->tensors[step->b].bytes};
  for (int i = 0; i < 2; ++i) {
    if (operands[i] / sizeof(float) < count) count = operands[i] / sizeof(float);
  }
  float* out = Write(kernel, context, step->out);
  const float* a = Read(kernel, context, step->a);
  const float* b = Read(kernel, context, step->b);
  for (size_t i = 0; i < count; ++i) {
    float value = step->builtin_code == kTfLiteBuiltinMul ? a[i] * b[i] : a[i] + b[i];
    if (step->builtin_code == kTfLiteBuiltinCustom) context->tensors[step->b].data.f[i] = value;
    out[i] = step->relu && value < 0 ? 0 : value;
  }
  ++kernel->delegate->nodes_computed;
}

// Moves an output to the "device": its CPU bytes are overwritten with garbage.
static void MoveToDevice(ScriptedDelegate* delegate, TfLiteTensor* tensor) {
  const size_t bytes =
      tensor->bytes < sizeof delegate->device[0] ? tensor->bytes : sizeof delegate->device[0];
  memcpy(delegate->device[tensor->buffer_handle], tensor->data.raw, bytes);
  memset(tensor->data.raw, 0x5a, tensor->bytes);
  tensor->data_is_stale = true;
}

// Gives the outputs another shape during invoke, as a broken kernel may do.
static TfLiteStatus GrowOutputs(const Kernel* kernel, TfLiteContext* context) {
  for (int i = 0; i < kernel->outputs->size; ++i) {
    TfLiteTensor* out = &context->tensors[kernel->outputs->data[i]];
    TfLiteIntArray* shape = TfLiteIntArrayCopy(out->dims);
    shape->data[shape->size - 1] += 1;
    context->ResizeTensor(context, out, shape);
  }
  return kTfLiteOk;
}

static TfLiteStatus InvokeKernel(Kernel* kernel, TfLiteContext* context) {
  ScriptedDelegate* delegate = kernel->delegate;
  const bool fails = Fails(delegate, kScriptedInvoke);
  if (fails && delegate->failure == kScriptedErrorStatus) return kTfLiteError;
  if (fails && delegate->failure == kScriptedWrongShape) return GrowOutputs(kernel, context);
  if (fails && delegate->failure == kScriptedNoOutput) return kTfLiteOk;
  for (int i = 0; i < kernel->step_count; ++i) Compute(kernel, context, &kernel->steps[i]);
  for (int i = 0; delegate->outputs_on_device && i < kernel->outputs->size; ++i) {
    MoveToDevice(delegate, &context->tensors[kernel->outputs->data[i]]);
  }
  return fails ? kTfLiteError : kTfLiteOk;
}

// ---- The plain delegate -------------------------------------------------------------------------

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)buffer;
  ScriptedDelegate* delegate = (ScriptedDelegate*)params->delegate->data_;
  if (Fails(delegate, kScriptedInit)) {
    if (delegate->failure == kScriptedNullInit) return NULL;
    return TfLiteKernelInitFailed();
  }
  return MakeKernel(delegate, context, params->nodes_to_replace, params->output_tensors);
}

static void Free(TfLiteContext* context, void* user_data) {
  (void)context;
  Kernel* kernel = (Kernel*)user_data;
  ScriptedDelegate* delegate = kernel->delegate;
  ++delegate->frees;
  FreeKernel(kernel);
  Fails(delegate, kScriptedFreeKernel);
}

// Adds an invalid temporary to the node if the script requires it.
static void CorruptTemporaries(ScriptedDelegate* delegate, TfLiteNode* node) {
  const bool now = delegate->failure == kScriptedBadTemporary &&
                   delegate->failing_callback == kScriptedPrepareKernel &&
                   delegate->failing_call + 1 == delegate->calls[kScriptedPrepareKernel];
  if (!now) return;
  TfLiteIntArrayFree(node->temporaries);
  node->temporaries = TfLiteIntArrayCreate(1);
  node->temporaries->data[0] = 1 << 20;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  Kernel* kernel = (Kernel*)node->user_data;
  const TfLiteStatus status = PrepareKernel(kernel, context);
  if (status == kTfLiteOk) CorruptTemporaries(kernel->delegate, node);
  return status;
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  return InvokeKernel((Kernel*)node->user_data, context);
}

// Returns true for the operators that the delegate supports: ADD, MUL, and the tests' custom
// operator.
static bool IsKnown(int builtin_code) {
  return builtin_code == kTfLiteBuiltinAdd || builtin_code == kTfLiteBuiltinMul ||
         builtin_code == kTfLiteBuiltinCustom;
}

// Returns the nodes of the plan that the script claims.
static TfLiteIntArray* ClaimedNodes(ScriptedDelegate* delegate, TfLiteContext* context) {
  TfLiteIntArray* plan = NULL;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return NULL;
  TfLiteIntArray* claimed = TfLiteIntArrayCreate(plan->size + 1);
  claimed->size = 0;
  for (int i = 0; i < plan->size; ++i) {
    const int index = plan->data[i];
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) break;
    if (!IsKnown(registration->builtin_code)) continue;
    if (delegate->claim_all || (index < kScriptedMaxNodes && delegate->claims[index])) {
      claimed->data[claimed->size++] = index;
    }
  }
  return claimed;
}

static TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* base) {
  ScriptedDelegate* delegate = (ScriptedDelegate*)base->data_;
  const bool fails = Fails(delegate, kScriptedPrepareDelegate);
  delegate->partition_count = 0;
  TfLiteIntArray* claimed = ClaimedNodes(delegate, context);
  if (claimed == NULL) return kTfLiteError;
  if (fails && delegate->failure == kScriptedBadIndex) claimed->data[claimed->size++] = 1 << 20;
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = Init;
  registration.free = Free;
  registration.prepare = Prepare;
  registration.invoke = Invoke;
  registration.custom_name = "Scripted";
  registration.version = 1;
  delegate->replace_status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, claimed, base);
  TfLiteIntArrayFree(claimed);
  if (fails && delegate->failure == kScriptedErrorStatus) return kTfLiteError;
  return delegate->swallow_replace_error ? kTfLiteOk : delegate->replace_status;
}

static TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* base,
                             TfLiteBufferHandle handle, TfLiteTensor* tensor) {
  (void)context;
  ScriptedDelegate* delegate = (ScriptedDelegate*)base->data_;
  ++delegate->copies_from_handle;
  const bool fails = Fails(delegate, kScriptedCopyFrom);
  if (fails) return delegate->failure == kScriptedNoOutput ? kTfLiteOk : kTfLiteError;
  if (handle < 0 || handle >= 64) return kTfLiteError;
  memcpy(tensor->data.raw, delegate->device[handle], tensor->bytes);
  return kTfLiteOk;
}

static void FreeHandle(TfLiteContext* context, TfLiteDelegate* base, TfLiteBufferHandle* handle) {
  (void)context;
  ScriptedDelegate* delegate = (ScriptedDelegate*)base->data_;
  ++delegate->handles_freed;
  *handle = kTfLiteNullBufferHandle;
  Fails(delegate, kScriptedFreeHandle);
}

void ScriptedDelegateInit(ScriptedDelegate* delegate, int64_t flags) {
  memset(delegate, 0, sizeof *delegate);
  delegate->base.data_ = delegate;
  delegate->self = &delegate->base;
  delegate->base.flags = flags;
  delegate->base.Prepare = PrepareDelegate;
  delegate->base.CopyFromBufferHandle = CopyFrom;
  delegate->base.FreeBufferHandle = FreeHandle;
}

// ---- The opaque delegate ------------------------------------------------------------------------

// The runtime is Deputy, in which the opaque types are the plain ones; only the entry points
// differ.
static TfLiteContext* Plain(TfLiteOpaqueContext* context) { return (TfLiteContext*)context; }

static void* OpaqueInit(TfLiteOpaqueContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteOpaqueDelegateParams* params = (const TfLiteOpaqueDelegateParams*)buffer;
  ScriptedDelegate* delegate = (ScriptedDelegate*)params->delegate_data;
  if (Fails(delegate, kScriptedInit)) {
    return delegate->failure == kScriptedNullInit ? NULL : TfLiteKernelInitFailed();
  }
  return MakeKernel(delegate, Plain(context), params->nodes_to_replace, params->output_tensors);
}

static void OpaqueFree(TfLiteOpaqueContext* context, void* user_data) {
  Free(Plain(context), user_data);
}

static TfLiteStatus OpaquePrepare(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  return PrepareKernel((Kernel*)TfLiteOpaqueNodeGetUserData(node), Plain(context));
}

static TfLiteStatus OpaqueInvoke(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  return InvokeKernel((Kernel*)TfLiteOpaqueNodeGetUserData(node), Plain(context));
}

static TfLiteStatus PrepareOpaqueDelegate(TfLiteOpaqueContext* context,
                                          TfLiteOpaqueDelegate* opaque, void* data) {
  ScriptedDelegate* delegate = (ScriptedDelegate*)data;
  const bool fails = Fails(delegate, kScriptedPrepareDelegate);
  delegate->partition_count = 0;
  TfLiteIntArray* plan = NULL;
  if (TfLiteOpaqueContextGetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* claimed = TfLiteIntArrayCreate(plan->size);
  claimed->size = 0;
  for (int i = 0; i < plan->size; ++i) {
    const int index = plan->data[i];
    TfLiteOpaqueNode* node = NULL;
    TfLiteOperator* op = NULL;
    if (TfLiteOpaqueContextGetNodeAndRegistration(context, index, &node, &op) != kTfLiteOk) break;
    if (!IsKnown(TfLiteOperatorGetBuiltInCode(op))) continue;
    if (delegate->claim_all || (index < kScriptedMaxNodes && delegate->claims[index])) {
      claimed->data[claimed->size++] = index;
    }
  }
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "Scripted", 1, NULL);
  TfLiteOperatorSetInit(op, OpaqueInit);
  TfLiteOperatorSetFree(op, OpaqueFree);
  TfLiteOperatorSetPrepare(op, OpaquePrepare);
  TfLiteOperatorSetInvoke(op, OpaqueInvoke);
  delegate->replace_status =
      TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(context, op, claimed, opaque);
  TfLiteIntArrayFree(claimed);
  return fails ? kTfLiteError : delegate->replace_status;
}

static TfLiteStatus OpaqueCopyFrom(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* opaque,
                                   void* data, TfLiteBufferHandle handle,
                                   TfLiteOpaqueTensor* tensor) {
  (void)opaque;
  return CopyFrom(Plain(context), &((ScriptedDelegate*)data)->base, handle, (TfLiteTensor*)tensor);
}

static void OpaqueFreeHandle(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* opaque, void* data,
                             TfLiteBufferHandle* handle) {
  (void)opaque;
  FreeHandle(Plain(context), &((ScriptedDelegate*)data)->base, handle);
}

TfLiteOpaqueDelegate* ScriptedOpaqueDelegate(ScriptedDelegate* delegate) {
  memset(&delegate->builder, 0, sizeof delegate->builder);
  delegate->builder.data = delegate;
  delegate->builder.flags = delegate->base.flags;
  delegate->builder.Prepare = PrepareOpaqueDelegate;
  delegate->builder.CopyFromBufferHandle = OpaqueCopyFrom;
  delegate->builder.FreeBufferHandle = OpaqueFreeHandle;
  TfLiteOpaqueDelegate* opaque = TfLiteOpaqueDelegateCreate(&delegate->builder);
  delegate->self = (TfLiteDelegate*)opaque;
  return opaque;
}
