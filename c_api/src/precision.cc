// SPDX-License-Identifier: Apache-2.0
//
// Precision of single nodes, and plans of them in files (deputy_precision.h). A plan is a text: the
// heading with the fingerprint of the model, then a line "SUBGRAPH NODE PRECISION" per node.
#include "c_api/include/deputy_precision.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "c_api/src/objects.h"
#include "core/base/new_file.h"
#include "core/base/weight_file.h"

namespace deputy {
namespace {

using NodePrecisions = decltype(InterpreterConfig::node_precisions);

constexpr std::string_view kNames[] = {"float32", "bf16", "fp16"};  // by Precision
constexpr std::string_view kFormat = "deputy precision plan 1, model ";
constexpr size_t kMaxFileBytes = size_t{32} << 20;

std::string FingerprintText(const Model& model) {
  const DeputyFingerprint fingerprint = FingerprintOf(model.bytes().data(), model.bytes().size());
  char text[33];
  snprintf(text, sizeof text, "%016llx%016llx",
           static_cast<unsigned long long>(fingerprint.words[0]),
           static_cast<unsigned long long>(fingerprint.words[1]));
  return text;
}

bool HasNode(const ModelDesc& model, std::pair<int, int> node) {
  return static_cast<size_t>(node.first) < model.subgraphs.size() &&
         static_cast<size_t>(node.second) <
             model.subgraphs[static_cast<size_t>(node.first)].operators.size();
}

// Reads a regular file of at most kMaxFileBytes bytes. Returns the reason why it cannot, or "".
std::string ReadText(const char* path, std::string* out) {
  struct stat status;
  if (stat(path, &status) != 0) return "it cannot be read";
  if (!S_ISREG(status.st_mode)) return "it is no regular file";
  const auto bytes = static_cast<size_t>(status.st_size);
  if (bytes > kMaxFileBytes) {
    return "expected at most " + std::to_string(kMaxFileBytes) + " bytes, found " +
           std::to_string(bytes);
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path, "re"), &fclose);
  if (file == nullptr) return "it cannot be read";
  out->resize(bytes);
  out->resize(fread(out->data(), 1, out->size(), file.get()));
  return ferror(file.get()) == 0 ? "" : "it cannot be read";
}

// Removes the first line from `text` and returns it without its end, "\n" or "\r\n".
std::string_view TakeLine(std::string_view* text) {
  std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Removes a number and a space from `line`. Returns false if it does not begin with these.
bool TakeNumber(std::string_view* line, int* out) {
  const char* const last = line->data() + line->size();
  const auto [end, error] = std::from_chars(line->data(), last, *out);
  if (error != std::errc() || *line->data() == '-' || end == last || *end != ' ') return false;
  line->remove_prefix(static_cast<size_t>(end + 1 - line->data()));
  return true;
}

// Parses the lines after the heading. Returns the reason why they are invalid, or "".
std::string ParseNodes(std::string_view text, const ModelDesc& model, NodePrecisions* out) {
  for (int number = 2; !text.empty(); ++number) {
    const std::string_view line = TakeLine(&text);
    std::string_view rest = line;
    std::pair<int, int> node;
    size_t name = 0;
    bool good = TakeNumber(&rest, &node.first) && TakeNumber(&rest, &node.second);
    while (name < std::size(kNames) && rest != kNames[name]) ++name;
    good = good && name < std::size(kNames);
    if (!good || !HasNode(model, node)) {
      return "line " + std::to_string(number) +
             (good ? ": the model has no node '"
                   : ": expected 'SUBGRAPH NODE float32|bf16|fp16', found '") +
             std::string(line.substr(0, 60)) + "'";
    }
    (*out)[node] = static_cast<Precision>(name);
  }
  return "";
}

// Parses a plan. Returns the reason why it cannot be used, or "".
std::string ParsePlan(std::string_view text, const Model& model, NodePrecisions* out) {
  const std::string_view heading = TakeLine(&text);
  if (!heading.starts_with(kFormat)) return "it is not a precision plan";
  const std::string expected = FingerprintText(model), found(heading.substr(kFormat.size()));
  if (found != expected) {
    return "it is for another model: expected " + expected + ", found " + found.substr(0, 40);
  }
  return ParseNodes(text, model.desc(), out);
}

TfLiteStatus Refuse(const TfLiteInterpreterOptions& options, const char* path, const char* reason) {
  ErrorReporter reporter = options.config.reporter;
  return Fail(&reporter, kTfLiteError, "Precision plan '%s': %s", path, reason);
}

TfLiteStatus ReadPlan(TfLiteInterpreterOptions* options, const Model& model, const char* path) {
  std::string text;
  NodePrecisions nodes;
  std::string reason = ReadText(path, &text);
  if (reason.empty()) reason = ParsePlan(text, model, &nodes);
  if (!reason.empty()) return Refuse(*options, path, reason.c_str());
  nodes.merge(options->config.node_precisions);
  options->config.node_precisions = std::move(nodes);
  return kTfLiteOk;
}

TfLiteStatus WritePlan(const TfLiteInterpreterOptions& options, const Model& model,
                       const char* path) {
  std::string text = std::string(kFormat) + FingerprintText(model) + "\n";
  for (const auto& [node, precision] : options.config.node_precisions) {
    if (!HasNode(model.desc(), node)) {
      return Refuse(options, path, "the model lacks a node whose precision is set");
    }
    text += std::to_string(node.first) + " " + std::to_string(node.second) + " ";
    text += kNames[static_cast<size_t>(precision)];
    text += '\n';
  }
  return WriteNewFile(path, text) ? kTfLiteOk : Refuse(options, path, "it cannot be written");
}

}  // namespace
}  // namespace deputy

TfLiteStatus DeputyInterpreterOptionsSetNodePrecision(TfLiteInterpreterOptions* options,
                                                      int32_t subgraph_index, int32_t node_index,
                                                      DeputyPrecision precision) {
  const auto value = static_cast<unsigned>(precision);
  if (options == nullptr || subgraph_index < 0 || node_index < 0 ||
      value > kDeputyPrecisionFloat16) {
    return kTfLiteError;
  }
  return deputy::Guard(kTfLiteError, [&] {
    options->config.node_precisions[{subgraph_index, node_index}] =
        static_cast<deputy::Precision>(value);
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterOptionsSetPrecisionPlan(TfLiteInterpreterOptions* options,
                                                      const TfLiteModel* model, const char* path) {
  if (options == nullptr || model == nullptr || path == nullptr) return kTfLiteError;
  return deputy::Guard(kTfLiteError, [&] { return deputy::ReadPlan(options, *model->impl, path); });
}

TfLiteStatus DeputyInterpreterOptionsWritePrecisionPlan(const TfLiteInterpreterOptions* options,
                                                        const TfLiteModel* model,
                                                        const char* path) {
  if (options == nullptr || model == nullptr || path == nullptr) return kTfLiteError;
  return deputy::Guard(kTfLiteError,
                       [&] { return deputy::WritePlan(*options, *model->impl, path); });
}
