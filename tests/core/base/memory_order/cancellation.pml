/* SPDX-License-Identifier: Apache-2.0

   Cancellation: a thread writes a value and requests that the call ends; the thread of the call polls. A
   poll takes the request or leaves it.

   Property: the thread whose call was cancelled sees what the other one wrote before its request. */
#ifndef REQUEST
#define REQUEST RELEASE /* core/exec/cancellation.h: if (accepts) requested_.store(true, std::memory_order_release); */
#endif
#ifndef TAKE
#define TAKE ACQUIRE /* core/exec/cancellation.h: if (requested_.exchange(false, std::memory_order_acq_rel)) return true; */
#endif

#ifndef PEEK
#define PEEK ACQUIRE /* core/exec/cancellation.h: (requested_.load(std::memory_order_acquire) || CallFunction()); */
#endif

#define THREADS 2
#define CANCELLER 0
#define CALL 1

#define REQUESTED 0
#define REASON 1
#define LOCATIONS 2

#define COMMITS COMMIT(CANCELLER, REQUESTED) COMMIT(CANCELLER, REASON)

#include "weak_memory.pml"

active proctype canceller() {
  byte other, index;
  store(CANCELLER, REASON, 1, RELAXED);
  store(CANCELLER, REQUESTED, 1, REQUEST)
}

active proctype call() {
  short value;
  byte other, index;
  do
  :: change(CALL, REQUESTED, 0, TAKE, value);
     if
     :: value -> break
     :: else
     fi
  :: load(CALL, REQUESTED, PEEK, value);
     if
     :: value -> break
     :: else
     fi
  od;
  load(CALL, REASON, RELAXED, value);
  assert(value == 1)
}
