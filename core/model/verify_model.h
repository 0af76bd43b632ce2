// SPDX-License-Identifier: Apache-2.0
//
// Verification of a model's FlatBuffer by tables of field kinds. It accepts the same bytes as the
// functions that flatc generates, one per table of the schema, which take 50 KB.
#ifndef DEPUTY_CORE_MODEL_VERIFY_MODEL_H_
#define DEPUTY_CORE_MODEL_VERIFY_MODEL_H_

#include <cstdint>
#include <span>

namespace deputy {

// Returns whether all tables, vectors and strings that a reader of the model may reach are inside
// `bytes`, which begin with a model of at most `max_tables` tables. Members of unions that the
// schema does not have are not verified.
bool VerifyModel(std::span<const uint8_t> bytes, uint32_t max_tables);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_VERIFY_MODEL_H_
