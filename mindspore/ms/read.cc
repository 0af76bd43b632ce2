// SPDX-License-Identifier: Apache-2.0
//
// Reads .ms files. FlatBuffers' verifier checks all offsets; this file checks the contents of the
// tables. A malicious file may share tables and lists, so that a small file describes a huge graph.
// Therefore all copied data is counted and limited to the size of the file.
#include "mindspore/ms/read.h"

#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <queue>

#include "core/support/type_size.h"
#include "mindspore/ms/text.h"
#include "mindspore/schema/model_generated.h"

namespace deputy::ms {
namespace {

constexpr int32_t kDefaultCount = 1'000'000;
// Lower bound on the size, in the file, of a table that describes a tensor or a node.
constexpr size_t kMinTableBytes = 16;
constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

using Indices = flatbuffers::Vector<uint32_t>;

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, const DeputyLimits& limits, Model* model,
         std::string* error)
      : bytes_(bytes), limits_(limits), model_(model), error_(error) {}

  bool Read();

 private:
  bool Fail(const std::string& text) {
    *error_ = text;
    return false;
  }
  bool FailTensor(uint32_t index, const std::string& text) {
    return Fail(TensorText(*model_, index) + ": " + text);
  }
  // Counts copied bytes. Fails if they exceed what the file can contain without sharing.
  bool Copy(size_t bytes) {
    copied_ += bytes;
    return copied_ <= bytes_.size() || Fail("the model refers to more data than its " +
                                            std::to_string(bytes_.size()) + " bytes can contain");
  }
  bool CopyIndices(const Indices* from, size_t limit, const std::string& what,
                   std::vector<uint32_t>* to);
  bool CheckCounts(const file::MetaGraph& graph, const file::SubGraph& main);
  void ReadVersion(const file::MetaGraph& graph);
  bool ReadTensor(const file::Tensor* tensor, uint32_t index);
  bool ReadDims(const file::Tensor& tensor, uint32_t index);
  bool ReadQuantization(const file::Tensor& tensor, uint32_t index);
  bool ReadData(const file::Tensor& tensor, uint32_t index);
  bool ReadNodes(const file::MetaGraph& graph, const file::SubGraph& main);
  bool FindProducers();
  bool CheckInputsAndOutputs();
  bool CheckConsumers();
  bool SortNodes();

  const std::span<const uint8_t> bytes_;
  const DeputyLimits& limits_;
  Model* const model_;
  std::string* const error_;
  size_t copied_ = 0;
  std::vector<uint32_t> producer_;  // position in model_->nodes by tensor, or kNone
  std::vector<bool> is_input_;
};

std::string_view View(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

const file::MetaGraph* Verified(std::span<const uint8_t> bytes, std::string* error) {
  if (bytes.size() < 8 || std::memcmp(bytes.data() + 4, "MSL", 3) != 0) {
    *error = "expected the identifier MSL2 at byte 4, found none";
    return nullptr;
  }
  if (bytes[7] != '2') {
    *error = "expected the identifier MSL2 at byte 4, found " +
             Quoted({reinterpret_cast<const char*>(bytes.data()) + 4, 4}) +
             ": files of other generations cannot be read";
    return nullptr;
  }
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
    *error = "expected less than 2 GiB, found " + std::to_string(bytes.size()) + " bytes";
    return nullptr;
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMaxDepth, kMaxTables);
  if (!file::VerifyMetaGraphBuffer(verifier)) {
    *error = "not a valid FlatBuffer of a .ms model";
    return nullptr;
  }
  return file::GetMetaGraph(bytes.data());
}

bool Reader::Read() {
  const file::MetaGraph* graph = Verified(bytes_, error_);
  if (graph == nullptr) return false;
  if (graph->obfuscate()) return Fail("the model is obfuscated, which is not supported");
  if (graph->subGraph() == nullptr || graph->subGraph()->size() == 0 ||
      graph->subGraph()->Get(0) == nullptr) {
    return Fail("expected a subgraph, found none");
  }
  const file::SubGraph& main = *graph->subGraph()->Get(0);
  if (!CheckCounts(*graph, main)) return false;
  ReadVersion(*graph);
  model_->tensors.resize(graph->allTensors()->size());
  for (uint32_t i = 0; i < model_->tensors.size(); ++i) {
    if (!ReadTensor(graph->allTensors()->Get(i), i)) return false;
  }
  const size_t tensors = model_->tensors.size();
  return CopyIndices(main.inputIndices(), tensors, "the subgraph's inputs", &model_->inputs) &&
         CopyIndices(main.outputIndices(), tensors, "the subgraph's outputs", &model_->outputs) &&
         ReadNodes(*graph, main) && FindProducers() && CheckInputsAndOutputs() &&
         CheckConsumers() && SortNodes();
}

