// SPDX-License-Identifier: Apache-2.0
//
// `deputy inspect`: shows the contents of a model and the memory of its tensors. One JSON document
// is built from the interpreter, and the text is written from it, so that both agree.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "json.h"
#include "session.h"
#include "tensor_data.h"
#include "text.h"

namespace deputy::tools {
namespace {

// Number of characters in the drawing of a tensor's lifetime.
constexpr int64_t kLifeWidth = 24;

const char* StorageText(TfLiteAllocationType type) {
  switch (type) {
    case kTfLiteMmapRo:
      return "constant";
    case kTfLiteArenaRw:
      return "arena";
    case kTfLiteArenaRwPersistent:
      return "persistent";
    case kTfLiteDynamic:
      return "dynamic";
    case kTfLitePersistentRo:
      return "computed once";
    case kTfLiteCustom:
      return "caller's";
    case kTfLiteMemNone:
      return "none";
    default:
      return "other";
  }
}

Json QuantizationJson(const TfLiteTensor* tensor) {
  if (tensor->quantization.type != kTfLiteAffineQuantization ||
      tensor->quantization.params == nullptr) {
    return nullptr;
  }
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(tensor->quantization.params);
  if (affine->scale == nullptr || affine->scale->size == 0) return nullptr;
  Json scale = Json::array(), zero_point = Json::array();
  for (int i = 0; i < affine->scale->size; ++i) scale.push_back(affine->scale->data[i]);
  for (int i = 0; affine->zero_point != nullptr && i < affine->zero_point->size; ++i) {
    zero_point.push_back(affine->zero_point->data[i]);
  }
  return {{"scale", scale}, {"zero_point", zero_point}, {"axis", affine->quantized_dimension}};
}

Json TensorsJson(const TfLiteInterpreter* interpreter, int subgraph) {
  Json tensors = Json::array();
  for (int t = 0; t < DeputyInterpreterGetTensorCount(interpreter, subgraph); ++t) {
    const TfLiteTensor* tensor = DeputyInterpreterGetTensor(interpreter, subgraph, t);
    if (tensor == nullptr) continue;
    Json json = {{"index", t},
                 {"name", tensor->name == nullptr ? "" : tensor->name},
                 {"type", TfLiteTypeGetName(tensor->type)},
                 {"shape", ShapeOf(tensor)},
                 {"bytes", tensor->bytes},
                 {"storage", StorageText(tensor->allocation_type)},
                 {"constant", tensor->allocation_type == kTfLiteMmapRo}};
    if (tensor->dims_signature != nullptr && tensor->dims_signature->size > 0) {
      const TfLiteIntArray* dims = tensor->dims_signature;
      json["shape_signature"] = std::vector<int>(dims->data, dims->data + dims->size);
    }
    if (tensor->is_variable) json["variable"] = true;
    Json quantization = QuantizationJson(tensor);
    if (!quantization.is_null()) json["quantization"] = std::move(quantization);
    tensors.push_back(std::move(json));
  }
  return tensors;
}

Json NodesJson(const Session& session, int subgraph) {
  const TfLiteInterpreter* const interpreter = session.interpreter();
  Json nodes = Json::array();
  for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, subgraph); ++n) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof(info);
    if (DeputyInterpreterGetNodeInfo(interpreter, subgraph, n, &info) != kTfLiteOk) continue;
    nodes.push_back(
        {{"index", n},
         {"operator", info.operator_name},
         {"version", info.version},
         {"owner", info.owner},
         {"plan_position", info.plan_position},
         {"inputs", std::vector<int>(info.inputs, info.inputs + info.input_count)},
         {"outputs", std::vector<int>(info.outputs, info.outputs + info.output_count)}});
    if (IsMissing(session.missing(), interpreter, subgraph, n)) nodes.back()["missing"] = true;
  }
  return nodes;
}

