// SPDX-License-Identifier: Apache-2.0
#include "core/model/tensor_producers.h"

#include <cstdarg>
#include <cstdio>

#include "core/model/op_names.h"

namespace deputy {
namespace {

constexpr int32_t kNone = -1;

class ProducerCheck {
 public:
  ProducerCheck(const ModelDesc& model, const SubgraphDesc& subgraph)
      : model_(model),
        subgraph_(subgraph),
        producer_(subgraph.tensors.size(), kNone),
        last_consumer_(subgraph.tensors.size(), kNone),
        last_writer_(subgraph.tensors.size(), kNone),
        is_input_(subgraph.tensors.size(), false) {}

  // Returns the first fault, or an empty text.
  std::string Run() {
    if (!CheckInputs()) return fault_;
    for (size_t n = 0; n < subgraph_.operators.size(); ++n) {
      if (!CheckOutputs(static_cast<int32_t>(n))) return fault_;
    }
    for (size_t n = 0; n < subgraph_.operators.size(); ++n) {
      if (!CheckReads(static_cast<int32_t>(n))) return fault_;
    }
    return "";
  }

 private:
  bool CheckInputs() {
    for (size_t i = 0; i < subgraph_.inputs.size(); ++i) {
      const int32_t tensor = subgraph_.inputs[i];
      if (tensor == kTfLiteOptionalTensor) continue;
      if (IsConstant(tensor)) {
        return Note("subgraph input %zu: expected no constant, found tensor %d '%.64s'", i, tensor,
                    NameOf(tensor));
      }
      is_input_[static_cast<size_t>(tensor)] = true;
    }
    return true;
  }

  // Records node n as the producer of its outputs.
  bool CheckOutputs(int32_t n) {
    const OperatorDesc& op = subgraph_.operators[static_cast<size_t>(n)];
    const bool custom = model_.operator_codes[op.code_index].custom_name != nullptr;
    for (const int32_t tensor : op.inputs) {
      if (tensor != kTfLiteOptionalTensor) last_consumer_[static_cast<size_t>(tensor)] = n;
    }
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const auto t = static_cast<size_t>(op.outputs[i]);
      if (last_writer_[t] == n) return NoteOutput(n, i, "a tensor once", "again");
      last_writer_[t] = n;
      if (IsConstant(op.outputs[i])) return NoteOutput(n, i, "no constant", "the constant");
      const bool in_place = custom && last_consumer_[t] == n;
      if (in_place || subgraph_.tensors[t].is_variable) continue;
      if (is_input_[t]) return NoteOutput(n, i, "no subgraph input", "the input");
      if (producer_[t] != kNone) {
        char found[64];
        std::snprintf(found, sizeof(found), "the output of node %d,", producer_[t]);
        return NoteOutput(n, i, "a tensor without another producer", found);
      }
      producer_[t] = n;
    }
    return true;
  }

  bool CheckReads(int32_t n) {
    const OperatorDesc& op = subgraph_.operators[static_cast<size_t>(n)];
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const int32_t tensor = op.inputs[i];
      if (tensor == kTfLiteOptionalTensor) continue;
      const int32_t producer = producer_[static_cast<size_t>(tensor)];
      if (producer <= n) continue;
      return Note(
          "node %d %.64s: input %zu: expected a tensor with an earlier producer, found the output "
          "of node %d, tensor %d '%.64s'",
          n, NodeName(n), i, producer, tensor, NameOf(tensor));
    }
    return true;
  }

  bool IsConstant(int32_t tensor) const {
    return subgraph_.tensors[static_cast<size_t>(tensor)].data != nullptr;
  }
  const char* NameOf(int32_t tensor) const {
    return subgraph_.tensors[static_cast<size_t>(tensor)].name;
  }
  const char* NodeName(int32_t n) const {
    const OperatorDesc& op = subgraph_.operators[static_cast<size_t>(n)];
    return OperatorName(model_.operator_codes[op.code_index]);
  }

  bool NoteOutput(int32_t n, size_t output, const char* expected, const char* found) {
    const int32_t tensor = subgraph_.operators[static_cast<size_t>(n)].outputs[output];
    return Note("node %d %.64s: output %zu: expected %s, found %s tensor %d '%.64s'", n,
                NodeName(n), output, expected, found, tensor, NameOf(tensor));
  }

  // Records the first fault. Returns false, for use in a return statement.
  bool Note(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    char text[512];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fault_ = text;
    return false;
  }

  const ModelDesc& model_;
  const SubgraphDesc& subgraph_;
  // Per tensor: its only producer; the newest node so far that reads it, and that writes it.
  std::vector<int32_t> producer_, last_consumer_, last_writer_;
  std::vector<bool> is_input_;
  std::string fault_;
};

}  // namespace

std::string FindProducerFault(const ModelDesc& model, const SubgraphDesc& subgraph) {
  return ProducerCheck(model, subgraph).Run();
}

}  // namespace deputy
