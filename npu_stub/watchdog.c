/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr, pthread_setname_np */
#include "npu_stub/watchdog.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kErrorBytes = 256, kMinGraceMs = 100 };

typedef enum Phase {
  kIdle,
  kRunning,
  kReturned,
  kAbandoned, /* the caller has returned: the thread frees its worker */
  kEnding,
} Phase;

/* A device thread and its run. It owns all data that it uses, except for the device's objects,
 * which are kept while it runs. The mutex of the state guards the members. */
struct NpuWorker {
  NpuState* state;
  NpuWorker* next; /* list of idle workers */
  pthread_t thread;
  pid_t process;          /* process of the thread, which a fork does not copy */
  pthread_cond_t changed; /* signals changes of `phase` */
  Phase phase;
  NpuClient* client;
  char model[kNpuModelNameBytes];
  uint32_t time_limit_ms;
  NpuStatus status;
  char error[kErrorBytes];
};

/* ---- Threads --------------------------------------------------------------------------------- */

static void FreeWorker(NpuWorker* worker) {
  pthread_cond_destroy(&worker->changed);
  free(worker);
}

static void RunOnDevice(NpuWorker* worker) {
  NpuState* state = worker->state;
  worker->error[0] = '\0';
  pthread_mutex_unlock(&state->mutex);
  const NpuStatus status = state->device.api->run(
      worker->client, worker->model, worker->time_limit_ms, worker->error, sizeof worker->error);
  pthread_mutex_lock(&state->mutex);
  worker->status = status;
}

/* Ends an abandoned run: the device is no longer lost once its unused models are unloaded. */
static void EndAbandoned(NpuWorker* worker) {
  NpuState* state = worker->state;
  if (state->unload_deleted != NULL) state->unload_deleted(state);
  --state->hung_runs;
  pthread_mutex_unlock(&state->mutex);
  FreeWorker(worker);
  NpuReleaseState(state);
}

static void* Work(void* data) {
  NpuWorker* worker = data;
  NpuState* state = worker->state;
  pthread_setname_np(pthread_self(), "npu_device");
  pthread_mutex_lock(&state->mutex);
  for (;;) {
    while (worker->phase != kRunning && worker->phase != kEnding) {
      pthread_cond_wait(&worker->changed, &state->mutex);
    }
    if (worker->phase == kEnding) break;
    RunOnDevice(worker);
    if (worker->phase == kAbandoned) {
      EndAbandoned(worker);
      return NULL;
    }
    worker->phase = kReturned;
    pthread_mutex_unlock(&state->mutex);
    pthread_cond_signal(&worker->changed);
    pthread_mutex_lock(&state->mutex);
  }
  pthread_mutex_unlock(&state->mutex);
  return NULL;
}

/* Starts a thread that blocks the signals that a process receives from outside, so that the
 * client's threads handle them. */
static bool StartThread(NpuWorker* worker) {
  static const int kSynchronous[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof kSynchronous / sizeof kSynchronous[0]; ++i) {
    sigdelset(&blocked, kSynchronous[i]);
  }
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const int error = pthread_create(&worker->thread, NULL, Work, worker);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error == 0;
}

static bool InitCondition(pthread_cond_t* condition) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) return false;
  const bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                  pthread_cond_init(condition, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  return ok;
}

/* Removes an idle worker from the list; NULL if there is none. Workers of the parent of a forked
 * process have no thread here. Their condition is not destroyed, because it has a waiter. */
static NpuWorker* PopIdle(NpuState* state) {
  while (state->idle_workers != NULL) {
    NpuWorker* worker = state->idle_workers;
    state->idle_workers = worker->next;
    if (worker->process == getpid()) return worker;
    free(worker);
  }
  return NULL;
}

