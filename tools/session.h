// SPDX-License-Identifier: Apache-2.0
//
// A model opened for the `deputy` command, through the public C API only. Collects the library's
// error reports, so that a failure prints one line on standard error.
#ifndef DEPUTY_TOOLS_SESSION_H_
#define DEPUTY_TOOLS_SESSION_H_

#include <climits>
#include <cstdarg>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delegate_option.h"
#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "findings.h"
#include "json.h"
#include "measured_placement.h"
#include "missing.h"
#include "model_file.h"
#include "provide.h"
#include "temporary_directory.h"

namespace deputy::tools {

class Session;

struct SessionOptions {
  std::string model;
  int threads = 1;
  bool reference = false;      // bit-exact integer arithmetic
  std::string precision;       // "float32", "bf16" or "fp16"; "": DEPUTY_PRECISION
  std::string precision_plan;  // file of `deputy precision`; "": none
  std::vector<std::pair<int, DeputyPrecision>> node_precisions;  // of nodes of the first subgraph
  std::vector<std::string> shapes;                               // "NAME=1,224,224,3"
  std::vector<DelegateRequest> delegates;                        // in the order of application
  // Name of the policy that chooses a device, and its result (device_choice.h); "" and null: none.
  std::string device_policy;
  Json device_choice;
  // Options to set in addition to num_threads, if a delegate declares them.
  DelegateSettings delegate_settings;
  PartitionLimits limits;
  // "tflite" or "hot"; "": the value of DEPUTY_DELEGATE_POLICY, by default "hot".
  std::string policy;
  // Check of delegates' results against the CPU's: "first", "always", or N for every N-th run of a
  // partition; "": never.
  std::string verify;
  // Restrictions on which delegate may run which nodes, see placement_option.h.
  std::vector<std::string> pins, excludes;
  // Range of nodes that delegates may claim, in every subgraph.
  int first_delegate_node = 0, last_delegate_node = INT_MAX;
  // Key of the signature to run, which selects subgraph, inputs and outputs; "": the first
  // subgraph.
  std::string signature;
  // True to prepare the delegates on another thread while the CPU runs the model.
  bool background = false;
  // With `background`: true to wait for them before the session is used.
  bool waits_for_background = false;
  // Directory in which each delegate gets a directory for its option cache_dir; "": none.
  std::string cache_root;
  // File with packed constants; "": none.
  std::string weight_cache;
  // Measured placement of nodes, instead of the delegates' order.
  PlaceOptions place;
  // False if delegates are only created, and the caller applies them.
  bool apply_delegates = true;
  // True to open the session even if a delegate cannot be applied.
  bool failed_delegates_are_fine = false;
  // True to open the session even if operators have no kernel; they get placeholders (missing.h).
  bool missing_operators_are_fine = false;
  // True to enable the validation layer, as DEPUTY_VALIDATION=1 does.
  bool validate = false;
  // Open session of the same options whose model is shared, and which must outlive this one; null:
  // the file is loaded.
  const Session* shares_model_of = nullptr;
};

// Adds the number of threads to the settings, for delegates that declare such an option.
DelegateSettings WithThreads(DelegateSettings settings, int threads);

class Session {
 public:
  // Loads the model, applies the shapes and the delegates and allocates. Ends the command with
  // kExitUsage if an option is invalid, a file cannot be read or the model lacks the named input,
  // signature or node, and with kExitFailed if the model, a shape or, under the policy TFLite, a
  // delegate is rejected.
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
  // Returns the index of an input, found by tensor name, by name in a signature, or by number.
  int FindInput(const std::string& name) const;

  // Returns the delegates that are available.
  const std::vector<LoadedDelegate>& delegates() const { return delegates_; }
  // Returns the requested delegates that are not available, with option and reason. A warning has
  // been printed for each.
  const std::vector<std::pair<std::string, std::string>>& absent() const { return absent_; }
  // Returns the description of the measured placement (measured_placement.h); null: none.
  const Json& placement() const { return placement_; }
  // Returns false if the measured placement gives no node to the delegate.
  bool uses_delegate(size_t index) const {
    return placement_.is_null() || placement_["used"][index].get<bool>();
  }
  DeputyDelegationStatus delegation_status() const;
  // Prepares delegates on another thread. Ends the command with kExitFailed if the library refuses.
  void ApplyInBackground(const std::vector<TfLiteDelegate*>& delegates);
  // Waits until delegates in the background are ready or have failed.
  void WaitForBackground() const;
  DeputyBackgroundStatus background_status() const;
  // Describes the delegates in the background; "" if there are none.
  std::string BackgroundText() const;
  // Describes the use of the weight cache, for example "usable: 66 values reused, 0 packed, 14 MB
  // mapped"; "" if there is none.
  std::string WeightCacheText() const;
  // Describes the effect of bf16 or fp16, for example "bf16 in 36 nodes"; "" for float32.
  std::string PrecisionText() const;
  // Returns the operators without a kernel, if missing_operators_are_fine is set.
  const std::vector<MissingOperator>& missing() const { return missing_; }
  // Ends the command with kExitFailed if nodes of operators without a kernel are left for the CPU.
  // Call it once, at the end.
  void FailIfMissing() const;

