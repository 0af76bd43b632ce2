// SPDX-License-Identifier: Apache-2.0
//
// Creation and inspection of compiled models; compiled_model_run.cc runs them.
#include "litert/src/compiled_model.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"
#include "litert/src/original_model.h"
#include "litert/src/runtime_context.h"

using deputy::litert::Fail;
using deputy::litert::Log;
using deputy::litert::ShapeText;

namespace {

struct DeleteOptions {
  void operator()(TfLiteInterpreterOptions* options) const {
    TfLiteInterpreterOptionsDelete(options);
  }
};

// Returns true if an operator runs another subgraph.
bool CallsSubgraphs(const LiteRtModelT& model) {
  if (model.subgraphs.size() < 2) return false;
  const auto calls = [](const auto& op) {
    // Operators of StableHLO may have regions.
    return op->code == kLiteRtOpCodeTflIf || op->code == kLiteRtOpCodeTflWhile ||
           op->code == kLiteRtOpCodeTflCallOnce || op->code >= kLiteRtOpCodeShloLogistic;
  };
  return std::any_of(model.subgraphs.begin(), model.subgraphs.end(), [&](const auto& subgraph) {
    return std::any_of(subgraph->ops.begin(), subgraph->ops.end(), calls);
  });
}

void ReportOf(void* user_data, const char* format, va_list arguments) {
  static_cast<LiteRtCompiledModelT*>(user_data)->Report(format, arguments);
}

}  // namespace

LiteRtCompiledModelT::LiteRtCompiledModelT(LiteRtEnvironment environment)
    : environment_(environment), buffers_(environment), context_setter_(TfLiteDelegateCreate()) {
  context_setter_.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  context_setter_.data_ = &buffers_;
  context_setter_.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
    context->SetExternalContext(
        context, kTfLiteLiteRtBufferContext,
        static_cast<TfLiteExternalContext*>(
            static_cast<LiteRtExternalLiteRtBufferContextT*>(delegate->data_)));
    return kTfLiteOk;
  };
}

LiteRtCompiledModelT::~LiteRtCompiledModelT() {
  // Delegates and custom operators outlive the interpreter.
  if (interpreter_ != nullptr) TfLiteInterpreterDelete(interpreter_);
}

