// SPDX-License-Identifier: Apache-2.0
//
// The validation layer: calls, their order, and findings. validation_functions.cc checks calls of
// the context's functions, validation_checks.cc the effects of a delegate's call.
#include "core/validation/validation.h"

#include <dlfcn.h>

#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "core/base/delegate_call.h"
#include "core/base/guard.h"
#include "core/delegation/delegation.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

const char* NameOfCallback(Callback callback) {
  switch (callback) {
    case Callback::kLoad:
      return "loading";
    case Callback::kDescribe:
      return "deputy_plugin";
    case Callback::kCreate:
      return "create";
    case Callback::kDestroy:
      return "destroy";
    case Callback::kSupport:
      return "get_support";
    case Callback::kNodeEvents:
      return "node_events";
    case Callback::kSetModel:
      return "set_model";
    case Callback::kSetCancellation:
      return "set_cancellation";
    case Callback::kSetMemoryProvider:
      return "set_memory_provider";
    case Callback::kSetOptions:
      return "set_options";
    case Callback::kRunStart:
      return "run_start";
    case Callback::kRunEnd:
      return "run_end";
    case Callback::kShareBuffer:
      return "a function for shared buffers";
    case Callback::kDelegatePrepare:
      return "Prepare of the delegate";
    case Callback::kInit:
      return "init";
    case Callback::kPrepare:
      return "prepare";
    case Callback::kInvoke:
      return "invoke";
    case Callback::kFree:
      return "free";
    case Callback::kCopyFrom:
      return "CopyFromBufferHandle";
    case Callback::kCopyTo:
      return "CopyToBufferHandle";
    case Callback::kFreeHandle:
      return "FreeBufferHandle";
  }
  return "";
}

const char* NameOfTensor(Subgraph* subgraph, int tensor) {
  const TfLiteTensor* found = subgraph->graph().tensor(tensor);
  return found == nullptr ? "" : NameOf(*found);
}

// Removes digits, so that findings that differ only in numbers count as one.
std::string WithoutNumbers(std::string text) {
  std::erase_if(text, [](unsigned char c) { return isdigit(c) != 0; });
  return text;
}

// Returns the name of the file that contains the delegate's code, which identifies the delegate
// until it replaces nodes: it has no name before.
std::string FileOf(const TfLiteDelegate* delegate) {
  const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate);
  const void* code = builder != nullptr ? reinterpret_cast<const void*>(builder->Prepare)
                                        : reinterpret_cast<const void*>(delegate->Prepare);
  Dl_info info{};
  if (code == nullptr || dladdr(code, &info) == 0 || info.dli_fname == nullptr) return "";
  const char* slash = strrchr(info.dli_fname, '/');
  return slash == nullptr ? info.dli_fname : slash + 1;
}

}  // namespace

Validation::Validation(InterpreterState* interpreter, const ValidationConfig& config)
    : interpreter_(interpreter), config_(config) {}

// The subgraphs, and with them all kernels, have been destroyed before this object.
Validation::~Validation() = default;

size_t Validation::guard_bytes() const { return kGuardBytes; }

// ---- Calls --------------------------------------------------------------------------------------

Validation::Call::Call(const ForeignCall& call)
    : subject(call),
      subgraph(Subgraph::Of(call.context)),
      thread(std::this_thread::get_id()),
      begin(std::chrono::steady_clock::now()) {}

Validation::Before::Before(Subgraph* subgraph)
    : fields(&subgraph->graph(), subgraph->context()),
      contents(&subgraph->graph(), &subgraph->execution_plan().memory().arena(),
               &subgraph->execution_plan().memory().persistent()) {}

void Validation::Call::LookUpDelegate() {
  if (subject.delegate == nullptr) return;
  if (const AppliedDelegate* known = DelegationOf(subgraph).delegates().Find(subject.delegate)) {
    inner = known->inner;
    flags = known->flags;
  } else {
    const AppliedDelegate unknown(subject.delegate);
    inner = unknown.inner;
    flags = unknown.flags;
  }
}

