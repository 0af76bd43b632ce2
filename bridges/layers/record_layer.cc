// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/record_layer.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "bridges/layers/error_texts.h"
#include "bridges/layers/record/record_file.h"
#include "bridges/layers/record_calls.h"
#include "core/support/option_list.h"

namespace deputy::layers {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct RecordOptions {
  std::string path;
  bool has_data = true, has_model = false;
  uint64_t max_bytes = 1024 * kMiB;
};

std::string Machine() {
  utsname names{};
  if (uname(&names) != 0) return "";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

std::string Program() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size <= 0 ? "" : std::string(path, static_cast<size_t>(size));
}

class RecordLayer final : public Layer {
 public:
  RecordLayer(std::unique_ptr<record::Writer> writer, const RecordOptions& options)
      : writer_(std::move(writer)), has_model_(options.has_model), describer_(options.has_data) {}

  TfLiteStatus Around(const LayerCall& call, const Rest& rest) override {
    record::CallBegin begin = describer_.Begin(call);
    begin.call = writer_->NextCall();
    Check(writer_->Write(begin));
    const ErrorTexts errors(call.context);
    const auto start = std::chrono::steady_clock::now();
    const auto end = [&](TfLiteStatus status) {
      const auto taken = std::chrono::steady_clock::now() - start;
      record::CallEnd results = describer_.End(call, status);
      results.call = begin.call;
      results.duration_ns = static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count());
      results.errors = errors.text();
      Check(writer_->Write(results));
    };
    TfLiteStatus status = kTfLiteError;
    try {
      status = rest();
    } catch (...) {
      end(kTfLiteError);
      throw;
    }
    end(status);
    return status;
  }

  std::string AsyncProblem() const override {
    return "layer record: tasks of asynchronous kernels cannot be recorded; use runs of the model";
  }

  void SetLibrary(const std::string& path, const std::string& options) override {
    record::Session session;
    session.host = Program() + " (Deputy " DEPUTY_LAYERS_VERSION ")";
    session.machine = Machine();
    session.library = path;
    for (const std::string& option : SplitOptions(options)) {
      session.options.push_back(SplitOption(option));
    }
    Check(writer_->Write(session));
  }

  void SetModel(const void* data, size_t size) override {
    const std::lock_guard lock(mutex_);
    if (std::exchange(knows_model_, true)) return;
    const std::string_view bytes(static_cast<const char*>(data), size);
    record::Model model;
    model.digest = record::DigestOf(bytes);
    model.bytes = size;
    model.has_data = has_model_;
    if (has_model_) model.data = bytes;
    Check(writer_->Write(model));
  }

 private:
  // Reports once that the record is not complete.
  void Check(bool is_written) {
    if (is_written) return;
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_reported_, true)) return;
    std::fprintf(stderr, "layer record: %s; later calls are not recorded\n",
                 writer_->problem().c_str());
  }

  const std::unique_ptr<record::Writer> writer_;
  const bool has_model_;
  Describer describer_;
  std::mutex mutex_;  // guards the members below
  bool knows_model_ = false, is_reported_ = false;
};

std::string SetOption(const std::string& text, RecordOptions* options) {
  const auto [key, value] = SplitOption(text);
  if (text == "digests") {
    options->has_data = false;
  } else if (text == "model") {
    options->has_model = true;
  } else if (key == "max_mb") {
    constexpr uint64_t kMax = uint64_t{1} << 30;
    uint64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || at != end || number < 1 || number > kMax) {
      return "layer 'record': max_mb: expected a whole number from 1 to 1073741824, found '" +
             value + "'";
    }
    options->max_bytes = number * kMiB;
  } else {
    return "layer 'record': expected digests, model or max_mb=N, found '" + text + "'";
  }
  return "";
}

// Returns the path for the next delegate of this process that is recorded to `path`: the path
// itself, then PATH.2, PATH.3, so that no delegate overwrites the record of another.
std::string NextPath(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, int> uses;
  const std::lock_guard lock(mutex);
  const int use = ++uses[path];
  return use == 1 ? path : path + "." + std::to_string(use);
}

}  // namespace

std::unique_ptr<Layer> MakeRecord(const std::string& text, std::string* error) {
  const std::vector<std::string> parts = SplitOptions(text, ',');
  RecordOptions options;
  if (parts.empty()) {
    *error = "layer 'record': expected the path of a file, found ''";
    return nullptr;
  }
  options.path = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    *error = SetOption(parts[i], &options);
    if (!error->empty()) return nullptr;
  }
  std::string problem;
  auto writer = record::Writer::Open(NextPath(options.path), options.max_bytes, &problem);
  if (writer == nullptr) {
    *error = "layer 'record': " + problem;
    return nullptr;
  }
  return std::make_unique<RecordLayer>(std::move(writer), options);
}

}  // namespace deputy::layers
