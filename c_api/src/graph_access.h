// SPDX-License-Identifier: Apache-2.0
//
// Shared helpers of the functions of deputy_graph.h, which check arguments and report invalid ones.
#ifndef DEPUTY_C_API_SRC_GRAPH_ACCESS_H_
#define DEPUTY_C_API_SRC_GRAPH_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "c_api/src/objects.h"
#include "core/base/guard.h"

namespace deputy {

// A client's array. It is invalid if the count is negative, or if the count is positive and the
// pointer NULL.
template <typename T>
struct ClientArray {
  const T* data;
  int32_t count;

  bool valid() const { return count == 0 || (count > 0 && data != nullptr); }
  std::span<const T> span() const { return {data, static_cast<size_t>(count)}; }
};
template <typename T>
ClientArray(const T*, int32_t) -> ClientArray<T>;

// Returns a client's enumerator, or `fallback` if its number is not below `count`. The number is
// copied as bytes, because loading an enumerator that is out of range is undefined behaviour.
template <typename Enum>
Enum EnumeratorOf(const Enum& given, uint32_t count, Enum fallback) {
  uint32_t number = 0;
  static_assert(sizeof number == sizeof given);
  memcpy(&number, &given, sizeof number);
  return number < count ? static_cast<Enum>(number) : fallback;
}

// Returns the interpreter; null after a report if the client has passed NULL. `function` is the
// name of the client's call in reports.
Interpreter* InterpreterOf(const TfLiteInterpreter* interpreter, const char* function);
// Returns the subgraph with that index; null after a report if the interpreter is NULL or has no
// such subgraph.
Subgraph* SubgraphAt(const TfLiteInterpreter* interpreter, int32_t index, const char* function);
// Return the interpreter or subgraph for a call that needs an idle one. Null after a report if the
// argument is invalid, the interpreter runs, or a delegate is being applied to the subgraph.
Interpreter* IdleInterpreter(const TfLiteInterpreter* interpreter, const char* function);
Subgraph* IdleSubgraph(const TfLiteInterpreter* interpreter, int32_t index, const char* function);

// Reports an invalid argument and returns kTfLiteError. `expected` is a noun phrase.
TfLiteStatus RefuseArgument(const Subgraph& subgraph, const char* function, const char* expected);

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_GRAPH_ACCESS_H_
