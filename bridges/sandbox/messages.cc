// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/messages.h"

#include "bridges/sandbox/wire.h"

namespace deputy::sandbox {
namespace {

enum class Type : int64_t {
  kSetup = 1,
  kClaims,
  kMapping,
  kReady,
  kRecords,
  kResize,
  kSizes,
  kOptionChanges
};

MessageWriter Begin(Type type) {
  MessageWriter writer;
  writer.Int(kProtocolVersion);
  writer.Int(static_cast<int64_t>(type));
  return writer;
}

// Reads the beginning of a message.
bool IsOfType(MessageReader* reader, Type type) {
  return reader->Int() == kProtocolVersion && reader->Int() == static_cast<int64_t>(type) &&
         reader->ok();
}

// Appends the number of elements, and each of them by `write`.
template <typename Element, typename Write>
void WriteAll(const std::vector<Element>& elements, MessageWriter* writer, const Write& write) {
  writer->Int(static_cast<int64_t>(elements.size()));
  for (const Element& element : elements) write(element);
}

// Reads elements that WriteAll has written. Each element takes at least 8 bytes.
template <typename Element, typename Read>
void ReadAll(MessageReader* reader, std::vector<Element>* out, const Read& read) {
  const size_t count = reader->Count(8);
  out->clear();
  for (size_t i = 0; i < count && reader->ok(); ++i) read(&out->emplace_back());
}

void WriteTensors(const std::vector<HostTensor>& tensors, MessageWriter* writer) {
  WriteAll(tensors, writer, [&](const HostTensor& tensor) {
    writer->Int((tensor.has_dims ? 1 : 0) | (tensor.is_dynamic ? 2 : 0));
    writer->Ints(tensor.dims);
    writer->Int(static_cast<int64_t>(tensor.identity));
  });
}

void ReadTensors(MessageReader* reader, std::vector<HostTensor>* out) {
  ReadAll(reader, out, [&](HostTensor* tensor) {
    const int64_t flags = reader->Int();
    tensor->has_dims = (flags & 1) != 0;
    tensor->is_dynamic = (flags & 2) != 0;
    tensor->dims = reader->Ints();
    tensor->identity = static_cast<uint64_t>(reader->Int());
  });
}

void WriteSlots(const std::vector<Slot>& slots, MessageWriter* writer) {
  WriteAll(slots, writer, [&](const Slot& slot) {
    writer->Int(slot.tensor);
    writer->Int(slot.offset);
    writer->Int(slot.bytes);
    writer->Int(slot.input_offset);
  });
}

void ReadSlots(MessageReader* reader, std::vector<Slot>* out) {
  ReadAll(reader, out, [&](Slot* slot) {
    slot->tensor = static_cast<int32_t>(reader->Int());
    slot->offset = reader->Int();
    slot->bytes = reader->Int();
    slot->input_offset = reader->Int();
  });
}

void WriteOptions(const DelegateOptions& options, MessageWriter* writer) {
  WriteAll(options, writer, [&](const auto& option) {
    writer->Text(option.first);
    writer->Text(option.second);
  });
}

void ReadOptions(MessageReader* reader, DelegateOptions* out) {
  ReadAll(reader, out, [&](auto* option) {
    option->first = reader->Text();
    option->second = reader->Text();
  });
}

}  // namespace

std::string Encode(const OptionChanges& message) {
  MessageWriter writer = Begin(Type::kOptionChanges);
  WriteOptions(message.options, &writer);
  return writer.bytes();
}

bool Decode(std::string_view bytes, OptionChanges* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kOptionChanges)) return false;
  ReadOptions(&reader, &out->options);
  return reader.IsComplete();
}

std::string Encode(const Setup& message) {
  MessageWriter writer = Begin(Type::kSetup);
  writer.Text(message.library);
  WriteOptions(message.options, &writer);
  writer.Int(message.threads);
  writer.Int(static_cast<int64_t>(message.profile));
  writer.Int(message.memory_bytes);
  WriteAll(message.writable, &writer, [&](const std::string& folder) { writer.Text(folder); });
  writer.Int(message.has_dynamic_sizes ? 1 : 0);
  WriteTensors(message.tensors, &writer);
  writer.Ints(message.available);
  writer.Int(static_cast<int64_t>(message.outline));
  return writer.bytes();
}

bool Decode(std::string_view bytes, Setup* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kSetup)) return false;
  out->library = reader.Text();
  ReadOptions(&reader, &out->options);
  out->threads = reader.Int();
  const int64_t profile = reader.Int();
  out->profile = static_cast<Profile>(profile);
  out->memory_bytes = reader.Int();
  ReadAll(&reader, &out->writable, [&](std::string* folder) { *folder = reader.Text(); });
  out->has_dynamic_sizes = reader.Int() != 0;
  ReadTensors(&reader, &out->tensors);
  out->available = reader.Ints();
  out->outline = static_cast<uint64_t>(reader.Int());
  return reader.IsComplete() && profile >= 0 && profile <= static_cast<int64_t>(Profile::kStrict);
}

