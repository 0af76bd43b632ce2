// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/hexagon/hexagon_double.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "bridges/hexagon/hexagon_nn.h"
#include "tests/doubles/hexagon/operations.h"

namespace hexagon_double {
namespace {

using namespace deputy::hexagon;

constexpr int kVersion = 137729;

struct Node {
  NnOperation operation;
  NnPadding padding;
  std::vector<NnInput> inputs;
  std::vector<NnOutput> outputs;
  Tensor constant;
};

struct Graph {
  std::vector<uint32_t> order;
  std::map<uint32_t, Node> nodes;
  bool prepared = false;
};

struct State {
  std::mutex mutex;
  std::string log, failing;
  std::map<NnGraph, Graph> graphs;
  NnGraph last = 0;
  int connections = 0;  // calls of global_init without global_teardown
};

State& It() {
  static State state;
  return state;
}

// Logs a call. Returns true if the call may continue: the connection is open and the test does not
// make the call fail.
bool Enter(const char* name, const std::string& more = "") {
  It().log += name + (more.empty() ? "" : " " + more) + "\n";
  return It().connections == 1 && It().failing != name;
}

const char* NameOf(uint32_t operation) {
  for (const NnOperationName& known : kNnOperationNames) {
    if (known.operation == operation) return known.name;
  }
  return nullptr;
}

Graph* Find(NnGraph graph) {
  const auto found = It().graphs.find(graph);
  return found == It().graphs.end() ? nullptr : &found->second;
}

// Returns true if the node may be appended: once, and before prepare.
bool MayAppend(const Graph* graph, uint32_t node) {
  return graph != nullptr && !graph->prepared && node != 0 && graph->nodes.count(node) == 0;
}

// Returns true if each node reads only outputs of nodes before it.
bool IsWhole(const Graph& graph) {
  std::map<uint32_t, size_t> outputs;
  for (const uint32_t number : graph.order) {
    const Node& node = graph.nodes.at(number);
    for (const NnInput& input : node.inputs) {
      const auto from = outputs.find(input.node);
      if (from == outputs.end() || input.output >= from->second) return false;
    }
    outputs[number] = node.operation == kNnConst ? 1 : node.outputs.size();
  }
  return true;
}

Tensor TensorOf(const NnTensor& given) {
  const auto dim = [](uint32_t d) { return static_cast<int>(d); };
  return {{dim(given.batches), dim(given.height), dim(given.width), dim(given.depth)},
          {given.data, given.data + given.data_valid_bytes}};
}

bool CopyOut(const Tensor& made, NnTensor* to) {
  if (to->data_bytes < 0 || made.bytes.size() > static_cast<size_t>(to->data_bytes)) return false;
  std::memcpy(to->data, made.bytes.data(), made.bytes.size());
  to->data_valid_bytes = static_cast<uint32_t>(made.bytes.size());
  to->batches = static_cast<uint32_t>(made.dims[0]);
  to->height = static_cast<uint32_t>(made.dims[1]);
  to->width = static_cast<uint32_t>(made.dims[2]);
  to->depth = static_cast<uint32_t>(made.dims[3]);
  return true;
}

// Returns true if the computed outputs fit into the sizes that the node has declared.
bool FitsDeclaredSizes(const Node& node, const std::vector<Tensor>& made) {
  if (made.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < made.size(); ++i) {
    size_t capacity = node.outputs[i].element_size;
    for (uint32_t d = 0; d < node.outputs[i].rank; ++d) capacity *= node.outputs[i].max_sizes[d];
    if (made[i].bytes.size() > capacity) return false;
  }
  return true;
}

bool Run(const Graph& graph, const NnTensor* inputs, int input_count, NnTensor* outputs,
         int output_count) {
  std::map<uint32_t, std::vector<Tensor>> made;
  for (const uint32_t number : graph.order) {
    const Node& node = graph.nodes.at(number);
    std::vector<const Tensor*> from;
    for (const NnInput& input : node.inputs) from.push_back(&made[input.node].at(input.output));
    std::vector<Tensor>& results = made[number];
    if (node.operation == kNnConst) {
      results.push_back(node.constant);
    } else if (node.operation == kNnInput) {
      if (static_cast<size_t>(input_count) != node.outputs.size()) return false;
      for (int i = 0; i < input_count; ++i) results.push_back(TensorOf(inputs[i]));
    } else if (node.operation == kNnOutput) {
      if (static_cast<size_t>(output_count) != from.size()) return false;
      for (size_t i = 0; i < from.size(); ++i) {
        if (!CopyOut(*from[i], &outputs[i])) return false;
      }
    } else if (!Compute(node.operation, node.padding, from, &results)) {
      return false;
    }
    if (node.operation != kNnConst && !FitsDeclaredSizes(node, results)) return false;
  }
  return true;
}

}  // namespace
}  // namespace hexagon_double

