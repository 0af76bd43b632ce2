// SPDX-License-Identifier: Apache-2.0
//
// A model opened for the `deputy` command, through the public C API only. Everything the library
// reports is collected here, so that a failure is one line on standard error.
#ifndef DEPUTY_TOOLS_SESSION_H_
#define DEPUTY_TOOLS_SESSION_H_

#include <climits>
#include <cstdarg>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delegate_option.h"
#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "findings.h"
#include "missing.h"
#include "model_file.h"
#include "provide.h"

namespace deputy::tools {

struct SessionOptions {
  std::string model;
  int threads = 1;
  bool reference = false;                  // bit-exact integer arithmetic
  std::string precision;                   // "float32" or "bf16"; "" is what DEPUTY_PRECISION says
  std::vector<std::string> shapes;         // "NAME=1,224,224,3"
  std::vector<DelegateRequest> delegates;  // in the order of application
  // Options that are set where a delegate declares them, beside num_threads.
  DelegateSettings delegate_settings;
  PartitionLimits limits;
  // "tflite" or "hot"; "" is what DEPUTY_DELEGATE_POLICY says, and without it "hot".
  std::string policy;
  // Delegates' results are compared with the CPU's: "first", "always", or N for every N-th run of a
  // partition; "": never.
  std::string verify;
  // Who may run what, see placement_option.h.
  std::vector<std::string> pins, excludes;
  // Nodes of other numbers are kept from delegates, in every subgraph.
  int first_delegate_node = 0, last_delegate_node = INT_MAX;
  // The signature whose subgraph runs, with its inputs and outputs; "": the first subgraph.
  std::string signature;
  // False: delegates are created, and left to the caller.
  bool apply_delegates = true;
  // The model is shown even if a delegate cannot be applied.
  bool failed_delegates_are_fine = false;
  // Likewise if operators have no kernel: they get stand-ins, see missing.h.
  bool missing_operators_are_fine = false;
  // Delegates are watched by the validation layer; DEPUTY_VALIDATION=1 says so as well.
  bool validate = false;
};

// For delegates that declare an option for the number of threads.
DelegateSettings WithThreads(DelegateSettings settings, int threads);

class Session {
 public:
  // Loads the model, applies the shapes and the delegates and allocates. Ends the command with
  // kExitUsage when a file cannot be read or a shape names no input, with kExitFailed when the
  // model is refused, or a delegate under the policy TFLite.
  explicit Session(const SessionOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  TfLiteInterpreter* interpreter() const { return interpreter_.get(); }
  const TfLiteModel* model() const { return model_->get(); }
  double load_ms() const { return load_ms_; }
  double prepare_ms() const { return prepare_ms_; }

  int input_count() const;
  int output_count() const;
  TfLiteTensor* input(int index) const;
  const TfLiteTensor* output(int index) const;
  // An input by tensor name, by its name in a signature, or by number.
  int FindInput(const std::string& name) const;

  // Those that are here.
  const std::vector<LoadedDelegate>& delegates() const { return delegates_; }
  // Those that were asked for and are not: what asked for each, and why. Each has cost a warning.
  const std::vector<std::pair<std::string, std::string>>& absent() const { return absent_; }
  DeputyDelegationStatus delegation_status() const;
  // What bfloat16 came to, "bf16 in 36 nodes"; "" where nobody has allowed it.
  std::string PrecisionText() const;
  // Operators without a kernel, where those are fine.
  const std::vector<MissingOperator>& missing() const { return missing_; }
  // Ends the command with kExitFailed if nodes of them are left for the CPU. Once, at the end.
  void FailIfMissing() const;

  // Why delegates did not do all that was expected of them; "" if they did. An absent delegate, one
  // that could not be applied, that took no node, or that failed at a node counts.
  std::string Shortfall() const;
  // One line on standard error if delegates failed and the CPU stood in for them, and one that says
  // who ran the model if delegates were not here. Once, at the end.
  void WarnIfDegraded() const;

  // Whether the validation layer is on.
  bool validates() const { return validates_; }
  // Deletes the interpreter, while which delegates may break rules as well, and returns how many
  // findings there were. The session and its profile must not be used any more.
  size_t Close();
  // Where results were verified, one line on standard error that says what it cost. Ends the
  // command with kExitFailed if a delegate was wrong. Once, behind all output.
  void ReportVerification() const;

  // Runs the model and returns the milliseconds it took; ends the command with kExitFailed when it
  // fails.
  double Invoke();

 private:
  static void Collect(void* session, const char* format, va_list args);
  [[noreturn]] void Refuse(const char* what) const;
  void Resize(const std::string& assignment);
  void KeepFromDelegates(int first, int last, TfLiteInterpreterOptions* settings) const;
  void TakeSignature(const std::string& key);
  TfLiteStatus Allocate();
  void LoadDelegates(const SessionOptions& options);
  void SetVerification(const std::string& verify, TfLiteInterpreterOptions* settings);
  void ApplyDelegates(const SessionOptions& options);
  void SayWhoRan() const;
  // Shortfall of the interpreter's delegate of that index.
  std::string ShortfallOf(int index) const;

  std::string path_;
  std::string report_;  // the first one since the last call: later ones are its consequences
  double load_ms_ = 0, prepare_ms_ = 0;
  const bool validates_;
  const bool allows_bf16_;
  bool verifies_ = false;
  Findings findings_{&report_};            // outlive the interpreter, as do
  std::vector<LoadedDelegate> delegates_;  // these
  std::vector<std::pair<std::string, std::string>> absent_;
  std::unique_ptr<ModelFile> model_;
  std::vector<MissingOperator> missing_;  // the interpreter borrows their names
  std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter_;
  // Of the signature that runs; null: the first subgraph does.
  std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> runner_{
      nullptr, &TfLiteSignatureRunnerDelete};
};

// Whether the CPU multiplies in bfloat16 there.
bool IsBf16(const DeputyNodeRun& run);

// Milliseconds since `start`, a value of NowMs().
double NowMs();

// `fraction` 0.5 is the median. Sorts `times`, which must not be empty.
double Percentile(std::vector<double>* times, double fraction);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_SESSION_H_
