// SPDX-License-Identifier: Apache-2.0
//
// Deputy's queries on an interpreter as functions that return the struct.
#ifndef DEPUTY_TESTS_SUPPORT_INTERPRETER_QUERIES_H_
#define DEPUTY_TESTS_SUPPORT_INTERPRETER_QUERIES_H_

#include <gtest/gtest.h>

#include "c_api/include/deputy.h"

namespace deputy {

inline DeputyMemoryMap MemoryMapOf(const TfLiteInterpreter* interpreter) {
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  EXPECT_EQ(DeputyInterpreterGetMemoryMap(interpreter, 0, &map), kTfLiteOk);
  return map;
}

inline DeputyNodeRun NodeRunOf(const TfLiteInterpreter* interpreter, int node, int subgraph = 0) {
  DeputyNodeRun run{};
  run.struct_size = sizeof run;
  EXPECT_EQ(DeputyInterpreterGetNodeRun(interpreter, subgraph, node, &run), kTfLiteOk);
  return run;
}

inline DeputyNodeInfo NodeInfoOf(const TfLiteInterpreter* interpreter, int node) {
  DeputyNodeInfo info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(DeputyInterpreterGetNodeInfo(interpreter, 0, node, &info), kTfLiteOk);
  return info;
}

inline DeputyDelegateInfo DelegateInfoOf(const TfLiteInterpreter* interpreter, int delegate) {
  DeputyDelegateInfo info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(DeputyInterpreterGetDelegateInfo(interpreter, delegate, &info), kTfLiteOk);
  return info;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_INTERPRETER_QUERIES_H_