using hexagon_double::Enter;
using hexagon_double::Find;
using hexagon_double::Graph;
using hexagon_double::It;
using namespace deputy::hexagon;
using Lock = std::lock_guard<std::mutex>;

extern "C" {

#define DOUBLE_EXPORT __attribute__((visibility("default")))

DOUBLE_EXPORT const char* hexagon_double_log() { return It().log.c_str(); }
DOUBLE_EXPORT int hexagon_double_graphs() { return static_cast<int>(It().graphs.size()); }
DOUBLE_EXPORT void hexagon_double_reset(const char* failing) {
  It().log.clear();
  It().failing = failing;
}

DOUBLE_EXPORT void hexagon_nn_global_init() {
  const Lock lock(It().mutex);
  It().log += "global_init\n";
  ++It().connections;
}

DOUBLE_EXPORT void hexagon_nn_global_teardown() {
  const Lock lock(It().mutex);
  It().log += It().graphs.empty() ? "global_teardown\n" : "global_teardown too early\n";
  --It().connections;
}

DOUBLE_EXPORT int hexagon_nn_version(int* version) {
  const Lock lock(It().mutex);
  if (It().connections != 1) return -1;
  *version = hexagon_double::kVersion + (Enter("version") ? 0 : 1);
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_hexagon_interface_version() { return hexagon_double::kVersion; }

DOUBLE_EXPORT bool hexagon_nn_is_device_supported() {
  const Lock lock(It().mutex);
  return Enter("is_device_supported");
}

DOUBLE_EXPORT int hexagon_nn_op_id_to_name(uint32_t operation, char* name, int bytes) {
  const bool other = It().failing == "op_id_to_name" && operation == kNnReshape;
  const char* known = other ? "QuantizedReshape" : hexagon_double::NameOf(operation);
  if (known == nullptr || static_cast<int>(std::strlen(known)) >= bytes) return -1;
  std::strcpy(name, known);
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_config() {
  const Lock lock(It().mutex);
  return Enter("config") ? 0 : -1;
}

DOUBLE_EXPORT int hexagon_nn_init(NnGraph* graph) {
  const Lock lock(It().mutex);
  if (!Enter("init")) return -1;
  *graph = ++It().last;
  It().graphs[*graph];
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_set_debug_level(NnGraph graph, int level) {
  const Lock lock(It().mutex);
  return Enter("set_debug_level", std::to_string(level)) && Find(graph) != nullptr ? 0 : -1;
}

DOUBLE_EXPORT int hexagon_nn_set_powersave_level(uint32_t level) {
  const Lock lock(It().mutex);
  return Enter("set_powersave_level", std::to_string(level)) ? 0 : -1;
}

DOUBLE_EXPORT int hexagon_nn_append_const_node(NnGraph id, uint32_t number, uint32_t batches,
                                               uint32_t height, uint32_t width, uint32_t depth,
                                               const uint8_t* data, int bytes) {
  const Lock lock(It().mutex);
  Graph* const graph = Find(id);
  if (!Enter("append_const_node") || !hexagon_double::MayAppend(graph, number) || bytes <= 0)
    return -1;
  const auto dim = [](uint32_t d) { return static_cast<int>(d); };
  graph->order.push_back(number);
  graph->nodes[number] = {
      kNnConst,
      kNnPadNone,
      {},
      {},
      {{dim(batches), dim(height), dim(width), dim(depth)}, {data, data + bytes}}};
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_append_node(NnGraph id, uint32_t number, uint32_t operation,
                                         NnPadding padding, const NnInput* inputs, int input_count,
                                         const NnOutput* outputs, int output_count) {
  const Lock lock(It().mutex);
  const char* const name = hexagon_double::NameOf(operation);
  Graph* const graph = Find(id);
  const bool enters = Enter("append_node", name == nullptr ? "" : name);
  if (!enters || name == nullptr || !hexagon_double::MayAppend(graph, number)) return -1;
  graph->order.push_back(number);
  graph->nodes[number] = {static_cast<NnOperation>(operation),
                          padding,
                          {inputs, inputs + input_count},
                          {outputs, outputs + output_count},
                          {}};
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_prepare(NnGraph id) {
  const Lock lock(It().mutex);
  Graph* const graph = Find(id);
  if (!Enter("prepare") || graph == nullptr || graph->prepared || !hexagon_double::IsWhole(*graph))
    return -1;
  graph->prepared = true;
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_execute_new(NnGraph id, const NnTensor* inputs, int input_count,
                                         NnTensor* outputs, int output_count) {
  const Lock lock(It().mutex);
  const Graph* const graph = Find(id);
  if (!Enter("execute_new") || graph == nullptr || !graph->prepared) return -1;
  try {
    return hexagon_double::Run(*graph, inputs, input_count, outputs, output_count) ? 0 : -2;
  } catch (const std::out_of_range&) {
    return -3;
  }
}

// The delegate does not use this older function, but the library must export it.
DOUBLE_EXPORT int hexagon_nn_execute(NnGraph, uint32_t, uint32_t, uint32_t, uint32_t,
                                     const uint8_t*, int, uint32_t*, uint32_t*, uint32_t*,
                                     uint32_t*, uint8_t*, int, uint32_t*) {
  return -1;
}

DOUBLE_EXPORT int hexagon_nn_teardown(NnGraph id) {
  const Lock lock(It().mutex);
  return Enter("teardown") && It().graphs.erase(id) == 1 ? 0 : -1;
}

DOUBLE_EXPORT int hexagon_nn_snpprint(NnGraph id, uint8_t* text, int bytes) {
  const Lock lock(It().mutex);
  const Graph* const graph = Find(id);
  if (!Enter("snpprint") || graph == nullptr || bytes < 1) return -1;
  std::string lines;
  for (const uint32_t number : graph->order) {
    lines += std::to_string(number) + " " +
             hexagon_double::NameOf(graph->nodes.at(number).operation) + "\n";
  }
  lines.resize(std::min(lines.size(), static_cast<size_t>(bytes) - 1));
  std::memcpy(text, lines.c_str(), lines.size() + 1);
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_getlog(NnGraph, uint8_t* text, int bytes) {
  static constexpr char kText[] = "the double's log\nmore of it\n";
  if (bytes < static_cast<int>(sizeof kText)) return -1;
  std::memcpy(text, kText, sizeof kText);
  return 0;
}

DOUBLE_EXPORT int hexagon_nn_reset_perfinfo(NnGraph, uint32_t) {
  const Lock lock(It().mutex);
  return Enter("reset_perfinfo") ? 0 : -1;
}

// Reports a thousand cycles for every node that is not a constant.
DOUBLE_EXPORT int hexagon_nn_get_perfinfo(NnGraph id, NnPerfInfo* info, int capacity,
                                          uint32_t* count) {
  const Lock lock(It().mutex);
  const Graph* const graph = Find(id);
  if (!Enter("get_perfinfo") || graph == nullptr) return -1;
  *count = 0;
  for (const uint32_t number : graph->order) {
    const NnOperation operation = graph->nodes.at(number).operation;
    if (operation == kNnConst || static_cast<int>(*count) >= capacity) continue;
    info[(*count)++] = {number, operation, 1, 0, 1000, 0};
  }
  return 0;
}

}  // extern "C"
