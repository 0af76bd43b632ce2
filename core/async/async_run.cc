// SPDX-License-Identifier: Apache-2.0
#include "core/async/async_run.h"

#include <cstdio>
#include <cstring>

#include "core/base/guard.h"

namespace deputy {
namespace {

// Returns the request without pointers to the client's arrays.
DeputyRunRequest WithoutArrays(const DeputyRunRequest& request) {
  DeputyRunRequest copy = request;
  copy.inputs = nullptr;
  copy.outputs = nullptr;
  return copy;
}

}  // namespace

AsyncRun::AsyncRun(const DeputyRunRequest& client)
    : request(WithoutArrays(client)),
      inputs(client.inputs, client.inputs + client.input_count),
      outputs(client.outputs, client.outputs + client.output_count) {}

TfLiteStatus AsyncRun::Fail(TfLiteStatus failure, const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, sizeof error, format, args);
  va_end(args);
  return failure;
}

TfLiteStatus AsyncRun::CopyIn(int index, void* data, size_t size) {
  if (request.copy_in == nullptr) {
    if (size > 0) memcpy(data, inputs[static_cast<size_t>(index)].data, size);
    return kTfLiteOk;
  }
  return Guard([this, index] { return Fail(kTfLiteError, "copy_in of input %d threw", index); },
               [&] {
                 const TfLiteStatus copied = request.copy_in(request.user_data, index, data, size);
                 return copied == kTfLiteOk
                            ? copied
                            : Fail(copied, "copy_in of input %d returned %d", index, copied);
               });
}

TfLiteStatus AsyncRun::CopyOut(int index, const void* data, size_t size) {
  if (request.copy_out == nullptr) {
    const DeputyRunOutput& output = outputs[static_cast<size_t>(index)];
    if (output.data == nullptr) return kTfLiteOk;
    if (output.size != size) {
      return Fail(kTfLiteError, "output %d: expected memory of %zu bytes, found %zu", index, size,
                  output.size);
    }
    if (size > 0) memcpy(output.data, data, size);
    return kTfLiteOk;
  }
  return Guard([this, index] { return Fail(kTfLiteError, "copy_out of output %d threw", index); },
               [&] {
                 const TfLiteStatus copied = request.copy_out(request.user_data, index, data, size);
                 return copied == kTfLiteOk
                            ? copied
                            : Fail(copied, "copy_out of output %d returned %d", index, copied);
               });
}

}  // namespace deputy
