// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <pthread.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>

namespace deputy {
namespace {

constexpr const char* kNames[] = {"verbose", "info", "warning", "error", "silent"};
constexpr const char* kPrefixes[] = {"VERBOSE", "INFO", "WARNING", "ERROR"};
constexpr int kUnset = -1;

std::atomic<int> current_level{kUnset};

struct Sink {
  std::recursive_mutex mutex;  // held during a call, in which the callback may be replaced
  LogCallback callback = nullptr;
  void* user_data = nullptr;
};

Sink sink;
thread_local bool thread_calls_sink = false;

// Replaces the mutex in a forked child, in which the thread that held it does not exist.
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { std::construct_at(&sink.mutex); });

// Calls the callback. Exceptions of the callback are swallowed.
void CallSink(DeputyLogLevel level, const char* message) {
  thread_calls_sink = true;
  try {
    sink.callback(sink.user_data, level, message);
  } catch (...) {
  }
  thread_calls_sink = false;
}

// Returns the level that DEPUTY_LOG names; kUnset if the value is not one of the names.
int LevelOf(const char* value) {
  for (int level = 0; level < static_cast<int>(std::size(kNames)); ++level) {
    if (std::strcmp(value, kNames[level]) == 0) return level;
  }
  return kUnset;
}

void ReadEnvironment() {
  const char* const value = std::getenv("DEPUTY_LOG");
  const bool is_set = value != nullptr && *value != '\0';
  const int named = is_set ? LevelOf(value) : kUnset;
  int expected = kUnset;
  const int level = named == kUnset ? kDeputyLogWarning : named;
  if (!current_level.compare_exchange_strong(expected, level) || !is_set || named != kUnset) return;
  Log(kDeputyLogWarning,
      "DEPUTY_LOG: expected verbose, info, warning, error or silent, found '%s'; it is ignored",
      value);
}

}  // namespace

void SetLogCallback(LogCallback callback, void* user_data) {
  const std::lock_guard lock(sink.mutex);
  sink.callback = callback;
  sink.user_data = user_data;
}

void SetLogLevel(DeputyLogLevel level) { current_level.store(level); }

DeputyLogLevel CurrentLogLevel() {
  if (current_level.load(std::memory_order_relaxed) == kUnset) ReadEnvironment();
  return static_cast<DeputyLogLevel>(current_level.load(std::memory_order_relaxed));
}

void WriteLog(DeputyLogLevel level, const char* message) {
  if (!IsLogged(level)) return;
  if (thread_calls_sink) return;
  const std::lock_guard lock(sink.mutex);
  if (sink.callback == nullptr) {
    std::fprintf(stderr, "%s: %s\n", kPrefixes[level], message);
  } else {
    CallSink(level, message);
  }
}

void Log(DeputyLogLevel level, const char* format, ...) {
  if (!IsLogged(level)) return;
  char message[1024];
  va_list args;
  va_start(args, format);
  const int length = std::vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (length < 0) return;
  for (char* c = message; *c != '\0'; ++c) {
    if (static_cast<unsigned char>(*c) < ' ' || *c == '\x7f') *c = ' ';
  }
  WriteLog(level, message);
}

}  // namespace deputy