Json MemoryJson(const TfLiteInterpreter* interpreter, int subgraph) {
  DeputyMemoryMap map = {};
  map.struct_size = sizeof(map);
  if (DeputyInterpreterGetMemoryMap(interpreter, subgraph, &map) != kTfLiteOk) return nullptr;
  std::vector<DeputyTensorMemory> memories;
  size_t unshared = 0;
  // Tensors needed after the last operator (outputs, inputs) have a last use beyond it.
  const int last_step = std::max(1, DeputyInterpreterGetNodeCount(interpreter, subgraph)) - 1;
  for (size_t i = 0; i < map.tensor_count; ++i) {
    DeputyTensorMemory memory = {};
    memory.struct_size = sizeof(memory);
    if (DeputyInterpreterGetTensorMemory(interpreter, subgraph, i, &memory) != kTfLiteOk) break;
    if (memory.persistent == 0) unshared += memory.bytes;
    memories.push_back(memory);
  }
  std::stable_sort(memories.begin(), memories.end(),
                   [](const DeputyTensorMemory& a, const DeputyTensorMemory& b) {
                     return std::pair(a.persistent != 0, a.offset) <
                            std::pair(b.persistent != 0, b.offset);
                   });
  Json tensors = Json::array();
  for (const DeputyTensorMemory& memory : memories) {
    tensors.push_back({{"tensor", memory.tensor_index},
                       {"persistent", memory.persistent != 0},
                       {"owner", memory.owner},
                       {"offset", memory.offset},
                       {"bytes", memory.bytes},
                       {"first_use", memory.first_use},
                       {"last_use", std::min(memory.last_use, last_step)}});
  }
  return {{"arena_bytes", map.arena_bytes},
          {"arena_bytes_without_sharing", unshared},
          {"persistent_bytes", map.persistent_bytes},
          {"scratch_bytes", map.scratch_bytes},
          {"packed_bytes", map.packed_bytes},
          {"resource_bytes", map.resource_bytes},
          {"tensors", tensors}};
}

Json SignaturesJson(TfLiteInterpreter* interpreter) {
  Json signatures = Json::array();
  for (int s = 0; s < TfLiteInterpreterGetSignatureCount(interpreter); ++s) {
    const char* key = TfLiteInterpreterGetSignatureKey(interpreter, s);
    const std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> runner(
        TfLiteInterpreterGetSignatureRunner(interpreter, key), &TfLiteSignatureRunnerDelete);
    if (runner == nullptr) continue;
    Json inputs = Json::array(), outputs = Json::array();
    for (size_t i = 0; i < TfLiteSignatureRunnerGetInputCount(runner.get()); ++i) {
      inputs.push_back(TfLiteSignatureRunnerGetInputName(runner.get(), static_cast<int32_t>(i)));
    }
    for (size_t i = 0; i < TfLiteSignatureRunnerGetOutputCount(runner.get()); ++i) {
      outputs.push_back(TfLiteSignatureRunnerGetOutputName(runner.get(), static_cast<int32_t>(i)));
    }
    signatures.push_back({{"key", key}, {"inputs", inputs}, {"outputs", outputs}});
  }
  return signatures;
}

// Returns the indices of subgraph 0's inputs or outputs.
Json IndicesJson(const int* indices, int count) {
  return indices == nullptr ? Json::array() : Json(std::vector<int>(indices, indices + count));
}

Json Describe(const InspectOptions& options, const Session& session) {
  TfLiteInterpreter* interpreter = session.interpreter();
  Json subgraphs = Json::array();
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    const char* name = DeputyInterpreterGetSubgraphName(interpreter, s);
    subgraphs.push_back({{"index", s},
                         {"name", name == nullptr ? "" : name},
                         {"operators", NodesJson(session, s)},
                         {"tensors", TensorsJson(interpreter, s)},
                         {"memory", MemoryJson(interpreter, s)}});
  }
  return {{"model", options.session.model},
          {"inputs",
           IndicesJson(TfLiteInterpreterInputTensorIndices(interpreter), session.input_count())},
          {"outputs",
           IndicesJson(TfLiteInterpreterOutputTensorIndices(interpreter), session.output_count())},
          {"signatures", SignaturesJson(interpreter)},
          {"subgraphs", subgraphs}};
}

// ---- text --------------------------------------------------------------------------------------

std::string ListText(const Json& list) {
  std::string text;
  for (const Json& item : list) {
    if (!text.empty()) text += ' ';
    text += item.is_string() ? item.get<std::string>() : JsonText(item);
  }
  return text;
}

std::string QuantizationText(const Json& tensor) {
  if (!tensor.contains("quantization")) return "";
  const Json& quantization = tensor["quantization"];
  const size_t scales = quantization["scale"].size();
  if (scales > 1) {
    return Format("%zu scales on axis %d", scales, quantization["axis"].get<int>());
  }
  const Json& zero = quantization["zero_point"];
  return Format("%.6g, zero %d", quantization["scale"].front().get<double>(),
                zero.empty() ? 0 : zero.front().get<int>());
}

// Returns the lifetime of a tensor's memory on the scale of the plan, drawn as "....####....".
std::string LifeText(int64_t first, int64_t last, int64_t steps) {
  std::string life(kLifeWidth, '.');
  const auto column = [&](int64_t step) {
    return std::clamp<int64_t>(step * kLifeWidth / std::max<int64_t>(1, steps), 0, kLifeWidth);
  };
  const int64_t begin = std::min(column(first), kLifeWidth - 1);
  const int64_t end = std::max(begin + 1, column(last + 1));
  std::fill(life.begin() + begin, life.begin() + end, '#');
  return life;
}

