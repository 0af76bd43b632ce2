// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/delegate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bridges/sandbox/dynamic_call.h"
#include "bridges/sandbox/graph_view.h"
#include "bridges/sandbox/session.h"
#include "core/support/option_list.h"
#include "deputy/deputy_plugin_entry.h"

namespace deputy::sandbox {
namespace {

constexpr const char* kKernelName = "DeputySandbox";

// A session that GetSupport has started for the Prepare that follows on the same thread.
struct Pending {
  const TfLiteContext* context = nullptr;
  std::shared_ptr<Session> session;  // null: the start failed, or there are no nodes to claim
  std::string problem;
};

struct SandboxDelegate {
  TfLiteDelegate base{};
  Options options;
  std::mutex mutex;  // held while the delegate is applied or queried; guards the members below
  // Functions of the runtime; null: it has none.
  bool (*is_cancelled)(TfLiteContext* context) = nullptr;
  MemoryProvider provide_memory = nullptr;
  // While the delegate is applied: the session, and the indices of its claims by their first node.
  std::shared_ptr<Session> session;
  std::map<int32_t, int> claims;
  std::map<std::thread::id, Pending> pending;
  std::vector<std::weak_ptr<Session>> sessions;  // of interpreters; may be expired
  std::string device;                            // text for reports
  std::string report;                            // newest text that was reported
  std::vector<std::string> dropped;  // keys of options that the process dropped; untrusted
  bool has_changed_options = false;  // true: delegate_options differ from those at creation
};

SandboxDelegate& Of(const TfLiteDelegate* delegate) {
  return *static_cast<SandboxDelegate*>(delegate->data_);
}

// Runs `body` and converts exceptions to an error status: none may leave the library.
template <typename Body>
TfLiteStatus CatchExceptions(TfLiteContext* context, const Body& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    context->ReportError(context, "sandbox: %s", exception.what());
    return kTfLiteError;
  }
}

// ---- The delegate's nodes -----------------------------------------------------------------------

// A tensor at the border of a partition, and its place in the shared memory.
struct Border {
  int tensor = -1;
  int64_t offset = 0;
  size_t bytes = 0;
  char* shared = nullptr;  // address in the shared inputs; null: not in them
};

struct Kernel {
  std::shared_ptr<Session> session;
  int claim = -1;
  std::string name;
  std::vector<Border> inputs, outputs;
  std::vector<Border> variables;  // inputs that the call changes
  bool (*is_cancelled)(TfLiteContext* context) = nullptr;
  MemoryProvider provide_memory = nullptr;
  bool has_dynamic_sizes = false;
  OutputDims output_dims;  // of the last prepare, with dynamic sizes
};

Kernel* KernelOf(void* data) { return static_cast<Kernel*>(data); }

std::vector<Border> BorderOf(const Session& session, const std::vector<int32_t>& tensors) {
  std::vector<Border> border;
  for (const int32_t index : tensors) {
    const Slot* const slot = session.SlotOf(index);
    if (slot == nullptr) continue;
    border.push_back({index, slot->offset, static_cast<size_t>(slot->bytes)});
    if (slot->input_offset >= 0) {
      border.back().shared = session.inputs()->memory() + slot->input_offset;
    }
  }
  return border;
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  Kernel* created = nullptr;
  (void)CatchExceptions(context, [&] {
    const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    const SandboxDelegate& delegate = Of(params.delegate);
    const TfLiteIntArray& nodes = *params.nodes_to_replace;
    const auto found = delegate.claims.find(nodes.data[0]);
    if (found == delegate.claims.end()) return kTfLiteError;
    const Claim& claim = delegate.session->claims().claims[static_cast<size_t>(found->second)];
    if (!std::equal(claim.nodes.begin(), claim.nodes.end(), nodes.data, nodes.data + nodes.size)) {
      return kTfLiteError;
    }
    auto kernel = std::make_unique<Kernel>();
    kernel->session = delegate.session;
    kernel->claim = found->second;
    kernel->name = claim.name;
    kernel->inputs = BorderOf(*delegate.session, claim.inputs);
    kernel->outputs = BorderOf(*delegate.session, claim.outputs);
    std::copy_if(kernel->inputs.begin(), kernel->inputs.end(),
                 std::back_inserter(kernel->variables),
                 [&](const Border& at) { return context->tensors[at.tensor].is_variable; });
    kernel->is_cancelled = delegate.is_cancelled;
    kernel->provide_memory = delegate.provide_memory;
    kernel->has_dynamic_sizes = delegate.options.has_dynamic_sizes;
    created = kernel.release();
    return kTfLiteOk;
  });
  return created;
}

void Free(TfLiteContext*, void* data) { delete KernelOf(data); }

// Fails if a tensor does not have the size for which the process was prepared.
TfLiteStatus CheckSizes(TfLiteContext* context, const Kernel& kernel) {
  for (const auto* border : {&kernel.inputs, &kernel.outputs}) {
    for (const Border& at : *border) {
      const TfLiteTensor& tensor = context->tensors[at.tensor];
      if (tensor.bytes == at.bytes) continue;
      context->ReportError(context, "sandbox: %s: tensor %d '%s': expected %zu bytes, found %zu",
                           kernel.name.c_str(), at.tensor,
                           tensor.name == nullptr ? "" : tensor.name, at.bytes, tensor.bytes);
      return kTfLiteError;
    }
  }
  return kTfLiteOk;
}

// Provides the shared memory for the inputs. If the runtime refuses it, Call copies the inputs.
void ProvideInputs(TfLiteContext* context, const Kernel& kernel) {
  if (kernel.provide_memory == nullptr) return;
  for (const Border& at : kernel.inputs) {
    if (at.shared == nullptr || at.bytes == 0) continue;
    auto owner = std::make_unique<std::shared_ptr<SharedInputs>>(kernel.session->inputs());
    const DeputyInputMemory memory = {at.shared, at.bytes, owner.get(), [](void* held) {
                                        delete static_cast<std::shared_ptr<SharedInputs>*>(held);
                                      }};
    if (kernel.provide_memory(context, at.tensor, &memory) == kTfLiteOk) (void)owner.release();
  }
}

TfLiteStatus PrepareWithSizes(TfLiteContext* context, Kernel* kernel) {
  const std::string problem =
      PrepareOutputs(context, kernel->session.get(), kernel->claim, &kernel->output_dims);
  if (problem.empty()) return kTfLiteOk;
  context->ReportError(context, "sandbox: %s: %s", kernel->name.c_str(), problem.c_str());
  return kTfLiteError;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  Kernel* const kernel = KernelOf(node->user_data);
  if (kernel != nullptr && kernel->has_dynamic_sizes) {
    return CatchExceptions(context, [&] { return PrepareWithSizes(context, kernel); });
  }
  if (kernel != nullptr) {
    return CatchExceptions(context, [&] {
      TF_LITE_ENSURE_STATUS(CheckSizes(context, *kernel));
      ProvideInputs(context, *kernel);
      return kTfLiteOk;
    });
  }
  context->ReportError(context, "sandbox: the partition differs from that of the process");
  return kTfLiteError;
}

CallResult Call(TfLiteContext* context, const Kernel& kernel, const IsCancelled& is_cancelled,
                std::string* problem) {
  const auto copy_in = [&](char* memory) {
    const auto data = [&](const Border& at) { return context->tensors[at.tensor].data.raw; };
    const bool in_slots = std::any_of(
        kernel.inputs.begin(), kernel.inputs.end(),
        [&](const Border& at) { return at.shared != nullptr && at.shared != data(at); });
    for (const Border& at : kernel.inputs) {
      if (at.shared == nullptr || in_slots) std::memcpy(memory + at.offset, data(at), at.bytes);
    }
    return in_slots;
  };
  // The program's variables change after a successful call only, so that the CPU can repeat a
  // failed one.
  const auto copy_out = [&](const char* memory) {
    for (const auto* border : {&kernel.outputs, &kernel.variables}) {
      for (const Border& at : *border) {
        std::memcpy(context->tensors[at.tensor].data.raw, memory + at.offset, at.bytes);
      }
    }
  };
  return kernel.session->Call(kernel.claim, copy_in, copy_out, is_cancelled, problem);
}

TfLiteStatus Run(TfLiteContext* context, const Kernel& kernel) {
  if (!kernel.has_dynamic_sizes && CheckSizes(context, kernel) != kTfLiteOk) return kTfLiteError;
  IsCancelled is_cancelled;
  if (kernel.is_cancelled != nullptr) {
    is_cancelled = [context, function = kernel.is_cancelled] { return function(context); };
  }
  std::string problem;
  const CallResult result = kernel.has_dynamic_sizes
                                ? RunWithSizes(context, kernel.session.get(), kernel.claim,
                                               kernel.output_dims, is_cancelled, &problem)
                                : Call(context, kernel, is_cancelled, &problem);
  if (result == CallResult::kDone) return kTfLiteOk;
  context->ReportError(context, "sandbox: %s: %s", kernel.name.c_str(), problem.c_str());
  return result == CallResult::kCancelled ? kTfLiteCancelled : kTfLiteError;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  const Kernel* const kernel = KernelOf(node->user_data);
  if (kernel == nullptr) return kTfLiteError;
  return CatchExceptions(context, [&] { return Run(context, *kernel); });
}

TfLiteRegistration PartitionRegistration() {
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &deputy::sandbox::Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = kKernelName;
  registration.version = 1;
  return registration;
}

// ---- Applying -----------------------------------------------------------------------------------

Setup SetupFor(const TfLiteContext& context, const GraphView& graph, const Options& options) {
  Setup setup;
  setup.library = options.library;
  setup.options = options.delegate_options;
  setup.threads = std::max(context.recommended_num_threads, 1);
  setup.profile = options.profile;
  setup.memory_bytes = options.memory_bytes;
  setup.writable = options.writable;
  setup.has_dynamic_sizes = options.has_dynamic_sizes;
  setup.tensors = TensorsOf(context);
  setup.available = graph.available();
  setup.outline = graph.Outline();
  return setup;
}

// The claims that the host accepts.
struct Accepted {
  std::vector<const Claim*> together;  // replaced by one call
  std::vector<const Claim*> single;    // replaced by one call each