// Records the begin of a call. The layer must not fail a call: if out of memory, it skips checks.
void Validation::Begin(const ForeignCall& foreign) try {
  ++depth_;
  auto added = std::make_unique<Call>(foreign);
  Call* const call = added.get();
  call->depth = depth_;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!calls_.empty()) call->outer = calls_.back().get();
    calls_.push_back(std::move(added));
  }
  ForeignCall& subject = call->subject;
  // A node refers to its delegate only after its init.
  if (subject.callback == Callback::kInit && call->outer != nullptr &&
      call->outer->subject.callback == Callback::kDelegatePrepare) {
    subject.delegate = call->outer->replacing;
  }
  Guard([&] { call->before.reset(); },
        [&] {
          call->LookUpDelegate();
          const bool expected = CheckOrder(*call);
          const bool compared = expected && subject.delegate != nullptr &&
                                subject.callback != Callback::kFree &&
                                subject.callback != Callback::kFreeHandle;
          if (compared) TakeSnapshot(call);
        });
  call->begin = std::chrono::steady_clock::now();
} catch (...) {
  // Out of memory: the call is not in the list, which End detects by its depth.
}

void Validation::End(const ForeignCall&, const CallResult& result) {
  const auto now = std::chrono::steady_clock::now();
  const int depth = depth_--;
  Call* const call = Current();
  if (call == nullptr || call->depth != depth) return;
  const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(now - call->begin);
  // If out of memory, the remaining checks are skipped.
  Guard(Ignore, [&] { CheckEnd(call, result, taken.count()); });
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.pop_back();
}

void Validation::CheckEnd(Call* call, const CallResult& result, int64_t taken_ns) {
  if (result.exception != nullptr) {
    call->threw = true;
    Report(Rule::kException, call, -1, "%s", result.exception);
  }
  if (call->subject.callback == Callback::kInit) CheckInit(*call, result.user_data);
  if (call->subject.callback == Callback::kInvoke && call->subject.delegate != nullptr &&
      config_.invoke_budget_ns > 0 && taken_ns > config_.invoke_budget_ns) {
    Report(Rule::kTimeBudget, call, -1, "took %lld ns, the budget is %lld ns",
           static_cast<long long>(taken_ns), static_cast<long long>(config_.invoke_budget_ns));
  }
  if (call->before != nullptr) CheckAfter(call, result.status);
}

void Validation::TakeSnapshot(Call* call) {
  const ForeignCall& subject = call->subject;
  call->before = std::make_unique<Before>(call->subgraph);
  call->before->roles = Roles(*call);
  for (int i = 0; i < interpreter_->subgraph_count(); ++i) {
    call->before->mode_depths.push_back(DelegationOf(interpreter_->subgraph(i)).mode_depth());
  }
  constants_[call->subgraph].Update(call->subgraph->graph());
  GuardedContents& contents = call->before->contents;
  if (subject.callback == Callback::kInvoke) {
    const std::vector<int>& plan = call->subgraph->graph().plan();
    const auto place = std::find(plan.begin(), plan.end(), subject.node);
    if (place == plan.end()) return;
    const int position = static_cast<int>(place - plan.begin());
    contents.Take(call->before->roles, subject.delegate, position, -1);
    for (size_t i = 0; i < call->before->roles.size(); ++i) {
      if (call->before->roles[i] == Role::kOutput) contents.Fill(static_cast<int>(i));
    }
  } else if (subject.callback == Callback::kCopyFrom) {
    contents.Take(call->before->roles, subject.delegate, -1, subject.tensor);
    contents.Fill(subject.tensor);
  }
}

Validation::Call* Validation::Current() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return calls_.empty() ? nullptr : calls_.back().get();
}

