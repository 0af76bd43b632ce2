/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/litert/tasks.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct Task {
  struct Task* next;
  NpuTaskFunction function;
  void* argument;
  int fence; /* this end of the pair of sockets */
  int count;
  int fences[]; /* to wait for */
} Task;

struct NpuTasks {
  pthread_t thread;
  pthread_mutex_t mutex; /* guards the members below */
  pthread_cond_t changed;
  Task *first, *last; /* the first task may be running */
  bool is_ending;
};

/* Returns false if the fence has an error. */
static bool WaitFor(int fence) {
  struct pollfd request = {fence, POLLIN, 0};
  while (poll(&request, 1, -1) < 0 && errno == EINTR) {
  }
  return (request.revents & (POLLERR | POLLNVAL)) == 0;
}

/* The other end of the pair has written a byte, which is read only before a success: a socket that
 * is closed with unread data gives an error to its peer. */
static void Signal(int fence, bool is_done) {
  char byte = 0;
  if (is_done && read(fence, &byte, 1) == 1) (void)!write(fence, &byte, 1);
  close(fence);
}

static void Run(Task* task) {
  bool is_done = true;
  for (int i = 0; i < task->count; ++i) {
    if (task->fences[i] < 0) continue;
    is_done = WaitFor(task->fences[i]) && is_done;
    close(task->fences[i]);
  }
  if (is_done) {
    is_done = task->function(task->argument);
  } else {
    free(task->argument);
  }
  Signal(task->fence, is_done);
}

static void* RunAll(void* data) {
  NpuTasks* tasks = data;
  pthread_mutex_lock(&tasks->mutex);
  for (;;) {
    while (tasks->first == NULL && !tasks->is_ending) {
      pthread_cond_wait(&tasks->changed, &tasks->mutex);
    }
    Task* task = tasks->first;
    if (task == NULL) break;
    pthread_mutex_unlock(&tasks->mutex);
    Run(task);
    pthread_mutex_lock(&tasks->mutex);
    tasks->first = task->next;
    pthread_cond_broadcast(&tasks->changed);
    free(task);
  }
  pthread_mutex_unlock(&tasks->mutex);
  return NULL;
}

NpuTasks* NpuCreateTasks(void) {
  NpuTasks* tasks = calloc(1, sizeof *tasks);
  if (tasks == NULL) return NULL;
  pthread_mutex_init(&tasks->mutex, NULL);
  pthread_cond_init(&tasks->changed, NULL);
  if (pthread_create(&tasks->thread, NULL, RunAll, tasks) == 0) return tasks;
  pthread_cond_destroy(&tasks->changed);
  pthread_mutex_destroy(&tasks->mutex);
  free(tasks);
  return NULL;
}

void NpuDestroyTasks(NpuTasks* tasks) {
  if (tasks == NULL) return;
  pthread_mutex_lock(&tasks->mutex);
  tasks->is_ending = true;
  pthread_cond_broadcast(&tasks->changed);
  pthread_mutex_unlock(&tasks->mutex);
  pthread_join(tasks->thread, NULL);
  pthread_cond_destroy(&tasks->changed);
  pthread_mutex_destroy(&tasks->mutex);
  free(tasks);
}

void NpuFinishTasks(NpuTasks* tasks) {
  if (tasks == NULL) return;
  pthread_mutex_lock(&tasks->mutex);
  while (tasks->first != NULL) pthread_cond_wait(&tasks->changed, &tasks->mutex);
  pthread_mutex_unlock(&tasks->mutex);
}

int NpuStartTask(NpuTasks* tasks, const int* fences, int count, NpuTaskFunction function,
                 void* argument) {
  int ends[2];
  Task* task = calloc(1, sizeof *task + (size_t)count * sizeof task->fences[0]);
  if (task == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    free(task);
    return -1;
  }
  if (write(ends[0], "", 1) != 1) {
    close(ends[0]);
    close(ends[1]);
    free(task);
    return -1;
  }
  task->function = function;
  task->argument = argument;
  task->fence = ends[1];
  task->count = count;
  if (count > 0) memcpy(task->fences, fences, (size_t)count * sizeof task->fences[0]);
  pthread_mutex_lock(&tasks->mutex);
  if (tasks->first == NULL) {
    tasks->first = task;
  } else {
    tasks->last->next = task;
  }
  tasks->last = task;
  pthread_cond_broadcast(&tasks->changed);
  pthread_mutex_unlock(&tasks->mutex);
  return ends[0];
}
