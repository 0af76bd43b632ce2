// SPDX-License-Identifier: Apache-2.0
#include "tests/support/element_delegate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/builtin_ops.h"
#include "c_api/include/delegate_helper.h"

// One ADD or MUL as the kernel computes it.
typedef struct Step {
  bool is_add, relu;
  int a, b, out;      // b is -1 for a float16 constant that is widened
  int result_tensor;  // `out`, an added tensor, or -1 if the result is in `memory`
  float* memory;      // memory that the kernel owns
} Step;

static TfLiteFusedActivation ActivationOf(const TfLiteNode* node, int builtin_code) {
  return builtin_code == kTfLiteBuiltinAdd
             ? ((const TfLiteAddParams*)node->builtin_data)->activation
             : ((const TfLiteMulParams*)node->builtin_data)->activation;
}

typedef struct Kernel {
  ElementDelegate* delegate;
  int step_count;
  Step* steps;
} Kernel;

// ---- Values -------------------------------------------------------------------------------------

static float FromHalf(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  float value = ldexpf((float)(fraction + 1024), exponent - 25);
  if (exponent == 0) value = ldexpf((float)fraction, -24);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return half >> 15 ? -value : value;
}

// An operand of a step, float32 or float16; an operand with fewer elements than the output is
// repeated.
typedef struct Operand {
  const float* floats;
  const uint16_t* halves;
  size_t count;
} Operand;

static float At(const Operand* operand, size_t i) {
  i %= operand->count;
  return operand->floats != NULL ? operand->floats[i] : FromHalf(operand->halves[i]);
}

static Operand Read(Kernel* kernel, const TfLiteContext* context, int index) {
  const TfLiteTensor* tensor = &context->tensors[index];
  Operand operand = {tensor->data.f, NULL, tensor->bytes / sizeof(float)};
  if (tensor->type == kTfLiteFloat16) {
    operand.floats = NULL;
    operand.halves = (const uint16_t*)tensor->data.raw;
    operand.count = tensor->bytes / sizeof(uint16_t);
    ++kernel->delegate->constants_read;
  }
  for (int i = 0; i < kernel->step_count; ++i) {
    const Step* step = &kernel->steps[i];
    if (step->out != index || step->result_tensor == index) continue;
    operand.floats =
        step->result_tensor < 0 ? step->memory : context->tensors[step->result_tensor].data.f;
  }
  return operand;
}

// ---- The kernel ---------------------------------------------------------------------------------

static bool Contains(const TfLiteIntArray* array, int value) {
  for (int i = 0; i < array->size; ++i) {
    if (array->data[i] == value) return true;
  }
  return false;
}

static void FreeKernel(Kernel* kernel) {
  for (int i = 0; i < kernel->step_count; ++i) free(kernel->steps[i].memory);
  free(kernel->steps);
  free(kernel);
}

// Selects the tensor for the result of a step.
static int SelectResultTensor(ElementDelegate* delegate, const TfLiteDelegateParams* params,
                              int out) {
  if (Contains(params->output_tensors, out)) return out;
  if (!delegate->added_tensors) return -1;
  return delegate->first_added + delegate->next_added++;
}

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)buffer;
  ElementDelegate* delegate = (ElementDelegate*)params->delegate->data_;
  const TfLiteIntArray* nodes = params->nodes_to_replace;
  Kernel* kernel = (Kernel*)calloc(1, sizeof *kernel);
  kernel->delegate = delegate;
  kernel->steps = (Step*)calloc((size_t)nodes->size + 1, sizeof(Step));
  ++delegate->kernels_made;
  for (int i = 0; i < nodes->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, nodes->data[i], &node, &registration) !=
        kTfLiteOk) {
      continue;
    }
    const bool is_widened = registration->builtin_code == kTfLiteBuiltinDequantize;
    // A widened float16 constant is needed only if nodes outside of the partition read it.
    if (is_widened && !Contains(params->output_tensors, node->outputs->data[0])) continue;
    Step* step = &kernel->steps[kernel->step_count++];
    step->is_add = registration->builtin_code == kTfLiteBuiltinAdd;
    step->relu = !is_widened && ActivationOf(node, registration->builtin_code) == kTfLiteActRelu;
    step->a = node->inputs->data[0];
    step->b = is_widened ? -1 : node->inputs->data[1];
    step->out = node->outputs->data[0];
    step->result_tensor = SelectResultTensor(delegate, params, step->out);
  }
  return kernel;
}

