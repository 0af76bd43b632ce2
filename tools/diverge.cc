// SPDX-License-Identifier: Apache-2.0
//
// `deputy diverge`: finds the first tensor that differs between two records of delegates. Tensors
// are matched by name, direction and the number of the value, so that partitions may differ.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bridges/layers/record/record_file.h"
#include "commands.h"
#include "deputy/common.h"
#include "difference.h"
#include "json.h"
#include "records.h"
#include "tensor_data.h"
#include "text.h"

namespace deputy::tools {
namespace {

// A value of a tensor that the delegate has read or written.
struct Observation {
  const record::Call* call;
  const record::TensorValue* tensor;
  bool is_output;
  int number;  // of the value among those of the tensor and direction, from 0
};
// Name and index of a tensor, direction and number of the value.
using Key = std::tuple<std::string, int32_t, bool, int>;

Key KeyOf(const Observation& at) {
  const std::string& name = at.tensor->name;
  return {name, name.empty() ? at.tensor->index : -1, at.is_output, at.number};
}

std::vector<Observation> ObservationsOf(const record::Record& record) {
  std::vector<Observation> all;
  std::map<std::tuple<std::string, int32_t, bool>, int> counts;
  const auto add = [&](const record::Call& call, const std::vector<record::TensorValue>& tensors,
                       bool is_output) {
    for (const record::TensorValue& tensor : tensors) {
      if (tensor.contents == record::Contents::kNone) continue;
      const int32_t index = tensor.name.empty() ? tensor.index : -1;
      const int number = counts[{tensor.name, index, is_output}]++;
      all.push_back({&call, &tensor, is_output, number});
    }
  };
  for (const record::Call& call : record.calls) {
    // Values at init are constants of the model.
    if (call.begin.function != record::Function::kInit) add(call, call.begin.tensors, false);
    if (call.end) add(call, call.end->tensors, true);
  }
  return all;
}

bool HasEqualType(const record::TensorValue& a, const record::TensorValue& b) {
  return a.type == b.type && a.dims == b.dims && a.bytes == b.bytes;
}

std::optional<Difference> CompareData(const record::TensorValue& a, const record::TensorValue& b) {
  const auto type = static_cast<TfLiteType>(a.type);
  const bool has_data =
      a.contents == record::Contents::kData && b.contents == record::Contents::kData;
  // The record is untrusted: the data may have fewer elements than the shape.
  if (!has_data || !HasEqualType(a, b) || !IsNumeric(type) || ElementBytes(type) == 0 ||
      a.data.size() % ElementBytes(type) != 0) {
    return std::nullopt;
  }
  return Compare(ReadReals(type, std::span(a.data), {a.scale, a.zero_point}),
                 ReadReals(type, std::span(b.data), {b.scale, b.zero_point}));
}

// Returns the nodes of the call's kernel.
std::vector<int32_t> NodesOf(const record::Record& record, const record::Call& call) {
  for (const record::Call& other : record.calls) {
    if (other.begin.function == record::Function::kInit &&
        other.begin.kernel == call.begin.kernel) {
      return other.begin.nodes;
    }
  }
  return {};
}

std::string TypeText(const record::TensorValue& tensor) {
  return std::string(TfLiteTypeGetName(static_cast<TfLiteType>(tensor.type))) + " " +
         ShapeText(tensor.dims);
}

Json DifferenceJson(const record::TensorValue& a, const record::TensorValue& b) {
  if (!HasEqualType(a, b)) return {{"types", std::vector<std::string>{TypeText(a), TypeText(b)}}};
  const std::optional<Difference> difference = CompareData(a, b);
  if (!difference) return {{"digests_only", true}};
  return {{"index", difference->at},
          {"absolute", difference->largest},
          {"relative", difference->relative()},
          {"a", difference->ours},
          {"b", difference->theirs},
          {"nan_on_one_side", difference->lone_nans}};
}

// Returns true if the values differ by more than the tolerance. Without data, or with tolerance 0,
// digests are compared.
bool Differs(const record::TensorValue& a, const record::TensorValue& b, double tolerance) {
  if (!HasEqualType(a, b)) return true;
  if (a.digest == b.digest) return false;
  const std::optional<Difference> difference = tolerance > 0 ? CompareData(a, b) : std::nullopt;
  return !difference || difference->Exceeds(tolerance);
}

Json ObservationJson(const record::Record& record, const Observation& at) {
  return {{"tensor", at.tensor->index},
          {"name", at.tensor->name},
          {"output", at.is_output},
          {"value", at.number},
          {"call", at.call->begin.call},
          {"function", record::NameOf(at.call->begin.function)},
          {"kernel", at.call->begin.kernel},
          {"nodes", at.is_output ? NodesOf(record, *at.call) : std::vector<int32_t>{}}};
}

Json FindDivergence(const record::Record& a, const record::Record& b, double tolerance) {
  std::map<Key, const record::TensorValue*> values;
  const std::vector<Observation> of_b = ObservationsOf(b);
  for (const Observation& at : of_b) values.emplace(KeyOf(at), at.tensor);
  size_t compared = 0;
  Json found = nullptr;
  for (const Observation& at : ObservationsOf(a)) {
    const auto other = values.find(KeyOf(at));
    if (other == values.end()) continue;
    ++compared;
    if (!Differs(*at.tensor, *other->second, tolerance)) continue;
    found = ObservationJson(a, at);
    found["difference"] = DifferenceJson(*at.tensor, *other->second);
    break;
  }
  return {{"compared", compared}, {"divergence", found}};
}

// ---- Text ---------------------------------------------------------------------------------------

std::string DifferenceText(const Json& difference) {
  if (difference.contains("types")) {
    const auto types = difference["types"].get<std::vector<std::string>>();
    return types[0] + " in A, " + types[1] + " in B";
  }
  if (difference.contains("digests_only")) {
    return "the digests differ; without data in both records, the size of the difference is "
           "unknown";
  }
  std::string text =
      Format("largest difference %.6g (relative %.3g) at element %zu: %.9g in A, %.9g in B",
             difference["absolute"].get<double>(), difference["relative"].get<double>(),
             difference["index"].get<size_t>(), difference["a"].get<double>(),
             difference["b"].get<double>());
  const auto nans = difference["nan_on_one_side"].get<size_t>();
  if (nans > 0) text += "; " + PluralText(nans, "NaN", "NaNs") + " on one side only";
  return text;
}

void PrintText(const Json& result) {
  const Json& found = result["divergence"];
  const auto compared = result["compared"].get<size_t>();
  if (found.is_null()) {
    std::printf("no difference in %s\n", PluralText(compared, "value", "values").c_str());
    return;
  }
  std::printf("first difference: %s tensor %d '%s', value %d, after %s without difference\n",
              found["output"].get<bool>() ? "output" : "input", found["tensor"].get<int>(),
              OneLine(found["name"]).c_str(), found["value"].get<int>(),
              PluralText(compared - 1, "value", "values").c_str());
  std::printf("  %s\n", DifferenceText(found["difference"]).c_str());
  if (found["output"].get<bool>()) {
    std::printf("  computed in A by nodes %s in call %d (%s of kernel %d)\n",
                JsonText(found["nodes"]).c_str(), found["call"].get<int>(),
                found["function"].get<std::string>().c_str(), found["kernel"].get<int>());
  } else {
    std::printf("  computed outside of the delegate, before call %d (%s of kernel %d)\n",
                found["call"].get<int>(), found["function"].get<std::string>().c_str(),
                found["kernel"].get<int>());
  }
}

}  // namespace

void DivergeRecords(const DivergeOptions& options) {
  const record::Record a = ReadRecord(options.a), b = ReadRecord(options.b);
  const Json result = FindDivergence(a, b, options.tolerance);
  if (result["compared"].get<size_t>() == 0) {
    FailWork("records '%s' and '%s' have no value of a tensor in common", options.a.c_str(),
             options.b.c_str());
  }
  if (options.json) {
    std::printf("%s\n", JsonText(result, 2).c_str());
  } else {
    PrintText(result);
  }
  if (!result["divergence"].is_null()) throw ToolError(kExitFailed, "the records differ");
}

}  // namespace deputy::tools
