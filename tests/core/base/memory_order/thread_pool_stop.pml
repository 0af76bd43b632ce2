/* SPDX-License-Identifier: Apache-2.0

   The end of the thread pool: it sets `stopping`, changes the job's number and wakes all workers. A
   worker that is about to sleep passes the number that it has read to the kernel.

   Property: the worker ends, or the verifier reports an invalid end state. */
#ifndef SEE_WORD
#define SEE_WORD ACQUIRE /* core/base/thread_pool.cc: const uint64_t now = word.load(std::memory_order_seq_cst); */
#endif
#ifndef STOP_WORD
#define STOP_WORD RELEASE /* core/base/thread_pool.cc: word.store(NextJob(word.load(std::memory_order_relaxed), 0), std::memory_order_seq_cst); */
#endif

#define THREADS 2
#define CALLER 0
#define WORKER 1

#define WORD 0
#define STOPPING 1
#define LOCATIONS 2

#define COMMITS COMMIT(CALLER, WORD) COMMIT(CALLER, STOPPING)

#include "weak_memory.pml"

bit asleep = 0;

/* The kernel compares under a lock, so a comparison after a wake-up reads what was written before the
   wake-up. */
inline wake_sleepers() {
  atomic {
    !buffered[AT(CALLER, WORD)];
    asleep = 0;
    early[AT(WORKER, WORD)] = 0
  }
}

inline wait_while_word_is(word) {
  atomic {
    if
    :: memory[WORD] == word -> asleep = 1
    :: early[AT(WORKER, WORD)] && early_value[AT(WORKER, WORD)] == word -> asleep = 1
    :: memory[WORD] != word
    fi
  };
  asleep == 0
}

active proctype caller() {
  byte other, index;
  store(CALLER, STOPPING, 1, RELAXED);
  store(CALLER, WORD, 1, STOP_WORD);
  wake_sleepers()
}

active proctype worker() {
  short word, value;
  byte other, index;
  do
  :: load(WORKER, STOPPING, RELAXED, value);
     if
     :: value -> break
     :: else
     fi;
     load(WORKER, WORD, SEE_WORD, word);
     load(WORKER, STOPPING, RELAXED, value);
     if
     :: !value -> wait_while_word_is(word)
     :: else
     fi
  od
}