  std::vector<const Claim*> All() const {
    std::vector<const Claim*> all = together;
    all.insert(all.end(), single.begin(), single.end());
    return all;
  }
};

// Decides which claims the host accepts; reports the others. Claims are untrusted: their number is
// bounded by that of the nodes, and the time for those that need a preview of their own by
// `deadline`.
class ClaimCheck {
 public:
  ClaimCheck(TfLiteContext* context, const GraphView& graph, Clock::time_point deadline)
      : context_(context), graph_(graph), deadline_(deadline) {}

  Accepted Check(const Claims& claims) const {
    std::vector<const Claim*> known;  // those that differ at most at their border
    std::set<int32_t> nodes;
    const size_t count = std::min(claims.claims.size(), graph_.available().size());
    for (const Claim& claim : std::span(claims.claims).first(count)) {
      const bool overlaps = std::any_of(claim.nodes.begin(), claim.nodes.end(),
                                        [&](int32_t node) { return nodes.contains(node); });
      if (!IsAccepted(claim,
                      overlaps ? "one of its nodes is claimed twice" : graph_.Refuse(claim))) {
        continue;
      }
      nodes.insert(claim.nodes.begin(), claim.nodes.end());
      known.push_back(&claim);
    }
    Accepted accepted{known, {}};
    graph_.KeepSeparable(&accepted.together);
    auto next = accepted.together.begin();
    for (const Claim* const claim : known) {
      if (next != accepted.together.end() && *next == claim) {
        ++next;
      } else if (IsAccepted(*claim, Clock::now() < deadline_ ? graph_.CompareBorder(*claim)
                                                             : "prepare_ms has passed")) {
        accepted.single.push_back(claim);
      }
    }
    return accepted;
  }

