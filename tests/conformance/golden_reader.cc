// SPDX-License-Identifier: Apache-2.0
//
// Implements golden_reader.h. The generators must agree bit by bit with tests/golden/generator.py.
// All arithmetic is exact in double precision, so compiler differences cannot change the values.
#include "tests/conformance/golden_reader.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/support/type_size.h"

namespace deputy::golden {
namespace {

enum Generator : uint8_t { kRaw, kFloat, kInteger, kGrid };

// Reads bytes sequentially; throws std::runtime_error at the end.
class Cursor {
 public:
  Cursor(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  bool done() const { return left_ == 0; }

  const uint8_t* Take(size_t size) {
    if (size > left_) throw std::runtime_error("ends early");
    const uint8_t* taken = data_;
    data_ += size;
    left_ -= size;
    return taken;
  }

  template <typename T>
  T Get() {
    T value;
    std::memcpy(&value, Take(sizeof(T)), sizeof(T));
    return value;
  }

  std::string Text() {
    const size_t size = Get<uint8_t>();
    return std::string(reinterpret_cast<const char*>(Take(size)), size);
  }

  std::vector<uint8_t> Bytes(size_t size) {
    const uint8_t* data = Take(size);
    return std::vector<uint8_t>(data, data + size);
  }

  std::vector<int> Dims() {
    std::vector<int> dims(Get<uint8_t>());
    for (int& dim : dims) dim = Get<int32_t>();
    return dims;
  }

  size_t Varint() {
    size_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Get<uint8_t>();
      value |= static_cast<size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("number too long");
  }

 private:
  const uint8_t* data_;
  size_t left_;
};

size_t SizeOf(TfLiteType type) {
  if (type == kTfLiteString) return 1;  // for strings a count of bytes precedes the data
  const size_t bits = TypeBits(type);
  if (bits == 0 || bits % 8 != 0) throw std::runtime_error("unknown tensor type");
  return bits / 8;
}

// Reads contents that are stored verbatim; those of strings are preceded by their size.
std::vector<uint8_t> Contents(Cursor* cursor, TfLiteType type, size_t bytes) {
  return cursor->Bytes(type == kTfLiteString ? cursor->Get<uint32_t>() : bytes);
}

size_t Elements(const std::vector<int>& dims) {
  size_t count = 1;
  for (int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

uint64_t SplitMix64(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Stores an integer or a float as one element of `type`.
void Store(TfLiteType type, int64_t integer, double real, uint8_t* at) {
  if (type == kTfLiteFloat32) {
    const float value = static_cast<float>(real);
    std::memcpy(at, &value, sizeof(value));
  } else {
    std::memcpy(at, &integer, SizeOf(type));  // little-endian: the low bytes are first
  }
}

void Fill(Generator kind, TfLiteType type, size_t count, Cursor* cursor, uint8_t* out) {
  uint64_t state = cursor->Get<uint64_t>();
  const double low = cursor->Get<double>();
  const double high = cursor->Get<double>();
  const double step = cursor->Get<double>();
  const size_t size = SizeOf(type);
  for (size_t i = 0; i < count; ++i, out += size) {
    const uint64_t bits = SplitMix64(&state);
    if (kind == kFloat) {
      const double fraction = static_cast<double>(bits >> 40) / 16777216.0;
      Store(type, 0, low + (high - low) * fraction, out);
    } else {
      const uint64_t span = static_cast<uint64_t>(high - low) + 1;
      const int64_t integer =
          static_cast<int64_t>(((bits >> 32) * span) >> 32) + static_cast<int64_t>(low);
      Store(type, integer, static_cast<double>(integer) * step, out);
    }
  }
}

std::vector<uint8_t> Unpack(Cursor* packed, size_t size) {
  std::vector<uint8_t> out;
  out.reserve(size);
  while (out.size() < size) {
    const size_t token = packed->Varint();
    const size_t count = token / 2;
    if (count > size - out.size()) throw std::runtime_error("unpacks to too much");
    if (token % 2 == 0) {
      const uint8_t* literal = packed->Take(count);
      out.insert(out.end(), literal, literal + count);
      continue;
    }
    const size_t distance = packed->Varint();
    if (distance == 0 || distance > out.size()) throw std::runtime_error("copies from nowhere");
    // Copies byte by byte, because source and destination may overlap.
    for (size_t i = 0; i < count; ++i) out.push_back(out[out.size() - distance]);
  }
  return out;
}

void ReadPatches(Cursor* cursor, std::vector<uint8_t>* model) {
  for (int left = cursor->Get<uint8_t>(); left > 0; --left) {
    const size_t offset = cursor->Get<uint32_t>();
    const size_t count = cursor->Get<uint32_t>();
    const TfLiteType type = static_cast<TfLiteType>(cursor->Get<uint8_t>());
    const Generator kind = static_cast<Generator>(cursor->Get<uint8_t>());
    if (offset + count * SizeOf(type) > model->size()) {
      throw std::runtime_error("patch outside the model");
    }
    Fill(kind, type, count, cursor, model->data() + offset);
  }
}

Input ReadInput(Cursor* cursor) {
  Input input;
  input.type = static_cast<TfLiteType>(cursor->Get<uint8_t>());
  input.resize = cursor->Get<uint8_t>() != 0;
  input.dims = cursor->Dims();
  const size_t count = Elements(input.dims);
  const Generator kind = static_cast<Generator>(cursor->Get<uint8_t>());
  if (kind == kRaw) {
    input.data = Contents(cursor, input.type, count * SizeOf(input.type));
  } else {
    input.data.resize(count * SizeOf(input.type));
    Fill(kind, input.type, count, cursor, input.data.data());
  }
  return input;
}

Output ReadOutput(Cursor* cursor, const Row& row) {
  Output output;
  output.rule = static_cast<Rule>(cursor->Get<uint8_t>());
  output.type = static_cast<TfLiteType>(cursor->Get<uint8_t>());
  output.dims = cursor->Dims();
  output.hashed = cursor->Get<uint8_t>() != 0;
  const size_t bytes = Elements(output.dims) * SizeOf(output.type);
  if (output.hashed) {
    output.hashes.resize((bytes + kHashBlock - 1) / kHashBlock);
    for (uint64_t& hash : output.hashes) hash = cursor->Get<uint64_t>();
    return output;
  }
  if (row.reference == Outcome::kInvoked) {
    output.reference = Contents(cursor, output.type, bytes);
  }
  if (row.optimised == Outcome::kInvoked) {
    output.optimised = Contents(cursor, output.type, bytes);
  }
  return output;
}

Row ReadRow(Cursor* cursor) {
  Row row;
  row.name = cursor->Text();
  row.op = cursor->Text();
  row.version = cursor->Get<uint16_t>();
  row.type = static_cast<TfLiteType>(cursor->Get<uint8_t>());
  row.tags = cursor->Get<uint8_t>();
  row.lenient = cursor->Get<uint8_t>() != 0;
  row.reference = static_cast<Outcome>(cursor->Get<uint8_t>());
  row.optimised = static_cast<Outcome>(cursor->Get<uint8_t>());
  row.steps = cursor->Get<uint16_t>();
  row.factor = cursor->Get<float>();
  row.message = cursor->Text();
  row.model = cursor->Bytes(cursor->Get<uint32_t>());
  ReadPatches(cursor, &row.model);
  row.inputs.resize(cursor->Get<uint8_t>());
  for (Input& input : row.inputs) input = ReadInput(cursor);
  row.outputs.resize(cursor->Get<uint8_t>());
  for (Output& output : row.outputs) output = ReadOutput(cursor, row);
  if (!cursor->done()) throw std::runtime_error("row " + row.name + " is longer than its fields");
  return row;
}

}  // namespace

uint64_t Fnv1a(const uint8_t* data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 0x100000001b3u;
  return hash;
}

bool ReadGolden(const std::string& path, std::vector<Row>* rows, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> content((std::istreambuf_iterator<char>(file)), {});
  try {
    if (!file.is_open()) throw std::runtime_error("cannot be opened");
    Cursor packed(content.data(), content.size());
    if (std::memcmp(packed.Take(8), "DEPGOLD1", 8) != 0) throw std::runtime_error("wrong magic");
    const size_t count = packed.Get<uint32_t>();
    const std::vector<uint8_t> payload = Unpack(&packed, packed.Get<uint32_t>());
    Cursor cursor(payload.data(), payload.size());
    rows->clear();
    for (size_t i = 0; i < count; ++i) {
      const size_t size = cursor.Get<uint32_t>();
      Cursor one(cursor.Take(size), size);
      rows->push_back(ReadRow(&one));
    }
    if (!cursor.done()) throw std::runtime_error("has bytes after its last row");
    return true;
  } catch (const std::exception& exception) {
    *error = path + ": " + exception.what();
    return false;
  }
}

}  // namespace deputy::golden
