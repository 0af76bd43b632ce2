// SPDX-License-Identifier: Apache-2.0
//
// A plug-in that runs code after its last delegate is destroyed, as vendors' drivers do: with
// THREAD in a thread of its own, otherwise in a destructor of thread-local data. It then writes a
// byte to the file descriptor given by the option "descriptor".
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensorflow/lite/delegates/external/external_delegate_interface.h"

static int descriptor = -1;
static atomic_int destroyed;

static void SignalDone(void) {
  const char done = '!';
  if (write(descriptor, &done, 1) != 1) abort();
}

#ifdef THREAD
// Runs some time after the delegate is destroyed, when a client that unloads the library has
// already unloaded it.
static void* Work(void* unused) {
  while (atomic_load(&destroyed) == 0) usleep(1000);
  usleep(20000);
  SignalDone();
  return unused;
}

static void Begin(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, Work, NULL) != 0) abort();
  pthread_detach(thread);
}
#else
static void Destructor(void* data) {
  free(data);
  SignalDone();
}

static void Begin(void) {
  pthread_key_t key;
  if (pthread_key_create(&key, Destructor) != 0) abort();
  pthread_setspecific(key, malloc(8));
}
#endif

static TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  (void)context;
  (void)delegate;
  return kTfLiteOk;
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values, size_t num_options,
                                              void (*report_error)(const char* message)) {
  (void)report_error;
  if (num_options != 1 || strcmp(options_keys[0], "descriptor") != 0) return NULL;
  descriptor = atoi(options_values[0]);
  TfLiteDelegate* delegate = (TfLiteDelegate*)calloc(1, sizeof(TfLiteDelegate));
  if (delegate == NULL) return NULL;
  delegate->Prepare = Prepare;
  Begin();
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  free(delegate);
  atomic_store(&destroyed, 1);
}
