// SPDX-License-Identifier: Apache-2.0
//
// Opens a model with delegates, runs it, and reports what the delegates did.
#include "session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "core/support/compiled_model.h"
#include "deputy/c_api_experimental.h"
#include "deputy/deputy_compiled.h"
#include "deputy/deputy_precision.h"
#include "placement_option.h"
#include "tensor_data.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {

DelegateSettings WithThreads(DelegateSettings settings, int threads) {
  settings.emplace_back("num_threads", std::to_string(threads));
  return settings;
}

static std::string PrecisionOf(const SessionOptions& options) {
  if (!options.precision.empty()) return options.precision;
  const char* const value = std::getenv("DEPUTY_PRECISION");
  const std::string name = value == nullptr ? "" : value;
  return name == "bf16" || name == "fp16" ? name : "float32";
}

static DeputyPrecision PrecisionNamed(const std::string& name) {
  if (name == "fp16") return kDeputyPrecisionFloat16;
  return name == "bf16" ? kDeputyPrecisionBfloat16 : kDeputyPrecisionFloat32;
}

std::string_view ReducedPrecision(std::string_view implementation) {
  for (const std::string_view name : {"bf16", "fp16"}) {
    if (implementation.ends_with(name)) return name;
  }
  return "";
}

std::string_view ReducedPrecision(const DeputyNodeRun& run) {
  return ReducedPrecision(
      std::string_view(run.implementation == nullptr ? "" : run.implementation));
}

Session::Session(const SessionOptions& options)
    : path_(options.model),
      validates_(options.validate || ValidationIsInEnvironment()),
      precision_(PrecisionOf(options)),
      has_plan_(!options.precision_plan.empty()),
      interpreter_(nullptr, &TfLiteInterpreterDelete) {
  if (path_.empty()) FailUsage("no model given (see 'deputy --help')");
  CheckReadable(path_);
  LoadDelegates(options);
  double start = NowMs();
  // Nodes of a .ms file that cannot be mapped are refused at once if no delegate may claim them.
  const bool keeps = !delegates_.empty() || options.missing_operators_are_fine;
  if (options.shares_model_of != nullptr) {
    model_ = options.shares_model_of->model_;
  } else {
    model_ = std::make_shared<ModelFile>(path_, keeps ? ms::Unmapped::kKeep : ms::Unmapped::kRefuse,
                                         &Collect, this);
  }
  if (model() == nullptr) Refuse("is not a usable model");
  const std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)> settings(
      TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete);
  TfLiteInterpreterOptionsSetNumThreads(settings.get(), options.threads);
  TfLiteInterpreterOptionsSetErrorReporter(settings.get(), &Collect, this);
  if (options.reference) {
    DeputyInterpreterOptionsSetArithmetic(settings.get(), kDeputyArithmeticReference);
  }
  if (!options.precision.empty()) {
    DeputyInterpreterOptionsSetPrecision(settings.get(), PrecisionNamed(precision_));
  }
  SetNodePrecisions(options, settings.get());
  if (!options.weight_cache.empty()) {
    uses_weight_cache_ = true;
    DeputyInterpreterOptionsSetWeightCache(settings.get(), options.weight_cache.c_str());
  }
  if (!options.policy.empty() || std::getenv("DEPUTY_DELEGATE_POLICY") == nullptr) {
    DeputyInterpreterOptionsSetDelegatePolicy(
        settings.get(), options.policy == "tflite" ? kDeputyPolicyTfLite : kDeputyPolicyHot);
  }
  if (validates_) findings_.Watch(settings.get());
  SetVerification(options.verify, settings.get());
  for (const std::string& pin : options.pins) AddPin(pin, delegates_, settings.get());
  for (const std::string& each : options.excludes) AddExclusion(each, settings.get());
  if (options.missing_operators_are_fine) {
    missing_ = MissingOperators(model());
    AddPlaceholders(missing_, settings.get());
  }
  ExcludeFromDelegation(options.first_delegate_node, options.last_delegate_node, settings.get());
  if (options.place.requested) Place(options, settings.get());
  interpreter_.reset(TfLiteInterpreterCreate(model(), settings.get()));
  if (interpreter_ == nullptr) Refuse("cannot be run");
  CheckSelectors(options.pins, options.excludes, interpreter_.get());
  if (!options.signature.empty()) SelectSignature(options.signature);
  load_ms_ = NowMs() - start;
  for (const std::string& shape : options.shapes) Resize(shape);
  start = NowMs();
  if (options.apply_delegates) ApplyDelegates(options);
  // The nodes after a placeholder may reject the shape in the file; the known part of the model is
  // shown nevertheless.
  if (Allocate() != kTfLiteOk && missing_.empty()) Refuse("cannot be prepared");
  prepare_ms_ = NowMs() - start;
  if (options.waits_for_background) WaitForBackground();
  report_.clear();
}

