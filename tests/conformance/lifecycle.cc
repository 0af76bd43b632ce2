// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/lifecycle.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy_plugin.h"

namespace deputy::conformance {
namespace {

using Kind = Judgement::Kind;

const Judgement kFine = {};

Judgement Skipped(const std::string& why) { return {Kind::kSkipped, why}; }

const std::vector<uint8_t>& ModelOf(CaseContext* context) { return context->subject().model; }

// Returns a pair of interpreters with the delegate applied and tensors allocated, in which at least
// one node is delegated.
std::unique_ptr<Pair> MakeReady(CaseContext* context, Mode mode = Mode::kValidated) {
  auto pair = std::make_unique<Pair>(context, ModelOf(context), context->CreateDelegate(), mode);
  if (mode != Mode::kDelegateInOptions) pair->Apply();
  pair->Allocate();
  Demand(pair->DelegatedNodes() > 0, "it claims no node, although it did before");
  return pair;
}

// ---- Inferences ---------------------------------------------------------------------------------

Judgement AgreesWithTheCpu(CaseContext* context) {
  const auto pair = MakeReady(context);
  for (uint32_t seed = 0; seed < 10; ++seed) pair->Infer(seed);
  return {Kind::kPasses, std::to_string(pair->DelegatedNodes()) + " nodes"};
}

Judgement RepeatsItself(CaseContext* context) {
  const auto pair = MakeReady(context);
  pair->Infer(1);
  const std::vector<TensorValue> first = pair->Outputs();
  pair->Infer(2);
  pair->Infer(1);
  const std::vector<TensorValue> again = pair->Outputs();
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].data != again[i].data) {
      return {Kind::kRemark, "equal inputs have results that differ by rounding"};
    }
  }
  return kFine;
}

Judgement IsInTheOptions(CaseContext* context) {
  const auto pair = MakeReady(context, Mode::kDelegateInOptions);
  for (uint32_t seed = 0; seed < 3; ++seed) pair->Infer(seed);
  return kFine;
}

Judgement RunsUnderHot(CaseContext* context) {
  const auto pair = MakeReady(context, Mode::kHot);
  for (uint32_t seed = 0; seed < 3; ++seed) pair->Infer(seed);
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  DeputyInterpreterGetDelegationStatus(pair->interpreter(), &status);
  Demand(status.degraded == 0, "its nodes were computed on the CPU: " + pair->log());
  return kFine;
}

Judgement RunsWithProfiler(CaseContext* context) {
  const auto pair = MakeReady(context);
  int events = 0;
  DeputyInterpreterSetProfileCallback(
      pair->interpreter(), [](void* count, const DeputyOpEvent*) { ++*static_cast<int*>(count); },
      &events);
  pair->Infer(1);
  Demand(events > 0, "no node was reported");
  DeputyInterpreterSetProfileCallback(pair->interpreter(), nullptr, nullptr);
  pair->Infer(2);
  return kFine;
}

// ---- Applying and allocating --------------------------------------------------------------------

Judgement IsAppliedLate(CaseContext* context) {
  Pair pair(context, ModelOf(context), context->CreateDelegate());
  pair.Allocate();
  pair.Infer(1);
  pair.Apply();
  pair.Infer(2);
  pair.Infer(3);
  return kFine;
}

Judgement IsAppliedTwice(CaseContext* context) {
  const auto pair = MakeReady(context);
  pair->Infer(1);
  const bool is_refused = pair->TryApply() != kTfLiteOk;
  const std::string why = pair->log();
  pair->Allocate();
  for (uint32_t seed = 2; seed < 5; ++seed) pair->Infer(seed);
  return {Kind::kPasses, is_refused ? "the second apply is refused: " + why : ""};
}

Judgement IsAllocatedTwice(CaseContext* context) {
  const auto pair = MakeReady(context);
  for (uint32_t seed = 0; seed < 4; ++seed) {
    pair->Allocate();
    pair->Infer(seed);
  }
  return kFine;
}

Judgement LeavesUnknownOperators(CaseContext* context) {
  const std::vector<uint8_t> model = UnknownOperatorModel();
  Pair pair(context, model, context->CreateDelegate());
  if (pair.TryApply() == kTfLiteDelegateError) {
    Demand(!pair.log().empty(), "it refuses a graph without a reason");
    return {Kind::kRemark, "it refuses a graph of which it claims no node: " + pair.log()};
  }
  pair.Allocate();
  Demand(pair.DelegatedNodes() == 0, "it claims a custom operator that is unknown to it");
  pair.Infer(1);
  return kFine;
}

