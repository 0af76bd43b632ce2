// SPDX-License-Identifier: Apache-2.0
//
// `deputy compare`: runs the same inputs through two engines or two models and shows where the
// results differ. The runtime reports no error if a delegate returns NaN or differs from the CPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"
#include "difference.h"
#include "json.h"
#include "recorder.h"
#include "session.h"
#include "tensor_data.h"
#include "tensor_file.h"
#include "text.h"

namespace deputy::tools {
namespace {

struct Row {
  std::string label;  // "output 0 'x' FLOAT32 [1, 10]"
  const RecordedTensor* reference = nullptr;
  Difference difference;
};

std::vector<double> Reals(const RecordedTensor& tensor) {
  return ReadReals(tensor.type, tensor.bytes, tensor.quantization);
}

Json DifferenceJson(const Difference& difference) {
  return {{"largest_difference", difference.largest},
          {"relative_difference", difference.relative()},
          {"at", difference.at},
          {"value", difference.ours},
          {"expected", difference.theirs},
          {"values", difference.count},
          {"nan", difference.nans},
          {"expected_nan", difference.their_nans}};
}

std::string NanText(const Difference& difference) {
  if (difference.nans == 0 && difference.their_nans == 0) return "";
  return Format("%zu NaN, expected %zu", difference.nans, difference.their_nans);
}

class Comparison {
 public:
  explicit Comparison(const CompareOptions& options)
      : options_(options),
        same_model_(options.against == "cpu"),
        a_(options.session),
        b_(Against(options)) {}

  void Run() {
    FillInputs();
    {
      const Recorder ours(a_), theirs(b_);
      a_.Invoke();
      b_.Invoke();
      ours_ = ours.tensors();
      theirs_ = theirs.tensors();
    }
    CompareOutputs();
    CompareTensors();
    options_.json ? PrintJson() : PrintText();
    a_.WarnIfDegraded();
    FailOnFindings(a_.Close() + b_.Close());
    const auto exceeds = [&](const Row& row) { return row.difference.Exceeds(options_.tolerance); };
    const auto differ = std::count_if(outputs_.begin(), outputs_.end(), exceeds);
    if (differ > 0)
      FailWork("%zu of %zu outputs differ", static_cast<size_t>(differ), outputs_.size());
  }

 private:
  static SessionOptions Against(const CompareOptions& options) {
    SessionOptions other = options.session;
    other.delegates.clear();
    if (options.against != "cpu") other.model = options.against;
    return other;
  }

  // Fills the inputs. The second model gets the inputs of the first, converted to its own types.
  void FillInputs() {
    if (a_.input_count() != b_.input_count()) {
      FailUsage("the models have %d and %d inputs", a_.input_count(), b_.input_count());
    }
    std::vector<bool> given(static_cast<size_t>(a_.input_count()), false);
    for (const std::string& assignment : options_.inputs) {
      given[static_cast<size_t>(WriteInput(assignment, a_))] = true;
    }
    for (int i = 0; i < a_.input_count(); ++i) {
      TfLiteTensor *from = a_.input(i), *to = b_.input(i);
      if (!given[static_cast<size_t>(i)]) {
        WriteRandom(options_.seed + static_cast<uint32_t>(i), from);
      }
      if (TfLiteTensorType(from) == TfLiteTensorType(to) &&
          TfLiteTensorByteSize(from) == TfLiteTensorByteSize(to)) {
        const char* data = static_cast<const char*>(TfLiteTensorData(from));
        WriteBytes({data, TfLiteTensorByteSize(from)}, to);
        continue;
      }
      const std::vector<double> reals = ReadReals(from);
      if (reals.size() != ElementCount(ShapeOf(to))) {
        FailUsage("input %d: expected %s, found %s", i, ShapeText(ShapeOf(from)).c_str(),
                  ShapeText(ShapeOf(to)).c_str());
      }
      WriteReals(std::vector<float>(reals.begin(), reals.end()), to);
    }
  }

  void CompareOutputs() {
    if (a_.output_count() != b_.output_count()) {
      FailWork("the models have %d and %d outputs", a_.output_count(), b_.output_count());
    }
    for (int i = 0; i < a_.output_count(); ++i) {
      const TfLiteTensor *ours = a_.output(i), *theirs = b_.output(i);
      if (!IsNumeric(TfLiteTensorType(ours)) || !IsNumeric(TfLiteTensorType(theirs))) continue;
      const auto difference = Compare(ReadReals(ours), ReadReals(theirs));
      if (!difference) {
        FailWork("output %d: expected %s, found %s", i, ShapeText(ShapeOf(theirs)).c_str(),
                 ShapeText(ShapeOf(ours)).c_str());
      }
      outputs_.push_back(
          {Format("output %d '%s' %s %s", i, OneLine(NameOf(ours)).c_str(),
                  TfLiteTypeGetName(TfLiteTensorType(ours)), ShapeText(ShapeOf(ours)).c_str()),
           nullptr, *difference});
    }
  }

