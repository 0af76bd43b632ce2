// SPDX-License-Identifier: Apache-2.0
//
// A delegate as a third party would write it: plain C that uses only TensorFlow Lite's headers,
// links nothing, and exports the two functions of an external delegate. It claims element-wise
// float32 nodes with static shapes and computes them with its own code, so the same file can be
// loaded into Deputy and into the real TensorFlow Lite.
//
// Options: "ops" limits the operators that it claims, as numbers separated by commas; "log" names a
// file to which it appends what it claimed and ran; "groups" assigns the nodes to groups, as
// letters; "gate" names a file for which Prepare waits.
//
// With DESCRIBED_SIZE_DELTA it also exports its description (deputy_plugin), in a struct that is
// this number of bytes larger than the current one; DESCRIBED_SIZE and DESCRIBED_VERSION replace
// the size and the version that the description states. With WITH_DEVICE_OPTION its devices are
// those of the environment variable ELEMENTWISE_DEVICES, it has the option "device", and with the
// variable ELEMENTWISE_BUSY it creates no delegate.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

// ---- Supported operators ------------------------------------------------------------------------

typedef float (*Function)(float a, float b);

static float Add(float a, float b) { return a + b; }
static float Sub(float a, float b) { return a - b; }
static float Mul(float a, float b) { return a * b; }
static float Maximum(float a, float b) { return a > b ? a : b; }
static float Minimum(float a, float b) { return a < b ? a : b; }
static float First(float a, float b) { return (void)b, a; }
static float Relu(float a, float b) { return (void)b, a < 0 ? 0 : a; }
static float Relu6(float a, float b) { return (void)b, a < 0 ? 0 : (a > 6 ? 6 : a); }
static float Abs(float a, float b) { return (void)b, fabsf(a); }
static float Neg(float a, float b) { return (void)b, -a; }
static float Square(float a, float b) { return (void)b, a * a; }
static float HardSwish(float a, float b) { return a * Relu6(a + 3, b) / 6; }

typedef struct Operator {
  int builtin_code;
  int arity;
  Function function;
} Operator;

static const Operator kOperators[] = {
    {kTfLiteBuiltinAdd, 2, Add},
    {kTfLiteBuiltinSub, 2, Sub},
    {kTfLiteBuiltinMul, 2, Mul},
    {kTfLiteBuiltinMaximum, 2, Maximum},
    {kTfLiteBuiltinMinimum, 2, Minimum},
    {kTfLiteBuiltinRelu, 1, Relu},
    {kTfLiteBuiltinRelu6, 1, Relu6},
    {kTfLiteBuiltinAbs, 1, Abs},
    {kTfLiteBuiltinNeg, 1, Neg},
    {kTfLiteBuiltinSquare, 1, Square},
    {kTfLiteBuiltinHardSwish, 1, HardSwish},
    {kTfLiteBuiltinReshape, 1, First},
};
enum { kOperatorCount = (int)(sizeof kOperators / sizeof kOperators[0]) };

static const Operator* FindOperator(int builtin_code) {
  for (int i = 0; i < kOperatorCount; ++i) {
    if (kOperators[i].builtin_code == builtin_code) return &kOperators[i];
  }
  return NULL;
}

// Returns the activation that is fused into a node.
static TfLiteFusedActivation ActivationOf(int builtin_code, const TfLiteNode* node) {
  if (node->builtin_data == NULL) return kTfLiteActNone;
  switch (builtin_code) {
    case kTfLiteBuiltinAdd:
      return ((const TfLiteAddParams*)node->builtin_data)->activation;
    case kTfLiteBuiltinSub:
      return ((const TfLiteSubParams*)node->builtin_data)->activation;
    case kTfLiteBuiltinMul:
      return ((const TfLiteMulParams*)node->builtin_data)->activation;
    default:
      return kTfLiteActNone;
  }
}

static float Activate(TfLiteFusedActivation activation, float value) {
  if (activation == kTfLiteActRelu) return Relu(value, 0);
  if (activation == kTfLiteActRelu6) return Relu6(value, 0);
  return value;
}

// ---- The delegate -------------------------------------------------------------------------------

typedef struct Delegate {
  TfLiteDelegate base;
  char* log;        // path of the log; NULL: none
  char* ops;        // operators as ",0,18,"; NULL: all
  char* groups;     // group of each node, as a letter; or NULL
  char* gate;       // path of a file for which Prepare waits; NULL: none
  long computed;    // number of nodes computed
  char device[32];  // text of the device in reports
} Delegate;

