// SPDX-License-Identifier: Apache-2.0
//
// A number of any tensor type, and its conversion to and from the elements of a buffer.
#ifndef DEPUTY_COMPILER_NUMBER_H_
#define DEPUTY_COMPILER_NUMBER_H_

#include <cstddef>
#include <cstdint>

#include "tensorflow/lite/c/c_api_types.h"

namespace deputy::compiler {

// A number of any type. Floating-point types use `real`, all others (bool as 0 and 1) `integer`.
struct Number {
  double real = 0;
  int64_t integer = 0;
};

bool IsFloat(TfLiteType type);
// Returns the name of a type, for example "FLOAT32". It replaces TfLiteTypeGetName, which may be
// missing from the runtime that loads a delegate.
const char* TypeName(TfLiteType type);
// Returns the bytes of one element; 0 for types that the compiler does not support.
size_t ElementBytes(TfLiteType type);
// Return the range of an integer type; for uint64, the part that int64_t can represent.
int64_t SmallestOf(TfLiteType type);
int64_t LargestOf(TfLiteType type);

Number LoadElement(TfLiteType type, const std::byte* contents, int64_t index);
// Stores a number as element `index`. Floating-point numbers are rounded to the type; integers out
// of range wrap around.
void StoreElement(TfLiteType type, Number number, std::byte* contents, int64_t index);

// Returns the number as it would be read back after storing it with the type.
Number Stored(TfLiteType type, Number number);
// Returns `value` as a number of the type. Floating-point types round to nearest; integer types
// truncate the fraction, clamp to their range, and convert NaN to 0.
Number NumberOf(TfLiteType type, double value);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_NUMBER_H_