void Session::SetNodePrecisions(const SessionOptions& options, TfLiteInterpreterOptions* settings) {
  for (const auto& [node, precision] : options.node_precisions) {
    DeputyInterpreterOptionsSetNodePrecision(settings, 0, node, precision);
  }
  if (options.precision_plan.empty()) return;
  CheckReadable(options.precision_plan);
  if (DeputyInterpreterOptionsSetPrecisionPlan(settings, model(), options.precision_plan.c_str()) !=
      kTfLiteOk) {
    FailUsage("%s", OneLine(report_).c_str());
  }
}

// Returns the owner of a delegate's files in a compiled model.
static std::string OwnerOf(const DelegateRequest& request) {
  return OwnerOfLibrary(request.path.empty() ? request.provider : request.path);
}

std::string Session::Unpack(const SessionOptions& options) {
  if (options.delegates.empty() || !IsCompiledModel(path_)) return "";
  unpacked_ = std::make_unique<TemporaryDirectory>();
  const QuietReports quiet;
  for (const DelegateRequest& request : options.delegates) {
    const std::string owner = OwnerOf(request);
    if (owner == "litert") continue;  // its programs are in the model
    if (DeputyCompiledModelUnpack(path_.c_str(), owner.c_str(),
                                  (unpacked_->path() + "/" + owner).c_str()) != kTfLiteOk) {
      std::fprintf(stderr, "deputy: warning: %s\n", OneLine(DeputyLastError()).c_str());
    }
  }
  return unpacked_->path();
}

void Session::LoadDelegates(const SessionOptions& options) {
  DelegateSettings settings = WithThreads(options.delegate_settings, options.threads);
  const DelegateSettings limits = SettingsOf(options.limits);
  settings.insert(settings.end(), limits.begin(), limits.end());
  std::set<std::string> declared;
  const std::string root = options.cache_root.empty() ? Unpack(options) : options.cache_root;
  for (DelegateRequest request : options.delegates) {
    request.settings = settings;
    if (!root.empty()) request.settings.emplace_back("cache_dir", root + "/" + OwnerOf(request));
    LoadedDelegate loaded = Provide(request);
    declared.insert(loaded.declared.begin(), loaded.declared.end());
    if (loaded.handle != nullptr) {
      delegates_.push_back(std::move(loaded));
      continue;
    }
    const std::string flag = FlagOf(request);
    if (!options.pins.empty()) {
      FailUsage("--pin selects delegates by number, but %s is not available: %s", flag.c_str(),
                loaded.problem.c_str());
    }
    WarnOfAbsence(flag, loaded.problem);
    absent_.emplace_back(flag, loaded.problem);
  }
  if (!options.delegates.empty()) WarnOfIgnoredLimits(options.limits, declared);
}

void Session::Place(const SessionOptions& options, TfLiteInterpreterOptions* settings) {
  const bool is_restricted = !options.pins.empty() || !options.excludes.empty() ||
                             options.first_delegate_node > 0 ||
                             options.last_delegate_node < INT_MAX;
  if (is_restricted || options.background || !options.shapes.empty() ||
      !options.signature.empty()) {
    FailUsage(
        "--place excludes --pin, --exclude, --background, --shape, --signature and ranges of "
        "nodes");
  }
  std::vector<TfLiteDelegate*> delegates = options.place.delegates;
  for (const LoadedDelegate& loaded : delegates_) delegates.push_back(loaded.handle.get());
  placement_ = PlaceByTimes(model(), delegates, options.place, settings);
  if (placement_.is_null()) Refuse("cannot be placed by measured times");
}

void Session::ApplyInBackground(const std::vector<TfLiteDelegate*>& delegates) {
  if (delegates.empty()) return;
  const TfLiteStatus status = DeputyInterpreterApplyInBackground(
      interpreter_.get(), delegates.data(), delegates.size(), nullptr);
  if (status != kTfLiteOk) Refuse("cannot be delegated in the background");
}

void Session::WaitForBackground() const {
  DeputyInterpreterWaitForBackground(interpreter_.get(), -1);
}

