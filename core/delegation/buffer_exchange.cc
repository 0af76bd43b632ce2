// SPDX-License-Identifier: Apache-2.0
#include "core/delegation/buffer_exchange.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "core/base/delegate_call.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/plugin/plugin_delegate.h"

namespace deputy {
namespace {

// Maximum number of types that a delegate may list for a tensor.
constexpr size_t kMaxTypes = 16;

// Size of DeputyMemoryRequirements in the first release.
constexpr size_t kFirstSize = 40;

bool HasFile(int32_t type) { return type == kDeputyMemoryDmaBuf || type == kDeputyMemoryShared; }

bool Matches(const DeputyMemoryRequirements& a, const DeputyMemoryRequirements& b) {
  return a.type == b.type && a.domain == b.domain;
}

size_t AlignmentOf(const DeputyMemoryRequirements& requirements) {
  return std::max<size_t>(requirements.alignment, 1);
}

// Adds a type of a delegate's list to the std::vector `types` if it is valid.
void AddType(void* types, const DeputyMemoryRequirements* type) {
  auto& list = *static_cast<std::vector<DeputyMemoryRequirements>*>(types);
  if (type == nullptr || type->struct_size < kFirstSize || list.size() == kMaxTypes) return;
  DeputyMemoryRequirements copy{};
  std::memcpy(&copy, type, std::min(type->struct_size, sizeof copy));
  const size_t align = AlignmentOf(copy);
  const bool is_known = copy.type > kDeputyMemoryHost && copy.type <= kDeputyMemoryOpaque;
  if (is_known && (align & (align - 1)) == 0) list.push_back(copy);
}

// Returns requirements that satisfy both sides. Alignments are powers of two.
DeputyMemoryRequirements Merge(DeputyMemoryRequirements a, const DeputyMemoryRequirements& b) {
  a.alignment = std::max(AlignmentOf(a), AlignmentOf(b));
  a.padding = std::max(a.padding, b.padding);
  return a;
}

// Returns true if the tensor has the handle of the edge's imported buffer.
bool HasHandle(const TfLiteTensor& tensor, const BufferEdge& edge) {
  return tensor.delegate != nullptr && edge.imported != kTfLiteNullBufferHandle &&
         tensor.buffer_handle == edge.imported;
}

// Returns the reason why a buffer does not satisfy the requirements; "" if it does.
std::string FindFault(const DeputyBuffer& buffer, const DeputyMemoryRequirements& required) {
  char text[256] = "";
  const size_t align = AlignmentOf(required);
  size_t end = 0;
  const bool fits = AddSizes(buffer.bytes, required.padding, &end) &&
                    AddSizes(end, buffer.offset, &end) && end <= buffer.size;
  struct stat file {};
  if (buffer.type != required.type || buffer.domain != required.domain) {
    snprintf(text, sizeof text,
             "expected memory of type %d in domain %llu, found type %d in domain %llu",
             required.type, static_cast<unsigned long long>(required.domain), buffer.type,
             static_cast<unsigned long long>(buffer.domain));
  } else if (buffer.offset % align != 0) {
    snprintf(text, sizeof text, "expected an offset aligned to %zu, found %zu", align,
             buffer.offset);
  } else if (!fits) {
    snprintf(text, sizeof text,
             "expected at least %zu bytes and %zu of padding from offset %zu on, found a buffer of "
             "%zu",
             buffer.bytes, required.padding, buffer.offset, buffer.size);
  } else if (!HasFile(buffer.type)) {
    if (buffer.object == nullptr) return "expected an object, found NULL";
  } else if (buffer.file < 0 || fstat(buffer.file, &file) != 0) {
    snprintf(text, sizeof text, "expected the descriptor of a file, found %d", buffer.file);
  } else if (S_ISREG(file.st_mode) && static_cast<size_t>(file.st_size) < end) {
    // Only regular files are checked: fstat does not return the size of a dma-buf.
    snprintf(text, sizeof text, "expected a file of %zu bytes, found one of %lld", end,
             static_cast<long long>(file.st_size));
  }
  return text;
}

}  // namespace

const char* BufferExchange::Party::name() const {
  return plugin == nullptr || plugin->name == nullptr ? "" : plugin->name;
}

BufferExchange::Party BufferExchange::PartyOf(int node) const {
  if (node < 0) return {};
  TfLiteDelegate* const delegate = subgraph_->graph().node(node)->delegate;
  const AppliedDelegate* const found = delegate == nullptr ? nullptr : delegates_->Find(delegate);
  const DeputyDelegatePlugin* plugin =
      found == nullptr || found->library == nullptr ? nullptr : found->library->plugin();
  if (plugin != nullptr && plugin->memory_types == nullptr) plugin = nullptr;
  return {delegate, plugin};
}

// Calls a function of the plug-in. Returns true if it returns kTfLiteOk; otherwise reports a
// failure.
template <typename Function>
bool BufferExchange::Call(const Party& party, int node, const char* name,
                          const Function& function) {
  const ForeignCall call = {.callback = Callback::kShareBuffer,
                            .context = subgraph_->context(),
                            .delegate = party.delegate};
  const CallResult result = CallForeign(subgraph_->interpreter()->call_observer(), call,
                                        [&](CallResult* out) { out->status = function(); });
  if (result.status != kTfLiteOk) ReportFailure(party, node, name, result.exception);
  return result.status == kTfLiteOk;
}

void BufferExchange::ReportFailure(const Party& party, int node, const char* name,
                                   const char* exception) {
  subgraph_->interpreter()->reporter()->Report(
      "subgraph %d node %d: delegate '%s': %s failed%s%s", subgraph_->index(), node, party.name(),
      name, exception == nullptr ? "" : ": ", exception == nullptr ? "" : exception);
}

// Returns the valid entries of the delegate's list.
std::vector<DeputyMemoryRequirements> BufferExchange::TypesOf(int node, int tensor) {
  const Party party = PartyOf(node);
  if (party.plugin == nullptr) return {};
  std::vector<DeputyMemoryRequirements> types;
  types.reserve(kMaxTypes);  // the callback must not throw
  const bool listed = Call(party, node, "memory_types", [&] {
    return party.plugin->memory_types(party.delegate, subgraph_->context(),
                                      subgraph_->graph().node(node), tensor, &AddType, &types);
  });
  if (!listed) types.clear();
  return types;
}

// ---- Negotiation --------------------------------------------------------------------------------

void BufferExchange::Negotiate() {
  Release();
  edges_.clear();
  edges_of_.clear();
  const Graph& graph = subgraph_->graph();
  std::unordered_map<int, std::vector<int>> readers;  // nodes of delegates, by tensor
  std::vector<int> nodes;
  for (const int node : graph.plan()) {
    if (graph.node(node)->delegate == nullptr) continue;
    nodes.push_back(node);
    for (const int input : IndicesOf(graph.node(node)->inputs)) {
      std::vector<int>& list = readers[input];
      if (list.empty() || list.back() != node) list.push_back(node);
    }
  }
  for (const int node : nodes) {
    for (const int output : IndicesOf(graph.node(node)->outputs)) {
      const auto found = readers.find(output);
      if (output >= 0 && found != readers.end()) AddEdges(node, output, found->second);
    }
  }
  for (BoundBuffer& bound : bound_) bound.problem = BindNow(&bound);
}

// Adds an edge for each node of another delegate that reads the tensor.
void BufferExchange::AddEdges(int producer, int tensor, const std::vector<int>& readers) {
  const Graph& graph = subgraph_->graph();
  const size_t first = edges_.size();
  for (const int node : readers) {
    if (graph.node(node)->delegate == graph.node(producer)->delegate) continue;
    AddEdge(tensor, producer, node);
  }
  if (edges_.size() > first) Agree(producer, tensor, first);
}

BufferEdge& BufferExchange::AddEdge(int tensor, int producer, int consumer) {
  edges_of_[consumer].push_back(edges_.size());
  BufferEdge& edge = edges_.emplace_back();
  edge.tensor = tensor;
  edge.producer = producer;
  edge.consumer = consumer;
  return edge;
}

// Chooses the producer's most preferred type that a consumer accepts.
void BufferExchange::Agree(int producer, int tensor, size_t first_edge) {
  const std::span<BufferEdge> edges = std::span(edges_).subspan(first_edge);
  const std::vector<DeputyMemoryRequirements> offered = TypesOf(producer, tensor);
  std::vector<std::vector<DeputyMemoryRequirements>> accepted;
  for (const BufferEdge& edge : edges) accepted.push_back(TypesOf(edge.consumer, tensor));
  const auto find = [](const auto& list, const DeputyMemoryRequirements& type) {
    return std::find_if(list.begin(), list.end(),
                        [&](const auto& other) { return Matches(type, other); });
  };
  for (DeputyMemoryRequirements type : offered) {
    bool has_consumer = false;
    for (const auto& list : accepted) {
      if (const auto match = find(list, type); match != list.end()) {
        type = Merge(type, *match);
        has_consumer = true;
      }
    }
    if (!has_consumer || !ShareOutput(producer, tensor, &type)) continue;
    for (size_t i = 0; i < edges.size(); ++i) {
      if (find(accepted[i], type) != accepted[i].end()) edges[i].agreed = type;
    }
    break;
  }
  for (BufferEdge& edge : edges) {
    if (edge.agreed.type == kDeputyMemoryHost) {
      edge.reason = "the delegates have no type of memory in common";
    }
  }
}

bool BufferExchange::ShareOutput(int producer, int tensor, const DeputyMemoryRequirements* agreed) {
  const Party party = PartyOf(producer);
  if (party.plugin == nullptr || party.plugin->share_output == nullptr ||
      party.plugin->export_buffer == nullptr) {
    return false;
  }
  if (agreed != nullptr) shared_outputs_.emplace_back(producer, tensor);
  return Call(party, producer, "share_output", [&] {
    return party.plugin->share_output(party.delegate, subgraph_->context(),
                                      subgraph_->graph().node(producer), tensor, agreed);
  });
}

void BufferExchange::Release() {
  for (BufferEdge& edge : edges_) FreeImported(&edge);
  for (BoundBuffer& bound : bound_) Unbind(&bound);
  for (const auto& [node, tensor] : std::exchange(shared_outputs_, {})) {
    ShareOutput(node, tensor, nullptr);
  }
}

// ---- Runs ---------------------------------------------------------------------------------------

BufferEdge* BufferExchange::FindEdge(int node, int tensor) {
  const auto list = edges_of_.find(node);
  if (list == edges_of_.end()) return nullptr;
  for (const size_t index : list->second) {
    if (edges_[index].tensor == tensor) return &edges_[index];
  }
  return nullptr;
}

bool BufferExchange::ImportInput(int node, int tensor) {
  BufferEdge* const edge = FindEdge(node, tensor);
  if (edge == nullptr) return false;
  edge->is_active = false;
  const TfLiteTensor& input = *subgraph_->graph().tensor(tensor);
  if (edge->producer < 0) {  // the node's delegate has the tensor's handle
    ++(HasHandle(input, *edge) && input.data_is_stale ? edge->shared : edge->copied);
    return false;
  }
  const bool is_in_buffer = input.data_is_stale && input.buffer_handle != kTfLiteNullBufferHandle &&
                            input.delegate == subgraph_->graph().node(edge->producer)->delegate;
  if (is_in_buffer && edge->agreed.type != kDeputyMemoryHost) {
    edge->reason = edge->exported == input.buffer_handle ? "" : Import(edge);
    edge->is_active = edge->reason.empty();
    if (!edge->is_active) {
      subgraph_->interpreter()->reporter()->Report(
          "subgraph %d node %d: tensor %d '%s' passes through host memory: %s", subgraph_->index(),
          node, tensor, NameOf(input), edge->reason.c_str());
      edge->agreed = {};
    }
  }
  ++(edge->is_active ? edge->shared : edge->copied);
  return edge->is_active;
}

// Imports the buffer of the tensor's handle. Returns "" or the reason of a failure.
std::string BufferExchange::Import(BufferEdge* edge) {
  FreeImported(edge);
  DeputyBuffer buffer{};
  std::string problem = Export(*edge, &buffer);
  if (problem.empty()) problem = FindFault(buffer, edge->agreed);
  if (!problem.empty()) return problem;
  if (!ImportInto(edge->consumer, buffer, &edge->imported)) return "the import failed";
  edge->exported = subgraph_->graph().tensor(edge->tensor)->buffer_handle;
  return "";
}

std::string BufferExchange::Export(const BufferEdge& edge, DeputyBuffer* out_buffer) {
  const Party party = PartyOf(edge.producer);
  const TfLiteTensor& tensor = *subgraph_->graph().tensor(edge.tensor);
  out_buffer->struct_size = sizeof *out_buffer;
  out_buffer->file = -1;
  const bool exported = Call(party, edge.producer, "export_buffer", [&] {
    return party.plugin->export_buffer(party.delegate, subgraph_->context(), tensor.buffer_handle,
                                       &edge.agreed, out_buffer);
  });
  if (!exported) return "the export failed";
  if (out_buffer->bytes == tensor.bytes) return "";
  char text[128];
  snprintf(text, sizeof text, "expected a buffer for %zu bytes, found one for %zu", tensor.bytes,
           out_buffer->bytes);
  return text;
}

bool BufferExchange::ImportInto(int node, const DeputyBuffer& buffer,
                                TfLiteBufferHandle* out_handle) {
  const Party party = PartyOf(node);
  *out_handle = kTfLiteNullBufferHandle;
  if (party.plugin == nullptr || party.plugin->import_buffer == nullptr) return false;
  const bool imported = Call(party, node, "import_buffer", [&] {
    return party.plugin->import_buffer(party.delegate, subgraph_->context(), &buffer, out_handle);
  });
  return imported && *out_handle != kTfLiteNullBufferHandle;
}

void BufferExchange::FreeImported(BufferEdge* edge) {
  edge->exported = kTfLiteNullBufferHandle;
  edge->is_active = false;
  TfLiteBufferHandle handle = std::exchange(edge->imported, kTfLiteNullBufferHandle);
  if (handle == kTfLiteNullBufferHandle || edge->producer < 0 || edge->consumer < 0) return;
  const ForeignCall call = {.callback = Callback::kFreeHandle,
                            .context = subgraph_->context(),
                            .delegate = subgraph_->graph().node(edge->consumer)->delegate,
                            .tensor = edge->tensor};
  CallFreeBufferHandle(subgraph_->interpreter()->call_observer(), call, &handle);
}

void BufferExchange::SwapHandles(int node) {
  const auto list = edges_of_.find(node);
  if (list == edges_of_.end()) return;
  for (const size_t index : list->second) {
    BufferEdge& edge = edges_[index];
    if (!edge.is_active) continue;
    TfLiteTensor& tensor = *subgraph_->graph().tensor(edge.tensor);
    const bool begins = tensor.delegate != subgraph_->graph().node(node)->delegate;
    tensor.delegate = subgraph_->graph().node(begins ? node : edge.producer)->delegate;
    tensor.buffer_handle = begins ? edge.imported : edge.exported;
    tensor.data_is_stale = true;
    if (!begins) edge.is_active = false;
  }
}

TfLiteStatus BufferExchange::BeginRun() {
  for (const BoundBuffer& bound : bound_) {
    if (!bound.problem.empty()) return ReportUnusable(bound);
    const BufferEdge& edge = edges_[bound.edge];
    TfLiteTensor& tensor = *subgraph_->graph().tensor(bound.tensor);
    // An input is in the buffer, so the host's copy is out of date.
    if (edge.consumer >= 0 && HasHandle(tensor, edge)) tensor.data_is_stale = true;
  }
  return kTfLiteOk;
}

TfLiteStatus BufferExchange::EndRun() {
  for (const BoundBuffer& bound : bound_) {
    BufferEdge& edge = edges_[bound.edge];
    TfLiteTensor& tensor = *subgraph_->graph().tensor(bound.tensor);
    if (edge.producer < 0) continue;
    const bool is_written = HasHandle(tensor, edge) && tensor.data_is_stale;
    ++(is_written ? edge.shared : edge.copied);
    if (!is_written && !CopyToBuffer(edge, &tensor)) {
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                  "subgraph %d: tensor %d '%s' could not be copied to the client's buffer",
                  subgraph_->index(), bound.tensor, NameOf(tensor));
    }
  }
  return kTfLiteOk;
}

