// SPDX-License-Identifier: Apache-2.0
//
// Converts a .ms file: reads and checks the whole file, then maps it node by node.
#include "mindspore/ms/convert.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "mindspore/ms/attributes.h"
#include "mindspore/ms/mapping.h"
#include "mindspore/ms/node_list.h"
#include "mindspore/ms/read.h"
#include "mindspore/ms/text.h"
#include "mindspore/ms/write.h"

namespace deputy::ms {
namespace {

constexpr size_t kAlignment = 16;

// Memory limit of a conversion: kGrowth bytes per byte of the file (constants of 8 bits become 32
// bits, are permuted and written), plus kBytesPerNode for the operators of a node.
constexpr size_t kGrowth = 16, kBytesPerNode = 4096, kBaseBytes = 1 << 20;
constexpr size_t kMaxFileBytes = (size_t{1} << 31) - (size_t{1} << 26);

constexpr char kTooLarge[] = "the converted model exceeds the size limit";

constexpr size_t kPrimitives = 256;
using RowTable = std::array<const Row*, kPrimitives>;

RowTable MakeTable() {
  RowTable table = {};
  const std::span<const Row> families[] = {ElementRows(), ActivationRows(), ConvRows(),
                                           MatmulRows(),  NormalizeRows(),  ReduceRows(),
                                           ResizeRows(),  ShapeRows(),      SliceRows()};
  for (const std::span<const Row> rows : families) {
    for (const Row& row : rows) table[static_cast<size_t>(row.primitive)] = &row;
  }
  return table;
}

// Returns true for primitives that occur in training graphs only.
bool IsTraining(std::string_view name) {
  constexpr std::string_view kParts[] = {"Grad", "Adam", "Loss", "CrossEntropy", "SGD", "Momentum"};
  return std::any_of(std::begin(kParts), std::end(kParts), [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// Returns the name of the custom operator for a primitive that is not mapped. The prefix
// distinguishes it from custom operators of TensorFlow Lite, such as Mfcc.
std::string CustomNameOf(const file::Primitive& primitive) {
  const file::Custom* custom = primitive.value_as_Custom();
  const bool named = custom != nullptr && custom->type() != nullptr && custom->type()->size() > 0;
  if (named) return custom->type()->str();
  return std::string("mindspore.") + PrimitiveName(primitive.value_type());
}

bool CheckTypes(Mapping* mapping) {
  for (size_t i = 0; i < mapping->outputs(); ++i) {
    if (ElementSize(mapping->out(i).type) != 0) continue;
    return mapping->Fail(
        TensorText(mapping->model(), mapping->node().outputs[i]) +
        Format(": type %d is not supported", static_cast<int>(mapping->out(i).type)));
  }
  for (size_t i = 0; i < mapping->inputs(); ++i) {
    const Tensor& tensor = mapping->in(i);
    if (!tensor.constant && Mapping::IsQuantized(tensor) && tensor.quantization.scale.size() > 1) {
      return mapping->FailInput(
          i, Format("expected one scale, found %zu", tensor.quantization.scale.size()));
    }
  }
  return true;
}

const Row* RowOf(int type) {
  static const RowTable table = MakeTable();
  return type >= 0 && static_cast<size_t>(type) < table.size() ? table[type] : nullptr;
}

class Converter {
 public:
  Converter(const Model& model, Unmapped unmapped, Writer* writer, std::string* error)
      : model_(model), unmapped_(unmapped), mapping_(model, writer, error) {}

  // Maps all nodes and writes the result. On failure the text is in `error` of the constructor.
  bool Convert(ConvertedModel* out);

 private:
  int type() const { return static_cast<int>(mapping_.node().primitive->value_type()); }
  bool CheckMinimum();
  bool MapNode();
  // Lists the node's primitive for delegates: the operator `op` represents all of the node.
  void List(int op);
  // Maps a node that cannot be expressed to a custom operator.
  bool Keep(int op);

  const Model& model_;
  const Unmapped unmapped_;
  Mapping mapping_;
  NodeListWriter list_;
  std::vector<UnmappedNode> kept_;
};

// Checks that the node has the inputs and outputs that readers of its type access.
bool Converter::CheckMinimum() {
  const Row* row = RowOf(type());
  if (row == nullptr) return true;
  if (mapping_.inputs() < row->min_inputs) {
    return mapping_.Fail(Format("expected %d to %d inputs, found %zu", row->min_inputs,
                                row->max_inputs, mapping_.inputs()));
  }
  return mapping_.outputs() >= row->outputs ||
         mapping_.Fail(Format("expected %d outputs, found %zu", row->outputs, mapping_.outputs()));
}

bool Converter::MapNode() {
  constexpr uint8_t kAny = 255;
  const Row* row = RowOf(type());
  if (row == nullptr) {
    return mapping_.Fail(IsTraining(PrimitiveName(type()))
                             ? "this is a training graph; export the inference graph"
                             : "this primitive is not supported");
  }
  if (!CheckMinimum()) return false;
  if (row->max_inputs != kAny && mapping_.inputs() > row->max_inputs) {
    return mapping_.Fail(Format("expected %d to %d inputs, found %zu", row->min_inputs,
                                row->max_inputs, mapping_.inputs()));
  }
  if (row->outputs != 0 && mapping_.outputs() > row->outputs) {
    return mapping_.Fail(
        Format("expected %d outputs, found %zu", row->outputs, mapping_.outputs()));
  }
  return CheckTypes(&mapping_) && row->map(mapping_, row->code);
}

void Converter::List(int op) {
  const Node& node = mapping_.node();
  std::vector<Attribute> attributes;
  size_t budget = mapping_.writer().free_bytes();
  if (!ReadAttributes(*node.primitive, &budget, &attributes)) return;
  const size_t before = list_.size();
  list_.Add(node, attributes, op);
  mapping_.writer().Reserve(list_.size() - before);
}

bool Converter::Keep(int op) {
  const std::string text = mapping_.TakeFailure();
  mapping_.writer().TruncateOps(op);
  mapping_.ForgetOutputs();
  if (!CheckMinimum() || !CheckTypes(&mapping_)) return false;
  const file::Primitive& primitive = *mapping_.node().primitive;
  std::vector<Attribute> attributes;
  size_t budget = mapping_.writer().free_bytes();
  if (!ReadAttributes(primitive, &budget, &attributes)) return mapping_.Fail(text);
  std::vector<int> inputs;
  for (size_t i = 0; i < mapping_.inputs(); ++i) inputs.push_back(mapping_.RawIn(i));
  const std::vector<uint8_t> options = BuildPrimitive(type(), attributes);
  mapping_.writer().AddCustomOp(CustomNameOf(primitive), inputs, mapping_.AllOut(), options);
  List(op);
  kept_.push_back({op, text});
  return true;
}

bool Converter::Convert(ConvertedModel* out) {
  Writer& writer = mapping_.writer();
  std::vector<int> inputs, outputs;
  for (const uint32_t input : model_.inputs) inputs.push_back(mapping_.IndexOfTensor(input));
  for (const Node& node : model_.nodes) {
    mapping_.Start(node);
    const int op = writer.op_count();
    // A mapping function may return true although an earlier call has failed: failed() covers that.
    if (MapNode() && !mapping_.failed()) {
      if (writer.op_count() == op + 1) List(op);
      continue;
    }
    const bool kept = unmapped_ == Unmapped::kKeep && !writer.full() && Keep(op);
    if (!kept || mapping_.failed()) return mapping_.Fail(kTooLarge);
  }
  const std::vector<uint8_t> list = list_.Finish();
  if (!list.empty()) writer.AddMetadata(kNodeListName, list);
  for (const uint32_t output : model_.outputs) outputs.push_back(mapping_.IndexOfTensor(output));
  if (mapping_.failed()) return mapping_.Fail(kTooLarge);
  out->tflite = writer.Finish(inputs, outputs, std::string(model_.version));
  out->unmapped = std::move(kept_);
  return true;
}

}  // namespace

bool IsMsModel(std::span<const uint8_t> bytes) {
  constexpr size_t kIdentifierEnd = 8;
  return bytes.size() >= kIdentifierEnd && std::memcmp(bytes.data() + 4, "MSL", 3) == 0;
}

size_t MinInputs(int type) {
  const Row* row = RowOf(type);
  return row == nullptr ? 0 : row->min_inputs;
}

bool ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits, Unmapped unmapped,
                    ConvertedModel* out, std::string* error) {
  error->clear();
  std::unique_ptr<uint8_t[]> copy;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    copy = std::make_unique_for_overwrite<uint8_t[]>(bytes.size() + kAlignment);
    uint8_t* aligned =
        copy.get() + (kAlignment - reinterpret_cast<uintptr_t>(copy.get()) % kAlignment);
    std::copy(bytes.begin(), bytes.end(), aligned);
    bytes = {aligned, bytes.size()};
  }
  Model model;
  if (!ReadModel(bytes, limits, &model, error)) return false;
  size_t limit = std::min(kGrowth * bytes.size() + kBytesPerNode * model.nodes.size() + kBaseBytes,
                          kMaxFileBytes);
  if (limits.max_block_bytes != 0) limit = std::min(limit, limits.max_block_bytes);
  Writer writer(limit);
  return Converter(model, unmapped, &writer, error).Convert(out);
}

std::vector<uint8_t> ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits,
                                    std::string* error) {
  ConvertedModel model;
  if (!ConvertMsModel(bytes, limits, Unmapped::kRefuse, &model, error)) return {};
  return std::move(model.tflite);
}

}  // namespace deputy::ms
