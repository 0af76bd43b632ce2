// SPDX-License-Identifier: Apache-2.0
#include "fake_host.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/layers/interposer.h"
#include "bridges/layers/layer.h"
#include "bridges/layers/record_calls.h"
#include "bridges/layers/recording.h"
#include "delegate_option.h"
#include "deputy/c_api.h"
#include "deputy/c_api_experimental.h"
#include "deputy/deputy_graph.h"
#include "json.h"
#include "records.h"
#include "session.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

using layers::LayerCall;
using record::Call;
using record::Function;

constexpr uint64_t kMaxModelBytes = uint64_t{1} << 33;

// Compares each call of the delegate with the recorded one.
class CompareLayer final : public layers::Layer {
 public:
  explicit CompareLayer(layers::Recording* recording)
      : recording_(*recording), has_graph_calls_(recording->record().version >= 2) {}

  TfLiteStatus Around(const LayerCall& call, const layers::Rest& rest) override {
    const record::CallBegin begin = describer_.Begin(call);
    const Call* const recorded = Find(begin);
    if (recorded != nullptr) Add(layers::Compare(recorded->begin, begin));
    CountCall(begin);
    const TfLiteStatus status = rest();
    if (recorded != nullptr && recorded->end) {
      const std::string problem = layers::Compare(*recorded->end, describer_.End(call, status));
      if (!problem.empty()) Add(layers::NameOf(recorded->begin) + ", results: " + problem);
    }
    return status;
  }

  // Adds a difference unless the text is empty.
  void Add(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    if (!problem.empty()) differences_.push_back(problem);
  }
  // Adds the recorded calls that were not made. The runtime may prepare a kernel less often, with
  // its changes of tensors, if the arguments are those of another preparation.
  void AddRemaining() {
    if (is_stopped_) return;
    std::set<int32_t> less_prepared;  // kernels
    for (const Call* const call : recording_.Remaining()) {
      const auto last = last_prepare_.find(call->begin.kernel);
      if (call->begin.function == Function::kPrepare && last != last_prepare_.end()) {
        less_prepared.insert(call->begin.kernel);
        Add(layers::Compare(call->begin, last->second));
      } else if (IsGraphCall(call->begin.function) && less_prepared.contains(call->begin.kernel)) {
        continue;
      } else {
        Add(layers::NameOf(call->begin) + " was not made");
      }
    }
  }
  // Adds a difference after which the remaining calls are not made.
  void Stop(const std::string& problem) {
    Add(problem);
    is_stopped_ = true;
  }
  size_t calls() const { return calls_; }
  size_t inits() const { return inits_; }
  size_t delegate_prepares() const { return delegate_prepares_; }
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  static bool IsGraphCall(Function function) {
    return function == Function::kResizeTensor || function == Function::kAddTensors;
  }

  const Call* Find(const record::CallBegin& begin) {
    // The runtime may prepare a kernel more often.
    const bool repeats = begin.function == Function::kPrepare || IsGraphCall(begin.function);
    const Call* const recorded =
        repeats ? recording_.NextOrLast(begin.function, begin.kernel, begin.tensor)
                : recording_.Next(begin.function, begin.kernel);
    // A record of version 1 has no such calls.
    if (recorded == nullptr && IsGraphCall(begin.function) && !has_graph_calls_) return nullptr;
    // The record of a program that has crashed lacks its last calls.
    if (recorded == nullptr && begin.function != Function::kPrepare &&
        begin.function != Function::kFree && begin.function != Function::kFreeHandle) {
      Add(std::string(record::NameOf(begin.function)) + " of kernel " +
          std::to_string(begin.kernel) + " is not in the record: " + recording_.EndText());
    }
    return recorded;
  }

  void CountCall(const record::CallBegin& begin) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    if (begin.function == Function::kDelegatePrepare) ++delegate_prepares_;
    if (begin.function == Function::kInit) ++inits_;
    if (begin.function == Function::kPrepare) last_prepare_[begin.kernel] = begin;
  }

  layers::Recording& recording_;
  const bool has_graph_calls_;
  layers::Describer describer_{false};
  std::mutex mutex_;  // guards the members below
  size_t calls_ = 0, delegate_prepares_ = 0, inits_ = 0;
  bool is_stopped_ = false;
  std::map<int32_t, record::CallBegin> last_prepare_;  // by kernel; without data
  std::vector<std::string> differences_;
};

// ---- The model ----------------------------------------------------------------------------------