static void Free(TfLiteContext* context, void* user_data) {
  (void)context;
  ++((Kernel*)user_data)->delegate->kernels_freed;
  FreeKernel((Kernel*)user_data);
}

// An operand that is no constant determines the shape; constants are never larger here.
static TfLiteIntArray* ShapeOf(const TfLiteContext* context, const Step* step) {
  const TfLiteTensor* a = &context->tensors[step->a];
  const TfLiteTensor* b = &context->tensors[step->b < 0 ? step->a : step->b];
  return DeputyIntArrayCopy(b->allocation_type != kTfLiteMmapRo ? b->dims : a->dims);
}

// Added tensors are the node's temporaries, so that the runtime allocates them.
static TfLiteStatus PrepareAdded(Kernel* kernel, TfLiteContext* context, TfLiteNode* node) {
  DeputyIntArrayFree(node->temporaries);
  node->temporaries = DeputyIntArrayCreate(kernel->step_count);
  node->temporaries->size = 0;
  for (int i = 0; i < kernel->step_count; ++i) {
    const Step* step = &kernel->steps[i];
    if (step->result_tensor < 0 || step->result_tensor == step->out) continue;
    node->temporaries->data[node->temporaries->size++] = step->result_tensor;
    TfLiteTensor* tensor = &context->tensors[step->result_tensor];
    tensor->type = kTfLiteFloat32;
    tensor->allocation_type = kTfLiteArenaRw;
    if (context->ResizeTensor(context, tensor, ShapeOf(context, step)) != kTfLiteOk) {
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  Kernel* kernel = (Kernel*)node->user_data;
  if (kernel == NULL) return kTfLiteError;
  for (int i = 0; i < kernel->step_count; ++i) {
    Step* step = &kernel->steps[i];
    TfLiteTensor* out = &context->tensors[step->out];
    if (kernel->delegate->dynamic_outputs && step->result_tensor == step->out) {
      if (out->allocation_type != kTfLiteDynamic) out->data.raw = NULL;
      out->allocation_type = kTfLiteDynamic;
    } else if (context->ResizeTensor(context, out, ShapeOf(context, step)) != kTfLiteOk) {
      return kTfLiteError;
    }
    if (step->result_tensor < 0) step->memory = (float*)realloc(step->memory, out->bytes + 1);
  }
  return PrepareAdded(kernel, context, node);
}

static TfLiteStatus Compute(Kernel* kernel, TfLiteContext* context, const Step* step) {
  TfLiteTensor* tensor =
      &context->tensors[step->result_tensor < 0 ? step->out : step->result_tensor];
  if (tensor->allocation_type == kTfLiteDynamic &&
      context->ResizeTensor(context, tensor, ShapeOf(context, step)) != kTfLiteOk) {
    return kTfLiteError;
  }
  float* out = step->result_tensor < 0 ? step->memory : tensor->data.f;
  const Operand a = Read(kernel, context, step->a);
  if (step->b < 0) {
    for (size_t i = 0; i < tensor->bytes / sizeof(float); ++i) out[i] = At(&a, i);
    return kTfLiteOk;
  }
  const Operand b = Read(kernel, context, step->b);
  for (size_t i = 0; i < tensor->bytes / sizeof(float); ++i) {
    out[i] = step->is_add ? At(&a, i) + At(&b, i) : At(&a, i) * At(&b, i);
    if (step->relu && out[i] < 0) out[i] = 0;
  }
  ++kernel->delegate->nodes_computed;
  return kTfLiteOk;
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  Kernel* kernel = (Kernel*)node->user_data;
  if (kernel->delegate->fails_invoke) return kTfLiteError;
  for (int i = 0; i < kernel->step_count; ++i) {
    if (Compute(kernel, context, &kernel->steps[i]) != kTfLiteOk) return kTfLiteError;
  }
  return kTfLiteOk;
}

// ---- The delegate -------------------------------------------------------------------------------

// Returns true if the kernel supports the shapes: equal ones, or a constant that repeats.
static bool ShapesFit(const TfLiteTensor* a, const TfLiteTensor* b) {
  if (a->allocation_type == kTfLiteMmapRo || b->allocation_type == kTfLiteMmapRo) return true;
  return a->dims->size == b->dims->size &&
         memcmp(a->dims->data, b->dims->data, (size_t)a->dims->size * sizeof(int)) == 0;
}

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  const ElementDelegate* delegate = (const ElementDelegate*)user_data;
  if (registration->builtin_code != kTfLiteBuiltinAdd &&
      registration->builtin_code != kTfLiteBuiltinMul) {
    snprintf(reason, reason_size, "operator %d is neither ADD nor MUL", registration->builtin_code);
    return false;
  }
  if (node->inputs->size != 2 || node->outputs->size != 1) {
    snprintf(reason, reason_size, "%d inputs, %d outputs", node->inputs->size, node->outputs->size);
    return false;
  }
  for (int i = 0; i < node->inputs->size; ++i) {
    const TfLiteTensor* input = &context->tensors[node->inputs->data[i]];
    const bool is_weight = input->type == kTfLiteFloat16 && input->allocation_type == kTfLiteMmapRo;
    if (input->type == kTfLiteFloat32 || (delegate->half_weights && is_weight)) continue;
    snprintf(reason, reason_size, "input %d has type %d", i, input->type);
    return false;
  }
  if (ActivationOf(node, registration->builtin_code) > kTfLiteActRelu ||
      !ShapesFit(&context->tensors[node->inputs->data[0]],
                 &context->tensors[node->inputs->data[1]])) {
    snprintf(reason, reason_size, "another activation, or two shapes");
    return false;
  }
  const int out = node->outputs->data[0];
  if (context->tensors[out].type != kTfLiteFloat32) return false;
  return out >= delegate->refused_output_count || !delegate->refused_outputs[out];
}

static TfLiteStatus AddTensors(ElementDelegate* delegate, TfLiteContext* context, int count) {
  delegate->next_added = 0;
  const bool have_enough =
      count <= delegate->added_count &&
      (size_t)(delegate->first_added + delegate->added_count) <= context->tensors_size;
  if (have_enough) return kTfLiteOk;
  delegate->added_count = count;
  return context->AddTensors(context, count, &delegate->first_added);
}

static TfLiteStatus Replace(ElementDelegate* delegate, TfLiteContext* context,
                            const DeputyPartitionHelper* helper, TfLiteIntArray* nodes) {
  if (nodes == NULL) return kTfLiteError;
  delegate->supported_nodes = helper->supported->size;
  delegate->unsupported_nodes = helper->unsupported_count;
  delegate->partitions = helper->partition_count;
  delegate->taken_nodes = nodes->size;
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = Init;
  registration.free = Free;
  registration.prepare = Prepare;
  registration.invoke = Invoke;
  registration.custom_name = "Element";
  registration.version = 1;
  TfLiteStatus status = kTfLiteOk;
  if (delegate->added_tensors) status = AddTensors(delegate, context, nodes->size);
  if (status == kTfLiteOk) {
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes,
                                                            &delegate->base);
  }
  DeputyIntArrayFree(nodes);
  return status;
}

