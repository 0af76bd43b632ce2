// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_api/runtime.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "core/base/guard.h"
#include "core/kernel_api/op_def.h"

namespace deputy {

TfLiteExternalContext* GetContextExternal(TfLiteContext* context, TfLiteExternalContextType type) {
  return static_cast<const ContextOwner*>(context->impl_)->runtime->external_context(type);
}

void ReportContextError(TfLiteContext* context, const char* format, ...) {
  va_list args;
  va_start(args, format);
  static_cast<const ContextOwner*>(context->impl_)->runtime->Report(format, args);
  va_end(args);
}

void RunRanges(const TfLiteContext* context, int64_t count, int64_t grain, const void* function,
               void (*call)(const void* function, int64_t first, int64_t last, int worker)) {
  const int64_t wanted = ThreadCount(context) <= 1 ? 1 : 4 * int64_t{ThreadCount(context)};
  const int64_t tasks = std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, wanted);
  if (tasks == 1) return call(function, 0, count, 0);
  ParallelFor(context, static_cast<int>(tasks), [&](int task, int worker) {
    // The division has a form that cannot overflow.
    const int64_t portion = count / tasks, remainder = count % tasks;
    const int64_t first = task * portion + std::min<int64_t>(task, remainder);
    call(function, first, first + portion + (task < remainder ? 1 : 0), worker);
  });
}

TfLiteStatus KernelError(TfLiteContext* context, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (Runtime* runtime = RuntimeOf(context)) {
    runtime->NoteFailure(text);
  } else if (context->ReportError != nullptr) {
    context->ReportError(context, "%s", text);
  }
  return kTfLiteError;
}

TfLiteStatus CallGuarded(TfLiteContext* context, TfLiteNode* node, OpFunction function) noexcept {
  return Guard([&] { return KernelError(context, "out of memory"); },
               [&] { return function(context, node); });
}

void* CallGuardedInit(TfLiteContext* context, const char* buffer, size_t length,
                      OpInit function) noexcept {
  const auto failure = [&] {
    KernelError(context, "out of memory");
    return TfLiteKernelInitFailed();
  };
  return Guard(failure, [&] { return function(context, buffer, length); });
}

}  // namespace deputy
