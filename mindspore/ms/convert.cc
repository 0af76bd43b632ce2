// SPDX-License-Identifier: Apache-2.0
//
// Converts a .ms file: reads and checks the whole file, then maps it node by node.
#include "mindspore/ms/convert.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "mindspore/ms/mapping.h"
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
using Table = std::array<const Row*, kPrimitives>;

Table MakeTable() {
  Table table = {};
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

bool MapNode(const Table& table, Mapping* mapping) {
  const Node& node = mapping->node();
  const auto number = static_cast<int>(node.primitive->value_type());
  const Row* row = number >= 0 && number < static_cast<int>(kPrimitives) ? table[number] : nullptr;
  if (row == nullptr) {
    return mapping->Fail(IsTraining(PrimitiveName(number))
                             ? "this is a training graph; export the inference graph"
                             : "this primitive is not supported");
  }
  constexpr uint8_t kAny = 255;
  const size_t inputs = mapping->inputs(), outputs = mapping->outputs();
  if (inputs < row->min_inputs || (row->max_inputs != kAny && inputs > row->max_inputs)) {
    return mapping->Fail(
        Format("expected %d to %d inputs, found %zu", row->min_inputs, row->max_inputs, inputs));
  }
  if (row->outputs != 0 && outputs != row->outputs) {
    return mapping->Fail(Format("expected %d outputs, found %zu", row->outputs, outputs));
  }
  return CheckTypes(mapping) && row->map(*mapping, row->code);
}

bool MapModel(const Model& model, Writer* writer, std::vector<uint8_t>* out, std::string* error) {
  const Table table = MakeTable();
  Mapping mapping(model, writer, error);
  std::vector<int> inputs, outputs;
  for (const uint32_t input : model.inputs) inputs.push_back(mapping.IndexOfTensor(input));
  for (const Node& node : model.nodes) {
    mapping.Start(node);
    // A mapping function may return true although an earlier call has failed: failed() covers that.
    if (!MapNode(table, &mapping) || mapping.failed()) return mapping.Fail(kTooLarge);
  }
  for (const uint32_t output : model.outputs) outputs.push_back(mapping.IndexOfTensor(output));
  if (mapping.failed()) {
    if (error->empty()) *error = kTooLarge;
    return false;
  }
  std::string description(model.version);
  *out = writer->Finish(inputs, outputs, description);
  return true;
}

}  // namespace

bool IsMsModel(std::span<const uint8_t> bytes) {
  constexpr size_t kIdentifierEnd = 8;
  return bytes.size() >= kIdentifierEnd && std::memcmp(bytes.data() + 4, "MSL", 3) == 0;
}

std::vector<uint8_t> ConvertMsModel(std::span<const uint8_t> bytes, const DeputyLimits& limits,
                                    std::string* error) {
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
  std::vector<uint8_t> result;
  if (!ReadModel(bytes, limits, &model, error)) return {};
  size_t limit = std::min(kGrowth * bytes.size() + kBytesPerNode * model.nodes.size() + kBaseBytes,
                          kMaxFileBytes);
  if (limits.max_block_bytes != 0) limit = std::min(limit, limits.max_block_bytes);
  Writer writer(limit);
  if (!MapModel(model, &writer, &result, error)) return {};
  return result;
}

}  // namespace deputy::ms
