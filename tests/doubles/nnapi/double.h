// SPDX-License-Identifier: Apache-2.0
//
// Test double of NNAPI's library: it exports NNAPI's functions, checks how they are called, records
// the models and computes them with plain loops. Tests with it say nothing about real devices.
//
// Tests load the double's own functions, declared here, with dlsym. Programs that do not use them
// can be controlled by the environment variables NNAPI_DOUBLE_FAIL ("Execution_compute=5") and
// NNAPI_DOUBLE_LEVEL ("29").
#ifndef DEPUTY_TESTS_DOUBLES_NNAPI_DOUBLE_H_
#define DEPUTY_TESTS_DOUBLES_NNAPI_DOUBLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bridges/nnapi/nnapi.h"

extern "C" {

// Makes a function ("Model_finish") return `code` from now on; code 0 makes it succeed again.
void NnapiDoubleFail(const char* function, int code);
// Sets the feature level that the double reports, 27 to 31.
void NnapiDoubleSetLevel(int level);
// Returns the number of calls of a function; for "operations" the number of operations computed;
// for "alive" the number of existing objects.
int NnapiDoubleCount(const char* what);
// Describes the models finished since the last reset, and their compilations, as text. The text is
// valid until the next call.
const char* NnapiDoubleDump();
// Returns the first violation of NNAPI's contract since the last reset; "" if there was none.
const char* NnapiDoubleFirstError();
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

  // True if a value was set: either copied bytes, or memory of the caller.
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

// A tensor or scalar as real values.
struct Value {
  std::vector<int64_t> dims;
  std::vector<double> data;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

Value Decode(const Operand& operand, const void* data);
void Encode(const Value& value, const Operand& operand, void* data);

// Computes an operation into `out`, whose dimensions are set. `types` are the operands of the
// inputs, with their quantisation. Returns "" or a problem.
std::string Compute(int32_t code, const std::vector<Value>& in,
                    const std::vector<const Operand*>& types, std::vector<Value>* out);

// Returns the reason why a library of the level does not support the operation with these operands;
// "" if it does.
std::string CheckOperation(int level, int32_t code, const std::vector<const Operand*>& inputs,
                           const std::vector<const Operand*>& outputs);
const char* OperationName(int32_t code);

}  // namespace nnapi_double

#endif  // DEPUTY_TESTS_DOUBLES_NNAPI_DOUBLE_H_