void LiteRtCompiledModelT::Report(const char* format, va_list arguments) {
  if (runtime_.reporter == kLiteRtErrorReporterModeNone) return;
  std::array<char, 1024> text;
  std::vsnprintf(text.data(), text.size(), format, arguments);
  if (runtime_.reporter == kLiteRtErrorReporterModeStderr) {
    std::fprintf(stderr, "ERROR: %s\n", text.data());
    return;
  }
  (void)deputy::litert::Guard([&] {
    errors_ += text.data();
    errors_ += '\n';
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCompiledModelT::Compile(const LiteRtModelT& model, LiteRtOptions options) {
  if (options->accelerators == kLiteRtHwAcceleratorNone) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "compiled model: expected options with at least one accelerator");
  }
  model_.emplace(&model);
  has_cpu_ = (options->accelerators & kLiteRtHwAcceleratorCpu) != 0;
  runtime_ = deputy::litert::ReadRuntimeSettings(*options);
  deputy::litert::ReportUnknownOptions(*options);
  if (has_cpu_) LITERT_TRY(deputy::litert::ReadCpuSettings(*options, &cpu_));
  LITERT_TRY(deputy::litert::CompileWithPlugins(environment_, options, model, nullptr, false,
                                                &compilation_));
  const bool is_compiled = compilation_.model != nullptr || deputy::litert::HasOriginal(model);
  const LiteRtStatus status =
      CompileNow(compilation_.model != nullptr ? *compilation_.model : model, options);
  if (!has_cpu_ || !is_compiled) return status;
  if (status == kLiteRtStatusOk) {
    can_fall_back_ = true;
    verification_ = GivenVerification();
    cpu_options_.accelerators = kLiteRtHwAcceleratorCpu;
    cpu_options_.kernels = options->kernels;
    cpu_options_.bindings = options->bindings;
    return status;
  }
  Log(kLiteRtLogSeverityWarning,
      "compiled model: the operators of compiler plug-ins cannot run: %s; the CPU runs them",
      LiteRtGetStatusString(status));
  const LiteRtModelT* original = nullptr;
  LITERT_TRY(FindOriginal(&original));
  Reset();
  excluded_ = kLiteRtHwAcceleratorNpu;
  return CompileNow(*original, options);
}

// Finds the model before compiler plug-ins.
LiteRtStatus LiteRtCompiledModelT::FindOriginal(const LiteRtModelT** out_original) {
  if (compilation_.model == nullptr && kept_original_ == nullptr) {
    LITERT_TRY(deputy::litert::LoadOriginal(model_->get(), &kept_original_));
  }
  *out_original = kept_original_ != nullptr ? kept_original_.get() : &model_->get();
  return kLiteRtStatusOk;
}

// Returns to the state before the creation of the interpreter.
void LiteRtCompiledModelT::Reset() {
  if (interpreter_ != nullptr) TfLiteInterpreterDelete(interpreter_);
  interpreter_ = nullptr;
  buffers_.Reset(nullptr);
  host_tensors_.clear();
  delegates_.clear();
  custom_operators_.clear();
  signatures_.clear();
  states_.clear();
  bindings_.clear();
  device_buffers_.clear();
  reference_.reset();
  lacks_dispatch_ = false;
  compilation_ = {};
}

// Lets the CPU run the original model, in the same shapes. Requirements and the profiler, to which
// the client may have pointers, stay. A failure leaves this object in an incomplete state.
LiteRtStatus LiteRtCompiledModelT::FallBack(const LiteRtModelT& original) {
  std::vector<Signature> former = std::move(signatures_);
  std::vector<std::vector<std::vector<int>>> shapes;  // by signature and input
  for (const Signature& signature : former) {
    auto& own = shapes.emplace_back();
    for (int32_t input : signature.inputs) {
      const TfLiteIntArray& dims = *TensorOf(signature, input)->dims;
      own.emplace_back(dims.data, dims.data + dims.size);
    }
  }
  Reset();
  LITERT_TRY(CompileNow(original, &cpu_options_));
  if (is_cancelled_ != nullptr)
    LITERT_TRY(SetCancellationFunction(cancellation_data_, is_cancelled_));
  for (size_t i = 0; i < signatures_.size(); ++i) {
    Signature& signature = signatures_[i];
    signature.requirements = std::move(former[i].requirements);
    for (size_t input = 0; input < signature.inputs.size(); ++input) {
      const std::vector<int>& dims = shapes[i][input];
      const TfLiteIntArray& now = *TensorOf(signature, signature.inputs[input])->dims;
      if (std::equal(dims.begin(), dims.end(), now.data, now.data + now.size)) continue;
      LITERT_TRY(Resize(i, input, dims, false));
    }
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::SetCancellationFunction(void* data,
                                                           bool (*is_cancelled)(void* data)) {
  cancellation_data_ = data;
  is_cancelled_ = is_cancelled;
  const auto check = [](void* self) {
    auto* const model = static_cast<LiteRtCompiledModelT*>(self);
    if (!model->is_cancelled_(model->cancellation_data_)) return false;
    model->was_cancelled_ = true;
    return true;
  };
  const bool is_set = interpreter_ != nullptr && DeputyInterpreterSetCancellationFunction(
                                                     interpreter_, this, check) == kTfLiteOk;
  return is_set ? kLiteRtStatusOk : kLiteRtStatusErrorRuntimeFailure;
}

LiteRtStatus LiteRtCompiledModelT::CompileNow(const LiteRtModelT& model, LiteRtOptions options) {
  LITERT_TRY(CreateInterpreter(model, *options));
  for (const auto& from : model.signatures) {
    Signature signature;
    const auto found =
        std::find_if(model.subgraphs.begin(), model.subgraphs.end(),
                     [&](const auto& subgraph) { return subgraph.get() == from->subgraph; });
    signature.subgraph = static_cast<int32_t>(found - model.subgraphs.begin());
    for (LiteRtTensor input : from->subgraph->inputs) {
      signature.inputs.push_back(static_cast<int32_t>(input->index));
    }
    for (LiteRtTensor output : from->subgraph->outputs) {
      signature.outputs.push_back(static_cast<int32_t>(output->index));
    }
    signature.requirements.resize(signature.inputs.size() + signature.outputs.size());
    signature.is_selected =
        runtime_.signatures.empty() ||
        std::count(runtime_.signatures.begin(), runtime_.signatures.end(), from->key) > 0;
    signatures_.push_back(std::move(signature));
  }
  for (const std::string& key : runtime_.signatures) {
    const bool exists = std::any_of(model.signatures.begin(), model.signatures.end(),
                                    [&](const auto& signature) { return signature->key == key; });
    if (!exists) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: the selected signature '%s' does not exist", key.c_str());
    }
  }
  states_.resize(model.subgraphs.size());
  calls_subgraphs_ = CallsSubgraphs(model);
  LITERT_TRY(BindTensors(model, *options));
  const deputy::litert::ModelBeingCompiled compiled(model.bytes, &compilation_.handles);
  LITERT_TRY(ApplyDelegates(options));
  CountNodes();
  if (lacks_dispatch_) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "compiled model: no dispatch plug-in runs operator %s: %s",
                deputy::litert::kDispatchOpCode, missing_dispatch_.reason.c_str());
  }
  if (!has_cpu_ && cpu_nodes_ > 0) {
    return Fail(kLiteRtStatusErrorCompilation,
                "compiled model: %d nodes are not accelerated; add the CPU to the accelerators",
                cpu_nodes_);
  }
  for (Signature& signature : signatures_) {
    if (signature.is_selected) LITERT_TRY(Allocate(signature));
    FindDeviceTensors(&signature);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::CreateInterpreter(const LiteRtModelT& model,
                                                     const LiteRtOptionsT& options) {
  cpu_accelerates_ = has_cpu_ && cpu_.kernels == kLiteRtCpuKernelModeDelegate;
  const std::unique_ptr<TfLiteInterpreterOptions, DeleteOptions> created(
      TfLiteInterpreterOptionsCreate());
  if (created == nullptr) return kLiteRtStatusErrorMemoryAllocationFailure;
  TfLiteInterpreterOptionsSetNumThreads(created.get(), cpu_.threads);
  TfLiteInterpreterOptionsSetErrorReporter(created.get(), &ReportOf, this);
  if (cpu_.kernels == kLiteRtCpuKernelModeReference) {
    DeputyInterpreterOptionsSetArithmetic(created.get(), kDeputyArithmeticReference);
  }
  if (!cpu_.weight_cache.empty()) {
    DeputyInterpreterOptionsSetWeightCache(created.get(), cpu_.weight_cache.c_str());
  }
  for (const deputy::litert::CustomKernel& kernel : options.kernels) {
    custom_operators_.push_back(std::make_unique<deputy::litert::CustomOperator>(kernel));
    if (custom_operators_.back()->get() == nullptr) {
      return kLiteRtStatusErrorMemoryAllocationFailure;
    }
    TfLiteInterpreterOptionsAddOperator(created.get(), custom_operators_.back()->get());
  }
  if (missing_dispatch_.get() == nullptr) return kLiteRtStatusErrorMemoryAllocationFailure;
  TfLiteInterpreterOptionsAddOperator(created.get(), missing_dispatch_.get());
  interpreter_ = TfLiteInterpreterCreate(model.model, created.get());
  if (interpreter_ == nullptr) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "compiled model: the interpreter cannot be created: %s", DeputyLastError());
  }
  buffers_.Reset(interpreter_);
  if (runtime_.profiles) {
    constexpr size_t kEvents = 512 << 10;
    if (profiler_ == nullptr) profiler_ = std::make_unique<LiteRtProfilerT>(kEvents);
    DeputyInterpreterSetProfileCallback(interpreter_, &LiteRtCompiledModelT::OnEvent, this);
  }
  return kLiteRtStatusOk;
}