 private:
  bool IsAccepted(const Claim& claim, const std::string& problem) const {
    if (problem.empty()) return true;
    context_->ReportError(context_, "sandbox: a partition of %zu nodes is left to the host: %s",
                          claim.nodes.size(), problem.c_str());
    return false;
  }

  TfLiteContext* const context_;
  const GraphView& graph_;
  const Clock::time_point deadline_;
};

TfLiteStatus Replace(TfLiteContext* context, std::span<const Claim* const> claims,
                     SandboxDelegate* delegate) {
  if (claims.empty()) return kTfLiteOk;
  const Claim* const first = delegate->session->claims().claims.data();
  delegate->claims.clear();
  for (const Claim* const claim : claims) {
    delegate->claims.emplace(claim->nodes[0], static_cast<int>(claim - first));
  }
  const IntArrayPtr nodes = MakeIntArray(NodesOf(claims));
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, PartitionRegistration(),
                                                        nodes.get(), &delegate->base);
}

TfLiteStatus Replace(TfLiteContext* context, const Accepted& accepted, SandboxDelegate* delegate) {
  TF_LITE_ENSURE_STATUS(Replace(context, accepted.together, delegate));
  for (const Claim* const claim : accepted.single) {
    TF_LITE_ENSURE_STATUS(Replace(context, {&claim, 1}, delegate));
  }
  return kTfLiteOk;
}

