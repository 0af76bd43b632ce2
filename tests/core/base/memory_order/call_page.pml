/* SPDX-License-Identifier: Apache-2.0

   The page of calls in another process, without the events: the host writes the partition and the
   number of the call; the process writes the status and the number as its reply.

   Property: each side sees what the other one wrote before the number, in two calls. */
#ifndef REQUEST
#define REQUEST RELEASE /* bridges/sandbox/session.cc: page->request.store(++calls_, std::memory_order_release); */
#endif
#ifndef SEE_REQUEST
#define SEE_REQUEST ACQUIRE /* bridges/sandbox/host/main.cc: const auto has_request = [&] { return page.request.load(std::memory_order_acquire) == call; }; */
#endif
#ifndef REPLY
#define REPLY RELEASE /* bridges/sandbox/host/main.cc: page->reply.store(call.number, std::memory_order_release); */
#endif
#ifndef SEE_REPLY
#define SEE_REPLY ACQUIRE /* bridges/sandbox/session.cc: const auto has_reply = [&] { return page->reply.load(std::memory_order_acquire) == calls_; }; */
#endif

#define THREADS 2
#define HOST 0
#define PROCESS 1

#define REQUEST_NUMBER 0
#define CLAIM 1
#define REPLY_NUMBER 2
#define STATUS 3
#define LOCATIONS 4

#define COMMITS COMMIT(HOST, REQUEST_NUMBER) COMMIT(HOST, CLAIM) COMMIT(PROCESS, REPLY_NUMBER) COMMIT(PROCESS, STATUS)

#include "weak_memory.pml"

active proctype host() {
  short value;
  byte number, other, index;
  for (number : 1 .. 2) {
    store(HOST, CLAIM, number, RELAXED);
    store(HOST, REQUEST_NUMBER, number, REQUEST);
    do
    :: load(HOST, REPLY_NUMBER, SEE_REPLY, value);
       if
       :: value == number -> break
       :: else
       fi
    od;
    load(HOST, STATUS, RELAXED, value);
    assert(value == number)
  }
}

active proctype process() {
  short value;
  byte number, other, index;
  for (number : 1 .. 2) {
    do
    :: load(PROCESS, REQUEST_NUMBER, SEE_REQUEST, value);
       if
       :: value == number -> break
       :: else
       fi
    od;
    load(PROCESS, CLAIM, RELAXED, value);
    assert(value == number);
    store(PROCESS, STATUS, number, RELAXED);
    store(PROCESS, REPLY_NUMBER, number, REPLY)
  }
}