// Sets the memory of inputs to memory of the client permanently.
LiteRtStatus LiteRtCompiledModelT::BindTensors(const LiteRtModelT& model,
                                               const LiteRtOptionsT& options) {
  for (const deputy::litert::TensorBinding& binding : options.bindings) {
    if (binding.bytes > INT32_MAX) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: binding of '%s': expected a size from 0 to %d",
                  binding.tensor.c_str(), INT32_MAX);
    }
    bool is_bound = false;
    for (size_t i = 0; i < signatures_.size() && !is_bound; ++i) {
      const LiteRtSignatureT& signature = *model.signatures[i];
      const auto found =
          std::find(signature.input_names.begin(), signature.input_names.end(), binding.tensor);
      if (signature.key != binding.signature || found == signature.input_names.end()) continue;
      const auto input = static_cast<size_t>(found - signature.input_names.begin());
      bindings_.push_back({.subgraph = signatures_[i].subgraph,
                           .tensor = signatures_[i].inputs[input],
                           .memory = {binding.data, binding.bytes}});
      LITERT_TRY(UseBinding(signatures_[i], signatures_[i].inputs[input]));
      is_bound = true;
    }
    if (!is_bound) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: signature '%s' has no input '%s' for the binding",
                  binding.signature.c_str(), binding.tensor.c_str());
    }
  }
  return kLiteRtStatusOk;
}