// The model that the host program has passed for the next Prepare on this thread.
struct PassedModel {
  const SandboxDelegate* delegate = nullptr;
  const void* data = nullptr;
  size_t size = 0;
  int file = -1;
};
thread_local PassedModel passed_model;

// Returns a file with these contents; -1 if it cannot be created.
int CopyToFile(const void* data, size_t size) {
  Fd file(memfd_create("deputy-model", MFD_CLOEXEC));
  const auto* bytes = static_cast<const char*>(data);
  while (file.valid() && size > 0) {
    const ssize_t written = write(file.get(), bytes, size);
    if (written <= 0) return -1;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return file.Release();
}

// Opens the model that the option names, or that the host program has passed. Returns no file and
// the reason in `*problem` on failure.
Fd OpenModel(const SandboxDelegate& delegate, std::string* problem) {
  const PassedModel passed = std::exchange(passed_model, {});
  const std::string& path = delegate.options.model;
  if (path.empty() && passed.delegate != &delegate) {
    *problem = "the option 'model' is needed: this program does not pass the model";
    return Fd();
  }
  Fd file(!path.empty()      ? open(path.c_str(), O_RDONLY | O_CLOEXEC)
          : passed.file >= 0 ? fcntl(passed.file, F_DUPFD_CLOEXEC, 0)
                             : CopyToFile(passed.data, passed.size));
  if (!file.valid()) *problem = "cannot open the model '" + path + "': " + std::strerror(errno);
  return file;
}

std::unique_ptr<Session> StartSession(const TfLiteContext& context, GraphView* graph,
                                      const SandboxDelegate& delegate, std::string* problem) {
  Fd model = OpenModel(delegate, problem);
  if (!model.valid()) return nullptr;
  return Session::Start(
      delegate.options, SetupFor(context, *graph, delegate.options), std::move(model),
      delegate.provide_memory == nullptr || delegate.options.has_dynamic_sizes
          ? 0
          : graph->MaxInputBytes(),
      [graph] { graph->ComputeDigests(); }, problem);
}

// Returns the session that GetSupport has started, or a new one. Null and the reason in `*problem`
// on failure.
std::shared_ptr<Session> TakeSession(const TfLiteContext& context, GraphView* graph,
                                     SandboxDelegate* delegate, std::string* problem) {
  const auto found = delegate->pending.extract(std::this_thread::get_id());
  if (found.empty() || found.mapped().context != &context) {
    return StartSession(context, graph, *delegate, problem);
  }
  *problem = found.mapped().problem;
  return found.mapped().session;
}

TfLiteStatus Apply(TfLiteContext* context, SandboxDelegate* delegate) {
  GraphView graph(context, delegate->options.has_dynamic_sizes);
  if (graph.available().empty()) return kTfLiteOk;
  std::string problem;
  delegate->session = TakeSession(*context, &graph, delegate, &problem);
  if (delegate->session == nullptr) {
    context->ReportError(context, "sandbox: %s: %s", delegate->options.library.c_str(),
                         problem.c_str());
    return kTfLiteError;
  }
  const Claims& claims = delegate->session->claims();
  delegate->device = "own process; " + claims.confinement;
  delegate->dropped = claims.dropped;
  const ClaimCheck check(context, graph, DeadlineIn(delegate->options.prepare_ms));
  const Accepted accepted = check.Check(claims);
  const std::vector<const Claim*> all = accepted.All();
  if (all.empty()) return kTfLiteOk;
  std::vector<Slot> slots = graph.SlotsOf(all);
  if (!delegate->session->Map(std::move(slots), &problem)) {
    context->ReportError(context, "sandbox: %s: %s", delegate->options.library.c_str(),
                         problem.c_str());
    return kTfLiteError;
  }
  std::erase_if(delegate->sessions, [](const auto& session) { return session.expired(); });
  delegate->sessions.push_back(delegate->session);
  return Replace(context, accepted, delegate);
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* base) {
  SandboxDelegate& delegate = Of(base);
  const std::lock_guard lock(delegate.mutex);
  const TfLiteStatus status = CatchExceptions(context, [&] { return Apply(context, &delegate); });
  delegate.session = nullptr;
  delegate.claims.clear();
  return status;
}

// Writes reasons and groups of the nodes; `known` is untrusted. Nodes without a reason count as
// supported, so that the runtime derives a reason if they are not claimed.
void WriteSupport(const std::vector<NodeSupport>& known, DeputySupportResult* result) {
  std::map<int32_t, const NodeSupport*> by_node;
  for (const NodeSupport& support : known) by_node.emplace(support.node, &support);
  for (size_t i = 0; i < result->node_count; ++i) {
    const auto found = by_node.find(result->nodes[i]);
    result->supported[i] = 1;
    if (found == by_node.end()) continue;
    const NodeSupport& support = *found->second;
    result->supported[i] = support.reason == kDeputyReasonNone ? 1 : 0;
    result->reason_of_node[i] = support.reason;
    result->group_of_node[i] = std::max(support.group, -1);
    result->text_of_node[i] = support.text.c_str();
  }
}

TfLiteStatus Query(TfLiteContext* context, SandboxDelegate* delegate, DeputySupportResult* result) {
  GraphView graph(context, delegate->options.has_dynamic_sizes);
  Pending& pending = delegate->pending[std::this_thread::get_id()];
  pending = {context, nullptr, ""};
  if (!graph.available().empty()) {
    pending.session = StartSession(*context, &graph, *delegate, &pending.problem);
    if (pending.session == nullptr) return kTfLiteError;  // Prepare reports the problem
  }
  static const std::vector<NodeSupport> kNone;
  WriteSupport(pending.session == nullptr ? kNone : pending.session->claims().support, result);
  return kTfLiteOk;
}

// Returns true if the record names a partition of the claims and at most one of its nodes, or
// neither a partition nor a node.
bool IsAboutClaim(const Record& record, const Claims& claims) {
  if (record.first_node == -1) return record.node == -1;
  const auto claim = std::find_if(claims.claims.begin(), claims.claims.end(), [&](const Claim& at) {
    return !at.nodes.empty() && at.nodes[0] == record.first_node;
  });
  return claim != claims.claims.end() &&
         (record.node == -1 ||
          std::find(claim->nodes.begin(), claim->nodes.end(), record.node) != claim->nodes.end());
}

// Queries all processes of the delegate, and calls `use` for each valid record.
template <typename Use>
TfLiteStatus QuerySessions(SandboxDelegate* delegate, CallKind kind, const Use& use) try {
  const std::lock_guard lock(delegate->mutex);
  for (const std::weak_ptr<Session>& each : delegate->sessions) {
    const std::shared_ptr<Session> session = each.lock();
    Records found;
    std::string problem;
    if (session == nullptr) continue;
    if (!session->Query(kind, 0, &found, &problem)) return kTfLiteError;
    for (const Record& record : found.records) {
      if (IsAboutClaim(record, session->claims())) use(record);
    }
  }
  return kTfLiteOk;
} catch (const std::exception&) {
  return kTfLiteError;
}

// Changes options of the delegates in all processes. Returns "" or the reason of a failure. All
// processes have the same delegate, so that the first one refuses invalid values.
std::string ChangeDelegate(SandboxDelegate* delegate, const DelegateOptions& changes) {
  std::string problem = "expected a delegate that is applied and has nodes";
  bool found = false;
  for (const std::weak_ptr<Session>& each : delegate->sessions) {
    const std::shared_ptr<Session> session = each.lock();
    if (session == nullptr) continue;
    if (!session->SetOptions(changes, &problem)) return problem;
    found = true;
  }
  if (!found) return problem;
  delegate->pending.clear();  // these sessions have the former options
  for (const auto& [key, value] : changes) {
    SetOption(key, value, &delegate->options.delegate_options);
  }
  delegate->has_changed_options = true;
  return "";
}

// Changes options. Returns "" or the reason of a failure; nothing has changed then, unless one of
// several processes failed.
std::string ChangeOptions(SandboxDelegate* delegate, const char* const* keys,
                          const char* const* values, size_t count) {
  Options changed = delegate->options;
  DelegateOptions of_delegate;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = keys[i];
    std::string problem;
    if (name == "options") {
      DelegateOptions list;
      problem = ParseDelegateOptions(values[i], &list);
      for (const auto& [key, value] : list) SetOption(key, value, &of_delegate);
    } else if (name == "prepare_ms" || name == "invoke_ms" || name == "cancel_ms") {
      problem = ParseOptions(&keys[i], &values[i], 1, &changed);
    } else {
      problem = "unknown option '" + std::string(name) +
                "': expected 'options', 'prepare_ms', 'invoke_ms' or 'cancel_ms'";
    }
    if (!problem.empty()) return problem;
  }
  if (!of_delegate.empty()) {
    std::string problem = ChangeDelegate(delegate, of_delegate);
    if (!problem.empty()) return problem;
  }
  delegate->options.prepare_ms = changed.prepare_ms;
  delegate->options.invoke_ms = changed.invoke_ms;
  delegate->options.cancel_ms = changed.cancel_ms;
  for (const std::weak_ptr<Session>& each : delegate->sessions) {
    const std::shared_ptr<Session> session = each.lock();
    if (session != nullptr) session->SetDeadlines(delegate->options);
  }
  for (const auto& [thread, pending] : delegate->pending) {
    if (pending.session != nullptr) pending.session->SetDeadlines(delegate->options);
  }
  return "";
}

}  // namespace

