/* SPDX-License-Identifier: Apache-2.0

   The thread pool after fork(): two threads of the child call Run, and the first one resets the pool
   that has the parent's job.

   Property: a thread that uses the pool finds it reset, by one thread only. */
#ifndef SEE_OWNER
#define SEE_OWNER ACQUIRE /* core/base/thread_pool.cc: pid_t known = owner.load(std::memory_order_acquire); */
#endif
#ifndef END_RESET
#define END_RESET RELEASE /* core/base/thread_pool.cc: owner.store(self, std::memory_order_release); */
#endif

#define THREADS 2
#define PARENT 1
#define CHILD 2
#define CHANGING 3

#define OWNER 0
#define WORD 1
#define LOCATIONS 2

#define THREAD_COMMITS(t) COMMIT(t, OWNER) COMMIT(t, WORD)
#define COMMITS THREAD_COMMITS(0) THREAD_COMMITS(1)

#include "weak_memory.pml"

byte resets = 0;

proctype caller(byte t) {
  short known, value;
  byte changed, other, index;
  load(t, OWNER, SEE_OWNER, known);
  if
  :: known == PARENT ->
     compare_exchange(t, OWNER, known, CHANGING, RELAXED, RELAXED, changed);
     if
     :: changed ->
        resets++;
        assert(resets == 1);
        store(t, WORD, 0, RELAXED);
        store(t, OWNER, CHILD, END_RESET);
        known = CHILD
     :: else -> known = CHANGING
     fi
  :: else
  fi;
  if
  :: known == CHILD ->
     load(t, WORD, RELAXED, value);
     assert(value == 0)
  :: else
  fi
}

init {
  atomic {
    memory[OWNER] = PARENT;
    memory[WORD] = 1;
    run caller(0);
    run caller(1)
  }
}
