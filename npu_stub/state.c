/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/state.h"

#include <stdbool.h>
#include <stdlib.h>

void NpuReleaseState(NpuState* state) {
  pthread_mutex_lock(&state->mutex);
  const bool is_last = --state->users == 0;
  pthread_mutex_unlock(&state->mutex);
  if (!is_last) return;
  if (state->end_workers != NULL) state->end_workers(state);
  NpuCloseDevice(&state->device);
  for (int32_t i = 0; i < state->name_count; ++i) free(state->names[i]);
  free(state->names);
  pthread_mutex_destroy(&state->mutex);
  free(state);
}
