/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks of asynchronous runs: a thread runs them one at a time, in the order of their start. A
 * fence tells that a task has ended: a descriptor that becomes readable, and has an error after a
 * failure.
 */
#ifndef DEPUTY_NPU_STUB_LITERT_TASKS_H_
#define DEPUTY_NPU_STUB_LITERT_TASKS_H_

#include <stdbool.h>

typedef struct NpuTasks NpuTasks;

/* Returns false on failure. It frees its argument. */
typedef bool (*NpuTaskFunction)(void* argument);

/* Starts the thread. NULL on failure. */
NpuTasks* NpuCreateTasks(void);

/* Runs the remaining tasks and ends the thread. */
void NpuDestroyTasks(NpuTasks* tasks);

/* Waits until all tasks have ended. */
void NpuFinishTasks(NpuTasks* tasks);

/* Starts a task, which waits for `fences`, and closes them. A negative one is absent. Returns the
 * fence of the task; -1 on failure, and then takes over neither fences nor argument. */
int NpuStartTask(NpuTasks* tasks, const int* fences, int count, NpuTaskFunction function,
                 void* argument);

#endif /* DEPUTY_NPU_STUB_LITERT_TASKS_H_ */