// Checks the order of calls. Returns false if the node is unknown, so that the call cannot be
// checked.
bool Validation::CheckOrder(const Call& call) {
  const ForeignCall& subject = call.subject;
  if (subject.callback == Callback::kFreeHandle) CheckHandleFreed(call);
  const bool later =
      subject.callback == Callback::kPrepare || subject.callback == Callback::kInvoke;
  if (subject.delegate == nullptr || !later) return true;
  const auto kernel = kernels_.find({call.subgraph, subject.node});
  if (kernel == kernels_.end()) {
    Report(Rule::kCallOrder, &call, -1, "the node has not been initialised, or was freed");
    return false;
  }
  if (subject.callback == Callback::kPrepare) kernel->second.prepared = true;
  // The node of a delegate that promised to claim the whole graph is not prepared.
  const int64_t promise = kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate;
  if (subject.callback == Callback::kInvoke && !kernel->second.prepared &&
      (call.flags & promise) == 0) {
    Report(Rule::kCallOrder, &call, -1, "the node has not been prepared");
  }
  return true;
}

void Validation::CheckInit(const Call& call, void* user_data) {
  const ForeignCall& subject = call.subject;
  // The result is not checked after an exception: it is then (void*)-1, too.
  if (subject.delegate == nullptr || call.threw) return;
  if (user_data == TfLiteKernelInitFailed()) {
    Report(Rule::kInitSentinel, &call, -1,
           "returns (void*)-1; runtimes before TensorFlow 2.20 treat it as user data");
    return;
  }
  for (const auto& [key, other] : kernels_) {
    const TfLiteRegistration& registration = *call.subgraph->graph().registration(subject.node);
    if (user_data == nullptr || other.user_data != user_data) continue;
    if (registration.free == nullptr && registration.registration_external == nullptr) continue;
    Report(Rule::kSharedUserData, &call, -1,
           "returns the same pointer as for node %d, which will be freed for each of them",
           key.second);
    break;
  }
  kernels_[{call.subgraph, subject.node}] = {user_data, false, subject.delegate};
}

// ---- Events -------------------------------------------------------------------------------------

void Validation::ReleasedTooOften(Subgraph* subgraph) {
  Report(Rule::kSubgraphReleasedTooOften, Current(), -1,
         "releases subgraph %d more often than it was acquired", subgraph->index());
}

void Validation::EnterInterpreter(const char* function) {
  Call* innermost = Current();
  if (innermost == nullptr) return;
  Report(Rule::kReenters, innermost, -1, "calls %s of the interpreter that is calling it",
         function);
  // Memory may be reallocated now, so the copies can no longer be compared.
  for (Call* call = innermost; call != nullptr; call = call->outer) call->before.reset();
}

void Validation::NodeFreed(Subgraph* subgraph, int node, const TfLiteRegistration& registration,
                           const void* user_data) {
  const auto kernel = kernels_.find({subgraph, node});
  if (kernel == kernels_.end()) return;
  const Kernel freed = kernel->second;
  kernels_.erase(kernel);
  const bool has_free =
      registration.free != nullptr || registration.registration_external != nullptr;
  if (has_free || user_data == nullptr) return;
  const TfLiteOpaqueDelegateBuilder* builder =
      freed.delegate == nullptr ? nullptr : BuilderOf(freed.delegate);
  // User data that are the delegate itself, or its data, need no free.
  if (user_data == freed.delegate || user_data == freed.delegate->data_ ||
      (builder != nullptr && user_data == builder->data)) {
    return;
  }
  const Call call({.callback = Callback::kFree,
                   .context = subgraph->context(),
                   .node = node,
                   .delegate = const_cast<TfLiteDelegate*>(freed.delegate)});
  Report(Rule::kKernelNeverFreed, &call, -1,
         "init returned user data, but the registration has no free");
}

