/* SPDX-License-Identifier: Apache-2.0

   Sleep and wake-up in the thread pool: a caller publishes two jobs, and the worker computes both. The
   modelled sleep ends only by a wake-up after the worker was counted; unlike the kernel's futex, it does
   not compare the job's number.

   Property: no job is missed, or the verifier reports an invalid end state. */
#ifndef PUBLISH
#define PUBLISH SEQ_CST /* core/base/thread_pool.cc: word.store(NextJob(before, shares), std::memory_order_seq_cst); */
#endif
#ifndef SEE_SLEEPERS
#define SEE_SLEEPERS SEQ_CST /* core/base/thread_pool.cc: if (const int asleep = sleepers.load(std::memory_order_seq_cst); asleep > 0) { */
#endif
#ifndef FALL_ASLEEP
#define FALL_ASLEEP SEQ_CST /* core/base/thread_pool.cc: sleepers.fetch_add(1, std::memory_order_seq_cst); */
#endif
#ifndef SEE_WORD
#define SEE_WORD SEQ_CST /* core/base/thread_pool.cc: const uint64_t now = word.load(std::memory_order_seq_cst); */
#endif
#define THREADS 2
#define CALLER 0
#define WORKER 1

#define WORD 0
#define SLEEPERS 1
#define LOCATIONS 2

#define COMMITS COMMIT(CALLER, WORD)

#include "weak_memory.pml"

/* The job's number times 2, plus 1 if it has an unclaimed share. */
#define UNCLAIMED(word) ((word) % 2 == 1)

bit woken = 0;
byte done_jobs = 0;

active proctype caller() {
  short value;
  byte job, other, index;
  do
  :: job < 2 ->
     job++;
     store(CALLER, WORD, job * 2 + 1, PUBLISH);
     load(CALLER, SLEEPERS, SEE_SLEEPERS, value);
     if
     :: value > 0 -> woken = 1
     :: else
     fi;
     done_jobs == job
  :: else -> break
  od
}

active proctype worker() {
  short word, value;
  byte claimed, other, index;
  do
  :: done_jobs < 2 ->
     load(WORKER, WORD, ACQUIRE, word);
     if
     :: UNCLAIMED(word) ->
        compare_exchange(WORKER, WORD, word, word - 1, ACQUIRE, ACQUIRE, claimed);
        if
        :: claimed -> done_jobs++
        :: else
        fi
     :: else
     fi;
     woken = 0;
     change(WORKER, SLEEPERS, value + 1, FALL_ASLEEP, value);
     load(WORKER, WORD, SEE_WORD, word);
     if
     :: !UNCLAIMED(word) -> woken || done_jobs == 2
     :: else
     fi;
     change(WORKER, SLEEPERS, value - 1, RELAXED, value)
  :: else -> break
  od
}
