// SPDX-License-Identifier: Apache-2.0
//
// State that the signatures of an interpreter share, such as the key/value cache of a language
// model that one signature fills and another one extends. The functions are exported by
// libdeputy.so.1; the rules of deputy.h on structs, NULL and failures apply. docs/shared-state.md
// describes them.
//
//     DeputyInterpreterShareState(interpreter, "cache_in", "cache_out");
//     TfLiteSignatureRunnerInvoke(prefill);  // reads zeros, writes the state
//     TfLiteSignatureRunnerInvoke(decode);   // reads and writes the state
//
// A state is not copied between runs or signatures. Its output uses the memory of its input if the
// node that computes the output supports that, if no other node reads the input at that position of
// the plan or later, and if the subgraph has no delegates. Otherwise the output has a second block
// of memory, and the two blocks are swapped after each successful run.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_STATE_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_STATE_H_

#include <stddef.h>
#include <stdint.h>

#include "c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Connects the input `input_name` with the output `output_name` in each signature that has both:
// after a successful run, the output is the input of the next run, of any of these signatures. The
// state is zero at first. Between runs, a program reads and writes it in the data of any of the
// inputs; the data pointer changes with each run that uses two blocks. After a failed run the state
// is unchanged, unless the output uses the memory of the input: then it is undefined.
//
// Returns kTfLiteError and changes nothing if no signature has both names, if the tensors differ in
// type or shape or have no fixed size, if one of them belongs to another state, or if delegates are
// prepared in the background. A run fails if the size of a tensor has changed. An interpreter with
// shared states cannot run asynchronously or prepare delegates in the background.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterShareState(TfLiteInterpreter* interpreter,
                                                         const char* input_name,
                                                         const char* output_name);

typedef struct DeputySharedState {
  // sizeof(DeputySharedState).
  size_t struct_size;
  // Names, which the interpreter owns.
  const char* input_name;
  const char* output_name;
  // The present state, which the interpreter owns; valid until the next run. `bytes` is its size.
  void* data;
  size_t bytes;
  // Size of all memory of the state: `bytes`, or twice that if a run has needed two blocks.
  size_t memory_bytes;
  // Number of subgraphs of the signatures that share it.
  int32_t subgraph_count;
  // 1 if the newest run used one block for input and output.
  int32_t in_place;
} DeputySharedState;

// Returns the number of states, 0 for NULL.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSharedStateCount(const TfLiteInterpreter* interpreter);

// Fills `state`, whose struct_size the caller has set. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetSharedState(const TfLiteInterpreter* interpreter,
                                                             int32_t index,
                                                             DeputySharedState* state);

// Sets all states to zero. kTfLiteError while the interpreter runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterResetSharedStates(TfLiteInterpreter* interpreter);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_STATE_H_
