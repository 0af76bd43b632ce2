// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/record/record_chunks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace deputy::record {
namespace {

constexpr std::string_view kMagic = "DPTYREC\n";
constexpr uint32_t kByteOrder = std::endian::native == std::endian::little ? 1 : 2;
constexpr size_t kWordBytes = 8;
// Minimum encoded size of a TensorValue.
constexpr size_t kTensorBytes = 13 * kWordBytes;

template <typename Word>
void AppendWord(Word word, std::string* bytes) {
  for (size_t i = 0; i < sizeof word; ++i) bytes->push_back(static_cast<char>(word >> (8 * i)));
}

template <typename Word>
Word ReadWord(std::string_view bytes) {
  Word word = 0;
  for (size_t i = 0; i < sizeof word; ++i) {
    word |= static_cast<Word>(Word{static_cast<unsigned char>(bytes[i])} << (8 * i));
  }
  return word;
}

class Output {
 public:
  template <typename Value>
  void Int(Value value) {
    AppendWord(static_cast<uint64_t>(value), &bytes_);
  }
  void Bytes(std::string_view bytes) {
    Int(bytes.size());
    bytes_ += bytes;
  }
  void Ints(const std::vector<int32_t>& values) {
    Int(values.size());
    for (const int32_t value : values) Int(int64_t{value});
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads values in the order in which they were written. After an invalid value, ok() is false and
// every value is 0 or empty.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  // Reads an integer in the range of its type.
  template <typename Value>
  void Int(Value* out) {
    const std::string_view word = Take(kWordBytes);
    const auto value = ok_ ? static_cast<int64_t>(ReadWord<uint64_t>(word)) : 0;
    if constexpr (sizeof(Value) < sizeof value) {
      Require(value >= std::numeric_limits<Value>::min() &&
              value <= std::numeric_limits<Value>::max());
    }
    *out = ok_ ? static_cast<Value>(value) : Value{};
  }
  void Bool(bool* out) {
    uint64_t value = 0;
    Int(&value);
    Require(value <= 1);
    *out = value == 1;
  }
  // Reads an enumeration with values from 0 to `count` - 1.
  template <typename Enum>
  void Enumerator(int32_t count, Enum* out) {
    int32_t value = 0;
    Int(&value);
    Require(value >= 0 && value < count);
    *out = static_cast<Enum>(ok_ ? value : 0);
  }
  // Returns a number of elements that each take at least `element_bytes` of the following bytes.
  size_t Count(size_t element_bytes) {
    uint64_t count = 0;
    Int(&count);
    Require(count <= bytes_.size() / element_bytes);
    return ok_ ? static_cast<size_t>(count) : 0;
  }
  std::string_view Bytes() { return Take(Count(1)); }
  void Text(std::string* out) { *out = Bytes(); }
  void Ints(std::vector<int32_t>* out) {
    out->assign(Count(kWordBytes), 0);
    for (int32_t& value : *out) Int(&value);
  }
  void Require(bool condition) { ok_ = ok_ && condition; }
  bool ok() const { return ok_; }
  bool IsComplete() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view Take(size_t count) {
    Require(count <= bytes_.size());
    if (!ok_) return {};
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

void Encode(const TensorValue& tensor, Output* output) {
  output->Int(int64_t{tensor.index});
  output->Bytes(tensor.name);
  output->Int(int64_t{tensor.type});
  output->Int(int64_t{tensor.allocation});
  output->Ints(tensor.dims);
  output->Int(std::bit_cast<uint32_t>(tensor.scale));
  output->Int(int64_t{tensor.zero_point});
  output->Int(tensor.bytes);
  output->Int(int64_t{tensor.buffer_handle});
  output->Int(tensor.data_is_stale ? 1 : 0);
  output->Int(static_cast<int64_t>(tensor.contents));
  output->Int(tensor.digest);
  output->Bytes(tensor.data);
}

void Decode(Input* input, TensorValue* out) {
  uint32_t scale = 0;
  input->Int(&out->index);
  input->Text(&out->name);
  input->Int(&out->type);
  input->Int(&out->allocation);
  input->Ints(&out->dims);
  input->Int(&scale);
  input->Int(&out->zero_point);
  input->Int(&out->bytes);
  input->Int(&out->buffer_handle);
  input->Bool(&out->data_is_stale);
  input->Enumerator(3, &out->contents);
  input->Int(&out->digest);
  out->data = input->Bytes();
  out->scale = std::bit_cast<float>(scale);
  const bool has_data = out->contents == Contents::kData;
  input->Require(out->data.size() == (has_data ? out->bytes : 0));
  if (has_data && input->ok()) input->Require(DigestOf(out->data) == out->digest);
}

void Encode(const std::vector<TensorValue>& tensors, Output* output) {
  output->Int(tensors.size());
  for (const TensorValue& tensor : tensors) Encode(tensor, output);
}

void Decode(Input* input, std::vector<TensorValue>* out) {
  const size_t count = input->Count(kTensorBytes);
  out->clear();
  for (size_t i = 0; i < count && input->ok(); ++i) Decode(input, &out->emplace_back());
}

uint32_t CheckOf(std::string_view head) {
  return static_cast<uint32_t>(DigestOf(head.substr(kWordBytes), ReadWord<uint32_t>(head)));
}

}  // namespace

uint64_t DigestOf(std::string_view bytes, uint64_t seed) {
  uint64_t state = seed;
  const auto mix = [&](uint64_t word) {
    state = (state ^ word) * 0x9E3779B97F4A7C15u;
    state ^= state >> 32;
  };
  mix(bytes.size());
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    mix(word);
    bytes.remove_prefix(count);
  }
  return state;
}

const char* NameOf(Function function) {
  constexpr const char* kNames[kFunctionCount] = {
      "delegate prepare", "replace", "init",        "prepare",       "invoke",     "free",
      "copy from",        "copy to", "free handle", "resize tensor", "add tensors"};
  return kNames[static_cast<int32_t>(function)];
}

std::string Header() {
  std::string header(kMagic);
  AppendWord(kFormatVersion, &header);
  AppendWord(kByteOrder, &header);
  return header;
}

std::string CheckHeader(std::string_view bytes, uint32_t* out_version) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < kHeaderBytes) {
    return "this is no record of a delegate's calls";
  }
  const auto version = ReadWord<uint32_t>(bytes.substr(kMagic.size()));
  if (version < 1 || version > kFormatVersion) {
    return "expected a record of version 1 to " + std::to_string(kFormatVersion) +
           ", found version " + std::to_string(version);
  }
  *out_version = version;
  const auto order = ReadWord<uint32_t>(bytes.substr(kMagic.size() + sizeof version));
  return order == kByteOrder ? "" : "the record is of a machine with another byte order";
}