TfLiteDelegate* CreateDelegate(const Options& options) {
  auto created = std::make_unique<SandboxDelegate>();
  created->options = options;
  created->base.data_ = created.get();
  created->base.Prepare = &PrepareDelegate;
  // Without dynamic sizes a process has fixed shapes, so that a resize starts a new one.
  created->base.flags = options.has_dynamic_sizes ? kTfLiteDelegateFlagsAllowDynamicTensors |
                                                        kTfLiteDelegateFlagsRequirePropagatedShapes
                                                  : kTfLiteDelegateFlagsNone;
  // TensorFlow Lite, which needs the option `model`, would omit nodes with this flag from its
  // profile.
  if (options.model.empty()) created->base.flags |= kTfLiteDelegateFlagsPerOperatorProfiling;
  return &created.release()->base;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete &Of(delegate);
}

TfLiteStatus GetSupport(TfLiteDelegate* base, TfLiteContext* context, DeputySupportResult* result) {
  SandboxDelegate& delegate = Of(base);
  const std::lock_guard lock(delegate.mutex);
  return CatchExceptions(context, [&] { return Query(context, &delegate, result); });
}

void SetModel(TfLiteDelegate* delegate, const void* data, size_t size, int32_t file) {
  passed_model = {&Of(delegate), data, size, file};
}

