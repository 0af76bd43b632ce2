/* SPDX-License-Identifier: Apache-2.0

   A count of references: each of two owners uses the object and then releases its reference. The last
   one deletes the object.

   Property: the thread that deletes the object sees all uses of it. */
#ifndef RELEASE_REFERENCE
#define RELEASE_REFERENCE ACQ_REL /* c_api/src/plugin.cc: plugin->references.fetch_sub(1, std::memory_order_acq_rel) == 1 ; mindspore/src/tensor.h: if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this; */
#endif

#define THREADS 2

#define COUNT 0
#define USE(t) (1 + (t))
#define LOCATIONS 3

#define COMMITS COMMIT(0, USE(0)) COMMIT(1, USE(1))

#include "weak_memory.pml"

proctype owner(byte t) {
  short value;
  byte other, index;
  store(t, USE(t), 1, RELAXED);
  change(t, COUNT, value - 1, RELEASE_REFERENCE, value);
  if
  :: value == 1 ->
     load(t, USE(1 - t), RELAXED, value);
     assert(value == 1)
  :: else
  fi
}

init {
  atomic {
    memory[COUNT] = 2;
    run owner(0);
    run owner(1)
  }
}
