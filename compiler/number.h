// SPDX-License-Identifier: Apache-2.0
//
// One element of any type.
#ifndef DEPUTY_COMPILER_NUMBER_H_
#define DEPUTY_COMPILER_NUMBER_H_

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/c/c_api_types.h"

namespace deputy::compiler {

// Floating-point types use `real`, all others (bool as 0 and 1) `whole`.
struct Number {
  double real = 0;
  int64_t whole = 0;
};

bool IsFloat(TfLiteType type);
// "FLOAT32": as TfLiteTypeGetName, which a delegate cannot count on.
const char* TypeName(TfLiteType type);
// Bytes of one element; 0 for types that the compiler does not compute with.
size_t ElementBytes(TfLiteType type);
// The range of a whole type; of uint64 the part that fits.
int64_t SmallestOf(TfLiteType type);
int64_t LargestOf(TfLiteType type);

Number LoadElement(TfLiteType type, const std::byte* contents, int64_t index);
// Rounds floats to the type; whole numbers fit or wrap.
void StoreElement(TfLiteType type, Number number, std::byte* contents, int64_t index);

// A number as it would be read from memory of the type after it was stored there.
Number Stored(TfLiteType type, Number number);
// The number nearest to `value` that the type has; whole types cut the fraction off.
Number NumberOf(TfLiteType type, double value);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_NUMBER_H_