Judgement ReportsReasons(CaseContext* context) {
  const std::vector<uint8_t> model = UnknownOperatorModel();
  Pair pair(context, model, context->CreateDelegate());
  pair.Ready();
  DeputyNodeSupport support = {};
  support.struct_size = sizeof support;
  if (DeputyInterpreterGetNodeSupport(pair.interpreter(), 0, 0, 0, &support) != kTfLiteOk ||
      support.reason >= kDeputyReasonNotClaimed) {
    return Skipped(
        "it reports no reasons for nodes it leaves to the CPU (get_support of deputy_plugin)");
  }
  return {Kind::kPasses, support.text[0] == '\0' ? support.reason_name : support.text};
}

// ---- Shapes -------------------------------------------------------------------------------------

// Allocates after a resize. A refusal with a reason makes the judgement a remark and returns false;
// a refusal without one fails the case.
bool AllocateResized(Pair* pair, const std::string& dims, Judgement* judgement) {
  const std::string problem = pair->TryAllocate();
  if (problem.empty()) return true;
  Demand(problem != "without a reason", "it refuses " + dims + " without a reason");
  *judgement = {Kind::kRemark, "it refuses " + dims + ": " + problem};
  return false;
}

Judgement IsResized(CaseContext* context) {
  if (!context->subject().is_resizable) return Skipped("the model's shapes are not changed");
  const auto pair = MakeReady(context);
  const std::vector<std::vector<int>> shapes = {
      {1, 8, 8, 4},   {2, 8, 8, 4}, {1, 17, 3, 4}, {3, 5, 7, 4}, {1, 1, 1, 4}, {1, 8, 8, 4},
      {1, 32, 32, 4}, {1, 2, 9, 4}, {4, 4, 4, 4},  {1, 8, 8, 4}, {2, 3, 1, 4}, {1, 8, 8, 4}};
  Judgement judgement;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string dims = Describe(kTfLiteNoType, shapes[i]);
    context->Note("resize " + std::to_string(i + 1) + " of " + std::to_string(shapes.size()) +
                  ", to " + dims.substr(dims.find('[')));
    pair->Resize(shapes[i]);
    if (!AllocateResized(pair.get(), dims, &judgement)) return judgement;
    for (uint32_t seed = 0; seed < 2; ++seed) pair->Infer(seed);
  }
  return judgement;
}

// Applies the delegate after an allocation, so that it knows the graph's shapes. (Before an
// allocation, only a static delegate, without dynamic tensors, knows them.)
Judgement IsResizedBeforehand(CaseContext* context) {
  if (!context->subject().is_resizable) return Skipped("the model's shapes are not changed");
  Pair pair(context, ModelOf(context), context->CreateDelegate());
  pair.Resize({2, 5, 6, kSubjectChannels});
  pair.Allocate();
  pair.Ready();
  for (uint32_t seed = 0; seed < 3; ++seed) pair.Infer(seed);
  return kFine;
}

Judgement IsResizedUnallocated(CaseContext* context) {
  if (!context->subject().is_resizable) return Skipped("the model's shapes are not changed");
  Pair pair(context, ModelOf(context), context->CreateDelegate());
  pair.Resize({2, 5, 6, kSubjectChannels});
  pair.Apply();
  Judgement judgement;
  if (!AllocateResized(&pair, "a resize before the first allocation", &judgement)) return judgement;
  for (uint32_t seed = 0; seed < 3; ++seed) pair.Infer(seed);
  return judgement;
}

Judgement HasNoElements(CaseContext* context) {
  if (!context->subject().is_resizable) return Skipped("the model's shapes are not changed");
  const auto pair = MakeReady(context);
  Judgement judgement;
  pair->Resize({0, 8, 8, kSubjectChannels});
  if (AllocateResized(pair.get(), "no elements", &judgement)) {
    TfLiteInterpreterInvoke(pair->cpu());
    if (TfLiteInterpreterInvoke(pair->interpreter()) != kTfLiteOk) {
      judgement = {Kind::kRemark, "an inference with a batch of 0 fails: " + pair->log()};
    }
  }
  pair->Resize({1, 8, 8, kSubjectChannels});
  pair->Allocate();
  pair->Infer(1);
  return judgement;
}

Judgement IsLarge(CaseContext* context) {
  if (!context->subject().is_resizable) return Skipped("the model's shapes are not changed");
  Pair pair(context, ModelOf(context), context->CreateDelegate());
  pair.Resize({1, 256, 255, kSubjectChannels});
  pair.Allocate();
  pair.Ready();
  pair.Infer(1);
  return kFine;
}