bool Reader::CheckCounts(const file::MetaGraph& graph, const file::SubGraph& main) {
  const auto within = [this](const char* what, size_t count, int32_t limit) {
    const auto max_count = static_cast<size_t>(limit == 0 ? kDefaultCount : limit);
    return count <= max_count ||
           Fail(Format("%zu %s are more than the limit of %zu", count, what, max_count));
  };
  if (graph.allTensors() == nullptr || graph.allTensors()->size() == 0) {
    return Fail("expected tensors, found none");
  }
  if (main.nodeIndices() == nullptr || main.nodeIndices()->size() == 0 ||
      graph.nodes() == nullptr) {
    return Fail("expected nodes, found none");
  }
  return within("tensors", graph.allTensors()->size(), limits_.max_tensors) &&
         within("nodes", main.nodeIndices()->size(), limits_.max_nodes);
}

void Reader::ReadVersion(const file::MetaGraph& graph) {
  model_->version = View(graph.version()).substr(0, 80);
  const size_t digit = model_->version.find_first_of("0123456789");
  if (digit == std::string_view::npos) return;
  const std::string text(model_->version.substr(digit, 16));
  int major = 0, minor = 0;
  if (std::sscanf(text.c_str(), "%3d.%3d", &major, &minor) == 2) {  // NOLINT(cert-err34-c)
    model_->version_major = major;
    model_->version_minor = minor;
  }
}

bool Reader::CopyIndices(const Indices* from, size_t limit, const std::string& what,
                         std::vector<uint32_t>* to) {
  if (from == nullptr) return true;
  if (!Copy(from->size() * sizeof(uint32_t))) return false;
  to->assign(from->begin(), from->end());
  for (const uint32_t index : *to) {
    if (index >= limit) {
      return Fail(what + Format(": expected an index below %zu, found %u", limit, index));
    }
  }
  return true;
}

bool Reader::ReadTensor(const file::Tensor* tensor, uint32_t index) {
  Tensor& to = model_->tensors[index];
  if (tensor == nullptr) return FailTensor(index, "is missing");
  to.name = View(tensor->name());
  if (!Copy(kMinTableBytes + to.name.size())) return false;
  to.type = static_cast<Type>(tensor->dataType());
  to.channels_first = tensor->format() == file::Format_NCHW;
  return ReadDims(*tensor, index) && ReadQuantization(*tensor, index) && ReadData(*tensor, index);
}

bool Reader::ReadDims(const file::Tensor& tensor, uint32_t index) {
  Tensor& to = model_->tensors[index];
  if (tensor.dims() == nullptr) return true;
  if (tensor.dims()->size() > kMaxRank) {
    return FailTensor(index, Format("expected at most %zu dimensions, found %u", kMaxRank,
                                    tensor.dims()->size()));
  }
  to.has_dims = true;
  to.dims.assign(tensor.dims()->begin(), tensor.dims()->end());
  for (const int32_t dim : to.dims) {
    if (dim < -1) return FailTensor(index, "shape " + DimsText(to.dims) + " is negative");
  }
  return true;
}

bool Reader::ReadQuantization(const file::Tensor& tensor, uint32_t index) {
  const auto* params = tensor.quantParams();
  if (params == nullptr || params->size() == 0) return true;
  if (!Copy(params->size() * sizeof(uint32_t))) return false;
  Quantization& to = model_->tensors[index].quantization;
  bool is_initialized = false;
  for (uint32_t i = 0; i < params->size(); ++i) {
    const file::QuantParam* param = params->Get(i);
    if (param == nullptr) return FailTensor(index, "quantisation parameters are missing");
    is_initialized = is_initialized || param->inited() || param->scale() != 1;
    if (!(param->scale() > 0) || param->scale() > std::numeric_limits<float>::max()) {
      return FailTensor(index, Format("expected a positive scale, found %g", param->scale()));
    }
    to.scale.push_back(static_cast<float>(param->scale()));
    to.zero_point.push_back(param->zeroPoint());
    to.var_corr.push_back(param->varCorr());
    to.mean_corr.push_back(param->meanCorr());
  }
  if (!is_initialized) to = {};
  return true;
}