// Copies an output that the CPU has computed to the client's buffer.
bool BufferExchange::CopyToBuffer(const BufferEdge& edge, TfLiteTensor* tensor) {
  const Party party = PartyOf(edge.producer);
  if (BuilderOf(party.delegate) != nullptr || party.delegate->CopyToBufferHandle == nullptr) {
    return false;
  }
  return Call(party, edge.producer, "CopyToBufferHandle", [&] {
    return party.delegate->CopyToBufferHandle(subgraph_->context(), party.delegate, edge.imported,
                                              tensor);
  });
}

// ---- Buffers of the client ----------------------------------------------------------------------

std::vector<DeputyMemoryRequirements> BufferExchange::RequirementsOf(int tensor) {
  std::vector<DeputyMemoryRequirements> common;
  const Graph& graph = subgraph_->graph();
  bool is_first = true;
  for (const int node : graph.plan()) {
    bool uses = false;
    for (const TfLiteIntArray* list : {graph.node(node)->inputs, graph.node(node)->outputs}) {
      const std::span<const int> tensors = IndicesOf(list);
      uses = uses || std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
    }
    if (!uses || graph.node(node)->delegate == nullptr) continue;
    const std::vector<DeputyMemoryRequirements> types = TypesOf(node, tensor);
    if (std::exchange(is_first, false)) {
      common = types;
      continue;
    }
    std::vector<DeputyMemoryRequirements> both;
    for (const DeputyMemoryRequirements& type : common) {
      const auto match = std::find_if(types.begin(), types.end(),
                                      [&](const auto& other) { return Matches(type, other); });
      if (match != types.end()) both.push_back(Merge(type, *match));
    }
    common = std::move(both);
  }
  return common;
}

