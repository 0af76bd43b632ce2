// SPDX-License-Identifier: Apache-2.0
//
// The validation layer: the observer that reports violations of the contract by delegates. An
// interpreter has one only if it was requested; without it, every hook costs one test of a pointer.
// It changes no status and no result.
//
// It observes each call of foreign code. State that the call must not change is copied at its begin
// and compared at its end; meanwhile the context's functions report their arguments and the
// runtime's own changes.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/common.h"
#include "core/exec/observer.h"
#include "core/validation/validation_contents.h"
#include "core/validation/validation_fields.h"
#include "core/validation/validation_rules.h"

namespace deputy {

class InterpreterState;
class Subgraph;

// One way in which a delegate breaks a rule, with the number of occurrences.
struct Finding {
  Rule rule;
  std::string text;  // text with rule, delegate, call, and description
  int subgraph = -1;
  int node = -1;
  int tensor = -1;
  const TfLiteDelegate* delegate = nullptr;
  std::string delegate_name;
  int64_t count = 1;
};

struct ValidationConfig {
  bool enabled = false;
  int64_t invoke_budget_ns = 0;  // maximum duration of a delegate's invoke; 0: no limit
  // Called with every finding at its first occurrence.
  std::function<void(const Finding&)> on_finding;
};

class Validation final : public Observer {
 public:
  Validation(InterpreterState* interpreter, const ValidationConfig& config);
  ~Validation() override;
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;

  size_t finding_count() const { return findings_.size(); }
  const Finding& finding(size_t index) const { return findings_[index]; }

  // ---- Observer --------------------------------------------------------------------------------
  uint32_t needs() const override { return kNeedsEveryNode | kNeedsExactTensors; }
  size_t guard_bytes() const override;
  void Begin(const ForeignCall& call) override;
  void End(const ForeignCall& call, const CallResult& result) override;
  bool EnterFunction(Subgraph* subgraph, const char* function) override;
  void ForbiddenFunction(Subgraph* subgraph, const char* function) override;
  void BeforeResize(Subgraph* subgraph, const TfLiteTensor* tensor,
                    const TfLiteIntArray* dims) override;
  void AfterResize(Subgraph* subgraph, const TfLiteTensor* tensor) override;
  void BeforeAddTensors(Subgraph* subgraph, int count) override;
  void AfterAddTensors(Subgraph* subgraph, int first) override;
  void CheckNodeIndex(Subgraph* subgraph, int node, const char* function) override;
  void CheckTensorIndex(Subgraph* subgraph, int tensor, const char* function) override;
  void CheckSubgraphIndex(Subgraph* subgraph, int index, const char* function) override;
  void BeforePreview(Subgraph* subgraph, const TfLiteIntArray* nodes) override;
  void BeforeReplace(Subgraph* subgraph, const TfLiteRegistration& registration,
                     const TfLiteIntArray* nodes, TfLiteDelegate* delegate) override;
  void AfterReplace(Subgraph* subgraph, TfLiteStatus status) override;
  void ReleasedTooOften(Subgraph* subgraph) override;
  void EnterInterpreter(const char* function) override;
  void NodeFreed(Subgraph* subgraph, int node, const TfLiteRegistration& registration,
                 const void* user_data) override;
  void HandleNotFreed(Subgraph* subgraph, int tensor) override;
  void HandleSet(const TfLiteDelegate* delegate, TfLiteBufferHandle handle) override;

 private:
  // State before a delegate's call, for comparison; absent for kernels on the CPU, for functions
  // that free something, and if no comparison is possible.
  struct Before {
    explicit Before(Subgraph* subgraph);
    SavedFields fields;
    GuardedContents contents;
    std::vector<Role> roles;
    std::vector<int> mode_depths;  // depth of delegate mode, per subgraph
  };

  // A call in progress.
  struct Call {
    explicit Call(const ForeignCall& call);
    // Sets `inner` and `flags` of the called delegate.
    void LookUpDelegate();
    bool IsDelegate(const TfLiteDelegate* other) const {
      return other == subject.delegate || other == inner;
    }

    ForeignCall subject;
    Subgraph* subgraph;
    // Pointer by which nodes and tensors refer to the delegate.
    const TfLiteDelegate* inner = nullptr;
    int64_t flags = 0;  // flags of the delegate
    Call* outer = nullptr;
    int depth = 0;
    std::thread::id thread;
    std::chrono::steady_clock::time_point begin;
    std::unique_ptr<Before> before;
    bool replace_failed = false;
    bool threw = false;
    TfLiteDelegate* replacing = nullptr;  // delegate of the nodes that are being created
  };

  // State of a delegate node.
  struct Kernel {
    const void* user_data = nullptr;
    bool prepared = false;
    const TfLiteDelegate* delegate = nullptr;
  };
  using NodeKey = std::pair<const Subgraph*, int>;

  void CheckEnd(Call* call, const CallResult& result, int64_t taken_ns);
  void TakeSnapshot(Call* call);
  bool CheckOrder(const Call& call);
  void CheckAfter(Call* call, TfLiteStatus status);
  void CheckInit(const Call& call, void* user_data);
  void CheckFields(Call* call);
  void CheckTensorChange(Call* call, const FieldChange& change);
  void CheckNodeChange(Call* call, const FieldChange& change);
  void CheckHandleChange(Call* call, const FieldChange& change);
  void CheckContents(Call* call, TfLiteStatus status);
  void CheckConstants(const Call& call);
  void CheckTemporaries(const Call& call);
  void CheckSubgraphsReleased(const Call& call);
  void CheckHandleFreed(const Call& call);
  void CheckClaim(Subgraph* subgraph, const TfLiteIntArray* nodes, const char* function);
  void CheckRegistration(const Call* call, const TfLiteRegistration& registration);
  bool IsOwnAddedTensor(const Call& call, int tensor) const;
  std::vector<Role> Roles(const Call& call) const;
  void MarkReplaced(const Call& call, int node, std::vector<Role>* roles) const;
  int ModelTensorCount(const Subgraph* subgraph) const;
  Call* Current() const;
  std::string NameOf(const Call& call) const;
  std::string Describe(const Call& call) const;

  // Records a finding; `call` may be null. The text names `tensor` unless it is negative.
  void Report(Rule rule, const Call* call, int tensor, const char* format, ...)
      __attribute__((format(printf, 5, 6)));
  void Add(const Finding& finding);

  InterpreterState* const interpreter_;
  const ValidationConfig config_;
  mutable std::mutex mutex_;  // guards findings_ and calls_ against calls from wrong threads
  std::deque<Finding> findings_;
  std::vector<std::unique_ptr<Call>> calls_;  // calls in progress, the innermost last
  // Number of calls in progress, including calls that could not be recorded for lack of memory.
  int depth_ = 0;
  std::map<NodeKey, Kernel> kernels_;
  std::map<const TfLiteDelegate*, std::string> names_;
  // Inner delegate that added a tensor, by subgraph and tensor index.
  std::map<const Subgraph*, std::map<int, const TfLiteDelegate*>> added_tensors_;
  std::map<const Subgraph*, ConstantSums> constants_;
  std::set<std::pair<const TfLiteDelegate*, TfLiteBufferHandle>> freed_handles_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_H_