DeputyBackgroundStatus Session::background_status() const {
  DeputyBackgroundStatus status = {};
  status.struct_size = sizeof(status);
  DeputyInterpreterGetBackgroundStatus(interpreter_.get(), &status);
  return status;
}

std::string Session::BackgroundText() const {
  const DeputyBackgroundStatus status = background_status();
  const int64_t inferences = status.cpu_inferences + status.delegate_inferences;
  switch (status.state) {
    case kDeputyBackgroundNone:
      return "";
    case kDeputyBackgroundActive:
      return Format("ready after %.1f ms, delegates ran %lld of %s",
                    static_cast<double>(status.prepare_ns) / 1e6,
                    static_cast<long long>(status.delegate_inferences),
                    PluralText(static_cast<size_t>(inferences), "inference", "inferences").c_str());
    case kDeputyBackgroundFailed:
    case kDeputyBackgroundTimedOut:
      return std::string("failed, the CPU runs the model: ") + status.failure;
    default:
      return Format("not ready yet, the CPU ran %s",
                    PluralText(static_cast<size_t>(inferences), "inference", "inferences").c_str());
  }
}

void Session::ApplyDelegates(const SessionOptions& options) {
  if (options.background) {
    std::vector<TfLiteDelegate*> handles;
    for (const LoadedDelegate& loaded : delegates_) handles.push_back(loaded.handle.get());
    return ApplyInBackground(handles);
  }
  for (size_t i = 0; i < delegates_.size(); ++i) {
    if (!uses_delegate(i)) continue;
    const TfLiteStatus status =
        TfLiteInterpreterModifyGraphWithDelegate(interpreter_.get(), delegates_[i].handle.get());
    const bool fine = status == kTfLiteOk || options.failed_delegates_are_fine ||
                      delegation_status().policy == kDeputyPolicyHot;
    if (!fine) Refuse(Format("cannot be delegated to delegate %zu", i + 1).c_str());
    report_.clear();
  }
}

DeputyDelegationStatus Session::delegation_status() const {
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof(status);
  DeputyInterpreterGetDelegationStatus(interpreter_.get(), &status);
  return status;
}

std::string Session::WeightCacheText() const {
  if (!uses_weight_cache_) return "";
  static const std::map<DeputyWeightCacheState, const char*> kStates = {
      {kDeputyWeightCacheUsable, "usable"},
      {kDeputyWeightCacheAbsent, "absent"},
      {kDeputyWeightCacheDamaged, "damaged"},
      {kDeputyWeightCacheOtherBuild, "of another build or CPU"},
      {kDeputyWeightCacheOtherModel, "of another model"}};
  DeputyWeightCache cache = {};
  cache.struct_size = sizeof cache;
  DeputyInterpreterGetWeightCache(interpreter_.get(), &cache);
  return Format("%s: %lld values reused, %lld packed, %s mapped", kStates.at(cache.state),
                static_cast<long long>(cache.reused), static_cast<long long>(cache.packed),
                BytesText(cache.mapped_bytes).c_str());
}

std::string Session::PrecisionText() const {
  if (precision_ == "float32" && !has_plan_) return "";
  std::map<std::string_view, size_t> nodes;
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter_.get()); ++s) {
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter_.get(), s); ++n) {
      DeputyNodeRun run = {};
      run.struct_size = sizeof(run);
      DeputyInterpreterGetNodeRun(interpreter_.get(), s, n, &run);
      const std::string_view name = ReducedPrecision(run);
      if (!name.empty()) ++nodes[name];
    }
  }
  std::string text;
  for (const auto& [name, count] : nodes) {
    text += text.empty() ? "" : ", ";
    text += std::string(name) + " in " + PluralText(count, "node", "nodes");
  }
  if (!text.empty()) return text;
  return "float32 in all nodes: " + (has_plan_ ? "the plan" : precision_) +
         " is for layers in float32 and a CPU with such products";
}

void Session::FailIfMissing() const {
  const std::vector<MissingOperator> left = MissingLeft(missing_, interpreter_.get());
  if (!left.empty()) FailWork("%s: %s", path_.c_str(), MissingText(left).c_str());
}

// Creates a temporary interpreter without delegates, which provides the number of nodes.
void Session::ExcludeFromDelegation(int first, int last, TfLiteInterpreterOptions* settings) const {
  if (first <= 0 && last == INT_MAX) return;
  const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> plain(
      TfLiteInterpreterCreate(model(), settings), &TfLiteInterpreterDelete);
  if (plain == nullptr) Refuse("cannot be run");
  DeputyPlacement placement = {};
  placement.struct_size = sizeof placement;
  placement.selector = kDeputySelectIndex;
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(plain.get()); ++s) {
    placement.subgraph_index = s;
    for (int n = 0; n < DeputyInterpreterGetNodeCount(plain.get(), s); ++n) {
      placement.node_index = n;
      if (n >= first && n <= last) continue;
      DeputyInterpreterOptionsAddPlacement(settings, &placement);
    }
  }
}