// One node as the kernel computes it: tensors by index, b == a for a unary operator.
typedef struct Step {
  const Operator* op;
  TfLiteFusedActivation activation;
  int a, b, out;
  float* scratch;  // buffer for an output that only this kernel uses
} Step;

typedef struct Kernel {
  Delegate* delegate;
  int step_count;
  Step* steps;
} Kernel;

static void Log(const Delegate* delegate, const char* what, const TfLiteIntArray* numbers) {
  if (delegate->log == NULL) return;
  FILE* file = fopen(delegate->log, "a");
  if (file == NULL) return;
  fprintf(file, "%s", what);
  for (int i = 0; numbers != NULL && i < numbers->size; ++i) {
    fprintf(file, " %d", numbers->data[i]);
  }
  fprintf(file, "\n");
  fclose(file);
}

// Allocates an array with malloc instead of TfLiteIntArrayCreate, because the delegate links
// nothing. The delegate frees it.
static TfLiteIntArray* MakeIntArray(int size) {
  TfLiteIntArray* array =
      (TfLiteIntArray*)malloc(offsetof(TfLiteIntArray, data) + sizeof(int) * (size_t)(size + 1));
  if (array != NULL) array->size = 0;
  return array;
}

static size_t ElementCount(const TfLiteTensor* tensor) { return tensor->bytes / sizeof(float); }

// Returns the reason why a node cannot be claimed; NULL if it can.
static const char* RejectReason(const Delegate* delegate, const TfLiteContext* context,
                                const TfLiteNode* node, int builtin_code) {
  const Operator* op = FindOperator(builtin_code);
  char number[16];
  snprintf(number, sizeof number, ",%d,", builtin_code);
  if (op == NULL || (delegate->ops != NULL && strstr(delegate->ops, number) == NULL)) {
    return "operator";
  }
  if (node->inputs->size < op->arity || node->outputs->size != 1) return "operands";
  const TfLiteFusedActivation activation = ActivationOf(builtin_code, node);
  if (activation != kTfLiteActNone && activation != kTfLiteActRelu &&
      activation != kTfLiteActRelu6) {
    return "activation";
  }
  const TfLiteTensor* out = &context->tensors[node->outputs->data[0]];
  if (out->type != kTfLiteFloat32 || out->allocation_type == kTfLiteDynamic) return "type";
  for (int i = 0; i < op->arity; ++i) {
    if (node->inputs->data[i] < 0) return "operands";
    const TfLiteTensor* in = &context->tensors[node->inputs->data[i]];
    if (in->type != kTfLiteFloat32 || in->allocation_type == kTfLiteDynamic) return "type";
    const bool is_scalar = op->arity == 2 && ElementCount(in) == 1;
    if (!is_scalar && in->bytes != out->bytes) return "shape";
  }
  return NULL;
}

// ---- The kernel ---------------------------------------------------------------------------------

static bool Contains(const TfLiteIntArray* array, int number) {
  for (int i = 0; i < array->size; ++i) {
    if (array->data[i] == number) return true;
  }
  return false;
}

static void FreeKernel(TfLiteContext* context, void* data) {
  (void)context;
  Kernel* kernel = (Kernel*)data;
  if (kernel == NULL) return;
  for (int i = 0; i < kernel->step_count; ++i) free(kernel->steps[i].scratch);
  free(kernel->steps);
  free(kernel);
}

static bool AddStep(Kernel* kernel, TfLiteContext* context, int index,
                    const TfLiteIntArray* outputs) {
  TfLiteNode* node = NULL;
  TfLiteRegistration* registration = NULL;
  if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
    return false;
  }
  Step* step = &kernel->steps[kernel->step_count++];
  step->op = FindOperator(registration->builtin_code);
  if (step->op == NULL) return false;
  step->activation = ActivationOf(registration->builtin_code, node);
  step->a = node->inputs->data[0];
  step->b = step->op->arity == 2 ? node->inputs->data[1] : step->a;
  step->out = node->outputs->data[0];
  if (Contains(outputs, step->out)) return true;
  step->scratch = (float*)malloc(context->tensors[step->out].bytes + sizeof(float));
  return step->scratch != NULL;
}