  // Returns the reason why delegates did less than requested; "" if they did everything. Reasons
  // are a delegate that is absent, could not be applied, claimed no node, or failed at a node.
  std::string Shortfall() const;
  // Prints one line on standard error if delegates failed and the CPU replaced them, one that names
  // the engines that ran the model if delegates were absent, and one about delegates in the
  // background, for which it waits. Call it once, at the end.
  void WarnIfDegraded() const;

  // Returns true if the validation layer is enabled.
  bool validates() const { return validates_; }
  // Deletes the interpreter, during which delegates may still break rules, and returns the number
  // of findings. The session and its profile must not be used afterwards.
  size_t Close();
  // If results were verified, prints one line on standard error with the cost. Ends the command
  // with kExitFailed if a delegate's result was wrong. Call it once, after all output.
  void ReportVerification() const;

  // Runs the model and returns the duration in milliseconds; ends the command with kExitFailed on
  // failure.
  double Invoke();

 private:
  static void Collect(void* session, const char* format, va_list args);
  [[noreturn]] void Refuse(const char* what) const;
  void Resize(const std::string& assignment);
  // Sets the precisions of single nodes. Ends the command with kExitUsage if the plan is invalid.
  void SetNodePrecisions(const SessionOptions& options, TfLiteInterpreterOptions* settings);
  void ExcludeFromDelegation(int first, int last, TfLiteInterpreterOptions* settings) const;
  void SelectSignature(const std::string& key);
  TfLiteStatus Allocate();
  void LoadDelegates(const SessionOptions& options);
  // Unpacks the delegates' files of a compiled model to a temporary directory. Returns its path, or
  // "" if there are no delegates or the model is not compiled.
  std::string Unpack(const SessionOptions& options);
  void Place(const SessionOptions& options, TfLiteInterpreterOptions* settings);
  void SetVerification(const std::string& verify, TfLiteInterpreterOptions* settings);
  void ApplyDelegates(const SessionOptions& options);
  void PrintSummary() const;
  // Returns the reason why one delegate of the interpreter did less than requested; "" if it did
  // everything.
  std::string ShortfallOf(int index) const;

  std::string path_;
  std::string report_;  // the first report since the last call; later ones are its consequences
  double load_ms_ = 0, prepare_ms_ = 0;
  const bool validates_;
  const std::string precision_;  // "float32", "bf16" or "fp16"
  const bool has_plan_;          // true if nodes have precisions of their own
  bool verifies_ = false;
  Findings findings_{&report_};            // must outlive the interpreter
  std::vector<LoadedDelegate> delegates_;  // must outlive the interpreter
  std::vector<std::pair<std::string, std::string>> absent_;
  // Directory with the delegates' files of a compiled model.
  std::unique_ptr<TemporaryDirectory> unpacked_;
  Json placement_;
  bool uses_weight_cache_ = false;
  std::shared_ptr<ModelFile> model_;
  std::vector<MissingOperator> missing_;  // the interpreter borrows their names
  std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter_;
  // Runner of the selected signature; null if the first subgraph runs.
  std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> runner_{
      nullptr, &TfLiteSignatureRunnerDelete};
};

// Return the precision of a node's products on the CPU, "bf16" or "fp16", or "" for any other. The
// first argument is DeputyNodeRun::implementation.
std::string_view ReducedPrecision(std::string_view implementation);
std::string_view ReducedPrecision(const DeputyNodeRun& run);

// Returns the time of a steady clock in milliseconds.
double NowMs();

// Returns a percentile; `fraction` 0.5 is the median. Sorts `times`, which must not be empty.
double Percentile(std::vector<double>* times, double fraction);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_SESSION_H_