static TfLiteStatus PrepareHalf(ElementDelegate* delegate, TfLiteContext* context) {
  DeputyHalfPartitionHelper helper;
  DeputyHalfPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyHalfPartitionHelperPartition(
      &helper, IsSupported, delegate, delegate->first_node, delegate->last_node);
  if (status == kTfLiteOk) {
    status = Replace(
        delegate, context, &helper.base,
        DeputyHalfPartitionHelperTake(&helper, delegate->max_partitions, delegate->min_nodes));
  }
  DeputyHalfPartitionHelperFree(&helper);
  return status;
}

static TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* base) {
  ElementDelegate* delegate = (ElementDelegate*)base->data_;
  ++delegate->prepares;
  if (delegate->half_weights) return PrepareHalf(delegate, context);
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyPartitionHelperPartition(&helper, IsSupported, delegate,
                                                       delegate->first_node, delegate->last_node);
  if (status == kTfLiteOk) {
    status = Replace(
        delegate, context, &helper,
        DeputyPartitionHelperLargest(&helper, delegate->max_partitions, delegate->min_nodes));
  }
  DeputyPartitionHelperFree(&helper);
  return status;
}

void ElementDelegateInit(ElementDelegate* delegate, int64_t flags) {
  memset(delegate, 0, sizeof *delegate);
  delegate->base.data_ = delegate;
  delegate->base.flags = flags;
  delegate->base.Prepare = PrepareDelegate;
  delegate->last_node = INT_MAX;
  delegate->max_partitions = INT_MAX;
}
