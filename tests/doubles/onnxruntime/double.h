// SPDX-License-Identifier: Apache-2.0
//
// Test double of ONNX Runtime's library: it exports OrtGetApiBase, decodes the models that it gets,
// describes them as text, and computes a few element-wise operators on float32. The indices of its
// functions and the field numbers of ONNX are written down here a second time, independent of the
// bridge.
//
// Tests load the double's own functions, declared here, with dlsym.
#ifndef DEPUTY_TESTS_DOUBLES_ONNXRUNTIME_DOUBLE_H_
#define DEPUTY_TESTS_DOUBLES_ONNXRUNTIME_DOUBLE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes a function ("Run") return an error from now on; "" ends that.
void OrtDoubleFail(const char* function);
// Leaves a function out of the table; "" ends that.
void OrtDoubleHide(const char* function);
// Sets the newest version of the API that the library has; 0 restores the default.
void OrtDoubleSetVersion(uint32_t version);
// Returns a description of the settings and models of the sessions created since the last reset. It
// is valid until the next session or reset.
const char* OrtDoubleText(void);
// Returns the bytes of the last model.
const unsigned char* OrtDoubleModel(size_t* out_bytes);
// Returns the number of objects that have not been released, and the number of successful runs
// since the last reset.
int OrtDoubleAlive(void);
int OrtDoubleRuns(void);
void OrtDoubleReset(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_DOUBLES_ONNXRUNTIME_DOUBLE_H_
