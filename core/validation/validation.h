// SPDX-License-Identifier: Apache-2.0
//
// The validation layer: watches delegates at work and tells where they break the contract. One per
// interpreter, and only where it was asked for: every place that consults it tests a pointer and is
// done when there is none. It changes no status and no result.
//
// Each call into foreign code is wrapped in a Validation::Call. What it must not touch is copied
// when it begins and compared when it ends; in between, the functions of the context say what they
// are asked and which changes are the runtime's own.
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
#include "core/validation/validation_contents.h"
#include "core/validation/validation_fields.h"
#include "core/validation/validation_rules.h"

namespace deputy {

class Interpreter;
class Subgraph;

// One way in which a delegate breaks a rule, however often it does so.
struct Finding {
  Rule rule;
  std::string text;  // rule, delegate, call, and what happened
  int subgraph = -1;
  int node = -1;
  int tensor = -1;
  const TfLiteDelegate* delegate = nullptr;
  std::string delegate_name;
  int64_t count = 1;
};

struct ValidationConfig {
  bool enabled = false;
  int64_t invoke_budget_ns = 0;  // 0: none
  // Hears of every finding when it is made first.
  std::function<void(const Finding&)> on_finding;
};

// What foreign code is called for.
enum class Callback {
  kSupport,  // a plug-in's get_support
  kDelegatePrepare,
  kInit,
  kPrepare,
  kInvoke,
  kFree,
  kCopyFrom,
  kFreeHandle,
};

class Validation {
 public:
  Validation(Interpreter* interpreter, const ValidationConfig& config);
  ~Validation();
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;

  size_t finding_count() const { return findings_.size(); }
  const Finding& finding(size_t index) const { return findings_[index]; }

  // ---- Calls into foreign code -----------------------------------------------------------------
  // Who is called for what.
  struct Subject {
    Callback callback;
    Subgraph* subgraph;
    int node = -1;                       // of kernels
    TfLiteDelegate* delegate = nullptr;  // null: a kernel on the CPU, or not known yet
    int tensor = -1;                     // of buffer handles
  };

  // Nothing happens without a layer. Calls nest like the C++ scopes they live in.
  class Call {
   public:
    Call(Validation* layer, const Subject& subject) : layer_(layer), subject_(subject) {
      if (layer_ != nullptr) layer_->Begin(this);
    }
    ~Call() {
      if (layer_ != nullptr) layer_->Leave(this);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // To be called at once when the callback has returned.
    void Returned(TfLiteStatus status) {
      if (layer_ != nullptr) layer_->End(this, status, nullptr);
    }
    void InitReturned(void* user_data) {
      if (layer_ != nullptr) layer_->End(this, kTfLiteOk, user_data);
    }

   private:
    friend class Validation;
    // What a delegate's call is held against; absent for kernels on the CPU.
    struct Before {
      explicit Before(Subgraph* subgraph) : fields(subgraph), contents(subgraph) {}
      GraphFields fields;
      GuardedContents contents;
      std::vector<Role> roles;
      std::vector<int> mode_depths;  // per subgraph
    };

    Validation* const layer_;
    Subject subject_;
    Call* outer_ = nullptr;
    std::thread::id thread_;
    std::chrono::steady_clock::time_point begin_;
    std::unique_ptr<Before> before_;
    bool replace_failed_ = false;
    bool threw_ = false;
    TfLiteDelegate* replacing_ = nullptr;  // who the nodes being made are for
  };