void LiteRtCompiledModelT::OnEvent(void* user_data, const DeputyOpEvent* event) {
  auto* const self = static_cast<LiteRtCompiledModelT*>(user_data);
  const bool of_delegate = event->delegate_node >= 0;
  (void)deputy::litert::Guard([&] {
    self->profiler_->Add(
        event->operator_name, of_delegate ? DELEGATE_OPERATOR_INVOKE_EVENT : OPERATOR_INVOKE_EVENT,
        static_cast<uint64_t>(event->begin_ns) / 1000,
        static_cast<uint64_t>(event->duration_ns) / 1000, static_cast<uint64_t>(event->node_index),
        static_cast<uint64_t>(event->subgraph_index),
        of_delegate ? TFLITE_DELEGATE : TFLITE_INTERPRETER);
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCompiledModelT::ApplyDelegates(LiteRtOptions options) {
  std::vector<int32_t> subgraphs;
  for (const Signature& signature : signatures_) {
    if (signature.is_selected) subgraphs.push_back(signature.subgraph);
  }
  std::sort(subgraphs.begin(), subgraphs.end());
  subgraphs.erase(std::unique(subgraphs.begin(), subgraphs.end()), subgraphs.end());
  if ((options->accelerators & kLiteRtHwAcceleratorNpu) != 0) {
    missing_dispatch_.reason = "";
    (void)deputy::litert::OpenDispatchLibrary(environment_, options, &missing_dispatch_.reason);
  }
  // A function of an accelerator may register further ones.
  for (size_t i = 0; i < environment_->accelerators().size(); ++i) {
    const LiteRtAcceleratorT* const accelerator = environment_->accelerators()[i].get();
    // Accelerators that compile are for the selected hardware only; others apply always.
    bool is_compiler = false;
    LITERT_TRY(LiteRtIsAcceleratorDelegateResponsibleForJitCompilation(accelerator, &is_compiler));
    const bool is_selected =
        (deputy::litert::HardwareOf(*accelerator) & options->accelerators & ~excluded_) != 0;
    if (is_compiler && !is_selected) continue;
    const char* name = "";
    if (accelerator->create_delegate == nullptr) continue;
    if (accelerator->get_name != nullptr) (void)accelerator->get_name(accelerator, &name);
    LiteRtDelegateWrapper wrapper = nullptr;
    const LiteRtStatus created = accelerator->create_delegate(
        deputy::litert::RuntimeContext(), environment_, accelerator, options, &wrapper);
    if (created != kLiteRtStatusOk) {
      return Fail(created, "compiled model: accelerator %s: CreateDelegate failed: %s", name,
                  LiteRtGetStatusString(created));
    }
    if (wrapper == nullptr) continue;
    if (delegates_.empty()) {
      (void)DeputyInterpreterModifySubgraphs(interpreter_, &context_setter_, subgraphs.data(),
                                             static_cast<int32_t>(subgraphs.size()));
    }
    AppliedDelegate& added = delegates_.emplace_back();
    added.accelerator = accelerator;
    added.wrapper.reset(wrapper);
    if (accelerator->has_layers) {
      LITERT_TRY(deputy::litert::WrapInLayers(added.delegate(), &added.layered));
    }
    const size_t registrations = buffers_.registrations();
    const TfLiteStatus applied = DeputyInterpreterModifySubgraphs(
        interpreter_, added.delegate(), subgraphs.data(), static_cast<int32_t>(subgraphs.size()));
    if (applied != kTfLiteOk) {
      return Fail(kLiteRtStatusErrorRuntimeFailure,
                  "compiled model: accelerator %s: the delegate failed: %s", name,
                  DeputyInterpreterLastError(interpreter_));
    }
    // Layers use tensors in host memory.
    added.uses_buffers = added.layered == nullptr && buffers_.registrations() > registrations;
  }
  return kLiteRtStatusOk;
}

// Counts the nodes that the CPU computes, and finds the tensors that are used in host memory.
void LiteRtCompiledModelT::CountNodes() {
  cpu_nodes_ = 0;
  has_nodes_ = false;
  const int32_t subgraphs = DeputyInterpreterGetSubgraphCount(interpreter_);
  for (int32_t subgraph = 0; subgraph < subgraphs; ++subgraph) {
    if (DeputyInterpreterIsDelegationSkippable(interpreter_, subgraph) != 0) continue;
    int32_t count = 0;
    const int32_t* const plan = DeputyInterpreterGetExecutionPlan(interpreter_, subgraph, &count);
    for (int32_t i = 0; i < count; ++i) {
      const DeputyNode* const node = DeputyInterpreterGetNode(interpreter_, subgraph, plan[i]);
      has_nodes_ = true;
      const bool uses_buffers =
          node != nullptr && node->node.delegate != nullptr &&
          std::any_of(delegates_.begin(), delegates_.end(), [&](const AppliedDelegate& each) {
            return each.uses_buffers && each.delegate() == node->node.delegate;
          });
      if (node != nullptr && !uses_buffers && buffers_.has_requirements()) {
        for (const TfLiteIntArray* const tensors : {node->node.inputs, node->node.outputs}) {
          for (int each = 0; each < tensors->size; ++each) {
            host_tensors_.insert({subgraph, tensors->data[each]});
          }
        }
      }
      if (node == nullptr || node->node.delegate != nullptr) continue;
      ++cpu_nodes_;
      const char* const name = node->registration.custom_name;
      const bool has_byte_code =
          name != nullptr && std::strcmp(name, deputy::litert::kDispatchOpCode) == 0;
      lacks_dispatch_ = lacks_dispatch_ || has_byte_code;
    }
  }
}

LiteRtStatus LiteRtCompiledModelT::FindSignature(size_t index, Signature** out_signature) {
  if (index >= signatures_.size()) {
    return Fail(kLiteRtStatusErrorIndexOOB,
                "compiled model: expected a signature below %zu, found %zu", signatures_.size(),
                index);
  }
  if (!signatures_[index].is_selected) {
    return Fail(kLiteRtStatusErrorNotFound, "compiled model: signature %zu was not selected",
                index);
  }
  *out_signature = &signatures_[index];
  return kLiteRtStatusOk;
}

TfLiteTensor* LiteRtCompiledModelT::TensorOf(const Signature& signature, int32_t index) const {
  return const_cast<TfLiteTensor*>(
      DeputyInterpreterGetTensor(interpreter_, signature.subgraph, index));
}

namespace {

LiteRtStatus ReadLayout(const TfLiteTensor& tensor, LiteRtLayout* out_layout) {
  const TfLiteIntArray* dims = tensor.dims;
  if ((dims == nullptr || dims->size == 0) && tensor.dims_signature != nullptr &&
      tensor.dims_signature->size > 0) {
    dims = tensor.dims_signature;
  }
  const int rank = dims == nullptr ? 0 : dims->size;
  if (rank > LITERT_TENSOR_MAX_RANK) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "compiled model: tensor '%s': expected a rank of at most %d, found %d", tensor.name,
                LITERT_TENSOR_MAX_RANK, rank);
  }
  *out_layout = {};
  out_layout->rank = static_cast<unsigned>(rank) & 0x7f;
  for (int axis = 0; axis < rank; ++axis) out_layout->dimensions[axis] = dims->data[axis];
  return kLiteRtStatusOk;
}

}  // namespace

LiteRtStatus LiteRtCompiledModelT::InputLayout(size_t signature, size_t input,
                                               LiteRtLayout* out_layout) {
  Signature* found = nullptr;
  LITERT_TRY(FindSignature(signature, &found));
  if (input >= found->inputs.size()) {
    return Fail(kLiteRtStatusErrorIndexOOB,
                "compiled model: expected an input below %zu, found %zu", found->inputs.size(),
                input);
  }
  return ReadLayout(*TensorOf(*found, found->inputs[input]), out_layout);
}

LiteRtStatus LiteRtCompiledModelT::OutputLayouts(size_t signature, std::span<LiteRtLayout> layouts,
                                                 bool allocates) {
  Signature* found = nullptr;
  LITERT_TRY(FindSignature(signature, &found));
  if (layouts.size() != found->outputs.size()) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "compiled model: expected space for %zu layouts, found %zu", found->outputs.size(),
                layouts.size());
  }
  if (allocates || StateOf(*found).needs_allocation) LITERT_TRY(Allocate(*found));
  for (size_t i = 0; i < layouts.size(); ++i) {
    LITERT_TRY(ReadLayout(*TensorOf(*found, found->outputs[i]), &layouts[i]));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::Requirements(size_t signature, size_t index, bool is_input,
                                                LiteRtTensorBufferRequirements* out_requirements) {
  Signature* found = nullptr;
  LITERT_TRY(FindSignature(signature, &found));
  const std::vector<int32_t>& tensors = is_input ? found->inputs : found->outputs;
  if (index >= tensors.size()) {
    return Fail(kLiteRtStatusErrorIndexOOB,
                "compiled model: expected a tensor below %zu, found %zu", tensors.size(), index);
  }
  auto& stored = found->requirements[is_input ? index : found->inputs.size() + index];
  if (stored == nullptr) stored = std::make_unique<LiteRtTensorBufferRequirementsT>();
  *out_requirements = stored.get();
  if (const auto* const of_delegates = DelegateRequirements(*found, tensors[index])) {
    *stored = *of_delegates;
    return kLiteRtStatusOk;
  }
  stored->strides.clear();
  stored->types = {kLiteRtTensorBufferTypeHostMemory};
  if (found->is_on_device[is_input ? index : found->inputs.size() + index]) {
    stored->types.insert(stored->types.begin(), kLiteRtTensorBufferTypeOpenClBufferPacked);
  }
  stored->bytes = TensorOf(*found, tensors[index])->bytes;
  stored->alignment = LITERT_HOST_MEMORY_BUFFER_ALIGNMENT;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::Resize(size_t signature, size_t input, std::span<const int> dims,
                                          bool is_strict) {
  Signature* found = nullptr;
  LITERT_TRY(FindSignature(signature, &found));
  if (input >= found->inputs.size()) {
    return Fail(kLiteRtStatusErrorIndexOOB,
                "compiled model: expected an input below %zu, found %zu", found->inputs.size(),
                input);
  }
  const bool is_positive =
      std::all_of(dims.begin(), dims.end(), [](int extent) { return extent > 0; });
  if (dims.empty() || !is_positive) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "compiled model: expected a shape of positive dimensions, found %s",
                ShapeText(dims).c_str());
  }
  const TfLiteTensor& tensor = *TensorOf(*found, found->inputs[input]);
  const std::span<const int> now(tensor.dims->data, static_cast<size_t>(tensor.dims->size));
  if (std::equal(now.begin(), now.end(), dims.begin(), dims.end())) return kLiteRtStatusOk;
  if (is_strict) {
    const TfLiteIntArray* const open =
        tensor.dims_signature != nullptr && tensor.dims_signature->size > 0 ? tensor.dims_signature
                                                                            : tensor.dims;
    const bool fits = static_cast<size_t>(open->size) == dims.size() &&
                      std::equal(dims.begin(), dims.end(), open->data, [](int wanted, int extent) {
                        return extent == -1 || extent == wanted;
                      });
    if (!fits) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: input '%s': expected a shape that matches %s, found %s",
                  tensor.name, ShapeText({open->data, static_cast<size_t>(open->size)}).c_str(),
                  ShapeText(dims).c_str());
    }
  }
  // Memory of buffers may be too small for the new shapes.
  ForgetMemory(found->subgraph);
  if (DeputyInterpreterResizeInput(interpreter_, found->subgraph, found->inputs[input], dims.data(),
                                   static_cast<int32_t>(dims.size()), false) != kTfLiteOk) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: input '%s': %s", tensor.name,
                DeputyInterpreterLastError(interpreter_));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::Allocate(const Signature& signature) {
  if (DeputyInterpreterAllocateSubgraph(interpreter_, signature.subgraph) != kTfLiteOk) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "compiled model: the tensors cannot be allocated: %s",
                DeputyInterpreterLastError(interpreter_));
  }
  StateOf(signature).needs_allocation = false;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::StartMetrics(int detail_level) {
  if (detail_level < 0) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "compiled model: expected a detail level of at least 0, found %d", detail_level);
  }
  for (const AppliedDelegate& each : delegates_) {
    if (each.accelerator->start_metrics == nullptr) continue;
    LITERT_TRY(each.accelerator->start_metrics(deputy::litert::RuntimeContext(), each.wrapper.get(),
                                               detail_level));
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::StopMetrics(LiteRtMetrics metrics) {
  for (const AppliedDelegate& each : delegates_) {
    if (each.accelerator->stop_metrics == nullptr) continue;
    LiteRtMetricsT added;
    LITERT_TRY(each.accelerator->stop_metrics(deputy::litert::RuntimeContext(), each.wrapper.get(),
                                              &added));
    std::move(added.metrics.begin(), added.metrics.end(), std::back_inserter(metrics->metrics));
  }
  return kLiteRtStatusOk;
}
