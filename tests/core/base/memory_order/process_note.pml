/* SPDX-License-Identifier: Apache-2.0

   The page of ProcessId(): the first thread that maps one publishes its address, and others use it.

   Property: the page that a thread uses is initialised. */
#ifndef SEE_NOTE
#define SEE_NOTE ACQUIRE /* core/base/process_id.cc: std::atomic<pid_t>* known = note.load(std::memory_order_acquire); */
#endif
#ifndef PUBLISH_NOTE
#define PUBLISH_NOTE RELEASE /* core/base/process_id.cc: if (note.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made; */
#endif
#ifndef PUBLISH_FAILED
#define PUBLISH_FAILED ACQUIRE /* core/base/process_id.cc: if (note.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return made; */
#endif

#define THREADS 2

#define NOTE 0
#define PAGE(t) (1 + (t))
#define LOCATIONS 3

#define COMMITS COMMIT(0, PAGE(0)) COMMIT(1, PAGE(1))

#include "weak_memory.pml"

proctype user(byte t) {
  short known, value;
  byte made, other, index;
  load(t, NOTE, SEE_NOTE, known);
  if
  :: known == 0 ->
     store(t, PAGE(t), 1, RELAXED);
     compare_exchange(t, NOTE, known, t + 1, PUBLISH_NOTE, PUBLISH_FAILED, made);
     if
     :: made -> known = t + 1
     :: else
     fi
  :: else
  fi;
  load(t, PAGE(known - 1), RELAXED, value);
  assert(value == 1)
}

init {
  atomic {
    run user(0);
    run user(1)
  }
}