bool BufferExchange::IsBound(int tensor) const {
  return std::any_of(bound_.begin(), bound_.end(),
                     [&](const BoundBuffer& bound) { return bound.tensor == tensor; });
}

TfLiteStatus BufferExchange::Bind(int tensor, const DeputyBuffer* buffer) {
  const auto old = std::find_if(bound_.begin(), bound_.end(),
                                [&](const BoundBuffer& bound) { return bound.tensor == tensor; });
  if (buffer == nullptr) {
    if (old == bound_.end()) return kTfLiteOk;
    Unbind(&*old);
    bound_.erase(old);
    return kTfLiteOk;
  }
  BoundBuffer bound;
  bound.tensor = tensor;
  bound.buffer = *buffer;
  bound.problem = BindNow(&bound);  // frees the handle of the old buffer if it succeeds
  if (!bound.problem.empty()) return ReportUnusable(bound);
  if (old == bound_.end()) {
    bound_.push_back(bound);
    return kTfLiteOk;
  }
  if (old->problem.empty() && old->edge != bound.edge) {
    edges_[old->edge].imported = kTfLiteNullBufferHandle;
    edges_[old->edge].agreed = {};
    edges_[old->edge].reason = "the client's buffer was unbound";
  }
  *old = bound;
  return kTfLiteOk;
}

