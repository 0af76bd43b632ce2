// SPDX-License-Identifier: Apache-2.0
// The names that fragments of the documents use; programs_test.py includes it before a fragment.
#ifndef DEPUTY_TESTS_DOCS_PRELUDE_H_
#define DEPUTY_TESTS_DOCS_PRELUDE_H_
#include <stdio.h>
#include <stdlib.h>

#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "deputy/deputy_async.h"
#include "deputy/deputy_devices.h"
#include "deputy/deputy_placement.h"
#include "deputy/deputy_process.h"
#include "deputy/deputy_state.h"
#include "deputy/external_delegate.h"

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

TfLiteModel* model;
TfLiteInterpreterOptions* options;
TfLiteInterpreter* interpreter;
TfLiteDelegate* delegate;
float pixels[28 * 28], scores[10];
size_t pixels_size = sizeof pixels, scores_size = sizeof scores;

// Replaces the interpreter by one with the present options, runs it once, and checks the result.
static inline void CreateInterpreter(void) {
  if (interpreter != NULL) TfLiteInterpreterDelete(interpreter);
  interpreter = TfLiteInterpreterCreate(model, options);
  CHECK(interpreter != NULL);
  CHECK(TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
  CHECK(TfLiteInterpreterInvoke(interpreter) == kTfLiteOk);
}

// Returns a delegate of a library.
static inline TfLiteDelegate* TestDelegate(const char* file) {
  TfLiteExternalDelegateOptions library = TfLiteExternalDelegateOptionsDefault(file);
  TfLiteDelegate* created = TfLiteExternalDelegateCreate(&library);
  CHECK(created != NULL);
  return created;
}

static inline void SetUp(void) {
  model = TfLiteModelCreateFromFile("model.tflite");
  options = TfLiteInterpreterOptionsCreate();
  CHECK(model != NULL && options != NULL);
  interpreter = TfLiteInterpreterCreate(model, options);
  CHECK(interpreter != NULL && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
  delegate = TestDelegate(NPU_STUB);
}

#endif  // DEPUTY_TESTS_DOCS_PRELUDE_H_