// ---- Lifetimes ----------------------------------------------------------------------------------

Judgement OutlivesTheModel(CaseContext* context) {
  Pair pair(context, ModelOf(context), context->CreateDelegate());
  pair.Apply();
  pair.DeleteModel();
  pair.Allocate();
  pair.Infer(1);
  return kFine;
}

Judgement IsDeletedUnused(CaseContext* context) {
  { const Pair never_applied(context, ModelOf(context), context->CreateDelegate()); }
  {
    Pair never_allocated(context, ModelOf(context), context->CreateDelegate());
    never_allocated.Apply();
  }
  const auto never_run = MakeReady(context);
  return kFine;
}

Judgement ServesTwoInterpreters(CaseContext* context) {
  const auto delegate = context->CreateDelegate();
  auto first = std::make_unique<Pair>(context, ModelOf(context), delegate);
  auto second = std::make_unique<Pair>(context, ModelOf(context), delegate);
  first->Ready();
  if (second->TryApply() != kTfLiteOk) {
    Demand(!second->log().empty(), "it refuses a second interpreter without a reason");
    first->Infer(1);
    return {Kind::kRemark, "one interpreter per delegate: " + second->log()};
  }
  second->Allocate();
  for (uint32_t seed = 0; seed < 4; ++seed) {
    first->Infer(seed);
    second->Infer(seed + 100);
  }
  first.reset();
  second->Infer(7);
  return kFine;
}

Judgement OverlapsLifeCycles(CaseContext* context) {
  auto first = MakeReady(context);
  auto second = MakeReady(context);
  for (uint32_t seed = 0; seed < 4; ++seed) {
    first->Infer(seed);
    second->Infer(seed + 100);
  }
  first.reset();
  second->Infer(7);
  const auto third = MakeReady(context);
  second.reset();
  third->Infer(8);
  return kFine;
}

// ---- Threads ------------------------------------------------------------------------------------