TfLiteStatus BufferExchange::ReportUnusable(const BoundBuffer& bound) {
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
              "subgraph %d: tensor %d '%s': the client's buffer cannot be used: %s",
              subgraph_->index(), bound.tensor, NameOf(*subgraph_->graph().tensor(bound.tensor)),
              bound.problem.c_str());
}

// Imports the buffer into the node that writes the output, or into the first node that reads the
// input and accepts the buffer. Returns "" or the reason of a failure.
std::string BufferExchange::BindNow(BoundBuffer* bound) {
  const Graph& graph = subgraph_->graph();
  TfLiteTensor& tensor = *subgraph_->graph().tensor(bound->tensor);
  const auto contains = [&](const auto& list) {
    return std::find(list.begin(), list.end(), bound->tensor) != list.end();
  };
  const bool is_input = contains(graph.inputs());
  bound->buffer.bytes = tensor.bytes;
  std::string problem = "no node of a delegate uses it";
  for (const int node : graph.plan()) {
    const TfLiteNode& user = *graph.node(node);
    if (!contains(IndicesOf(is_input ? user.inputs : user.outputs))) continue;
    for (const DeputyMemoryRequirements& type : TypesOf(node, bound->tensor)) {
      problem = FindFault(bound->buffer, type);
      if (!problem.empty()) continue;
      TfLiteBufferHandle handle = kTfLiteNullBufferHandle;
      if (!ImportInto(node, bound->buffer, &handle)) return "the import failed";
      if (tensor.delegate != nullptr && tensor.buffer_handle != kTfLiteNullBufferHandle) {
        subgraph_->FreeBufferHandle(bound->tensor);
      }
      tensor.delegate = user.delegate;
      tensor.buffer_handle = handle;
      tensor.data_is_stale = false;
      bound->edge = ClientEdge(bound->tensor, is_input ? -1 : node, is_input ? node : -1);
      BufferEdge& edge = edges_[bound->edge];
      edge.agreed = type;
      edge.reason.clear();
      edge.imported = handle;
      return "";
    }
  }
  return problem;
}

// Returns the index of the edge, which is added if it does not exist.
size_t BufferExchange::ClientEdge(int tensor, int producer, int consumer) {
  const auto found = std::find_if(edges_.begin(), edges_.end(), [&](const BufferEdge& edge) {
    return edge.tensor == tensor && edge.producer == producer && edge.consumer == consumer;
  });
  const auto index = static_cast<size_t>(found - edges_.begin());
  if (found == edges_.end()) AddEdge(tensor, producer, consumer);
  return index;
}

void BufferExchange::Unbind(BoundBuffer* bound) {
  if (!bound->problem.empty()) return;
  BufferEdge& edge = edges_[bound->edge];
  TfLiteTensor& tensor = *subgraph_->graph().tensor(bound->tensor);
  const bool has_handle = HasHandle(tensor, edge);
  edge.imported = kTfLiteNullBufferHandle;
  edge.agreed = {};
  edge.reason = "the client's buffer was unbound";
  bound->problem = "its node was removed";
  if (!has_handle) return;
  subgraph_->FreeBufferHandle(bound->tensor);
  tensor.buffer_handle = kTfLiteNullBufferHandle;
  tensor.delegate = nullptr;
  tensor.data_is_stale = false;
}

}  // namespace deputy
