// SPDX-License-Identifier: Apache-2.0
//
// A delegate that claims ADD of float32 tensors of one size and has a fault in one of its callbacks
// that ends or damages its process. Options: `fault` names the fault, `in` the callback (create,
// prepare, init, kernel_prepare, invoke, free), `call` the number of that callback's call, from 1,
// that has the fault, `name` the name of the kernel. Without a fault it is correct.
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deputy/delegate_helper.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

enum {
  kOperands = 2,
  kNameBytes = 32,
  kMemoryFd = 4,
  kReplyFd = 6,
  kInputsFd = 8,
  kSharedBytes = 4096
};

static struct {
  char fault[kNameBytes], in[kNameBytes], name[kNameBytes];
  int call, calls;
} settings;

// Writes `byte` to every byte of the memory that the process shares with its host.
static void FillShared(int byte) {
  void* shared = mmap(NULL, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryFd, 0);
  if (shared != MAP_FAILED) memset(shared, byte, kSharedBytes);
}

// Takes more than any limit of the stack.
static int UseStack(int64_t depth) {
  volatile char block[1 << 16];
  block[0] = (char)depth;
  return depth == 0 ? 0 : UseStack(depth - 1) + block[0];
}

static void UseMemory(void) {
  enum { kStep = 16 << 20 };
  for (int i = 0; i < 256; ++i) {
    char* block = (char*)malloc(kStep);
    if (block == NULL) abort();
    memset(block, 1, kStep);
  }
}

static void DamageHeap(void) {
  char* block = (char*)malloc(64);
  char* next = (char*)malloc(64);
  memset((char*)((uintptr_t)block - 16), 0x5a, 16 + 64 + 64);
  free(next);
  free(block);
}

static void ChangeSignals(void) {
  for (int i = 1; i < 32; ++i) signal(i, SIG_IGN);
  raise(SIGTERM);
}

// Ends the process with status 9 if a call that the sandbox must refuse succeeds.
static void Escape(int result) {
  if (result >= 0) _exit(9);
}

// Maps the memory of the inputs for writing.
static int MapInputs(int file) {
  return mmap(NULL, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED ? -1
                                                                                             : 0;
}

static int* volatile nowhere;

static void Fail(void) {
  const char* fault = settings.fault;
  if (strcmp(fault, "segv") == 0) *nowhere = 1;
  if (strcmp(fault, "abort") == 0) abort();
  if (strcmp(fault, "exit") == 0) exit(0);
  if (strcmp(fault, "_exit") == 0) _exit(0);
  if (strcmp(fault, "kill") == 0) raise(SIGKILL);
  while (strcmp(fault, "hang") == 0) pause();
  while (strcmp(fault, "spin") == 0) {
  }
  // Sends replies to no call.
  for (const uint64_t one = 1; strcmp(fault, "chatter") == 0;) {
    if (write(kReplyFd, &one, sizeof one) < 0) abort();
  }
  if (strcmp(fault, "memory") == 0) UseMemory();
  if (strcmp(fault, "stack") == 0) UseStack(1 << 24);
  if (strcmp(fault, "heap") == 0) DamageHeap();
  if (strcmp(fault, "fds") == 0) {
    for (int i = 3; i < 1024; ++i) close(i);
  }
  if (strcmp(fault, "signals") == 0) ChangeSignals();
  if (strcmp(fault, "fpu") == 0) fesetround(FE_UPWARD);
  if (strcmp(fault, "zeros") == 0) FillShared(0);
  if (strcmp(fault, "ones") == 0) FillShared(0xff);
  if (strcmp(fault, "truncate") == 0) Escape(ftruncate(kMemoryFd, 0));
  if (strcmp(fault, "map_inputs") == 0) Escape(MapInputs(kInputsFd));
  if (strcmp(fault, "reopen_inputs") == 0) Escape(MapInputs(open("/proc/self/fd/8", O_RDWR)));
  if (strcmp(fault, "resize_inputs") == 0) {
    Escape(ftruncate(kInputsFd, 0));
    Escape(ftruncate(kInputsFd, 1 << 20));
    Escape((int)pwrite(kInputsFd, "", 1, 0));
  }
  if (strcmp(fault, "socket") == 0) Escape(socket(AF_INET, SOCK_STREAM, 0));
  if (strcmp(fault, "kill_host") == 0) Escape(kill(getppid(), SIGKILL));
  if (strcmp(fault, "tgkill_host") == 0) {
    Escape((int)syscall(SYS_tgkill, getppid(), getppid(), SIGKILL));
  }
  if (strcmp(fault, "open") == 0) Escape(open("/etc/passwd", O_RDONLY));
  if (strcmp(fault, "create") == 0) Escape(open("escaped", O_CREAT | O_WRONLY, 0600));
  if (strcmp(fault, "exec") == 0) execl("/bin/true", "true", (char*)NULL);
}

// Counts the call of a callback. Returns true if it has the fault and did not end the process.
static bool FailIn(const char* callback) {
  if (strcmp(callback, settings.in) != 0 || ++settings.calls != settings.call) return false;
  Fail();
  return true;
}

static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
  (void)context, (void)length;
  FailIn("init");
  const TfLiteDelegateParams* params = (const TfLiteDelegateParams*)(const void*)buffer;
  int* tensors = (int*)malloc(3 * sizeof(int));
  TfLiteNode* node = NULL;
  TfLiteRegistration* registration = NULL;
  if (tensors == NULL || params->nodes_to_replace->size != 1 ||
      context->GetNodeAndRegistration(context, params->nodes_to_replace->data[0], &node,
                                      &registration) != kTfLiteOk) {
    free(tensors);
    return NULL;
  }
  tensors[0] = node->inputs->data[0];
  tensors[1] = node->inputs->data[1];
  tensors[2] = node->outputs->data[0];
  return tensors;
}

