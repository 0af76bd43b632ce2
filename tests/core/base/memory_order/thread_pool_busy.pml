/* SPDX-License-Identifier: Apache-2.0

   Concurrent callers of the thread pool: the one that sets `busy` uses the members that it guards, here
   the back-off and the job word's number.

   Property: each holder of `busy` finds the members as the previous holder left them. */
#ifndef ENTER
#define ENTER ACQUIRE /* core/base/thread_pool.cc: !state.busy.exchange(true, std::memory_order_acquire)) { */
#endif
#ifndef LEAVE
#define LEAVE RELEASE /* core/base/thread_pool.cc: state.busy.store(false, std::memory_order_release); */
#endif

#define THREADS 2

#define BUSY 0
#define BACK_OFF 1
#define WORD 2
#define LOCATIONS 3

#define CALLER_COMMITS(t) COMMIT(t, BUSY) COMMIT(t, BACK_OFF) COMMIT(t, WORD)
#define COMMITS CALLER_COMMITS(0) CALLER_COMMITS(1)

#include "weak_memory.pml"

byte jobs = 0;

proctype caller(byte t) {
  short value;
  byte round, other, index;
  do
  :: round < 2 ->
     round++;
     change(t, BUSY, 1, ENTER, value);
     if
     :: value == 0 ->
        load(t, BACK_OFF, RELAXED, value);
        assert(value == jobs);
        load(t, WORD, RELAXED, value);
        assert(value == jobs);
        jobs++;
        store(t, WORD, value + 1, RELAXED);
        store(t, BACK_OFF, value + 1, RELAXED);
        store(t, BUSY, 0, LEAVE)
     :: else
     fi
  :: else -> break
  od
}

init {
  atomic {
    run caller(0);
    run caller(1)
  }
}
