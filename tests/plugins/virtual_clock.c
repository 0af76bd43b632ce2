// SPDX-License-Identifier: Apache-2.0
//
// Replaces a process's monotonic clock when it is preloaded (LD_PRELOAD): each reading advances it
// by a microsecond and each sleep by its duration, without waiting. Times that a program measures
// are then the same on every machine under any load.
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t elapsed_ns = 1000000000;

static int64_t Nanoseconds(const struct timespec* time) {
  return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec* out_time) {
  if (clock != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, clock, out_time);
  const int64_t now = atomic_fetch_add(&elapsed_ns, 1000) + 1000;
  out_time->tv_sec = (time_t)(now / 1000000000);
  out_time->tv_nsec = (long)(now % 1000000000);
  return 0;
}

int nanosleep(const struct timespec* duration, struct timespec* out_remaining) {
  // The caller may pass the same struct as `duration` and as the remaining time, so `duration` is
  // read first.
  atomic_fetch_add(&elapsed_ns, Nanoseconds(duration));
  if (out_remaining != NULL) *out_remaining = (struct timespec){0, 0};
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* request,
                    struct timespec* out_remaining) {
  if (flags == 0) return nanosleep(request, out_remaining);
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return errno;
  const int64_t left = Nanoseconds(request) - Nanoseconds(&now);
  if (left > 0) atomic_fetch_add(&elapsed_ns, left);
  return 0;
}