bool Reader::ReadData(const file::Tensor& tensor, uint32_t index) {
  Tensor& to = model_->tensors[index];
  if (tensor.externalData() != nullptr && tensor.externalData()->size() > 0) {
    return FailTensor(index, "its data is in another file, which is not supported");
  }
  to.constant = tensor.data() != nullptr && tensor.data()->size() > 0;
  if (to.constant) to.data = {tensor.data()->data(), tensor.data()->size()};
  if (!to.constant && tensor.nodeType() == 0 && to.is_static()) {
    for (const int32_t dim : to.dims) to.constant = to.constant || dim == 0;
  }
  if (!to.constant) return true;
  if (tensor.weightQuantCompressType() != 0 || tensor.enableHuffmanCode()) {
    return FailTensor(index,
                      Format("its data is compressed (kind %d), which is not supported",
                             tensor.enableHuffmanCode() ? -1 : tensor.weightQuantCompressType()));
  }
  const size_t size = ElementSize(to.type);
  if (size == 0) {
    return FailTensor(index,
                      Format("constants of type %d are not supported", static_cast<int>(to.type)));
  }
  size_t expected = size;
  for (const int32_t dim : to.dims) {
    const auto extent = static_cast<size_t>(dim < 0 ? 0 : dim);
    if (dim < 0 || __builtin_mul_overflow(expected, extent, &expected)) {
      return FailTensor(index, "shape " + DimsText(to.dims) + " of a constant");
    }
  }
  if (to.data.size() != expected) {
    return FailTensor(
        index, "shape " + DimsText(to.dims) + Format(" of %s", TypeName(to.type)) +
                   Format(": expected %zu bytes of data, found %zu", expected, to.data.size()) +
                   (to.data.size() < expected ? " (packed bits are not supported)" : ""));
  }
  return true;
}

bool Reader::ReadNodes(const file::MetaGraph& graph, const file::SubGraph& main) {
  std::vector<uint32_t> indices;
  if (!CopyIndices(main.nodeIndices(), graph.nodes()->size(), "the subgraph's nodes", &indices)) {
    return false;
  }
  std::vector<bool> seen(graph.nodes()->size());
  model_->nodes.reserve(indices.size());
  for (const uint32_t index : indices) {
    const file::CNode* from = graph.nodes()->Get(index);
    if (from == nullptr || from->primitive() == nullptr) {
      return Fail(Format("node %u: expected a primitive, found none", index));
    }
    Node& node = model_->nodes.emplace_back();
    node.index = index;
    node.name = View(from->name());
    node.primitive = from->primitive();
    if (seen[index]) return Fail(NodeText(node) + ": is in the subgraph twice");
    seen[index] = true;
    const size_t tensors = model_->tensors.size();
    if (!Copy(kMinTableBytes + node.name.size()) ||
        !CopyIndices(from->inputIndex(), tensors, NodeText(node) + ": inputs", &node.inputs) ||
        !CopyIndices(from->outputIndex(), tensors, NodeText(node) + ": outputs", &node.outputs)) {
      return false;
    }
    if (node.outputs.empty()) return Fail(NodeText(node) + ": expected outputs, found none");
  }
  return true;
}

bool Reader::FindProducers() {
  producer_.assign(model_->tensors.size(), kNone);
  for (uint32_t position = 0; position < model_->nodes.size(); ++position) {
    const Node& node = model_->nodes[position];
    for (const uint32_t output : node.outputs) {
      if (model_->tensors[output].constant) {
        return Fail(NodeText(node) + ": its output " + TensorText(*model_, output) +
                    " is a constant");
      }
      if (producer_[output] != kNone) {
        return Fail(NodeText(node) + ": its output " + TensorText(*model_, output) +
                    " is also an output of " + NodeText(model_->nodes[producer_[output]]));
      }
      producer_[output] = position;
    }
  }
  return true;
}

bool Reader::CheckInputsAndOutputs() {
  if (model_->inputs.empty() || model_->outputs.empty()) {
    return Fail(Format("expected inputs and outputs, found %zu and %zu", model_->inputs.size(),
                       model_->outputs.size()));
  }
  is_input_.assign(model_->tensors.size(), false);
  for (const uint32_t input : model_->inputs) {
    const Tensor& tensor = model_->tensors[input];
    if (tensor.constant) return FailTensor(input, "an input of the model has data");
    if (producer_[input] != kNone) {
      return FailTensor(input, "an input of the model is an output of " +
                                   NodeText(model_->nodes[producer_[input]]));
    }
    if (ElementSize(tensor.type) == 0) {
      return FailTensor(
          input, Format("inputs of type %d are not supported", static_cast<int>(tensor.type)));
    }
    if (is_input_[input]) return FailTensor(input, "is an input of the model twice");
    is_input_[input] = true;
  }
  for (const uint32_t output : model_->outputs) {
    if (producer_[output] == kNone && !model_->tensors[output].constant) {
      return FailTensor(output, "no node computes this output of the model");
    }
  }
  return true;
}

