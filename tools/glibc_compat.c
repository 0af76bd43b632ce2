// SPDX-License-Identifier: Apache-2.0
//
// Symbols that libstdc++ and code compiled with newer headers need and that GNU's C library 2.28
// lacks (tools/glibc_stubs.sh). Each library that links them has its own, hidden copy.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

// Read by std::shared_ptr, which uses atomic operations if it is zero.
extern HIDDEN char __libc_single_threaded;
char __libc_single_threaded = 0;

// Returns a constant for every number that the C library knows.
HIDDEN const char* strerrordesc_np(int error) { return strerror(error); }

// Called by std::random_device.
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value) abort();
  return value;
}

// Called by std::condition_variable for times of the monotonic clock. Setting the system's time
// during the wait changes its length; libstdc++ reads the clock afterwards.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const struct timespec* until) {
  struct timespec now, end;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += until->tv_sec - now.tv_sec;
  end.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (end.tv_nsec < 0) {
    end.tv_nsec += 1000000000;
    --end.tv_sec;
  } else if (end.tv_nsec >= 1000000000) {
    end.tv_nsec -= 1000000000;
    ++end.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &end);
}