void Validation::HandleNotFreed(Subgraph* subgraph, int tensor) {
  TfLiteDelegate* delegate = subgraph->graph().tensor(tensor)->delegate;
  const Call call({.callback = Callback::kFreeHandle,
                   .context = subgraph->context(),
                   .delegate = delegate,
                   .tensor = tensor});
  Report(Rule::kHandleNeverFreed, &call, tensor,
         "buffer handle %d is never freed: the delegate has no FreeBufferHandle",
         subgraph->graph().tensor(tensor)->buffer_handle);
}

void Validation::HandleSet(const TfLiteDelegate* delegate, TfLiteBufferHandle handle) {
  freed_handles_.erase({delegate, handle});
}

// Checks a call that frees a buffer handle. The handle may be reused afterwards; HandleSet is
// called then.
void Validation::CheckHandleFreed(const Call& call) {
  const TfLiteTensor* tensor = call.subgraph->graph().tensor(call.subject.tensor);
  if (tensor == nullptr) return;
  if (!freed_handles_.insert({tensor->delegate, tensor->buffer_handle}).second) {
    Report(Rule::kHandleFreedTwice, &call, call.subject.tensor,
           "buffer handle %d was freed before: two tensors hold it", tensor->buffer_handle);
  }
}

// ---- Findings -----------------------------------------------------------------------------------

std::string Validation::NameOf(const Call& call) const {
  TfLiteDelegate* const delegate = call.subject.delegate;
  const auto replaced = names_.find(delegate);
  if (replaced != names_.end()) return replaced->second;
  const AppliedDelegate* known = DelegationOf(call.subgraph).delegates().Find(delegate);
  const std::string name = known != nullptr ? known->name : AppliedDelegate(delegate).name;
  return name.empty() ? FileOf(delegate) : name;
}

std::string Validation::Describe(const Call& call) const {
  const ForeignCall& subject = call.subject;
  std::string text = "delegate '" + NameOf(call) + "', ";
  text += NameOfCallback(subject.callback);
  text += subject.node >= 0 ? " of subgraph " : " on subgraph ";
  text += std::to_string(call.subgraph->index());
  if (subject.node >= 0) text += " node " + std::to_string(subject.node);
  return text;
}

// Records a finding. Calls of operators on the CPU are tracked only to attribute calls of the
// context; they have no findings.
void Validation::Report(Rule rule, const Call* call, int tensor, const char* format, ...) {
  if (call != nullptr && call->subject.delegate == nullptr) return;
  char what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  // The finding is dropped if there is no memory for it.
  Guard(Ignore, [&] {
    Finding finding;
    finding.rule = rule;
    finding.tensor = tensor;
    finding.text = std::string(InfoOf(rule).id) + ": ";
    if (call != nullptr) {
      const ForeignCall& subject = call->subject;
      finding.subgraph = call->subgraph->index();
      finding.node = subject.node;
      finding.delegate = subject.delegate;
      finding.delegate_name = NameOf(*call);
      finding.text += Describe(*call) + ": ";
      if (tensor >= 0) {
        finding.text += "tensor " + std::to_string(tensor) + " '" +
                        NameOfTensor(call->subgraph, tensor) + "': ";
      }
    }
    finding.text += what;
    if (InfoOf(rule).severity == Severity::kSuspicion) finding.text += " (suspicion)";
    if (InfoOf(rule).severity == Severity::kPortability) finding.text += " (portability)";
    Add(finding);
  });
}

void Validation::Add(const Finding& finding) {
  const std::string key = WithoutNumbers(finding.text);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Finding& known : findings_) {
      if (known.rule != finding.rule || known.subgraph != finding.subgraph ||
          known.node != finding.node || known.tensor != finding.tensor ||
          WithoutNumbers(known.text) != key) {
        continue;
      }
      ++known.count;
      return;
    }
    findings_.push_back(finding);
  }
  interpreter_->reporter()->Report("%s", finding.text.c_str());
  if (config_.on_finding) config_.on_finding(finding);
}

}  // namespace deputy
