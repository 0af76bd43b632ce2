// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/partition.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace deputy::hexagon {
namespace {

constexpr uint8_t kSignBit = 0x80;
constexpr size_t kMaxTextBytes = 100000;

void FlipSignBits(uint8_t* to, const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(from[i] ^ kSignBit);
}

bool SameShape(const TfLiteTensor& tensor, const Dims& dims) {
  return tensor.dims != nullptr && tensor.dims->size <= 4 && DimsOf(tensor) == dims;
}

}  // namespace

std::unique_ptr<Partition> Partition::Create(TfLiteContext* context,
                                             const TfLiteDelegateParams& params,
                                             std::shared_ptr<const Library> library,
                                             const Options& options) {
  std::unique_ptr<Partition> partition(new Partition(std::move(library), options));
  if (partition->Open(context) != kTfLiteOk) return nullptr;
  if (partition->Translate(context, params) != kTfLiteOk) return nullptr;
  return partition;
}

Partition::~Partition() {
  if (is_open_) nn().teardown(graph_);
}

TfLiteStatus Partition::Fail(TfLiteContext* context, const std::string& what, int status) const {
  char log[256] = "";
  if (is_open_) nn().getlog(graph_, reinterpret_cast<uint8_t*>(log), sizeof log);
  log[sizeof log - 1] = '\0';
  log[std::strcspn(log, "\n")] = '\0';
  context->ReportError(context, "Hexagon: %s failed with %d%s%s", what.c_str(), status,
                       log[0] == '\0' ? "" : ": ", log);
  return kTfLiteError;
}

TfLiteStatus Partition::Open(TfLiteContext* context) {
  if (const int status = nn().config(); status != 0) {
    return Fail(context, "hexagon_nn_config", status);
  }
  if (const int status = nn().init(&graph_); status != 0) {
    return Fail(context, "hexagon_nn_init", status);
  }
  is_open_ = true;
  if (const int status = nn().set_debug_level(graph_, options_.debug_level); status != 0) {
    return Fail(context, "hexagon_nn_set_debug_level", status);
  }
  const auto powersave = static_cast<uint32_t>(options_.powersave_level);
  if (const int status = nn().set_powersave_level(powersave); status != 0) {
    return Fail(context, "hexagon_nn_set_powersave_level", status);
  }
  return kTfLiteOk;
}

TfLiteStatus Partition::Translate(TfLiteContext* context, const TfLiteDelegateParams& params) {
  GraphBuilder graph;
  Translation translation(&graph);
  const TfLiteIntArray& nodes = *params.nodes_to_replace;
  first_node_ = nodes.size > 0 ? *std::min_element(nodes.data, nodes.data + nodes.size) : -1;
  const auto boundary = [&](int index) {
    const TfLiteTensor& tensor = context->tensors[index];
    return Boundary{index, DimsOf(tensor), tensor.type == kTfLiteInt8, {}};
  };
  std::vector<Dims> shapes;
  for (int i = 0; i < params.input_tensors->size; ++i) {
    const int index = params.input_tensors->data[i];
    if (index < 0 || IsConstant(context->tensors[index])) continue;
    inputs_.push_back(boundary(index));
    shapes.push_back(inputs_.back().dims);
  }
  const std::vector<NnInput> graph_inputs = graph.AddInputs(shapes);
  for (size_t i = 0; i < graph_inputs.size(); ++i) {
    translation.Set(inputs_[i].tensor, graph_inputs[i]);
  }
  for (int i = 0; i < nodes.size; ++i) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, nodes.data[i], &node, &registration) !=
        kTfLiteOk) {
      return kTfLiteError;
    }
    const Node each = {context, node, registration};
    if (const Refusal refusal = CheckNode(each); refusal.reason != 0) {
      context->ReportError(context, "Hexagon: node %d: %s", nodes.data[i], refusal.text.c_str());
      return kTfLiteError;
    }
    FindOperator(registration->builtin_code)->translate(each, &translation);
  }
  std::vector<NnInput> results;
  for (int i = 0; i < params.output_tensors->size; ++i) {
    outputs_.push_back(boundary(params.output_tensors->data[i]));
    results.push_back(translation.Find(outputs_.back().tensor));
  }
  graph.AddOutputs(results);
  const std::string problem = graph.Build(nn(), graph_);
  if (problem.empty()) return kTfLiteOk;
  context->ReportError(context, "Hexagon: %s", problem.c_str());
  return kTfLiteError;
}