// Returns NULL on failure, which older runtimes understand, too; the kernel's prepare then fails.
static void* InitKernel(TfLiteContext* context, const char* buffer, size_t length) {
  (void)length;
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  Delegate* delegate = (Delegate*)params->delegate->data_;
  Kernel* kernel = (Kernel*)calloc(1, sizeof(Kernel));
  if (kernel == NULL) return NULL;
  kernel->delegate = delegate;
  kernel->steps = (Step*)calloc((size_t)params->nodes_to_replace->size + 1, sizeof(Step));
  bool ok = kernel->steps != NULL;
  for (int i = 0; ok && i < params->nodes_to_replace->size; ++i) {
    ok = AddStep(kernel, context, params->nodes_to_replace->data[i], params->output_tensors);
  }
  if (!ok) {
    FreeKernel(context, kernel);
    return NULL;
  }
  Log(delegate, "partition", params->nodes_to_replace);
  Log(delegate, "inputs", params->input_tensors);
  Log(delegate, "outputs", params->output_tensors);
  return kernel;
}

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  return node->user_data == NULL ? kTfLiteError : kTfLiteOk;
}

static const float* Read(const Kernel* kernel, const TfLiteContext* context, int tensor) {
  for (int i = 0; i < kernel->step_count; ++i) {
    if (kernel->steps[i].out == tensor && kernel->steps[i].scratch != NULL) {
      return kernel->steps[i].scratch;
    }
  }
  return context->tensors[tensor].data.f;
}

static TfLiteStatus InvokeKernel(TfLiteContext* context, TfLiteNode* node) {
  Kernel* kernel = (Kernel*)node->user_data;
  for (int i = 0; i < kernel->step_count; ++i) {
    const Step* step = &kernel->steps[i];
    const size_t count = ElementCount(&context->tensors[step->out]);
    const float* a = Read(kernel, context, step->a);
    const float* b = Read(kernel, context, step->b);
    const size_t step_a = ElementCount(&context->tensors[step->a]) == 1 ? 0 : 1;
    const size_t step_b = ElementCount(&context->tensors[step->b]) == 1 ? 0 : 1;
    float* out = step->scratch != NULL ? step->scratch : context->tensors[step->out].data.f;
    if (count > 0 && (a == NULL || b == NULL || out == NULL)) return kTfLiteError;
    for (size_t k = 0; k < count; ++k) {
      out[k] = Activate(step->activation, step->op->function(a[k * step_a], b[k * step_b]));
    }
    ++kernel->delegate->computed;
  }
  Log(kernel->delegate, "invoke", NULL);
  return kTfLiteOk;
}

// ---- Applying it --------------------------------------------------------------------------------

// Returns the nodes of the plan that the delegate claims.
static TfLiteIntArray* Claim(const Delegate* delegate, TfLiteContext* context) {
  TfLiteIntArray* plan = NULL;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return NULL;
  TfLiteIntArray* claimed = MakeIntArray(plan->size);
  for (int i = 0; claimed != NULL && i < plan->size; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    const TfLiteStatus status =
        context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
    if (status != kTfLiteOk) break;
    if (RejectReason(delegate, context, node, registration->builtin_code) == NULL) {
      claimed->data[claimed->size++] = plan->data[i];
    }
  }
  return claimed;
}

// Waits until a file exists.
static void WaitForFile(const char* path) {
  const struct timespec millisecond = {0, 1000000};
  while (access(path, F_OK) != 0) nanosleep(&millisecond, NULL);
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* base) {
  Delegate* delegate = (Delegate*)base->data_;
  if (delegate->gate != NULL) WaitForFile(delegate->gate);
  TfLiteIntArray* claimed = Claim(delegate, context);
  if (claimed == NULL) return kTfLiteError;
  Log(delegate, "claimed", claimed);
  TfLiteRegistration registration;
  memset(&registration, 0, sizeof registration);
  registration.init = InitKernel;
  registration.free = FreeKernel;
  registration.prepare = PrepareKernel;
  registration.invoke = InvokeKernel;
  registration.custom_name = "Elementwise";
  registration.version = 1;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, claimed, base);
  free(claimed);
  return status;
}

static void FreeDelegate(Delegate* delegate) {
  free(delegate->log);
  free(delegate->ops);
  free(delegate->groups);
  free(delegate->gate);
  free(delegate);
}