  // Matches tensors of one model by index and of two models by name, in the order in which the
  // reference computes them.
  void CompareTensors() {
    std::map<std::string, const RecordedTensor*> known;
    const auto key = [&](const RecordedTensor& tensor) {
      if (!same_model_) return tensor.subgraph == 0 ? tensor.name : std::string();
      return std::to_string(tensor.subgraph) + "#" + std::to_string(tensor.tensor);
    };
    for (const RecordedTensor& tensor : ours_) known[key(tensor)] = &tensor;
    known.erase("");
    for (const RecordedTensor& theirs : theirs_) {
      const auto ours = known.find(key(theirs));
      if (ours == known.end()) continue;
      const auto difference = Compare(Reals(*ours->second), Reals(theirs));
      if (!difference) continue;
      tensors_.push_back({ours->second->owner, &theirs, *difference});
      if (first_ < 0 && difference->Exceeds(options_.tolerance)) {
        first_ = static_cast<int>(tensors_.size()) - 1;
      }
    }
  }

  static std::string NodeText(const Row& row) {
    return Format(
        "%s node %d %s",
        row.reference->subgraph == 0 ? "" : Format("subgraph %d", row.reference->subgraph).c_str(),
        row.reference->node, OneLine(row.reference->operator_name).c_str());
  }

  void PrintText() const {
    for (const Row& row : outputs_) {
      const Difference& d = row.difference;
      std::printf("%s\n  largest difference %g, %.3g of the largest magnitude", row.label.c_str(),
                  d.largest, d.relative());
      if (d.largest > 0) std::printf("; at %zu: %g, expected %g", d.at, d.ours, d.theirs);
      const std::string nan = NanText(d);
      std::printf("%s\n", nan.empty() ? "" : ("; " + nan).c_str());
    }
    std::printf(
        "\n%zu of %zu tensors can be compared; the others are inside a delegate or have no "
        "counterpart\n\n",
        tensors_.size(), theirs_.size());
    PrintTensors();
    if (first_ < 0) {
      std::printf("\nno node differs by more than %g\n", options_.tolerance);
      return;
    }
    const Row& row = tensors_[static_cast<size_t>(first_)];
    std::printf("\nfirst node that differs:%s, run by %s: tensor %d '%s'%s\n",
                NodeText(row).c_str(), OneLine(row.label).c_str(), row.reference->tensor,
                OneLine(row.reference->name).c_str(),
                row.difference.lone_nans > 0 ? (", " + NanText(row.difference)).c_str() : "");
  }

  void PrintTensors() const {
    Table table("><<<>>", {"node", "operator", "run by", "tensor", "largest", "relative"});
    for (const Row& row : tensors_) {
      const std::string nan =
          row.difference.lone_nans > 0 ? "NaN" : Format("%.3g", row.difference.largest);
      table.Add({std::to_string(row.reference->node),
                 Shorten(OneLine(row.reference->operator_name), 20),
                 Shorten(OneLine(row.label), 16), Shorten(OneLine(row.reference->name), 22), nan,
                 Format("%.3g", row.difference.relative())});
    }
    table.Print();
  }

  Json TensorJson(const Row& row) const {
    Json json = {{"subgraph", row.reference->subgraph},      {"node", row.reference->node},
                 {"operator", row.reference->operator_name}, {"run_by", row.label},
                 {"tensor", row.reference->tensor},          {"name", row.reference->name}};
    json.update(DifferenceJson(row.difference));
    return json;
  }

  void PrintJson() const {
    Json outputs = Json::array(), tensors = Json::array();
    for (const Row& row : outputs_) outputs.push_back(DifferenceJson(row.difference));
    for (const Row& row : tensors_) tensors.push_back(TensorJson(row));
    const Json report = {
        {"model", options_.session.model},
        {"against", options_.against},
        {"tolerance", options_.tolerance},
        {"outputs", outputs},
        {"tensors", tensors},
        {"first_difference",
         first_ < 0 ? Json(nullptr) : TensorJson(tensors_[static_cast<size_t>(first_)])}};
    std::printf("%s\n", JsonText(report, 2).c_str());
  }

  const CompareOptions& options_;
  const bool same_model_;
  Session a_, b_;
  std::vector<RecordedTensor> ours_, theirs_;
  std::vector<Row> outputs_, tensors_;
  int first_ = -1;  // index in tensors_ of the first tensor that differs; -1: none
};

}  // namespace

void CompareModel(const CompareOptions& options) {
  if (options.against == "cpu" && options.session.delegates.empty()) {
    FailUsage("compare needs a --delegate, or another model: --against B.tflite");
  }
  // Disables fusion, so that every tensor is recorded, including those between fused nodes.
  setenv("DEPUTY_PLAN", "off", 0);
  Comparison(options).Run();
}

}  // namespace deputy::tools