// Checks that the shapes are still those of the graph: the delegate supports no others.
TfLiteStatus Partition::CheckShapes(TfLiteContext* context,
                                    const std::vector<Boundary>& tensors) const {
  for (const Boundary& boundary : tensors) {
    if (SameShape(context->tensors[boundary.tensor], boundary.dims)) continue;
    context->ReportError(context,
                         "Hexagon: tensor %d: the shape has changed since the graph was built",
                         boundary.tensor);
    return kTfLiteError;
  }
  return kTfLiteOk;
}

TfLiteStatus Partition::Prepare(TfLiteContext* context) {
  if (CheckShapes(context, inputs_) != kTfLiteOk) return kTfLiteError;
  if (CheckShapes(context, outputs_) != kTfLiteOk) return kTfLiteError;
  if (is_prepared_) return kTfLiteOk;
  if (const int status = nn().prepare(graph_); status != 0) {
    return Fail(context, "hexagon_nn_prepare", status);
  }
  is_prepared_ = true;
  if (!options_.describe) return kTfLiteOk;
  std::string text(kMaxTextBytes, '\0');
  auto* const buffer = reinterpret_cast<uint8_t*>(text.data());
  if (nn().snpprint(graph_, buffer, static_cast<int>(text.size())) == 0) {
    text.resize(std::min(text.find('\0'), text.size()));
    text_ = std::move(text);
  }
  return kTfLiteOk;
}

// Returns the tensor for the DSP. An int8 tensor gets a separate buffer for its converted bytes.
NnTensor Partition::DeviceTensor(TfLiteContext* context, Boundary* boundary) const {
  const TfLiteTensor& tensor = context->tensors[boundary->tensor];
  NnTensor device_tensor{};
  const auto dim = [&](size_t i) { return static_cast<uint32_t>(boundary->dims[i]); };
  device_tensor.batches = dim(0);
  device_tensor.height = dim(1);
  device_tensor.width = dim(2);
  device_tensor.depth = dim(3);
  device_tensor.data = static_cast<uint8_t*>(tensor.data.data);
  if (boundary->is_signed) {
    boundary->bytes.resize(tensor.bytes);
    device_tensor.data = boundary->bytes.data();
  }
  device_tensor.data_bytes = static_cast<int32_t>(tensor.bytes);
  return device_tensor;
}

TfLiteStatus Partition::Invoke(TfLiteContext* context) {
  std::vector<NnTensor> inputs, outputs;
  for (Boundary& boundary : inputs_) {
    inputs.push_back(DeviceTensor(context, &boundary));
    inputs.back().data_valid_bytes = static_cast<uint32_t>(inputs.back().data_bytes);
    const TfLiteTensor& tensor = context->tensors[boundary.tensor];
    const auto* data = static_cast<const uint8_t*>(tensor.data.data);
    if (boundary.is_signed) FlipSignBits(boundary.bytes.data(), data, tensor.bytes);
  }
  for (Boundary& boundary : outputs_) outputs.push_back(DeviceTensor(context, &boundary));
  if (options_.profiling) nn().reset_perfinfo(graph_, 0);
  const int status = nn().execute_new(graph_, inputs.data(), static_cast<int>(inputs.size()),
                                      outputs.data(), static_cast<int>(outputs.size()));
  if (status != 0) return Fail(context, "hexagon_nn_execute_new", status);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TfLiteTensor& tensor = context->tensors[outputs_[i].tensor];
    if (outputs[i].data_valid_bytes != tensor.bytes) {
      context->ReportError(context, "Hexagon: tensor %d: expected %zu bytes, found %u",
                           outputs_[i].tensor, tensor.bytes, outputs[i].data_valid_bytes);
      return kTfLiteError;
    }
    if (!outputs_[i].is_signed) continue;
    FlipSignBits(static_cast<uint8_t*>(tensor.data.data), outputs_[i].bytes.data(), tensor.bytes);
  }
  if (options_.profiling) PrintCycles();
  return kTfLiteOk;
}

void Partition::PrintCycles() const {
  std::vector<NnPerfInfo> infos(2048);
  uint32_t count = 0;
  if (nn().get_perfinfo(graph_, infos.data(), static_cast<int>(infos.size()), &count) != 0) return;
  for (size_t i = 0; i < std::min<size_t>(count, infos.size()); ++i) {
    char name[64] = "";
    if (nn().op_id_to_name(infos[i].operation, name, sizeof name) != 0) continue;
    const uint64_t cycles = uint64_t{infos[i].counter_high} << 32 | infos[i].counter_low;
    std::fprintf(stderr, "hexagon: partition of node %d: %-28.63s %12llu cycles\n", first_node_,
                 name, static_cast<unsigned long long>(cycles));
  }
}

}  // namespace deputy::hexagon