std::string RunByText(const Json& node) {
  if (node.contains("missing")) return "none";
  return node["plan_position"] == -1 ? "-" : Shorten(node["owner"], 16);
}

void PrintOperators(const Json& subgraph) {
  std::printf("\noperators\n");
  Table table("><><<<", {"node", "operator", "version", "run by", "inputs", "outputs"});
  for (const Json& node : subgraph["operators"]) {
    table.Add({JsonText(node["index"]), Shorten(node["operator"], 28), JsonText(node["version"]),
               RunByText(node), ListText(node["inputs"]), ListText(node["outputs"])});
  }
  table.Print();
}

void PrintTensors(const Json& subgraph) {
  std::printf("\ntensors\n");
  Table table("><<>><<", {"index", "type", "shape", "bytes", "storage", "quantisation", "name"});
  for (const Json& tensor : subgraph["tensors"]) {
    table.Add({JsonText(tensor["index"]), tensor["type"],
               ShapeText(tensor["shape"].get<std::vector<int>>()), JsonText(tensor["bytes"]),
               tensor["storage"], QuantizationText(tensor), Shorten(tensor["name"], 28)});
  }
  table.Print();
}

std::string BlockText(const Json& row) {
  if (row["persistent"].get<bool>()) return "persistent";
  const bool in_place = row["owner"] != row["tensor"];
  return in_place ? "alias of " + JsonText(row["owner"]) : "arena";
}

void PrintMemory(const Json& subgraph) {
  const Json& memory = subgraph["memory"];
  if (memory.is_null()) return;
  std::printf(
      "\nmemory: arena %s (%s without sharing), persistent %s, scratch %s, packed %s, "
      "resources %s\n",
      BytesText(memory["arena_bytes"]).c_str(),
      BytesText(memory["arena_bytes_without_sharing"]).c_str(),
      BytesText(memory["persistent_bytes"]).c_str(), BytesText(memory["scratch_bytes"]).c_str(),
      BytesText(memory["packed_bytes"]).c_str(), BytesText(memory["resource_bytes"]).c_str());
  if (memory["tensors"].empty()) return;
  Table table(">>><<<", {"offset", "bytes", "tensor", "block", "life", "name"});
  const auto steps = static_cast<int64_t>(subgraph["operators"].size());
  for (const Json& row : memory["tensors"]) {
    const size_t tensor = row["tensor"];
    const bool known = tensor < subgraph["tensors"].size();
    table.Add({JsonText(row["offset"]), JsonText(row["bytes"]), JsonText(row["tensor"]),
               BlockText(row), LifeText(row["first_use"], row["last_use"], steps),
               known ? Shorten(subgraph["tensors"][tensor]["name"], 30) : "added later"});
  }
  table.Print();
}

void PrintText(const InspectOptions& options, const Json& model) {
  const bool all = !options.operators && !options.tensors && !options.memory;
  std::printf("model %s\n", OneLine(model["model"]).c_str());
  std::printf("inputs: tensors %s; outputs: tensors %s\n", ListText(model["inputs"]).c_str(),
              ListText(model["outputs"]).c_str());
  for (const Json& signature : model["signatures"]) {
    std::printf("signature '%s': %s -> %s\n", OneLine(signature["key"]).c_str(),
                OneLine(ListText(signature["inputs"])).c_str(),
                OneLine(ListText(signature["outputs"])).c_str());
  }
  for (const Json& subgraph : model["subgraphs"]) {
    std::printf("\nsubgraph %d '%s': %zu operators, %zu tensors\n", subgraph["index"].get<int>(),
                OneLine(subgraph["name"]).c_str(), subgraph["operators"].size(),
                subgraph["tensors"].size());
    if (all || options.operators) PrintOperators(subgraph);
    if (all || options.tensors) PrintTensors(subgraph);
    if (all || options.memory) PrintMemory(subgraph);
  }
}

}  // namespace

void InspectModel(const InspectOptions& options) {
  SessionOptions session_options = options.session;
  session_options.missing_operators_are_fine = true;
  Session session(session_options);
  const Json model = Describe(options, session);
  if (options.json) {
    std::printf("%s\n", JsonText(model, 2).c_str());
  } else {
    PrintText(options, model);
  }
  session.FailIfMissing();
  FailOnFindings(session.Close());
}

}  // namespace deputy::tools
