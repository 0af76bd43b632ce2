/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "npu_stub/device_ops.h"

NpuStatus NpuBadInput(const NpuWork* work, const char* format, ...) {
  if (work->error == NULL) return kNpuBadArgument;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(work->error, work->error_size, format, arguments);
  va_end(arguments);
  return kNpuBadArgument;
}