void Session::SelectSignature(const std::string& key) {
  std::string keys;
  bool known = false;
  for (int i = 0; i < TfLiteInterpreterGetSignatureCount(interpreter_.get()); ++i) {
    const std::string each = TfLiteInterpreterGetSignatureKey(interpreter_.get(), i);
    known = known || each == key;
    keys += Format("%s'%s'", keys.empty() ? "" : ", ", OneLine(each).c_str());
  }
  if (!known) {
    FailUsage("no signature '%s'; the model has %s", OneLine(key).c_str(),
              keys.empty() ? "none" : keys.c_str());
  }
  runner_.reset(TfLiteInterpreterGetSignatureRunner(interpreter_.get(), key.c_str()));
  if (runner_ == nullptr) Refuse("has a signature that cannot be run");
}

TfLiteStatus Session::Allocate() {
  return runner_ != nullptr ? TfLiteSignatureRunnerAllocateTensors(runner_.get())
                            : TfLiteInterpreterAllocateTensors(interpreter_.get());
}

size_t Session::Close() {
  runner_.reset();
  interpreter_.reset();
  return findings_.count();
}

// Prints "summary: 7 nodes in mine, 9 on the CPU".
void Session::PrintSummary() const {
  std::string text;
  int32_t delegated = 0, total = 0;
  DeputyInterpreterCheckDelegation(interpreter_.get(), kDeputyRequireNothing, &delegated, &total);
  for (int i = 0; i < DeputyInterpreterGetDelegateCount(interpreter_.get()); ++i) {
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetDelegateInfo(interpreter_.get(), i, &info) != kTfLiteOk) continue;
    for (const LoadedDelegate& loaded : delegates_) {
      if (loaded.handle.get() != info.delegate || info.node_count == 0) continue;
      text += PluralText(static_cast<size_t>(info.node_count), "node", "nodes") + " in " +
              (loaded.name.empty() ? loaded.library : loaded.name) + ", ";
    }
  }
  text += delegated > 0 ? std::to_string(total - delegated)
                        : PluralText(static_cast<size_t>(total), "node", "nodes");
  std::fprintf(stderr, "deputy: summary: %s on the CPU%s\n", OneLine(text).c_str(),
               delegated == 0 ? ", no delegate used" : "");
}

std::string Session::ShortfallOf(int index) const {
  const TfLiteInterpreter* interpreter = interpreter_.get();
  DeputyDelegateInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyInterpreterGetDelegateInfo(interpreter, index, &info) != kTfLiteOk) return "";
  const std::string name = info.name[0] == '\0' ? "a delegate" : info.name;
  if (info.applied == 0) return name + " is not applied: " + info.failure;
  size_t failed = 0;
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      DeputyNodeSupport support = {};
      support.struct_size = sizeof support;
      if (DeputyInterpreterGetNodeSupport(interpreter, s, n, index, &support) != kTfLiteOk)
        continue;
      if (support.reason == kDeputyReasonFailed || support.reason == kDeputyReasonRemoved) ++failed;
    }
  }
  if (failed > 0) {
    return name + " failed in " + PluralText(failed, "node", "nodes");
  }
  return info.node_count == 0 ? name + " claimed no node" : "";
}