static void EndWorkers(NpuState* state) {
  pthread_mutex_lock(&state->mutex);
  for (NpuWorker* worker = PopIdle(state); worker != NULL; worker = PopIdle(state)) {
    worker->phase = kEnding;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&state->mutex);
    pthread_join(worker->thread, NULL);
    FreeWorker(worker);
    pthread_mutex_lock(&state->mutex);
  }
  pthread_mutex_unlock(&state->mutex);
}

static NpuWorker* CreateWorker(NpuState* state) {
  NpuWorker* worker = calloc(1, sizeof *worker);
  if (worker == NULL) return NULL;
  worker->state = state;
  worker->process = getpid();
  if (!InitCondition(&worker->changed)) {
    free(worker);
    return NULL;
  }
  if (!StartThread(worker)) {
    FreeWorker(worker);
    return NULL;
  }
  state->end_workers = EndWorkers;
  return worker;
}

/* ---- Running --------------------------------------------------------------------------------- */

static struct timespec Deadline(uint32_t time_limit_ms) {
  const uint32_t tenth = time_limit_ms / 10;
  const uint32_t total = time_limit_ms + (tenth > kMinGraceMs ? tenth : kMinGraceMs);
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += (time_t)(total / 1000);
  time.tv_nsec += (long)(total % 1000) * 1000000L;
  if (time.tv_nsec >= 1000000000L) {
    ++time.tv_sec;
    time.tv_nsec -= 1000000000L;
  }
  return time;
}

/* Keeps this library loaded until the process ends: an abandoned thread returns into its code,
 * and the client may unload the library after deleting the delegate. */
static void KeepLibrary(void) {
  static const char kInThisLibrary = 0;
  Dl_info info;
  if (dladdr(&kInThisLibrary, &info) == 0 || info.dli_fname == NULL) return;
  dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Waits until the run has returned. Returns false if it was abandoned at the deadline. */
static bool Wait(NpuWorker* worker, const struct timespec* deadline) {
  NpuState* state = worker->state;
  int error = 0;
  while (worker->phase == kRunning && error == 0) {
    error = pthread_cond_timedwait(&worker->changed, &state->mutex, deadline);
  }
  if (worker->phase == kReturned) return true;
  worker->phase = kAbandoned;
  pthread_detach(worker->thread);
  ++state->hung_runs;
  ++state->users; /* the thread's */
  return false;
}

bool NpuIsLost(NpuState* state) {
  if (!state->watched) return false;
  pthread_mutex_lock(&state->mutex);
  const bool is_lost = state->hung_runs > 0;
  pthread_mutex_unlock(&state->mutex);
  return is_lost;
}

void NpuLostText(const NpuState* state, char* text, size_t size) {
  snprintf(text, size,
           "the device is lost: a run has exceeded the time limit of %d ms and not returned",
           (int)state->options.time_limit_ms);
}

NpuStatus NpuRunWatched(NpuState* state, NpuClient* client, const char* model,
                        uint32_t time_limit_ms, char* error, size_t error_size) {
  const struct timespec deadline = Deadline(time_limit_ms);
  pthread_mutex_lock(&state->mutex);
  NpuWorker* worker = PopIdle(state);
  if (worker == NULL) worker = CreateWorker(state);
  if (worker == NULL) {
    pthread_mutex_unlock(&state->mutex);
    snprintf(error, error_size, "the device thread could not be started");
    return kNpuNoMemory;
  }
  worker->client = client;
  snprintf(worker->model, sizeof worker->model, "%s", model);
  worker->time_limit_ms = time_limit_ms;
  worker->phase = kRunning;
  pthread_cond_signal(&worker->changed);
  NpuStatus status = kNpuTimeout;
  const bool returned = Wait(worker, &deadline);
  if (returned) {
    status = worker->status;
    snprintf(error, error_size, "%s", worker->error);
    worker->phase = kIdle;
    worker->next = state->idle_workers;
    state->idle_workers = worker;
  }
  pthread_mutex_unlock(&state->mutex);
  if (!returned) {
    KeepLibrary();
    NpuLostText(state, error, error_size);
  }
  return status;
}
