// SPDX-License-Identifier: Apache-2.0
//
// Random changes of records, for tests of their reader, of the delegate `replay` and of the command
// `deputy replay`.
#ifndef DEPUTY_TESTS_BRIDGES_RECORD_DAMAGE_H_
#define DEPUTY_TESTS_BRIDGES_RECORD_DAMAGE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/layers/record/record_chunks.h"
#include "bridges/layers/record/record_file.h"

namespace deputy {

// Changes one argument or result of a call.
class RecordMutator {
 public:
  explicit RecordMutator(unsigned seed) : random_(seed) {}

  // This object owns the changed data, to which the record refers. All calls must have ended.
  // Returns a description of the change.
  std::string Change(record::Record* record) {
    for (;;) {
      record::Call& call = record->calls[Below(record->calls.size())];
      std::string what = ChangeCall(&call);
      if (what.empty()) continue;
      return "call " + std::to_string(call.begin.call) + ": " + what;
    }
  }

  // Changes the order or the number of the calls, or the function, the results or the tensors of
  // one of them.
  void ChangeStructure(record::Record* record) {
    std::vector<record::Call>& calls = record->calls;
    if (calls.empty()) return;
    const size_t at = Below(calls.size()), other = Below(calls.size());
    record::Call& call = calls[at];
    switch (Below(8)) {
      case 0:
        std::swap(call, calls[other]);
        break;
      case 1:
        std::swap(call.end, calls[other].end);
        break;
      case 2:
        calls.insert(calls.begin() + static_cast<ptrdiff_t>(other), record::Call(call));
        break;
      case 3:
        calls.erase(calls.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 4:
        call.end.reset();
        break;
      case 5:
        call.begin.function = calls[other].begin.function;
        break;
      case 6:
        if (call.end) call.end->errors = std::string(Below(3000), '%') + "%n\n\n%s";
        break;
      default:
        ChangeContents(call.end && Below(2) == 0 ? &call.end->tensors : &call.begin.tensors);
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      calls[i].begin.call = i + 1;
      if (calls[i].end) calls[i].end->call = i + 1;
    }
  }

 private:
  size_t Below(size_t limit) { return random_() % limit; }

  void ChangeContents(std::vector<record::TensorValue>* tensors) {
    if (tensors->empty()) return;
    const size_t at = Below(tensors->size());
    record::TensorValue& tensor = (*tensors)[at];
    const size_t kind = Below(4);
    if (kind == 0) {
      tensors->insert(tensors->begin(), Below(5), record::TensorValue(tensor));
      return;
    }
    if (kind == 1) tensor.dims.assign(Below(300), static_cast<int32_t>(Below(3)) - 1);
    if (kind == 2) tensor.allocation = static_cast<int32_t>(Below(8));
    tensor.contents = static_cast<record::Contents>(Below(3));
    const std::string& resized = data_.emplace_back(Below(100), static_cast<char>(random_()));
    tensor.data = tensor.contents == record::Contents::kData ? resized : std::string_view();
    tensor.bytes = tensor.data.size();
    tensor.digest = record::DigestOf(tensor.data);
  }

  std::string ChangeInt(const char* what, int32_t* value) {
    constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
    constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
    const int32_t extremes[] = {kMin, -1, 0, 1, kMax / 2, kMax};
    const int32_t other = Below(3) == 0
                              ? extremes[Below(std::size(extremes))]
                              : static_cast<int32_t>(int64_t{*value} % 1000 + 1 -
                                                     static_cast<int64_t>(Below(100)) * 2);
    return std::exchange(*value, other) == other ? "" : what;
  }
  std::string ChangeInts(const char* what, std::vector<int32_t>* values) {
    const size_t kind = values->empty() ? 0 : Below(3);
    if (kind == 0) {
      values->insert(values->begin() + static_cast<ptrdiff_t>(Below(values->size() + 1)),
                     static_cast<int32_t>(Below(5)));
    } else if (kind == 1) {
      values->erase(values->begin() + static_cast<ptrdiff_t>(Below(values->size())));
    } else {
      return ChangeInt(what, &(*values)[Below(values->size())]);
    }
    return what;
  }

  std::string ChangeCall(record::Call* call) {
    record::CallBegin& begin = call->begin;
    switch (Below(14)) {
      case 0:
        return ChangeInt("subgraph", &begin.subgraph);
      case 1:
        return ChangeInt("kernel", &begin.kernel);
      case 2:
        return ChangeInt("tensor", &begin.tensor);
      case 3:
        return ChangeInt("handle", &begin.buffer_handle);
      case 4:
        return ChangeInts("nodes", &begin.nodes);
      case 5:
        return ChangeInts("inputs", &begin.inputs);
      case 6:
        return ChangeInts("outputs", &begin.outputs);
      case 7:
        begin.name += "x";
        return "name";
      case 8:
        return ChangeInt("version", &begin.version);
      case 9: {
        const auto other = static_cast<record::Function>(Below(record::kFunctionCount));
        if (std::exchange(begin.function, other) == other) return "";
        return "function";
      }
      case 10:
        return ChangeInt("status", &call->end->status);
      case 11:
        return ChangeInt("handle after the call", &call->end->buffer_handle);
      case 12:
        return ChangeTensors("results: ", &call->end->tensors);
      default:
        return ChangeTensors("", &begin.tensors);
    }
  }

  std::string ChangeTensors(const std::string& where, std::vector<record::TensorValue>* tensors) {
    if (tensors->empty()) return "";
    const size_t at = Below(tensors->size());
    if (Below(10) == 0) {
      tensors->erase(tensors->begin() + static_cast<ptrdiff_t>(at));
      return where + "removed tensor";
    }
    const std::string what = ChangeTensor(&(*tensors)[at]);
    return what.empty() ? "" : where + "tensor " + std::to_string(at) + ": " + what;
  }

  std::string ChangeTensor(record::TensorValue* tensor) {
    switch (Below(10)) {
      case 0:
        return ChangeInt("index", &tensor->index);
      case 1:
        tensor->name += "x";
        return "name";
      case 2:
        return ChangeInt("type", &tensor->type);
      case 3:
        return ChangeInt("allocation", &tensor->allocation);
      case 4:
        return ChangeInts("shape", &tensor->dims);
      case 5:
        tensor->scale += 1;
        return "scale";
      case 6:
        return ChangeInt("zero point", &tensor->zero_point);
      case 7:
        return ChangeInt("buffer handle", &tensor->buffer_handle);
      case 8:
        tensor->data_is_stale = !tensor->data_is_stale;
        return "data is stale";
      default:
        return ChangeData(tensor);
    }
  }
  std::string ChangeData(record::TensorValue* tensor) {
    if (tensor->contents != record::Contents::kData) return "";
    if (tensor->data.empty()) return "";
    std::string& data = data_.emplace_back(tensor->data);
    data[Below(data.size())] ^= static_cast<char>(1 << Below(8));
    tensor->data = data;
    tensor->digest = record::DigestOf(data);
    return "data";
  }

  std::mt19937 random_;
  std::deque<std::string> data_;  // changed data of all records
};

using RecordChunks = std::vector<std::pair<record::ChunkKind, std::string>>;

// Returns the chunks of a complete record.
inline RecordChunks SplitRecord(std::string_view bytes) {
  RecordChunks chunks;
  bytes.remove_prefix(record::kHeaderBytes);
  while (!bytes.empty()) {
    record::ChunkInfo info;
    EXPECT_TRUE(record::DecodeHead(bytes.substr(0, record::kChunkHeadBytes), &info));
    bytes.remove_prefix(record::kChunkHeadBytes);
    chunks.emplace_back(info.kind, bytes.substr(0, static_cast<size_t>(info.bytes)));
    bytes.remove_prefix(static_cast<size_t>(info.bytes));
  }
  return chunks;
}

inline void DamagePayload(std::mt19937* random, std::string* payload) {
  if (payload->empty()) return;
  const size_t at = (*random)() % payload->size();
  const size_t word = at / 8 * 8;
  switch ((*random)() % 6) {
    case 0:
      (*payload)[at] = static_cast<char>((*random)());
      break;
    case 1:
      payload->erase(at, 1 + (*random)() % 16);
      break;
    case 2:
      payload->insert(at, 1 + (*random)() % 16, static_cast<char>((*random)()));
      break;
    case 3:  // the word becomes a small number, or one with few other bits
      payload->replace(word, 8, std::string(8, '\0'));
      (*payload)[word + (*random)() % 8] = static_cast<char>((*random)() % 16);
      break;
    case 4:
      payload->replace(word, 8, std::string(8, static_cast<char>((*random)() % 2 * 255)));
      break;
    default:
      payload->resize(at);
  }
}

inline void DamageOrder(std::mt19937* random, RecordChunks* chunks) {
  const size_t from = (*random)() % chunks->size(), to = (*random)() % chunks->size();
  switch ((*random)() % 4) {
    case 0:
      std::swap((*chunks)[from], (*chunks)[to]);
      break;
    case 1:
      chunks->insert(chunks->begin() + static_cast<ptrdiff_t>(to),
                     RecordChunks::value_type((*chunks)[from]));
      break;
    case 2:
      (*chunks)[from].first = static_cast<record::ChunkKind>((*random)() % 8);
      break;
    default:
      chunks->erase(chunks->begin() + static_cast<ptrdiff_t>(from));
      if (chunks->empty()) chunks->emplace_back(record::ChunkKind::kLimit, "");
  }
}

// Returns a record whose payloads and order of chunks are damaged, with right checksums, so that
// the decoders see the damage.
inline std::string DamagedRecord(RecordChunks chunks, std::mt19937* random) {
  for (unsigned edits = 1 + (*random)() % 3; edits > 0; --edits) {
    if ((*random)() % 4 == 0) {
      DamageOrder(random, &chunks);
    } else {
      DamagePayload(random, &chunks[(*random)() % chunks.size()].second);
    }
  }
  std::string bytes = record::Header();
  for (const auto& [kind, payload] : chunks) bytes += record::ChunkHead(kind, payload) + payload;
  return bytes;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_BRIDGES_RECORD_DAMAGE_H_