std::string Encode(const Claims& message) {
  MessageWriter writer = Begin(Type::kClaims);
  writer.Text(message.problem);
  writer.Text(message.confinement);
  WriteAll(message.dropped, &writer, [&](const std::string& key) { writer.Text(key); });
  WriteAll(message.claims, &writer, [&](const Claim& claim) {
    writer.Ints(claim.nodes);
    writer.Ints(claim.inputs);
    writer.Ints(claim.outputs);
    writer.Text(claim.name);
    writer.Int(static_cast<int64_t>(claim.digest));
  });
  WriteAll(message.support, &writer, [&](const NodeSupport& support) {
    writer.Int(support.node);
    writer.Int(support.reason);
    writer.Int(support.group);
    writer.Text(support.text);
  });
  writer.Int(message.has_node_events ? 1 : 0);
  return writer.bytes();
}

bool Decode(std::string_view bytes, Claims* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kClaims)) return false;
  out->problem = reader.Text();
  out->confinement = reader.Text();
  ReadAll(&reader, &out->dropped, [&](std::string* key) { *key = reader.Text(); });
  ReadAll(&reader, &out->claims, [&](Claim* claim) {
    claim->nodes = reader.Ints();
    claim->inputs = reader.Ints();
    claim->outputs = reader.Ints();
    claim->name = reader.Text();
    claim->digest = static_cast<uint64_t>(reader.Int());
  });
  ReadAll(&reader, &out->support, [&](NodeSupport* support) {
    support->node = static_cast<int32_t>(reader.Int());
    support->reason = static_cast<int32_t>(reader.Int());
    support->group = static_cast<int32_t>(reader.Int());
    support->text = reader.Text();
  });
  out->has_node_events = reader.Int() != 0;
  return reader.IsComplete();
}

std::string Encode(const Mapping& message) {
  MessageWriter writer = Begin(Type::kMapping);
  writer.Int(message.size);
  writer.Int(message.inputs_size);
  WriteSlots(message.slots, &writer);
  return writer.bytes();
}

bool Decode(std::string_view bytes, Mapping* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kMapping)) return false;
  out->size = reader.Int();
  out->inputs_size = reader.Int();
  ReadSlots(&reader, &out->slots);
  return reader.IsComplete();
}

std::string Encode(const Ready& message) {
  MessageWriter writer = Begin(Type::kReady);
  writer.Text(message.problem);
  WriteAll(message.partitions, &writer, [&](const PartitionShapes& partition) {
    writer.Int(partition.is_prepared ? 1 : 0);
    WriteAll(partition.outputs, &writer, [&](const Shape& shape) {
      writer.Int(shape.is_dynamic ? 1 : 0);
      writer.Ints(shape.dims);
    });
  });
  return writer.bytes();
}

bool Decode(std::string_view bytes, Ready* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kReady)) return false;
  out->problem = reader.Text();
  ReadAll(&reader, &out->partitions, [&](PartitionShapes* partition) {
    partition->is_prepared = reader.Int() != 0;
    ReadAll(&reader, &partition->outputs, [&](Shape* shape) {
      shape->is_dynamic = reader.Int() != 0;
      shape->dims = reader.Ints();
    });
  });
  return reader.IsComplete();
}

std::string Encode(const Resize& message) {
  MessageWriter writer = Begin(Type::kResize);
  WriteTensors(message.tensors, &writer);
  WriteSlots(message.slots, &writer);
  return writer.bytes();
}

bool Decode(std::string_view bytes, Resize* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kResize)) return false;
  ReadTensors(&reader, &out->tensors);
  ReadSlots(&reader, &out->slots);
  return reader.IsComplete();
}

std::string Encode(const Sizes& message) {
  MessageWriter writer = Begin(Type::kSizes);
  WriteAll(message.dims, &writer, [&](const std::vector<int32_t>& dims) { writer.Ints(dims); });
  return writer.bytes();
}

bool Decode(std::string_view bytes, Sizes* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kSizes)) return false;
  ReadAll(&reader, &out->dims, [&](std::vector<int32_t>* dims) { *dims = reader.Ints(); });
  return reader.IsComplete();
}

std::string Encode(const Records& message) {
  MessageWriter writer = Begin(Type::kRecords);
  WriteAll(message.records, &writer, [&](const Record& record) {
    writer.Int(record.first_node);
    writer.Int(record.node);
    writer.Text(record.name);
    writer.Text(record.text);
    writer.Int(record.queued_ns);
    writer.Int(record.begin_ns);
    writer.Int(record.duration_ns);
  });
  return writer.bytes();
}

bool Decode(std::string_view bytes, Records* out) {
  MessageReader reader(bytes);
  if (!IsOfType(&reader, Type::kRecords)) return false;
  ReadAll(&reader, &out->records, [&](Record* record) {
    record->first_node = static_cast<int32_t>(reader.Int());
    record->node = static_cast<int32_t>(reader.Int());
    record->name = reader.Text().substr(0, Records::kMaxName);
    record->text = reader.Text().substr(0, Records::kMaxText);
    record->queued_ns = reader.Int();
    record->begin_ns = reader.Int();
    record->duration_ns = reader.Int();
  });
  return reader.IsComplete();
}

}  // namespace deputy::sandbox