std::string ChunkHead(ChunkKind kind, std::string_view payload) {
  std::string head;
  AppendWord(static_cast<uint32_t>(kind), &head);
  AppendWord(uint32_t{0}, &head);
  AppendWord(uint64_t{payload.size()}, &head);
  AppendWord(DigestOf(payload), &head);
  std::string check;
  AppendWord(CheckOf(head), &check);
  return head.replace(sizeof(uint32_t), check.size(), check);
}

bool DecodeHead(std::string_view head, ChunkInfo* out) {
  const auto kind = ReadWord<uint32_t>(head);
  out->kind = static_cast<ChunkKind>(kind);
  out->bytes = ReadWord<uint64_t>(head.substr(kWordBytes));
  out->checksum = ReadWord<uint64_t>(head.substr(2 * kWordBytes));
  return ReadWord<uint32_t>(head.substr(sizeof kind)) == CheckOf(head);
}

std::string Encode(const Session& session) {
  Output output;
  output.Bytes(session.host);
  output.Bytes(session.machine);
  output.Bytes(session.library);
  output.Int(session.options.size());
  for (const auto& [key, value] : session.options) {
    output.Bytes(key);
    output.Bytes(value);
  }
  return output.Take();
}

bool Decode(std::string_view bytes, Session* out) {
  Input input(bytes);
  input.Text(&out->host);
  input.Text(&out->machine);
  input.Text(&out->library);
  const size_t count = input.Count(2 * kWordBytes);
  out->options.clear();
  for (size_t i = 0; i < count && input.ok(); ++i) {
    auto& [key, value] = out->options.emplace_back();
    input.Text(&key);
    input.Text(&value);
  }
  return input.IsComplete();
}

std::string Encode(const Model& model) {
  Output output;
  output.Int(model.digest);
  output.Int(model.bytes);
  output.Int(model.has_data ? 1 : 0);
  output.Bytes(model.data);
  return output.Take();
}

bool Decode(std::string_view bytes, Model* out) {
  Input input(bytes);
  input.Int(&out->digest);
  input.Int(&out->bytes);
  input.Bool(&out->has_data);
  out->data = input.Bytes();
  input.Require(out->data.size() == (out->has_data ? out->bytes : 0));
  if (out->has_data && input.ok()) input.Require(DigestOf(out->data) == out->digest);
  return input.IsComplete();
}

std::string Encode(const CallBegin& begin) {
  Output output;
  output.Int(begin.call);
  output.Int(static_cast<int64_t>(begin.function));
  for (const int32_t value : {begin.subgraph, begin.kernel, begin.tensor, begin.buffer_handle}) {
    output.Int(int64_t{value});
  }
  output.Ints(begin.nodes);
  output.Ints(begin.inputs);
  output.Ints(begin.outputs);
  output.Bytes(begin.name);
  output.Int(int64_t{begin.version});
  Encode(begin.tensors, &output);
  return output.Take();
}

bool Decode(std::string_view bytes, CallBegin* out) {
  Input input(bytes);
  input.Int(&out->call);
  input.Enumerator(kFunctionCount, &out->function);
  for (int32_t* value : {&out->subgraph, &out->kernel, &out->tensor, &out->buffer_handle}) {
    input.Int(value);
  }
  input.Ints(&out->nodes);
  input.Ints(&out->inputs);
  input.Ints(&out->outputs);
  input.Text(&out->name);
  input.Int(&out->version);
  Decode(&input, &out->tensors);
  return input.IsComplete();
}

std::string Encode(const CallEnd& end) {
  Output output;
  output.Int(end.call);
  output.Int(int64_t{end.status});
  output.Int(end.duration_ns);
  output.Int(int64_t{end.buffer_handle});
  output.Bytes(end.errors);
  Encode(end.tensors, &output);
  return output.Take();
}

std::string Encode(const Note& note) {
  Output output;
  output.Bytes(note.title);
  output.Bytes(note.text);
  return output.Take();
}

bool Decode(std::string_view bytes, Note* out) {
  Input input(bytes);
  input.Text(&out->title);
  input.Text(&out->text);
  return input.IsComplete();
}

bool Decode(std::string_view bytes, CallEnd* out) {
  Input input(bytes);
  input.Int(&out->call);
  input.Int(&out->status);
  input.Int(&out->duration_ns);
  input.Int(&out->buffer_handle);
  input.Text(&out->errors);
  Decode(&input, &out->tensors);
  return input.IsComplete();
}

}  // namespace deputy::record
