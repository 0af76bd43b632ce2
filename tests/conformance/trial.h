// SPDX-License-Identifier: Apache-2.0
//
// What cases of a delegate's life are written with: an interpreter on the delegate with one on the
// CPU beside it, which get the same inputs and have to agree; what the validation layer found; what
// the process holds.
//
// A case ends early by an exception, CaseFailed: it is a program of its own to whoever runs it.
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

// Ends the case unless `holds`.
void Demand(bool holds, const std::string& otherwise);

// What the validation layer has found, of all interpreters of a case. Any thread.
class Findings {
 public:
  // Of an interpreter's options; this object must outlive the interpreter.
  void Observe(TfLiteInterpreterOptions* options);
  // "", or the first errors against the contract.
  std::string errors() const;
  // "", or the first of what is suspicious or not portable.
  std::string remarks() const;

 private:
  void Add(const DeputyFinding& finding);

  mutable std::mutex mutex_;
  std::vector<std::string> errors_, remarks_;
};

// All that a case has.
class Scene {
 public:
  // `note` is told what the case does next, for the report of one that does not come back.
  Scene(PluginLibrary* library, const Subject* subject,
        std::function<void(const std::string&)> note)
      : library_(library), subject_(subject), note_(std::move(note)) {}

  PluginLibrary& library() { return *library_; }
  const Subject& subject() const { return *subject_; }  // of cases that have one
  Findings& findings() { return findings_; }
  void Note(const std::string& what) { note_(stage_ = what); }
  // A part of what was noted last.
  void NotePart(const std::string& what) const {
    note_(stage_.empty() ? what : stage_ + ": " + what);
  }
  // Ends the case if there is none.
  std::shared_ptr<TfLiteDelegate> CreateDelegate();

 private:
  PluginLibrary* const library_;
  const Subject* const subject_;
  const std::function<void(const std::string&)> note_;
  std::string stage_;
  Findings findings_;
};

enum class How {
  kObserved,      // under the validation layer
  kPlain,         // without, for what is measured
  kInTheOptions,  // observed; the delegate is one of the interpreter's options
  kHot,           // observed, under the policy Hot
};

// An interpreter with the delegate and one on the CPU. Each function does the same to both and ends
// the case if they differ.
class Pair {
 public:
  // The delegate is not applied yet, unless it is in the options; null: there is none at all.
  Pair(Scene* scene, std::span<const uint8_t> model, std::shared_ptr<TfLiteDelegate> delegate,
       How how = How::kObserved);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  TfLiteStatus TryApply();
  void Apply();
  void Resize(const std::vector<int>& dims);
  // "", or why the delegate's interpreter cannot be allocated; the CPU's always can.
  std::string TryAllocate();
  void Allocate();
  void Ready() {
    Apply();
    Allocate();
  }
  // One inference with random inputs; conditions are true for odd seeds.
  void Infer(uint32_t seed);
  // The outputs of the delegate's interpreter.
  std::vector<TensorValue> Outputs() const;
  // Nodes of the model that run in the delegate's kernels.
  int DelegatedNodes() const;
  // Deletes the model's handle, as clients may while its interpreters live.
  void DeleteModel() { model_.reset(); }

  TfLiteInterpreter* interpreter() const { return interpreter_.get(); }
  TfLiteInterpreter* cpu() const { return cpu_.get(); }
  TfLiteDelegate* delegate() const { return delegate_.get(); }
  const std::string& log() const { return log_; }

 private:
  using InterpreterOwner = std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)>;
  InterpreterOwner Create(TfLiteDelegate* in_options, How how, Findings* findings);
  void Compare() const;

  Scene* const scene_;  // null if it is not told of inferences
  int inferences_ = 0;
  std::string log_;
  const std::shared_ptr<TfLiteDelegate> delegate_;  // outlives the interpreter
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
  InterpreterOwner cpu_, interpreter_;
};

// Random contents for every input.
void FeedInputs(TfLiteInterpreter* interpreter, uint32_t seed);
std::vector<TensorValue> CopyOutputs(const TfLiteInterpreter* interpreter);

// What the process holds.
struct Usage {
  size_t heap_bytes = 0, resident_bytes = 0;
  size_t files = 0, threads = 0;
};
Usage MeasureUsage();

// Does `round` again and again, and ends the case if the process holds more after each part of the
// rounds than before it. `what` is the round in words: "an inference".
void DemandNoGrowth(Scene* scene, int rounds, const std::string& what,
                    const std::function<void()>& round);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_TRIAL_H_