// Runs `work` on `count` threads at the same time; rethrows the first failure of a thread.
void OnThreads(int count, const std::function<void(int)>& work) {
  std::mutex mutex;
  std::string failure;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      try {
        work(t);
      } catch (const std::exception& problem) {
        const std::lock_guard lock(mutex);
        if (failure.empty()) failure = problem.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Demand(failure.empty(), failure);
}

Judgement WorksOnThreads(CaseContext* context) {
  std::string ignored;
  context->library().Load(&ignored);
  OnThreads(4, [context](int number) {
    const auto pair = MakeReady(context);
    for (uint32_t seed = 0; seed < 8; ++seed) {
      pair->Infer(seed + 50 * static_cast<uint32_t>(number));
    }
  });
  return kFine;
}

// Returns the reasons that the delegate reports for the nodes of a model without being applied; ""
// if it reports none.
std::string QueryReasons(const Pair& pair) {
  std::string reasons;
  const auto add = [](void* all, int32_t, int32_t node, const DeputyNodeSupport* support) {
    *static_cast<std::string*>(all) +=
        "node " + std::to_string(node) + " " + support->reason_name + " " + support->text + "; ";
  };
  const TfLiteStatus status =
      DeputyInterpreterCheckDelegate(pair.interpreter(), pair.delegate(), add, &reasons);
  Demand(status == kTfLiteOk || status == kTfLiteUnresolvedOps,
         "it does not support queries: " + pair.log());
  return reasons;
}

// The work of one thread: creates and deletes interpreters at first, and then only runs support
// queries, which are faster.
void ShareADelegate(CaseContext* context, const std::vector<uint8_t>& model,
                    const std::shared_ptr<TfLiteDelegate>& delegate, const std::string& reasons,
                    uint32_t seed) {
  constexpr int kLifeCycles = 25, kMinLifeCycles = 3, kQueries = 1000, kMinQueries = 50;
  using Clock = std::chrono::steady_clock;
  const auto has_time_until = [](Clock::time_point end) { return Clock::now() < end; };
  const auto end_of_life_cycles = Clock::now() + std::chrono::seconds(2);
  for (int i = 0; i < kLifeCycles && (i < kMinLifeCycles || has_time_until(end_of_life_cycles));
       ++i) {
    // Every second pair runs without the validation layer, which is faster.
    Pair pair(context, model, delegate, i % 2 == 0 ? Mode::kPlain : Mode::kValidated);
    pair.Ready();
    pair.Infer(seed + static_cast<uint32_t>(i));
  }
  const Pair unapplied(context, model, delegate, Mode::kPlain);
  const auto end = Clock::now() + std::chrono::seconds(2);
  for (int i = 0; i < kQueries && (i < kMinQueries || has_time_until(end)); ++i) {
    const std::string found = QueryReasons(unapplied);
    std::string difference = "on several threads it reports other reasons: ";
    difference.append(found).append("on one thread: ").append(reasons);
    Demand(found == reasons, difference);
    if (reasons.empty()) break;
  }
}

Judgement SharesADelegateOnThreads(CaseContext* context) {
  const auto& refused = context->subject().with_refused;
  const std::vector<uint8_t>& model = refused.empty() ? ModelOf(context) : refused;
  const auto delegate = context->CreateDelegate();
  Pair first(context, model, delegate), second(context, model, delegate);
  const std::string reasons = QueryReasons(first);
  first.Ready();
  if (second.TryApply() != kTfLiteOk) {
    Demand(!second.log().empty(), "it refuses a second interpreter without a reason");
    return {Kind::kRemark, "one interpreter per delegate: " + second.log()};
  }
  OnThreads(4, [&](int number) {
    ShareADelegate(context, model, delegate, reasons, 100 * static_cast<uint32_t>(number));
  });
  return kFine;
}

Judgement ChangesThreads(CaseContext* context) {
  const auto pair = MakeReady(context);
  for (uint32_t seed = 0; seed < 4; ++seed) {
    OnThreads(1, [&](int) { pair->Infer(seed); });
    pair->Infer(seed + 10);
  }
  OnThreads(1, [&](int) {
    auto made_elsewhere = MakeReady(context);
    made_elsewhere->Infer(1);
  });
  return kFine;
}

// ---- Loops and branches -------------------------------------------------------------------------

Judgement IsInBranches(CaseContext* context) {
  if (context->subject().branches.empty()) return Skipped("the model is not changed");
  Pair pair(context, context->subject().branches, context->CreateDelegate());
  pair.Ready();
  for (uint32_t seed = 0; seed < 6; ++seed) pair.Infer(seed);
  const int nodes = pair.DelegatedNodes();
  if (nodes == 0) return {Kind::kRemark, "it claims no node of a branch"};
  return {Kind::kPasses, std::to_string(nodes) + " nodes"};
}

Judgement IsInALoop(CaseContext* context) {
  if (context->subject().loop.empty()) return Skipped("the model is not changed");
  Pair pair(context, context->subject().loop, context->CreateDelegate());
  pair.Ready();
  for (uint32_t seed = 0; seed < 3; ++seed) pair.Infer(seed);
  const int nodes = pair.DelegatedNodes();
  if (nodes == 0) return {Kind::kRemark, "it claims no node of a loop's body"};
  return {Kind::kPasses, std::to_string(nodes) + " nodes"};
}

// ---- Memory -------------------------------------------------------------------------------------

// Memory between two inaccessible pages, which ends at or near the second one.
class Fenced {
 public:
  explicit Fenced(size_t size) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    inside_ = (size + page_ - 1) / page_ * page_;
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, inside_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Demand(base_ != MAP_FAILED, "out of memory");
    Demand(mprotect(base_ + page_, inside_, PROT_READ | PROT_WRITE) == 0, "out of memory");
    // The tensor ends exactly at the inaccessible page if its size is a multiple of the alignment.
    const size_t rounded =
        (size + kDefaultTensorAlignment - 1) / kDefaultTensorAlignment * kDefaultTensorAlignment;
    data_ = base_ + page_ + inside_ - std::min(rounded, inside_);
  }
  ~Fenced() { munmap(base_, inside_ + 2 * page_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  uint8_t* data() const { return data_; }

 private:
  static constexpr size_t kDefaultTensorAlignment = 64;
  const size_t page_;
  size_t inside_ = 0;
  uint8_t* base_ = nullptr;
  uint8_t* data_ = nullptr;
};

std::unique_ptr<Fenced> FenceIn(TfLiteInterpreter* interpreter, int tensor, size_t bytes) {
  auto memory = std::make_unique<Fenced>(bytes);
  const TfLiteCustomAllocation allocation = {memory->data(), bytes};
  Demand(TfLiteInterpreterSetCustomAllocationForTensor(interpreter, tensor, &allocation, 0) ==
             kTfLiteOk,
         "custom allocations are refused");
  return memory;
}

Judgement UsesClientsMemory(CaseContext* context) {
  std::vector<std::unique_ptr<Fenced>> memory;
  {
    Pair pair(context, ModelOf(context), context->CreateDelegate());
    pair.Ready();
    TfLiteInterpreter* const interpreter = pair.interpreter();
    for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
      const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
      if (tensor->allocation_type != kTfLiteArenaRw) continue;
      memory.push_back(FenceIn(interpreter, TfLiteInterpreterOutputTensorIndices(interpreter)[i],
                               TfLiteTensorByteSize(tensor)));
    }
    if (memory.empty()) return Skipped("its outputs are not in the arena");
    pair.Allocate();
    context->Note("inferences with outputs that end at an inaccessible page");
    for (uint32_t seed = 0; seed < 3; ++seed) pair.Infer(seed);
  }
  return kFine;
}

Judgement KeepsOutputsOnTheDevice(CaseContext* context) {
  const auto pair = MakeReady(context);
  if (pair->delegate()->CopyFromBufferHandle == nullptr &&
      pair->delegate()->opaque_delegate_builder == nullptr) {
    return Skipped("it uses no buffer handles");
  }
  TfLiteInterpreter* const interpreter = pair->interpreter();
  TfLiteSetAllowBufferHandleOutput(interpreter, true);
  for (uint32_t seed = 0; seed < 3; ++seed) {
    FeedInputs(pair->cpu(), seed);
    FeedInputs(interpreter, seed);
    TfLiteInterpreterInvoke(pair->cpu());
    Demand(TfLiteInterpreterInvoke(interpreter) == kTfLiteOk, "an inference fails: " + pair->log());
    for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
      const int index = TfLiteInterpreterOutputTensorIndices(interpreter)[i];
      Demand(TfLiteInterpreterEnsureTensorDataIsReadable(interpreter, index) == kTfLiteOk,
             "an output cannot be read back: " + pair->log());
    }
    const auto expected = CopyOutputs(pair->cpu()), found = pair->Outputs();
    for (size_t i = 0; i < found.size(); ++i) {
      const auto difference = Compare({&expected[i], 1}, found[i], SubjectAgreement(found[i].type));
      Demand(!difference,
             difference ? "read back, output " + std::to_string(i) + " " + difference->text : "");
    }
  }
  TfLiteSetAllowBufferHandleOutput(interpreter, false);
  pair->Infer(9);
  return kFine;
}

