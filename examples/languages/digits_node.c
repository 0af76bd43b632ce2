// SPDX-License-Identifier: Apache-2.0
//
// Deputy in Node without a package: an add-on for Node's C interface with two functions,
// open(model) and run(model, numbers), used by digits_node.mjs. Build it with Node's headers
// (Debian: libnode-dev):
//
//     words=$(pkg-config --cflags --libs deputy)
//     cc -shared -fPIC digits_node.c -I/usr/include/node -o digits_node.node $words
#include <node_api.h>
#include <stdlib.h>

#include "deputy/deputy.h"

static napi_value Throw(napi_env env) {
  napi_throw_error(env, NULL, DeputyLastError());
  return NULL;
}

static void Close(napi_env env, void* interpreter, void* model) {
  (void)env;
  TfLiteInterpreterDelete(interpreter);
  TfLiteModelDelete(model);
}

static napi_value Open(napi_env env, napi_callback_info info) {
  char path[4096];
  size_t count = 1;
  napi_value argument, result;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  if (napi_get_value_string_utf8(env, argument, path, sizeof path, NULL) != napi_ok) return NULL;
  TfLiteModel* model = TfLiteModelCreateFromFile(path);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, NULL);
  if (interpreter == NULL || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) {
    Close(env, interpreter, model);
    return Throw(env);
  }
  napi_create_external(env, interpreter, Close, model, &result);
  return result;
}

static napi_value Run(napi_env env, napi_callback_info info) {
  size_t count = 2, length = 0;
  napi_value arguments[2], buffer, result;
  void *interpreter = NULL, *numbers = NULL, *scores = NULL;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  napi_get_value_external(env, arguments[0], &interpreter);
  napi_get_typedarray_info(env, arguments[1], NULL, &length, &numbers, NULL, NULL);
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, 0);
  if (TfLiteTensorCopyFromBuffer(input, numbers, length * sizeof(float)) != kTfLiteOk ||
      TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) {
    return Throw(env);
  }
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
  const size_t bytes = TfLiteTensorByteSize(output);
  napi_create_arraybuffer(env, bytes, &scores, &buffer);
  TfLiteTensorCopyToBuffer(output, scores, bytes);
  napi_create_typedarray(env, napi_float32_array, bytes / sizeof(float), buffer, 0, &result);
  return result;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "open", NAPI_AUTO_LENGTH, Open, NULL, &function);
  napi_set_named_property(env, exports, "open", function);
  napi_create_function(env, "run", NAPI_AUTO_LENGTH, Run, NULL, &function);
  napi_set_named_property(env, exports, "run", function);
  return exports;
}