// The path of the user's model, or of a copy of the model in the record.
class ModelPath {
 public:
  ModelPath(const std::string& path, const record::Record& record) : path_(path) {
    if (!path_.empty() || !record.model || !record.model->has_data) return;
    file_ = memfd_create("deputy-model", MFD_CLOEXEC);
    const std::string_view data = record.model->data;
    if (file_ < 0 || write(file_, data.data(), data.size()) != static_cast<ssize_t>(data.size())) {
      FailWork("the model of the record cannot be copied: %s", std::strerror(errno));
    }
    path_ = "/proc/self/fd/" + std::to_string(file_);
  }
  ~ModelPath() {
    if (file_ >= 0) close(file_);
  }
  ModelPath(const ModelPath&) = delete;
  ModelPath& operator=(const ModelPath&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_ = -1;
};

void CheckModel(const std::string& path, const record::Record& record) {
  if (path.empty()) FailUsage("the record has no model: name the model's file");
  if (!record.model) return;
  const std::vector<char> bytes = ReadFile(path, kMaxModelBytes);
  const uint64_t digest = record::DigestOf(std::string_view(bytes.data(), bytes.size()));
  if (bytes.size() != record.model->bytes || digest != record.model->digest) {
    FailUsage(
        "'%s' is not the model of the record: expected %llu bytes with digest %016llx, found "
        "%zu bytes with digest %016llx",
        path.c_str(), static_cast<unsigned long long>(record.model->bytes),
        static_cast<unsigned long long>(record.model->digest), bytes.size(),
        static_cast<unsigned long long>(digest));
  }
}

// ---- Repeating the calls ------------------------------------------------------------------------

struct KernelNode {
  int subgraph, node;
};

// Returns the nodes of the delegate's kernels in the order in which the kernels were created.
std::vector<KernelNode> KernelNodes(const TfLiteInterpreter* interpreter) {
  std::vector<KernelNode> all;
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    std::vector<int> nodes;
    for (int i = 0; i < DeputyInterpreterGetPartitionCount(interpreter, s); ++i) {
      DeputyPartition partition = {};
      partition.struct_size = sizeof partition;
      if (DeputyInterpreterGetPartition(interpreter, s, i, &partition) == kTfLiteOk) {
        nodes.push_back(partition.node_index);
      }
    }
    std::sort(nodes.begin(), nodes.end());
    for (const int node : nodes) all.push_back({s, node});
  }
  return all;
}

class FakeHost {
 public:
  FakeHost(Session* session, TfLiteDelegate* delegate, const record::Record& record,
           CompareLayer* layer)
      : interpreter_(session->interpreter()),
        delegate_(delegate),
        record_(record),
        layer_(*layer) {}

  void Run() {
    size_t delegate_prepares = 0;
    for (const Call& call : record_.calls) {
      switch (call.begin.function) {
        case Function::kDelegatePrepare:
          if (++delegate_prepares <= layer_.delegate_prepares()) break;
          if (delegate_prepares == 1) Apply(call);
          if (delegate_prepares > 1) Resize(call);
          if (delegate_prepares <= layer_.delegate_prepares()) break;
          layer_.Stop(layers::NameOf(call.begin) +
                      ": the delegate was applied again without a resize, which is not repeated");
          return;
        case Function::kPrepare:
          Resize(call);
          break;
        case Function::kInvoke:
          Invoke(call);
          break;
        case Function::kCopyFrom:
          (void)TfLiteInterpreterEnsureTensorDataIsReadable(interpreter_, call.begin.tensor);
          break;
        default:
          break;  // made by the runtime
      }
    }
  }

