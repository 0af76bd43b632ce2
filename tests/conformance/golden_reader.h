// SPDX-License-Identifier: Apache-2.0
//
// Reads tests/data/golden/*.golden: the results of the real TensorFlow Lite for one-operator
// models. tests/golden (Python) writes these files; this comment is the specification of their
// format. The reader needs neither Python nor a decompression library.
//
// File, little-endian:
//   "DEPGOLD1", u32 rows, u32 bytes of the unpacked payload, then the packed payload.
// Packed: varint 2n, n literal bytes; varint 2n+1, varint d: copy n bytes from d bytes before.
// Payload: per row u32 length, then
//   text name, text operator                                text = u8 length, bytes
//   u16 version, u8 TfLiteType, u8 tags, u8 flags, u8 outcome of the reference resolver, u8 of the
//   optimised one, u16 quantised steps, f32 widening factor, text message of the refusal
//   u32 length, the model's bytes with generated constants zeroed
//   u8 patches: u32 offset, u32 elements, u8 TfLiteType, u8 generator, fill
//   u8 inputs:  u8 TfLiteType, u8 resize first, dims, u8 generator, fill or raw bytes
//   u8 outputs: u8 rule, u8 TfLiteType, dims, u8 form, then form 0: the bytes of each resolver that
//     succeeded, reference first; form 1: an FNV-1a hash per 256 bytes of the reference's result
// Raw bytes of strings, as the tensor holds them, are preceded by a u32 length.
// dims = u8 rank, i32 each. fill = u64 seed, f64 low, f64 high, f64 step.
#ifndef DEPUTY_TESTS_CONFORMANCE_GOLDEN_READER_H_
#define DEPUTY_TESTS_CONFORMANCE_GOLDEN_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/run.h"

namespace deputy::golden {

using conformance::Outcome;
using conformance::Rule;

// Properties that a row covers, as bits. Every claimed (operator, version, type) needs one row of
// each.
enum Tag : uint8_t { kOrdinary = 1, kOdd = 2, kZeroPoint = 4, kSmall = 8 };

constexpr size_t kHashBlock = 256;
uint64_t Fnv1a(const uint8_t* data, size_t size);

struct Input {
  TfLiteType type;
  bool resize;  // resize the input to `dims` before allocating
  std::vector<int> dims;
  std::vector<uint8_t> data;
};

struct Output {
  Rule rule;
  TfLiteType type;
  std::vector<int> dims;
  // Bytes computed with the reference and the optimised resolver; empty if the resolver failed or
  // the output has no elements.
  std::vector<uint8_t> reference, optimised;
  // True if `hashes` replace `reference` and `optimised`: a large output, which can be compared for
  // equality only.
  bool hashed = false;
  std::vector<uint64_t> hashes;
};

struct Row {
  std::string name, op;
  int version;
  TfLiteType type;  // type of the first data input
  uint8_t tags;
  bool lenient;  // TensorFlow Lite computes it, but Deputy may refuse it
  Outcome reference, optimised;
  int steps;     // tolerance in quantisation steps in default mode
  float factor;  // factor on the float tolerances
  std::string message;
  std::vector<uint8_t> model;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
};

// Reads a whole file. Returns false, with a reason in `error`, if it is missing or damaged.
bool ReadGolden(const std::string& path, std::vector<Row>* rows, std::string* error);

}  // namespace deputy::golden

#endif  // DEPUTY_TESTS_CONFORMANCE_GOLDEN_READER_H_