std::string Session::Shortfall() const {
  std::vector<std::string> reasons;
  for (const auto& [flag, problem] : absent_) {
    reasons.push_back(flag + " is not available: " + problem);
  }
  for (int i = 0; i < DeputyInterpreterGetDelegateCount(interpreter_.get()); ++i) {
    std::string reason = ShortfallOf(i);
    if (!reason.empty()) reasons.push_back(std::move(reason));
  }
  const DeputyDelegationStatus status = delegation_status();
  const DeputyBackgroundStatus background = background_status();
  // Before the first inference the delegates may still be in preparation.
  const bool is_late = background.cpu_inferences > 0 && background.delegate_inferences == 0;
  if (is_late || background.failure[0] != '\0')
    reasons.push_back("background: " + BackgroundText());
  if (status.recomputed_nodes > 0) {
    reasons.push_back("the CPU computed a failed node " +
                      PluralText(static_cast<size_t>(status.recomputed_nodes), "time", "times"));
  }
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

void Session::WarnIfDegraded() const {
  if (!absent_.empty()) PrintSummary();
  // The deletion of the interpreter waits for them, too.
  WaitForBackground();
  const std::string background = BackgroundText();
  if (!background.empty()) {
    std::fprintf(stderr, "deputy: background: %s\n", OneLine(background).c_str());
  }
  const DeputyDelegationStatus status = delegation_status();
  if (status.degraded == 0 && status.recomputed_nodes == 0) return;
  std::string text;
  if (status.delegates_skipped > 0) {
    text = PluralText(static_cast<size_t>(status.delegates_skipped), "delegate", "delegates") +
           " could not be applied";
  }
  if (status.recomputed_nodes > 0) {
    text += (text.empty() ? "" : "; ") + std::string("the CPU replaced a failed node ") +
            PluralText(static_cast<size_t>(status.recomputed_nodes), "time", "times");
  }
  std::fprintf(stderr, "deputy: degraded: %s (see 'deputy explain')\n", text.c_str());
}

void Session::SetVerification(const std::string& verify, TfLiteInterpreterOptions* settings) {
  if (verify.empty()) return;
  DeputyVerification verification = {};
  verification.struct_size = sizeof verification;
  if (verify == "first") {
    verification.mode = kDeputyVerifyFirst;
  } else if (verify == "always") {
    verification.mode = kDeputyVerifyAlways;
  } else {
    verification.mode = kDeputyVerifyEveryNth;
    if (!ParseNumber(verify, &verification.interval) || verification.interval < 1) {
      FailUsage("--verify: expected first, always or a number, found '%s'", verify.c_str());
    }
  }
  verifies_ = DeputyInterpreterOptionsSetVerification(settings, &verification) == kTfLiteOk;
}

void Session::ReportVerification() const {
  if (!verifies_) return;
  DeputyVerificationStatus status = {};
  status.struct_size = sizeof status;
  DeputyInterpreterGetVerificationStatus(interpreter_.get(), &status);
  const std::string text =
      Format("%s of partitions compared with the CPU in %.3f ms, %lld could not be",
             PluralText(static_cast<size_t>(status.verified), "run", "runs").c_str(),
             static_cast<double>(status.spent_ns) / 1e6, static_cast<long long>(status.skipped));
  if (status.wrong == 0) {
    std::fprintf(stderr, "deputy: verified: %s\n", text.c_str());
    return;
  }
  const TfLiteTensor* tensor =
      DeputyInterpreterGetTensor(interpreter_.get(), status.subgraph_index, status.tensor_index);
  const char* name = tensor == nullptr ? nullptr : TfLiteTensorName(tensor);
  FailWork(
      "verified: %lld wrong of %s; the first: subgraph %d node %d: tensor %d '%s': element "
      "%lld: expected %.9g, found %.9g",
      static_cast<long long>(status.wrong), text.c_str(), status.subgraph_index, status.node_index,
      status.tensor_index, name == nullptr ? "" : name, static_cast<long long>(status.element),
      status.expected, status.found);
}

void Session::Collect(void* session, const char* format, va_list args) {
  auto* self = static_cast<Session*>(session);
  char text[2048];
  std::vsnprintf(text, sizeof(text), format, args);
  // The model runs without its weight cache.
  if (std::strncmp(text, "weight cache ", 13) == 0) {
    std::fprintf(stderr, "deputy: warning: %s\n", OneLine(text).c_str());
    return;
  }
  if (!self->report_.empty()) return;
  self->report_ = text;
  // DeputyLastError() may extend a text that has upstream's wording.
  const std::string known = DeputyLastError();
  const std::string start = self->report_.substr(0, self->report_.find('\n'));
  if (known.starts_with(start)) self->report_ = known;
}

void Session::Refuse(const char* what) const {
  std::string missing = missing_.empty() ? "" : "; " + MissingText(missing_);
  for (const ms::UnmappedNode& node : model_->unmapped()) missing += "; " + node.text;
  FailWork("%s %s: %s%s", path_.c_str(), what,
           report_.empty() ? "the library gave no reason" : report_.c_str(), missing.c_str());
}

void Session::Resize(const std::string& assignment) {
  const size_t equals = assignment.rfind('=');
  std::vector<int> dims;
  bool readable = equals != std::string::npos;
  for (size_t at = equals + 1; readable && at <= assignment.size();) {
    const size_t comma = std::min(assignment.find(',', at), assignment.size());
    int dim = 0;
    readable = ParseNumber(assignment.substr(at, comma - at), &dim);
    dims.push_back(dim);
    at = comma + 1;
  }
  if (!readable) FailUsage("--shape %s: expected NAME=1,2,3", assignment.c_str());
  const int index = FindInput(assignment.substr(0, equals));
  const auto rank = static_cast<int32_t>(dims.size());
  const TfLiteStatus status =
      runner_ != nullptr
          ? TfLiteSignatureRunnerResizeInputTensor(
                runner_.get(), TfLiteSignatureRunnerGetInputName(runner_.get(), index), dims.data(),
                rank)
          : TfLiteInterpreterResizeInputTensor(interpreter_.get(), index, dims.data(), rank);
  if (status != kTfLiteOk) Refuse("does not accept this shape");
}

int Session::input_count() const {
  return runner_ != nullptr ? static_cast<int>(TfLiteSignatureRunnerGetInputCount(runner_.get()))
                            : TfLiteInterpreterGetInputTensorCount(interpreter_.get());
}
int Session::output_count() const {
  return runner_ != nullptr ? static_cast<int>(TfLiteSignatureRunnerGetOutputCount(runner_.get()))
                            : TfLiteInterpreterGetOutputTensorCount(interpreter_.get());
}
TfLiteTensor* Session::input(int index) const {
  if (runner_ == nullptr) return TfLiteInterpreterGetInputTensor(interpreter_.get(), index);
  return TfLiteSignatureRunnerGetInputTensor(
      runner_.get(), TfLiteSignatureRunnerGetInputName(runner_.get(), index));
}
const TfLiteTensor* Session::output(int index) const {
  if (runner_ == nullptr) return TfLiteInterpreterGetOutputTensor(interpreter_.get(), index);
  return TfLiteSignatureRunnerGetOutputTensor(
      runner_.get(), TfLiteSignatureRunnerGetOutputName(runner_.get(), index));
}

int Session::FindInput(const std::string& name) const {
  for (int i = 0; i < input_count(); ++i) {
    const char* own = TfLiteTensorName(input(i));
    if (own != nullptr && name == own) return i;
  }
  for (int s = 0; s < TfLiteInterpreterGetSignatureCount(interpreter_.get()); ++s) {
    const std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)> runner(
        TfLiteInterpreterGetSignatureRunner(
            interpreter_.get(), TfLiteInterpreterGetSignatureKey(interpreter_.get(), s)),
        &TfLiteSignatureRunnerDelete);
    if (runner == nullptr) continue;
    const TfLiteTensor* tensor = nullptr;
    for (size_t i = 0; i < TfLiteSignatureRunnerGetInputCount(runner.get()); ++i) {
      const char* key = TfLiteSignatureRunnerGetInputName(runner.get(), static_cast<int32_t>(i));
      if (key != nullptr && name == key) {
        tensor = TfLiteSignatureRunnerGetInputTensor(runner.get(), key);
      }
    }
    for (int i = 0; tensor != nullptr && i < input_count(); ++i) {
      if (input(i) == tensor) return i;
    }
  }
  int number = 0;
  if (ParseNumber(name, &number) && number < input_count()) return number;
  std::string names;
  for (int i = 0; i < input_count(); ++i) {
    const char* own = TfLiteTensorName(input(i));
    names += Format("%s%d '%s'", i == 0 ? "" : ", ", i, own == nullptr ? "" : own);
  }
  FailUsage("no input '%s'; the model has %s", name.c_str(),
            names.empty() ? "no inputs" : names.c_str());
}

double Session::Invoke() {
  report_.clear();  // a delegate may have failed before without failing the inference
  const double start = NowMs();
  const TfLiteStatus status = runner_ != nullptr ? TfLiteSignatureRunnerInvoke(runner_.get())
                                                 : TfLiteInterpreterInvoke(interpreter_.get());
  const double took = NowMs() - start;
  if (status != kTfLiteOk) Refuse("failed while running");
  return took;
}

double NowMs() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Percentile(std::vector<double>* times, double fraction) {
  std::sort(times->begin(), times->end());
  const double at = fraction * static_cast<double>(times->size() - 1);
  const size_t below = static_cast<size_t>(std::floor(at));
  const size_t above = std::min(below + 1, times->size() - 1);
  const double part = at - static_cast<double>(below);
  return (*times)[below] * (1 - part) + (*times)[above] * part;
}

}  // namespace deputy::tools