// ---- Leaks --------------------------------------------------------------------------------------

Judgement InfersWithoutGrowth(CaseContext* context) {
  const auto pair = MakeReady(context, Mode::kPlain);
  uint32_t seed = 0;
  DemandNoGrowth(context, 40, "an inference", [&] { pair->Infer(seed++ % 4); });
  return kFine;
}

Judgement RepeatsLifeCyclesWithoutGrowth(CaseContext* context) {
  const auto kept = MakeReady(context, Mode::kPlain);
  DemandNoGrowth(context, 16, "an interpreter",
                 [&] { MakeReady(context, Mode::kPlain)->Infer(1); });
  return kFine;
}

Judgement ResizesWithoutGrowth(CaseContext* context) {
  if (!context->subject().is_resizable) return Skipped("the model's shapes are not changed");
  const auto pair = MakeReady(context, Mode::kPlain);
  Judgement judgement;
  int number = 0;
  try {
    DemandNoGrowth(context, 12, "a resize", [&] {
      pair->Resize({1, ++number % 2 == 0 ? 8 : 6, 8, kSubjectChannels});
      if (!AllocateResized(pair.get(), "other shapes", &judgement)) throw judgement;
      pair->Infer(1);
    });
  } catch (const Judgement& refused) {
    return refused;
  }
  return judgement;
}

Judgement IsFast(CaseContext* context) {
  // Factor on the CPU's time from which the delegate's time is reported as a remark.
  constexpr double kRemarkable = 5;
  using Clock = std::chrono::steady_clock;
  Pair pair(context, ModelOf(context), context->CreateDelegate(), Mode::kPlain);
  if (context->subject().is_resizable) pair.Resize({1, 96, 96, kSubjectChannels});
  pair.Allocate();
  pair.Ready();
  pair.Infer(1);
  const auto time = [](TfLiteInterpreter* interpreter) {
    const auto start = Clock::now();
    Demand(TfLiteInterpreterInvoke(interpreter) == kTfLiteOk, "an inference fails");
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  };
  // Alternates the two interpreters until the time limit; the minimum time of each counts.
  double cpu = 1e300, delegated = 1e300;
  const auto end = Clock::now() + std::chrono::seconds(1);
  for (int i = 0; i < 5 || (i < 100 && Clock::now() < end); ++i) {
    cpu = std::min(cpu, time(pair.cpu()));
    delegated = std::min(delegated, time(pair.interpreter()));
  }
  char text[120];
  snprintf(text, sizeof text, "%.2f times the CPU's time (%.3f ms, CPU %.3f ms)", delegated / cpu,
           delegated, cpu);
  return {delegated > kRemarkable * cpu ? Kind::kRemark : Kind::kPasses,
          (delegated > kRemarkable * cpu ? "slow: " : "") + std::string(text)};
}

}  // namespace

