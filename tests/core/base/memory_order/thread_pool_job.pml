/* SPDX-License-Identifier: Apache-2.0

   Jobs of the thread pool: a caller publishes two jobs of two shares each, and worker number 2 claims
   shares. The caller runs the first share itself, and the second one if the worker has not claimed it.

   Properties: a claimed share has its job's task, a disabled worker claims nothing, and the worker's
   results are visible when the job ends. */
#ifndef PUBLISH
#define PUBLISH RELEASE /* core/base/thread_pool.cc: word.store(NextJob(before, shares), std::memory_order_seq_cst); */
#endif
#ifndef SEE_JOB
#define SEE_JOB ACQUIRE /* core/base/thread_pool.cc: uint64_t now = word.load(std::memory_order_acquire) */
#endif
#ifndef CLAIM_FAILED
#define CLAIM_FAILED ACQUIRE /* core/base/thread_pool.cc: if (word.compare_exchange_weak(now, then, std::memory_order_acquire, std::memory_order_acquire)) { */
#endif
#ifndef FINISH
#define FINISH RELEASE /* core/base/thread_pool.cc: finished.fetch_add(static_cast<uint32_t>(done), std::memory_order_release) */
#endif
#ifndef SEE_FINISHED
#define SEE_FINISHED ACQUIRE /* core/base/thread_pool.cc: if (finished.load(std::memory_order_acquire) == all) return true ; core/base/thread_pool.cc: for (int pauses = 0; finished.load(std::memory_order_acquire) != all;) */
#endif
#define THREADS 2
#define CALLER 0
#define WORKER 1

#define WORD 0
#define TASK 1
#define HELPERS 2
#define RESULT 3
#define FINISHED 4
#define LOCATIONS 5

#define COMMITS \
  COMMIT(CALLER, WORD) COMMIT(CALLER, TASK) COMMIT(CALLER, HELPERS) COMMIT(CALLER, RESULT) \
  COMMIT(WORKER, RESULT)

#include "weak_memory.pml"

/* The job's number times 4, plus 1 if its second share is unclaimed. */
#define UNCLAIMED(word) ((word) % 4 == 1)
#define JOB(word) ((word) / 4)

/* The helpers that each job allows. */
byte helpers_of[3];
bit ended = 0;

inline claim(t, word, value, share) {
  share = 0;
  load(t, WORD, SEE_JOB, word);
  do
  :: UNCLAIMED(word) ->
     if
     :: t == WORKER ->
        load(t, HELPERS, RELAXED, value);
        if
        :: value < 2 -> break
        :: else
        fi
     :: else
     fi;
     compare_exchange(t, WORD, word, JOB(word) * 4, RELAXED, CLAIM_FAILED, share);
     if
     :: share -> break
     :: else
     fi
  :: else -> break
  od
}

inline run_job(job, helpers) {
  helpers_of[job] = helpers;
  store(CALLER, HELPERS, helpers, RELAXED);
  store(CALLER, TASK, job, RELAXED);
  load(CALLER, FINISHED, RELAXED, before);
  store(CALLER, WORD, job * 4 + 1, PUBLISH);
  claim(CALLER, word, value, share);
  if
  :: share
  :: else ->
     do
     :: load(CALLER, FINISHED, SEE_FINISHED, value);
        if
        :: value == before + 1 -> break
        :: else
        fi
     od;
     load(CALLER, RESULT, RELAXED, value);
     assert(value == job)
  fi
}

active proctype caller() {
  short word, value, before;
  byte share, other, index;
  run_job(1, 2);
  if
  :: run_job(2, 2)
  :: run_job(2, 1)
  fi;
  ended = 1
}

active proctype worker() {
  short word, value;
  byte share, other, index;
  do
  :: claim(WORKER, word, value, share);
     if
     :: share ->
        assert(helpers_of[JOB(word)] >= 2);
        load(WORKER, TASK, RELAXED, value);
        assert(value == JOB(word));
        store(WORKER, RESULT, value, RELAXED);
        change(WORKER, FINISHED, value + 1, FINISH, value)
     :: else
     fi
  :: ended -> break
  od
}