// Returns `before`, `text` and `after` concatenated, as a new string.
static char* Copy(const char* before, const char* text, const char* after) {
  const size_t size = strlen(before) + strlen(text) + strlen(after) + 1;
  char* copy = (char*)malloc(size);
  if (copy != NULL) snprintf(copy, size, "%s%s%s", before, text, after);
  return copy;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  Delegate* delegate = (Delegate*)calloc(1, sizeof(Delegate));
  if (delegate == NULL) return NULL;
  for (size_t i = 0; i < num_options; ++i) {
    if (strcmp(options_keys[i], "log") == 0) {
      free(delegate->log);
      delegate->log = Copy("", options_values[i], "");
    } else if (strcmp(options_keys[i], "ops") == 0) {
      free(delegate->ops);
      delegate->ops = Copy(",", options_values[i], ",");
    } else if (strcmp(options_keys[i], "groups") == 0) {
      free(delegate->groups);
      delegate->groups = Copy("", options_values[i], "");
    } else if (strcmp(options_keys[i], "gate") == 0) {
      free(delegate->gate);
      delegate->gate = Copy("", options_values[i], "");
    } else {
      if (report_error != NULL) {
        report_error("elementwise knows the options 'ops' and 'log' only");
        report_error(options_keys[i]);
      }
      FreeDelegate(delegate);
      return NULL;
    }
  }
  delegate->base.data_ = delegate;
  delegate->base.flags = kTfLiteDelegateFlagsNone;
  delegate->base.Prepare = Prepare;
  return &delegate->base;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* base) {
  if (base != NULL) FreeDelegate((Delegate*)base->data_);
}

// ---- The description ----------------------------------------------------------------------------

#ifdef DESCRIBED_SIZE_DELTA
#include "deputy/deputy_plugin.h"

#ifndef DESCRIBED_VERSION
#define DESCRIBED_VERSION DEPUTY_PLUGIN_ABI_VERSION
#endif
#ifndef DESCRIBED_SIZE
#define DESCRIBED_SIZE (sizeof(DeputyDelegatePlugin) + (size_t)(DESCRIBED_SIZE_DELTA))
#endif

static const DeputyPluginOption kOptions[] = {
    {"ops", kDeputyOptionString, 0, "", "Operator numbers to take, separated by commas."},
    {"log", kDeputyOptionString, 1, "", "A file to write to what was taken."},
    {"groups", kDeputyOptionString, 0, "", "The group of every node, as letters; '-' is none."},
#ifdef WITH_DEVICE_OPTION
    {"device", kDeputyOptionInt, 0, "0", "Number of the device, which reports name."},
#endif
    // The following options are not used; they exist for their types.
    {"fast", kDeputyOptionBool, 0, "false", "No effect."},
    {"threads", kDeputyOptionInt, 0, "1", "No effect."},
    {"scale", kDeputyOptionFloat, 0, "1.0", "No effect."},
};

static DeputyReason ReasonOf(const char* why) {
  if (strcmp(why, "operator") == 0) return kDeputyReasonOperator;
  if (strcmp(why, "type") == 0) return kDeputyReasonType;
  if (strcmp(why, "shape") == 0) return kDeputyReasonShape;
  return kDeputyReasonParameter;
}

static TfLiteStatus GetSupport(TfLiteDelegate* base, TfLiteContext* context,
                               DeputySupportResult* result) {
  const Delegate* delegate = (const Delegate*)base->data_;
  for (size_t i = 0; i < result->node_count; ++i) {
    TfLiteNode* node = NULL;
    TfLiteRegistration* registration = NULL;
    if (context->GetNodeAndRegistration(context, result->nodes[i], &node, &registration) !=
        kTfLiteOk) {
      return kTfLiteError;
    }
    const char* why = RejectReason(delegate, context, node, registration->builtin_code);
    result->supported[i] = why == NULL;
    result->reason_of_node[i] = why == NULL ? kDeputyReasonNone : ReasonOf(why);
    result->text_of_node[i] = why;
    const size_t index = (size_t)result->nodes[i];
    const bool grouped = delegate->groups != NULL && index < strlen(delegate->groups) &&
                         delegate->groups[index] != '-';
    if (grouped) result->group_of_node[i] = delegate->groups[index];
  }
  return kTfLiteOk;
}

// Implements device_bytes: returns the number of computed nodes in place of bytes, so that tests
// can read it.
static size_t NodesComputed(TfLiteDelegate* base) {
  return (size_t)((const Delegate*)base->data_)->computed;
}