static void Free(TfLiteContext* context, void* tensors) {
  (void)context;
  FailIn("free");
  free(tensors);
}

static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node) {
  (void)context;
  FailIn("kernel_prepare");
  return node->user_data == NULL ? kTfLiteError : kTfLiteOk;
}

static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const bool failed = FailIn("invoke");
  const int* tensors = (const int*)node->user_data;
  const float* a = context->tensors[tensors[0]].data.f;
  const float* b = context->tensors[tensors[1]].data.f;
  const TfLiteTensor* output = &context->tensors[tensors[2]];
  if (failed && strcmp(settings.fault, "write_inputs") == 0)
    context->tensors[tensors[0]].data.f[0] = 7;
  for (size_t i = 0; i < output->bytes / sizeof(float); ++i) output->data.f[i] = a[i] + b[i];
  if (failed && strcmp(settings.fault, "wrong") == 0) memset(output->data.raw, 0x41, output->bytes);
  if (failed && strcmp(settings.fault, "status") == 0) {
    memset(output->data.raw, 0x7f, output->bytes);
    context->ReportError(context, "no device\n7");
    return kTfLiteError;
  }
  return kTfLiteOk;
}

static bool IsSupported(TfLiteContext* context, TfLiteNode* node,
                        const TfLiteRegistration* registration, void* user_data, char* reason,
                        size_t reason_size) {
  (void)user_data, (void)reason, (void)reason_size;
  if (registration->builtin_code != kTfLiteBuiltinAdd || node->inputs->size != kOperands) {
    return false;
  }
  const TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
  for (int i = 0; i < kOperands; ++i) {
    const TfLiteTensor* input = &context->tensors[node->inputs->data[i]];
    if (input->type != kTfLiteFloat32 || input->bytes != output->bytes) return false;
  }
  return output->type == kTfLiteFloat32;
}

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  FailIn("prepare");
  TfLiteRegistration kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.init = Init;
  kernel.free = Free;
  kernel.prepare = PrepareKernel;
  kernel.invoke = Invoke;
  kernel.custom_name = settings.name;
  kernel.version = 1;
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  TfLiteStatus status = DeputyPartitionHelperPartition(&helper, IsSupported, NULL, 0, INT_MAX);
  TfLiteIntArray* nodes = NULL;
  if (status == kTfLiteOk) {
    nodes = DeputyPartitionHelperLargest(&helper, INT_MAX, 1);
    if (nodes == NULL) status = kTfLiteError;
  }
  if (status == kTfLiteOk && nodes->size > 0) {
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes, delegate);
  }
  DeputyIntArrayFree(nodes);
  DeputyPartitionHelperFree(&helper);
  return status;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                              size_t count, void (*report_error)(const char*)) {
  (void)report_error;
  memset(&settings, 0, sizeof settings);
  settings.call = 1;
  strcpy(settings.name, "Faulty");
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(keys[i], "fault") == 0) snprintf(settings.fault, kNameBytes, "%s", values[i]);
    if (strcmp(keys[i], "in") == 0) snprintf(settings.in, kNameBytes, "%s", values[i]);
    if (strcmp(keys[i], "name") == 0) snprintf(settings.name, kNameBytes, "%s", values[i]);
    if (strcmp(keys[i], "call") == 0) settings.call = atoi(values[i]);
  }
  FailIn("create");
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof(TfLiteDelegate));
  if (delegate != NULL) delegate->Prepare = Prepare;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { free(delegate); }