 private:
  // Resizes the inputs of the model to their shapes in the next recorded calls. Returns true if one
  // had another shape.
  bool ResizeInputs(const Call& next) {
    bool is_resized = false;
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter_); ++i) {
      const int index = TfLiteInterpreterGetInputTensorIndex(interpreter_, i);
      const std::vector<int32_t>* const dims = DimsOf(index, next);
      if (dims == nullptr || *dims == ShapeOfInput(i)) continue;
      is_resized = true;
      (void)TfLiteInterpreterResizeInputTensor(interpreter_, i, dims->data(),
                                               static_cast<int32_t>(dims->size()));
    }
    return is_resized;
  }
  std::vector<int32_t> ShapeOfInput(int i) const {
    const TfLiteTensor* const tensor = TfLiteInterpreterGetInputTensor(interpreter_, i);
    return {tensor->dims->data, tensor->dims->data + tensor->dims->size};
  }
  // Returns the shape of a tensor in the recorded preparations from `next` to the next inference;
  // null if none of them has it.
  const std::vector<int32_t>* DimsOf(int index, const Call& next) const {
    for (const Call& call : std::span(&next, &record_.calls.back() + 1)) {
      if (call.begin.function == Function::kInvoke) break;
      if (call.begin.function != Function::kPrepare) continue;
      for (const record::TensorValue& tensor : call.begin.tensors) {
        if (tensor.index == index) return &tensor.dims;
      }
    }
    return nullptr;
  }

  void Apply(const Call& call) {
    ResizeInputs(call);
    // Failures are compared with the record by the layer.
    (void)TfLiteInterpreterModifyGraphWithDelegate(interpreter_, delegate_);
    Allocate();
  }

  // Repeats a resize of the model's inputs, after which the runtime prepares the kernels again, or
  // undoes the delegate and applies it again.
  void Resize(const Call& call) {
    if (ResizeInputs(call)) Allocate();
  }

  void Allocate() {
    (void)TfLiteInterpreterAllocateTensors(interpreter_);
    // Kernels are numbered in the order of their creation; those of former applications are gone.
    const std::vector<KernelNode> nodes = KernelNodes(interpreter_);
    nodes_.assign(layer_.inits() - std::min(layer_.inits(), nodes.size()), {-1, -1});
    nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
  }

  void Invoke(const Call& call) {
    const auto kernel = static_cast<size_t>(call.begin.kernel);
    if (call.begin.kernel < 0 || kernel >= nodes_.size()) return;  // see AddRemaining
    const KernelNode at = nodes_[kernel];
    if (at.node < 0) return;
    for (const record::TensorValue& value : call.begin.tensors) {
      CheckProducer(call, value);
      SetInput(at.subgraph, value);
    }
    (void)DeputyInterpreterInvokeNode(interpreter_, at.subgraph, at.node);
    if (!call.end) return;
    for (const record::TensorValue& value : call.end->tensors) {
      if (value.contents == record::Contents::kNone) continue;
      produced_[{call.begin.subgraph, value.index}] = {&call, value.digest};
    }
  }

  // Reports an input whose recorded value differs from the output of the kernel that computed it.
  void CheckProducer(const Call& call, const record::TensorValue& value) {
    const auto found = produced_.find({call.begin.subgraph, value.index});
    if (value.contents == record::Contents::kNone || found == produced_.end()) return;
    const auto& [producer, digest] = found->second;
    if (value.digest == digest) return;
    layer_.Add(layers::NameOf(call.begin) + ": tensor " + std::to_string(value.index) + " '" +
               value.name + "': its data differ from the output of " +
               layers::NameOf(producer->begin));
  }

  // Writes the recorded data. A tensor of another size is unchanged: the layer reports it.
  void SetInput(int subgraph, const record::TensorValue& value) {
    auto* const tensor =
        const_cast<TfLiteTensor*>(DeputyInterpreterGetTensor(interpreter_, subgraph, value.index));
    if (tensor == nullptr || tensor->allocation_type == kTfLiteMmapRo) return;
    if (value.contents == record::Contents::kDigest) {
      if (!std::exchange(has_digests_only_, true)) {
        layer_.Add("the record has digests only: inputs cannot be repeated");
      }
    }
    if (value.contents != record::Contents::kData) return;
    tensor->data_is_stale = false;
    if (tensor->bytes != value.data.size() || tensor->data.raw == nullptr) return;
    std::memcpy(tensor->data.raw, value.data.data(), value.data.size());
  }

  TfLiteInterpreter* const interpreter_;
  TfLiteDelegate* const delegate_;
  const record::Record& record_;
  CompareLayer& layer_;
  std::vector<KernelNode> nodes_;  // by kernel
  // Last call that has computed a tensor and the digest of its value, by subgraph and tensor.
  std::map<std::pair<int32_t, int32_t>, std::pair<const Call*, uint64_t>> produced_;
  bool has_digests_only_ = false;
};

void PrintResult(const ReplayOptions& options, const CompareLayer& layer) {
  const std::vector<std::string>& differences = layer.differences();
  if (options.json) {
    const Json json = {{"calls", layer.calls()}, {"differences", differences}};
    std::printf("%s\n", JsonText(json, 2).c_str());
    return;
  }
  for (const std::string& difference : differences)
    std::printf("%s\n", OneLine(difference).c_str());
  std::printf("%s made, %s\n", PluralText(layer.calls(), "call", "calls").c_str(),
              PluralText(differences.size(), "difference", "differences").c_str());
}

}  // namespace

void RunFakeHost(const ReplayOptions& options) {
  if (options.delegate.empty()) FailUsage("replay: expected --inspect or --delegate");
  layers::Recording recording(ReadRecord(options.record));
  const record::Record& record = recording.record();
  const ModelPath model(options.model, record);
  CheckModel(model.path(), record);
  auto owned_layer = std::make_unique<CompareLayer>(&recording);
  CompareLayer& layer = *owned_layer;
  // The delegate and its wrapper must outlive the session.
  const LoadedDelegate delegate = LoadDelegate(ParseDelegateOption(options.delegate));
  std::vector<std::unique_ptr<layers::Layer>> all;
  all.push_back(std::move(owned_layer));
  layers::Interposer interposer(delegate.handle.get(), false, std::move(all));
  SessionOptions session_options;
  session_options.model = model.path();
  session_options.policy = "tflite";
  session_options.apply_delegates = false;
  session_options.missing_operators_are_fine = true;
  Session session(session_options);
  FakeHost(&session, interposer.table(), record, &layer).Run();
  session.Close();
  layer.AddRemaining();
  PrintResult(options, layer);
  if (!layer.differences().empty()) throw ToolError(kExitFailed, "calls differ from the record");
}

}  // namespace deputy::tools