void SetCancellation(TfLiteDelegate* delegate, bool (*is_cancelled)(TfLiteContext* context)) {
  const std::lock_guard lock(Of(delegate).mutex);
  Of(delegate).is_cancelled = is_cancelled;
}

void SetMemoryProvider(TfLiteDelegate* delegate, MemoryProvider provide) {
  const std::lock_guard lock(Of(delegate).mutex);
  Of(delegate).provide_memory = provide;
}

TfLiteAsyncKernel* RefuseAsyncKernel(TfLiteDelegate*, TfLiteContext* context, TfLiteNode*,
                                     const DeputyAsyncRuntime*) {
  context->ReportError(
      context,
      "sandbox: asynchronous kernels cannot be used in a process of their own; use "
      "runs of the model");
  return nullptr;
}

TfLiteStatus SetOptions(TfLiteDelegate* delegate, const char* const* keys,
                        const char* const* values, size_t count,
                        void (*report_error)(const char* text)) {
  return plugin_entry::Contain(kTfLiteError, report_error, [&](std::string* error) {
    SandboxDelegate& sandbox = Of(delegate);
    const std::lock_guard lock(sandbox.mutex);
    *error = ChangeOptions(&sandbox, keys, values, count);
    return error->empty() ? kTfLiteOk : kTfLiteError;
  });
}