bool Reader::CheckConsumers() {
  for (const Node& node : model_->nodes) {
    for (const uint32_t input : node.inputs) {
      if (!model_->tensors[input].constant && producer_[input] == kNone && !is_input_[input]) {
        return Fail(NodeText(node) + ": nothing computes its input " + TensorText(*model_, input));
      }
    }
  }
  return true;
}

// Sorts the nodes topologically with Kahn's algorithm. Among nodes that are ready, the order of the
// file is kept.
bool Reader::SortNodes() {
  std::vector<Node>& nodes = model_->nodes;
  std::vector<std::vector<uint32_t>> consumers(nodes.size());
  std::vector<size_t> pending_inputs(nodes.size());
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t position = 0; position < nodes.size(); ++position) {
    for (const uint32_t input : nodes[position].inputs) {
      if (producer_[input] == kNone) continue;
      consumers[producer_[input]].push_back(position);
      ++pending_inputs[position];
    }
    if (pending_inputs[position] == 0) ready.push(position);
  }
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  while (!ready.empty()) {
    const uint32_t position = ready.top();
    ready.pop();
    for (const uint32_t consumer : consumers[position]) {
      if (--pending_inputs[consumer] == 0) ready.push(consumer);
    }
    sorted.push_back(nodes[position]);
  }
  for (uint32_t position = 0; position < nodes.size(); ++position) {
    if (pending_inputs[position] != 0) {
      return Fail(NodeText(nodes[position]) + ": depends on its own output");
    }
  }
  nodes = std::move(sorted);
  return true;
}

}  // namespace

TfLiteType TfLiteTypeOf(Type type) {
  switch (type) {
    case Type::kBool:
      return kTfLiteBool;
    case Type::kInt8:
      return kTfLiteInt8;
    case Type::kInt16:
      return kTfLiteInt16;
    case Type::kInt32:
      return kTfLiteInt32;
    case Type::kInt64:
      return kTfLiteInt64;
    case Type::kUInt8:
      return kTfLiteUInt8;
    case Type::kUInt16:
      return kTfLiteUInt16;
    case Type::kUInt32:
      return kTfLiteUInt32;
    case Type::kUInt64:
      return kTfLiteUInt64;
    case Type::kFloat16:
      return kTfLiteFloat16;
    case Type::kFloat32:
      return kTfLiteFloat32;
    case Type::kFloat64:
      return kTfLiteFloat64;
    default:
      return kTfLiteNoType;
  }
}

size_t ElementSize(Type type) { return TypeBytes(TfLiteTypeOf(type)); }

const char* TypeName(Type type) {
  switch (type) {
    case Type::kBool:
      return "BOOL";
    case Type::kInt8:
      return "INT8";
    case Type::kInt16:
      return "INT16";
    case Type::kInt32:
      return "INT32";
    case Type::kInt64:
      return "INT64";
    case Type::kUInt8:
      return "UINT8";
    case Type::kUInt16:
      return "UINT16";
    case Type::kUInt32:
      return "UINT32";
    case Type::kUInt64:
      return "UINT64";
    case Type::kFloat16:
      return "FLOAT16";
    case Type::kFloat32:
      return "FLOAT32";
    case Type::kFloat64:
      return "FLOAT64";
    default:
      return "an unknown type";
  }
}

bool Tensor::is_static() const {
  if (!has_dims) return constant;
  for (const int32_t dim : dims) {
    if (dim < 0) return false;
  }
  return true;
}

const char* PrimitiveName(int number) {
  return file::EnumNamePrimitiveType(static_cast<file::PrimitiveType>(number));
}

std::string NodeText(const Node& node) {
  const auto number = static_cast<int>(node.primitive->value_type());
  const char* name = PrimitiveName(number);
  return Format("node %u ", node.index) + Quoted(node.name) + " " +
         (*name == '\0' ? Format("primitive %d", number) : name);
}

std::string TensorText(const Model& model, uint32_t index) {
  return Format("tensor %u ", index) + Quoted(model.tensors[index].name);
}

bool ReadModel(std::span<const uint8_t> bytes, const DeputyLimits& limits, Model* out_model,
               std::string* error) {
  return Reader(bytes, limits, out_model, error).Read();
}

}  // namespace deputy::ms