#ifdef WITH_DEVICE_OPTION
// Reports devices with invalid fields, as `fault` names them. The values do not crash a host that
// checks them.
static void ReportFaulty(DeputyDeviceInfo device, const char* fault, DeputyDeviceCallback callback,
                         void* user_data) {
  if (strcmp(fault, "null") == 0) {
    callback(user_data, NULL);
  } else if (strcmp(fault, "texts") == 0) {
    device.platform = device.platform_version = device.name = device.vendor = device.type =
        device.device_class = device.version = device.driver_version = device.extensions =
            device.preferred_precision = device.options = NULL;
    device.power_class = device.preferred_layout = device.preferred_batch = -7;
    callback(user_data, &device);
  } else if (strcmp(fault, "index") == 0) {
    device.index = -1;
    callback(user_data, &device);
  } else if (strcmp(fault, "size") == 0) {
    device.struct_size = 40;
    callback(user_data, &device);
  } else if (strcmp(fault, "many") == 0) {
    for (device.index = 0; device.index < 5000; ++device.index) callback(user_data, &device);
  }
}

// Reports one device for each type in ELEMENTWISE_DEVICES, "NPU,-CPU": a '-' precedes that of a
// device that is not usable, '!' a fault. Without the variable: one NPU.
static TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                                void (*report_error)(const char* text)) {
  (void)report_error;
  const char* at = getenv("ELEMENTWISE_DEVICES");
  if (at == NULL) at = "NPU";
  for (int32_t index = 0; *at != '\0'; ++index) {
    char type[64];
    const size_t size = strcspn(at, ",");
    snprintf(type, sizeof type, "%.*s", (int)size, at);
    at += size + (at[size] == ',');
    char name[32];
    snprintf(name, sizeof name, "device %d", (int)index);
    DeputyDeviceInfo device;
    memset(&device, 0, sizeof device);
    device.struct_size = sizeof device;
    device.index = index;
    device.usable = type[0] != '-';
    device.platform = device.platform_version = device.vendor = device.device_class =
        device.version = device.driver_version = device.extensions = "";
    device.name = name;
    device.type = type + (type[0] == '-' || type[0] == '!');
    if (type[0] == '!') {
      ReportFaulty(device, device.type, callback, user_data);
    } else {
      callback(user_data, &device);
    }
  }
  return kTfLiteOk;
}
#else
// Reports two devices; fails with a report if the environment variable ELEMENTWISE_DEVICES is 0.
static TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                                void (*report_error)(const char* text)) {
  const char* wanted = getenv("ELEMENTWISE_DEVICES");
  if (wanted != NULL && strcmp(wanted, "0") == 0) {
    if (report_error != NULL) report_error("its devices are all asleep");
    return kTfLiteError;
  }
  DeputyDeviceInfo device;
  memset(&device, 0, sizeof device);
  device.struct_size = sizeof device;
  device.usable = 1;
  device.platform = "beads";
  device.platform_version = "1";
  device.name = "abacus";
  device.vendor = "wood";
  device.type = "other";
  device.device_class = "cpu";
  device.version = "1";
  device.driver_version = "2";
  device.extensions = "a b";
  device.memory_bytes = 1u << 30;
  device.max_buffer_bytes = 1u << 20;
  device.compute_units = 2;
  device.power_class = kDeputyPowerLow;
  device.preferred_layout = kDeputyLayoutNchw;
  device.preferred_batch = 4;
  device.preferred_precision = "int8";
  device.options = "ops=0";
  callback(user_data, &device);
  device.index = 1;
  device.usable = 0;
  device.name = "fingers";
  device.fp16 = 1;
  // The first release of the struct ends after fp16.
  device.struct_size = offsetof(DeputyDeviceInfo, power_class);
  callback(user_data, &device);
  return kTfLiteOk;
}
#endif

// DescribePartitions reports the number of computed nodes as a text, TakeEvents as that number of
// events without times.
static TfLiteStatus DescribePartitions(TfLiteDelegate* base, DeputyPartitionTextCallback callback,
                                       void* user_data) {
  char text[40];
  snprintf(text, sizeof text, "%d nodes", (int)NodesComputed(base));
  if (NodesComputed(base) > 0) callback(user_data, -1, "counted", text);
  return kTfLiteOk;
}

static TfLiteStatus TakeEvents(TfLiteDelegate* base, DeputyDeviceEventCallback callback,
                               void* user_data) {
  const DeputyDeviceEvent event = {sizeof event, -1, -1, "node", "", 0, 0, 0};
  for (size_t i = 0; i < NodesComputed(base); ++i) callback(user_data, &event);
  return kTfLiteOk;
}