TfLiteStatus NodeEvents(TfLiteDelegate*, TfLiteContext* context, TfLiteNode* node,
                        DeputyNodeEventCallback callback, void* user_data) {
  const Kernel& kernel = *KernelOf(node->user_data);
  if (!kernel.session->claims().has_node_events) return kTfLiteOk;
  return CatchExceptions(context, [&] {
    Records found;
    std::string problem;
    if (!kernel.session->Query(CallKind::kNodeEvents, kernel.claim, &found, &problem)) {
      context->ReportError(context, "sandbox: %s: %s", kernel.name.c_str(), problem.c_str());
      return kTfLiteError;
    }
    for (const Record& record : found.records) {
      // The runtime checks node and times.
      const DeputyNodeEvent event = {sizeof event,        record.node,     0,
                                     record.name.c_str(), record.begin_ns, record.duration_ns};
      callback(user_data, &event);
    }
    return kTfLiteOk;
  });
}

TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data) {
  return QuerySessions(&Of(delegate), CallKind::kPartitionTexts, [&](const Record& record) {
    callback(user_data, record.first_node, record.name.c_str(), record.text.c_str());
  });
}

TfLiteStatus TakeEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                        void* user_data) {
  return QuerySessions(&Of(delegate), CallKind::kDeviceEvents, [&](const Record& record) {
    if (std::min({record.queued_ns, record.begin_ns, record.duration_ns}) < 0) return;
    const DeputyDeviceEvent event = {sizeof event,        record.first_node,   record.node,
                                     record.name.c_str(), record.text.c_str(), record.queued_ns,
                                     record.begin_ns,     record.duration_ns};
    callback(user_data, &event);
  });
}

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data) try {
  SandboxDelegate& sandbox = Of(delegate);
  const std::lock_guard lock(sandbox.mutex);
  sandbox.report = sandbox.device;
  for (const std::weak_ptr<Session>& each : sandbox.sessions) {
    if (const std::shared_ptr<Session> session = each.lock()) {
      sandbox.report += session->CallTimesText();
    }
  }
  report->device = sandbox.report.c_str();
  for (const auto& [key, value] : sandbox.options.delegate_options) {
    if (std::find(sandbox.dropped.begin(), sandbox.dropped.end(), key) == sandbox.dropped.end()) {
      continue;
    }
    const DeputyOptionUse use = {sizeof use,           key.c_str(), value.c_str(),
                                 kDeputyOptionIgnored, 0,           "unknown to the delegate"};
    callback(user_data, &use);
  }
  if (sandbox.has_changed_options) {
    std::string list;
    for (const auto& [key, value] : sandbox.options.delegate_options) {
      AppendOption(std::string(key).append("=").append(value), &list);
    }
    const DeputyOptionUse use = {sizeof use, "options", list.c_str(), kDeputyOptionGiven, 0, ""};
    callback(user_data, &use);
  }
  return kTfLiteOk;
} catch (const std::exception&) {
  return kTfLiteError;
}

}  // namespace deputy::sandbox
