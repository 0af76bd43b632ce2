// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "tools/tensor_data.h"
#include "tools/tensor_file.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

struct Range {
  double low, high;
};

double ParseReal(const std::string& text, const std::string& where) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) {
    FailUsage("--input_layer_value_range: expected NAME,LOW,HIGH, found '%s'", where.c_str());
  }
  return value;
}

std::map<int, Range> ParseRanges(const std::string& text, const Session& session) {
  std::map<int, Range> ranges;
  for (const std::string& item : SplitText(text, ':')) {
    // Names may contain commas, range limits do not, so that the item is split at the last two.
    const size_t second = item.rfind(',');
    const size_t first = second == std::string::npos || second == 0 ? std::string::npos
                                                                    : item.rfind(',', second - 1);
    if (first == std::string::npos) {
      FailUsage("--input_layer_value_range: expected NAME,LOW,HIGH, found '%s'", item.c_str());
    }
    const Range range = {ParseReal(item.substr(first + 1, second - first - 1), item),
                         ParseReal(item.substr(second + 1), item)};
    if (range.low > range.high) {
      FailUsage("--input_layer_value_range: expected LOW <= HIGH, found '%s'", item.c_str());
    }
    ranges[session.FindInput(item.substr(0, first))] = range;
  }
  return ranges;
}

// Parses "a:x.npy,b:y.raw". A colon inside a name is escaped by a backslash.
std::map<int, std::string> ParseFiles(const std::string& text, const Session& session) {
  std::map<int, std::string> files;
  for (const std::string& item : SplitText(text, ',')) {
    std::vector<std::string> parts = SplitText(item, ':');
    if (parts.size() < 2 || parts[0].empty()) {
      FailUsage("--input_layer_value_files: expected NAME:FILE, found '%s'", item.c_str());
    }
    std::string path = parts[1];
    for (size_t i = 2; i < parts.size(); ++i) path += ":" + parts[i];
    files[session.FindInput(parts[0])] = path;
  }
  return files;
}

// Fills an input with random values within a range. For quantised and other integer inputs the
// limits are stored values, and both belong to the range.
void WriteWithin(const Range& range, uint32_t seed, TfLiteTensor* tensor) {
  if (!IsNumeric(TfLiteTensorType(tensor))) {
    FailUsage("--input_layer_value_range: input '%s' is not numeric", TfLiteTensorName(tensor));
  }
  const TfLiteType type = TfLiteTensorType(tensor);
  const bool real = type == kTfLiteFloat32 || type == kTfLiteFloat16 || type == kTfLiteFloat64 ||
                    type == kTfLiteBFloat16;
  const TfLiteQuantizationParams quantization = TfLiteTensorQuantizationParams(tensor);
  std::mt19937 random(seed);
  std::vector<float> values(ElementCount(ShapeOf(tensor)));
  for (float& value : values) {
    const double unit = static_cast<double>(random()) / 4294967296.0;
    double next = range.low + unit * (range.high - range.low);
    if (!real) next = std::floor(range.low + unit * (range.high - range.low + 1));
    if (quantization.scale != 0) {
      next = (next - quantization.zero_point) * static_cast<double>(quantization.scale);
    }
    value = static_cast<float>(next);
  }
  if (TfLiteTensorByteSize(tensor) != 0) WriteReals(values, tensor);
}

InputReport Describe(const TfLiteTensor* tensor, const std::string& source) {
  InputReport report;
  report.name = TfLiteTensorName(tensor) == nullptr ? "" : TfLiteTensorName(tensor);
  report.type = TfLiteTypeGetName(TfLiteTensorType(tensor));
  report.shape = ShapeOf(tensor);
  report.source = source;
  report.numeric = IsNumeric(TfLiteTensorType(tensor)) && TfLiteTensorByteSize(tensor) != 0;
  if (!report.numeric) return report;
  const std::vector<double> values = ReadReals(tensor);
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  report.smallest = *smallest;
  report.largest = *largest;
  return report;
}

}  // namespace

void AddInputShapes(const BenchInputOptions& options, SessionOptions* session) {
  const std::vector<std::string> layers = SplitText(options.layers, ',');
  const std::vector<std::string> shapes = SplitText(options.shapes, ':');
  if (shapes.empty()) return;
  if (layers.size() != shapes.size()) {
    FailUsage(
        "--input_layer_shape: expected as many shapes as --input_layer has names, %zu, "
        "found %zu",
        layers.size(), shapes.size());
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    session->shapes.push_back(layers[i] + "=" + shapes[i]);
  }
}

std::vector<InputReport> FillInputs(const BenchInputOptions& options, const Session& session) {
  for (const std::string& layer : SplitText(options.layers, ',')) session.FindInput(layer);
  const std::map<int, Range> ranges = ParseRanges(options.ranges, session);
  const std::map<int, std::string> files = ParseFiles(options.files, session);
  std::vector<InputReport> reports;
  for (int i = 0; i < session.input_count(); ++i) {
    TfLiteTensor* tensor = session.input(i);
    std::string source = "random";
    if (const auto file = files.find(i); file != files.end()) {
      WriteFromFile(file->second, tensor);
      source = file->second;
    } else if (const auto range = ranges.find(i); range != ranges.end()) {
      WriteWithin(range->second, options.seed + static_cast<uint32_t>(i), tensor);
      source = "range";
    } else {
      WriteRandom(options.seed + static_cast<uint32_t>(i), tensor);
    }
    reports.push_back(Describe(tensor, source));
  }
  return reports;
}

}  // namespace deputy::tools