static void IgnoreOptions(const char* message) { (void)message; }

// Creates a delegate without the options that exist only for their types.
static TfLiteDelegate* CreateDescribed(const char* const* keys, const char* const* values,
                                       size_t count, void (*report_error)(const char* text)) {
  const char* kept_keys[3];
  const char* kept_values[3];
  size_t kept = 0;
  const char* device = NULL;
#ifdef WITH_DEVICE_OPTION
  if (getenv("ELEMENTWISE_BUSY") != NULL) {
    if (report_error != NULL) report_error("the device is busy");
    return NULL;
  }
#endif
  for (size_t i = 0; i < count && kept < 3; ++i) {
    if (strcmp(keys[i], "device") == 0) device = values[i];
    const bool real = strcmp(keys[i], "ops") == 0 || strcmp(keys[i], "log") == 0 ||
                      strcmp(keys[i], "groups") == 0;
    if (!real) continue;
    kept_keys[kept] = keys[i];
    kept_values[kept++] = values[i];
  }
  TfLiteDelegate* delegate = tflite_plugin_create_delegate(
      kept_keys, kept_values, kept, report_error == NULL ? IgnoreOptions : report_error);
  if (delegate != NULL) {
    Delegate* own = (Delegate*)delegate->data_;
    snprintf(own->device, sizeof own->device, device == NULL ? "fingers" : "device %s", device);
  }
  return delegate;
}

TFL_EXTERNAL_DELEGATE_EXPORT const DeputyDelegatePlugin* deputy_plugin(void);

static struct {
  DeputyDelegatePlugin known;
  void* tail;  // member of a later version
} plugin;

const DeputyDelegatePlugin* deputy_plugin(void) { return &plugin.known; }

static TfLiteStatus ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
  const DeputyDelegateOperator ops[] = {
      {sizeof ops[0], kTfLiteBuiltinAdd, 2, NULL},
      {sizeof ops[0], kTfLiteBuiltinCustom, 1, "Bead"},
  };
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i) callback(user_data, &ops[i]);
  return kTfLiteOk;
}

static TfLiteStatus Report(TfLiteDelegate* base, DeputyDelegateReport* report,
                           DeputyOptionUseCallback callback, void* user_data) {
  if (report->struct_size < sizeof *report) return kTfLiteError;
  report->device = ((const Delegate*)base->data_)->device;
  report->precision = "fp32";
  report->compile_ns = 5000000 * (int64_t)NodesComputed(base);
  report->cache_hits = 2;
  report->cache_misses = 1;
  const DeputyOptionUse uses[] = {
      {sizeof uses[0], "fast", NULL, kDeputyOptionIgnored, 0, "nothing is fast"},
      {sizeof uses[0], "threads", "2", kDeputyOptionGiven, 0, NULL},
      {sizeof uses[0], "scale", NULL, kDeputyOptionIgnored, 0, NULL},
      {sizeof uses[0], "unheard", "1", kDeputyOptionGiven, 0, NULL},
  };
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; ++i) callback(user_data, &uses[i]);
  return kTfLiteOk;
}

// Never called, because the delegate does not set kTfLiteDelegateFlagsPerOperatorProfiling.
static void SetModel(TfLiteDelegate* delegate, const void* data, size_t size, int32_t file) {
  (void)delegate, (void)data, (void)size, (void)file;
}

static void SetCancellation(TfLiteDelegate* delegate, bool (*is_cancelled)(TfLiteContext*)) {
  (void)delegate, (void)is_cancelled;
}

static void SetMemoryProvider(TfLiteDelegate* delegate,
                              TfLiteStatus (*provide)(TfLiteContext*, int32_t,
                                                      const DeputyInputMemory*)) {
  (void)delegate, (void)provide;
}

// The nodes have no asynchronous kernel.
static struct TfLiteAsyncKernel* AsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                             TfLiteNode* node,
                                             const struct DeputyAsyncRuntime* runtime) {
  (void)delegate, (void)context, (void)node, (void)runtime;
  return NULL;
}

