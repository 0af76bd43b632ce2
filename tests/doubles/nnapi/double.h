// SPDX-License-Identifier: Apache-2.0
//
// A double of NNAPI's library, for tests alone: it exports NNAPI's functions, checks how they are
// called, records what is built and computes it with plain loops. It is a stand-in and says nothing
// about real devices.
//
// Its own functions, below, are found by dlsym. Environment variables say the same to programs that
// do not know them: NNAPI_DOUBLE_FAIL ("Execution_compute=5") and NNAPI_DOUBLE_LEVEL ("29").
#ifndef DEPUTY_TESTS_DOUBLES_NNAPI_DOUBLE_H_
#define DEPUTY_TESTS_DOUBLES_NNAPI_DOUBLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bridges/nnapi/nnapi.h"

extern "C" {

// Lets a function ("Model_finish") return `code` from now on; 0: work again.
void NnapiDoubleFail(const char* function, int code);
// The feature level that it pretends to have, 27 to 31.
void NnapiDoubleSetLevel(int level);
// How often a function was called; "operations": how many operations were computed; "alive": how
// many objects there are.
int NnapiDoubleCount(const char* what);
// The models that were finished since the last reset, and how they were compiled, as text. The
// text holds until the next call.
const char* NnapiDoubleDump();
// The first breach of NNAPI's contract since the last reset; "" if there was none.
const char* NnapiDoubleComplaint();
void NnapiDoubleReset();

}  // extern "C"

namespace nnapi_double {

struct Operand {
  int32_t type = 0;
  std::vector<uint32_t> dims;
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<float> channel_scales;
  uint32_t channel = 0;

  // A value that was set: copied bytes, or a place that the caller keeps.
  bool has_value = false;
  std::vector<uint8_t> copied;
  const void* borrowed = nullptr;
  size_t bytes = 0;

  size_t count() const;
  size_t element_bytes() const;
  bool is_scalar() const;
  const void* value() const { return copied.empty() ? borrowed : copied.data(); }
};

struct Operation {
  int32_t code = 0;
  std::vector<uint32_t> inputs, outputs;
};

// Numbers of a tensor or scalar as what they stand for.
struct Value {
  std::vector<int64_t> dims;
  std::vector<double> data;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

Value Decode(const Operand& operand, const void* data);
void Encode(const Value& value, const Operand& operand, void* data);

// Computes an operation. `out` has the outputs' dimensions. Returns "" or what is wrong with it.
// `types` are the operands of the inputs, `scale` what they are quantised with.
std::string Compute(int32_t code, const std::vector<Value>& in,
                    const std::vector<const Operand*>& types, std::vector<Value>* out);

// "" or why a library of the level does not have the operation with these operands.
std::string CheckOperation(int level, int32_t code, const std::vector<const Operand*>& inputs,
                           const std::vector<const Operand*>& outputs);
const char* OperationName(int32_t code);

}  // namespace nnapi_double

#endif  // DEPUTY_TESTS_DOUBLES_NNAPI_DOUBLE_H_