  // ---- The functions of the context ------------------------------------------------------------
  // Some context function is called. False when the call itself is wrong, so that nothing else can
  // be said about it.
  bool EnterFunction(Subgraph* subgraph, const char* function);
  void ForbiddenFunction(Subgraph* subgraph, const char* function);
  void BeforeResize(Subgraph* subgraph, const TfLiteTensor* tensor, const TfLiteIntArray* dims);
  void AfterResize(Subgraph* subgraph, const TfLiteTensor* tensor);
  void BeforeAddTensors(Subgraph* subgraph, int count);
  void AfterAddTensors(Subgraph* subgraph, int first);
  void CheckNodeIndex(Subgraph* subgraph, int node, const char* function);
  void CheckTensorIndex(Subgraph* subgraph, int tensor, const char* function);
  void CheckSubgraphIndex(Subgraph* subgraph, int index, const char* function);
  void BeforePreview(Subgraph* subgraph, const TfLiteIntArray* nodes);
  void BeforeReplace(Subgraph* subgraph, const TfLiteRegistration& registration,
                     const TfLiteIntArray* nodes, TfLiteDelegate* delegate);
  void AfterReplace(Subgraph* subgraph, TfLiteStatus status);

  // ---- Other events ----------------------------------------------------------------------------
  void Exception(const char* what);
  void ReleasedTooOften(Subgraph* subgraph);
  // A function of the interpreter is called; wrong while foreign code runs.
  void EnterInterpreter(const char* function);
  // A node is gone; its kernel's free has been called if it has one.
  void NodeFreed(Subgraph* subgraph, int node, const TfLiteRegistration& registration,
                 const void* user_data);
  // A handle has no function that could free it.
  void HandleNotFreed(Subgraph* subgraph, int tensor);
  // A handle is in use from here on.
  void HandleSet(const TfLiteDelegate* delegate, TfLiteBufferHandle handle);

 private:
  friend class Call;
  // What is known of a delegate's node.
  struct Kernel {
    const void* user_data = nullptr;
    bool prepared = false;
    const TfLiteDelegate* delegate = nullptr;
  };
  using NodeKey = std::pair<const Subgraph*, int>;

  void Begin(Call* call);
  void End(Call* call, TfLiteStatus status, void* user_data);
  void Leave(Call* call);
  void TakeBefore(Call* call);
  bool CheckOrder(const Call& call);
  void CheckAfter(Call* call, TfLiteStatus status);
  void CheckInit(const Call& call, void* user_data);
  void CheckFields(Call* call);
  void JudgeTensor(Call* call, const FieldChange& change);
  void JudgeNode(Call* call, const FieldChange& change);
  void JudgeHandle(Call* call, const FieldChange& change);
  void CheckContents(Call* call, TfLiteStatus status);
  void CheckConstants(const Call& call);
  void CheckTemporaries(const Call& call);
  void CheckSubgraphsReleased(const Call& call);
  void CheckHandleFreed(const Call& call);
  void CheckClaim(Subgraph* subgraph, const TfLiteIntArray* nodes, const char* function);
  bool IsSelf(const Call& call, const TfLiteDelegate* delegate) const;
  bool IsOwnAddedTensor(const Call& call, int tensor) const;
  std::vector<Role> Roles(const Call& call) const;
  void MarkReplaced(const Call& call, int node, std::vector<Role>* roles) const;
  int ModelTensorCount(const Subgraph* subgraph) const;
  Call* Current() const;
  std::string NameOf(const TfLiteDelegate* delegate) const;
  std::string Describe(const Call& call) const;

  // Makes a finding; `call` may be null. `tensor` is named in the text when it is one.
  void Report(Rule rule, const Call* call, int tensor, const char* format, ...)
      __attribute__((format(printf, 5, 6)));
  void Add(const Finding& finding);

  Interpreter* const interpreter_;
  const ValidationConfig config_;
  mutable std::mutex
      mutex_;  // findings and the innermost call, for threads that should not be here
  std::deque<Finding> findings_;
  Call* current_ = nullptr;
  std::map<NodeKey, Kernel> kernels_;
  std::map<const TfLiteDelegate*, std::string> names_;
  std::map<const Subgraph*, std::map<int, const TfLiteDelegate*>> added_tensors_;  // by whom
  std::map<const Subgraph*, ConstantSums> constants_;
  std::set<std::pair<const TfLiteDelegate*, TfLiteBufferHandle>> freed_handles_;
};

// The layer behind one of our contexts, or null.
Validation* ValidationOf(const TfLiteContext* context);

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_H_