// The runtime passes live options only: "log".
static TfLiteStatus SetOptions(TfLiteDelegate* base, const char* const* keys,
                               const char* const* values, size_t count,
                               void (*report_error)(const char* text)) {
  Delegate* delegate = (Delegate*)base->data_;
  for (size_t i = 0; i < count; ++i) {
    char* log = strcmp(keys[i], "log") == 0 ? Copy("", values[i], "") : NULL;
    if (log == NULL) {
      report_error(keys[i]);
      return kTfLiteError;
    }
    free(delegate->log);
    delegate->log = log;
  }
  return kTfLiteOk;
}

static TfLiteStatus RunStart(TfLiteDelegate* delegate, TfLiteContext* context) {
  (void)context;
  Log((const Delegate*)delegate->data_, "run_start", NULL);
  return kTfLiteOk;
}

static TfLiteStatus RunEnd(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteStatus status) {
  (void)context;
  Log((const Delegate*)delegate->data_, status == kTfLiteOk ? "run_end" : "run_end failed", NULL);
  return kTfLiteOk;
}

// Lists no types, so the runtime never calls the functions that follow.
static TfLiteStatus MemoryTypes(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                                int32_t tensor, DeputyMemoryTypeCallback callback,
                                void* user_data) {
  (void)delegate, (void)context, (void)node, (void)tensor, (void)callback, (void)user_data;
  return kTfLiteOk;
}

static TfLiteStatus ShareOutput(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                                int32_t tensor, const DeputyMemoryRequirements* requirements) {
  (void)delegate, (void)context, (void)node, (void)tensor, (void)requirements;
  return kTfLiteError;
}

static TfLiteStatus ExportBuffer(TfLiteDelegate* delegate, TfLiteContext* context,
                                 TfLiteBufferHandle handle,
                                 const DeputyMemoryRequirements* requirements,
                                 DeputyBuffer* buffer) {
  (void)delegate, (void)context, (void)handle, (void)requirements, (void)buffer;
  return kTfLiteError;
}

static TfLiteStatus ImportBuffer(TfLiteDelegate* delegate, TfLiteContext* context,
                                 const DeputyBuffer* buffer, TfLiteBufferHandle* handle) {
  (void)delegate, (void)context, (void)buffer, (void)handle;
  return kTfLiteError;
}

static TfLiteStatus NodeEvents(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                               DeputyNodeEventCallback callback, void* user_data) {
  (void)delegate, (void)context, (void)node, (void)callback, (void)user_data;
  return kTfLiteError;
}

// Fills the description when the library is loaded.
static void __attribute__((constructor)) Describe(void) {
  plugin.known.struct_size = DESCRIBED_SIZE;
  plugin.known.abi_version = DESCRIBED_VERSION;
  plugin.known.preferred_layout = kDeputyLayoutNhwc;
  plugin.known.name = "elementwise";
  plugin.known.version = "1.2.3";
  plugin.known.vendor = "Deputy's tests";
  plugin.known.options = kOptions;
  plugin.known.option_count = sizeof kOptions / sizeof kOptions[0];
  plugin.known.create = CreateDescribed;
  plugin.known.destroy = tflite_plugin_destroy_delegate;
  plugin.known.get_support = GetSupport;
  plugin.known.device_bytes = NodesComputed;
  plugin.known.list_devices = ListDevices;
  plugin.known.describe_partitions = DescribePartitions;
  plugin.known.take_events = TakeEvents;
  plugin.known.list_operators = ListOperators;
  plugin.known.report = Report;
  plugin.known.node_events = NodeEvents;
  plugin.known.set_model = SetModel;
  plugin.known.set_cancellation = SetCancellation;
  plugin.known.async_kernel = AsyncKernel;
  plugin.known.set_options = SetOptions;
  plugin.known.run_start = RunStart;
  plugin.known.run_end = RunEnd;
  plugin.known.flags = UINT64_MAX << 2;  // bits that the runtime does not know
  plugin.known.set_memory_provider = SetMemoryProvider;
  plugin.known.memory_types = MemoryTypes;
  plugin.known.share_output = ShareOutput;
  plugin.known.export_buffer = ExportBuffer;
  plugin.known.import_buffer = ImportBuffer;
  // Bytes after the end of a smaller struct are filled with garbage.
  const size_t optional = offsetof(DeputyDelegatePlugin, device_bytes);
  const size_t end = DESCRIBED_SIZE < optional ? optional : DESCRIBED_SIZE;
  if (end < sizeof plugin) memset((char*)&plugin + end, 0x5a, sizeof plugin - end);
}
#endif  // DESCRIBED_SIZE_DELTA