const std::vector<LifecycleCase>& SubjectCases() {
  static const std::vector<LifecycleCase> kCases = {
      {"agrees", "Ten inferences agree with the CPU.", AgreesWithTheCpu},
      {"repeats", "Equal inputs have equal results.", RepeatsItself},
      {"in-options", "It works as one of an interpreter's options.", IsInTheOptions},
      {"hot", "Under the policy Hot nothing falls back to the CPU.", RunsUnderHot},
      {"profiled", "It works while a profiler is installed.", RunsWithProfiler},
      {"applied-late", "It is applied to a graph that has already run.", IsAppliedLate},
      {"applied-twice", "A second apply is refused, or the results are right.", IsAppliedTwice},
      {"allocated-again", "Tensors are allocated again between inferences.", IsAllocatedTwice},
      {"resize", "Twelve resizes of one interpreter.", IsResized},
      {"resize-first", "The input is resized before the delegate is applied.", IsResizedBeforehand},
      {"resize-unallocated",
       "The input is resized before the first allocation: computed or refused.",
       IsResizedUnallocated},
      {"no-elements", "A batch of 0 is computed or refused, and the next batch is right.",
       HasNoElements},
      {"large", "An input of a megabyte.", IsLarge},
      {"model-deleted", "The model's handle is deleted before the first inference.",
       OutlivesTheModel},
      {"unused", "Interpreters are deleted unallocated, unapplied and unused.", IsDeletedUnused},
      {"shared", "Two interpreters share one delegate, alternating.", ServesTwoInterpreters},
      {"two-delegates", "Two delegates exist at the same time, and are deleted in creation order.",
       OverlapsLifeCycles},
      {"threads", "Four threads, each with its own delegate and interpreter.", WorksOnThreads},
      {"shared-threads", "Four threads share a delegate and apply it repeatedly.",
       SharesADelegateOnThreads},
      {"other-thread", "Inferences run on different threads.", ChangesThreads},
      {"branches", "Both branches of an IF.", IsInBranches},
      {"loop", "The body of a WHILE.", IsInALoop},
      {"client-memory", "Outputs in the client's memory, before an inaccessible page.",
       UsesClientsMemory},
      {"buffer-handles", "Outputs stay on the device until they are read.",
       KeepsOutputsOnTheDevice},
      {"growth-inferences", "200 inferences leak no resources.", InfersWithoutGrowth},
      {"growth-interpreters", "80 delegates and interpreters leak no resources.",
       RepeatsLifeCyclesWithoutGrowth},
      {"growth-resizes", "60 resizes leak no resources.", ResizesWithoutGrowth},
      {"speed", "The time of an inference, compared with the CPU's.", IsFast},
      {"leaves-others", "It claims no unknown custom operator.", LeavesUnknownOperators},
      {"reasons", "It reports a reason for each node it leaves to the CPU.", ReportsReasons},
  };
  return kCases;
}

bool ClaimsNode(CaseContext* context) {
  Pair pair(context, ModelOf(context), context->CreateDelegate());
  pair.Apply();
  return pair.DelegatedNodes() > 0;
}

Judgement RunLifecycleCase(const LifecycleCase& which, CaseContext* context) {
  Judgement judgement;
  try {
    judgement = which.run(context);
  } catch (const CaseFailed& problem) {
    judgement = {Kind::kFails, problem.what()};
  }
  // A contract violation is reported in preference to the case's own result, as the more likely
  // cause.
  const std::string errors = context->findings().errors();
  if (!errors.empty()) {
    return {Kind::kFails, judgement.kind == Kind::kFails ? errors + "; " + judgement.text : errors};
  }
  const std::string remarks = context->findings().remarks();
  if (!remarks.empty() && judgement.kind == Kind::kPasses) return {Kind::kRemark, remarks};
  return judgement;
}

}  // namespace deputy::conformance
