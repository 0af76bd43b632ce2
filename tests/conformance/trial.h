// SPDX-License-Identifier: Apache-2.0
//
// Support for the life cycle cases: a pair of interpreters, one with the delegate and one on the
// CPU, which receive the same inputs and must agree; the findings of the validation layer; the
// resources of the process.
//
// A case ends early by throwing CaseFailed; the caller runs each case in a process of its own.
#ifndef DEPUTY_TESTS_CONFORMANCE_TRIAL_H_
#define DEPUTY_TESTS_CONFORMANCE_TRIAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/conformance/plugin_library.h"
#include "tests/conformance/subject.h"

namespace deputy::conformance {

class CaseFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Fails the case with the message `otherwise` unless the condition holds.
void Demand(bool condition, const std::string& otherwise);

// Findings of the validation layer for all interpreters of a case. Thread-safe.
class Findings {
 public:
  // Adds the validation layer to the options of an interpreter; this object must outlive the
  // interpreter.
  void Observe(TfLiteInterpreterOptions* options);
  // Returns "" or the first contract violations.
  std::string errors() const;
  // Returns "" or the first findings that are suspicious or not portable.
  std::string remarks() const;

 private:
  void Add(const DeputyFinding& finding);

  mutable std::mutex mutex_;
  std::vector<std::string> errors_, remarks_;
};

// Context of a running case.
class CaseContext {
 public:
  // `note` is called with each action before it begins, for the report of a case that crashes or
  // hangs.
  CaseContext(PluginLibrary* library, const Subject* subject,
              std::function<void(const std::string&)> note)
      : library_(library), subject_(subject), note_(std::move(note)) {}

  PluginLibrary& library() { return *library_; }
  const Subject& subject() const { return *subject_; }  // only in cases on a subject
  Findings& findings() { return findings_; }
  void Note(const std::string& what) { note_(stage_ = what); }
  // Notes a part of the case's current stage.
  void NotePart(const std::string& what) const {
    note_(stage_.empty() ? what : stage_ + ": " + what);
  }
  // Creates a delegate; fails the case if the library returns none.
  std::shared_ptr<TfLiteDelegate> CreateDelegate();

 private:
  PluginLibrary* const library_;
  const Subject* const subject_;
  const std::function<void(const std::string&)> note_;
  std::string stage_;
  Findings findings_;
};

enum class Mode {
  kValidated,          // with the validation layer
  kPlain,              // without the validation layer, for measurements
  kDelegateInOptions,  // with the validation layer; the delegate is in the options
  kHot,                // with the validation layer and the policy Hot
};

// An interpreter with the delegate and one on the CPU, which receive the same resizes, allocations
// and inputs. Infer fails the case if their outputs differ.
class Pair {
 public:
  // The delegate is not applied yet, except with kDelegateInOptions. If `delegate` is null, both
  // interpreters run on the CPU.
  Pair(CaseContext* context, std::span<const uint8_t> model,
       std::shared_ptr<TfLiteDelegate> delegate, Mode mode = Mode::kValidated);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  TfLiteStatus TryApply();
  void Apply();
  void Resize(const std::vector<int>& dims);
  // Allocates both interpreters. Returns the reason why the delegate's cannot be allocated, or "";
  // the CPU's must always succeed.
  std::string TryAllocate();
  void Allocate();
  void Ready() {
    Apply();
    Allocate();
  }
  // Runs one inference with random inputs; boolean conditions are true for odd seeds.
  void Infer(uint32_t seed);
  // Returns the outputs of the delegate's interpreter.
  std::vector<TensorValue> Outputs() const;
  // Returns the number of the model's nodes that run in the delegate's kernels.
  int DelegatedNodes() const;
  // Deletes the model's handle, which clients may do while interpreters exist.
  void DeleteModel() { model_.reset(); }

  TfLiteInterpreter* interpreter() const { return interpreter_.get(); }
  TfLiteInterpreter* cpu() const { return cpu_.get(); }
  TfLiteDelegate* delegate() const { return delegate_.get(); }
  const std::string& log() const { return log_; }

 private:
  using InterpreterOwner = std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)>;
  InterpreterOwner Create(TfLiteDelegate* in_options, Mode mode, Findings* findings);
  void Compare() const;

  CaseContext* const context_;  // receives notes of inferences; may be null
  int inferences_ = 0;
  std::string log_;
  const std::shared_ptr<TfLiteDelegate> delegate_;  // must outlive the interpreter
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
  InterpreterOwner cpu_, interpreter_;
};

// Fills every input with random contents.
void FeedInputs(TfLiteInterpreter* interpreter, uint32_t seed);
std::vector<TensorValue> CopyOutputs(const TfLiteInterpreter* interpreter);

// Resources that the process holds.
struct Usage {
  size_t heap_bytes = 0, resident_bytes = 0;
  size_t files = 0, threads = 0;
};
Usage MeasureUsage();

// Calls `round` repeatedly and fails the case if the process holds more after each part of the
// rounds than before. `what` describes a round: "an inference".
void DemandNoGrowth(CaseContext* context, int rounds, const std::string& what,
                    const std::function<void()>& round);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TRIAL_H_
