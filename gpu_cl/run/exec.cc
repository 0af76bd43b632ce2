// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/run/exec.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "gpu_cl/device/pinned.h"
#include "gpu_cl/emit/adapt.h"
#include "gpu_cl/emit/make_plan.h"
#include "gpu_cl/run/source_file.h"

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Value;
using compiler::ValueId;

PlanOptions PlanOptionsFor(const DeviceProfile& profile, DeviceClass device_class) {
  PlanOptions options;
  options.ranges = device_class == DeviceClass::kCpu;
  const int units = static_cast<int>(std::max(profile.compute_units, 1u));
  // A compute unit of a GPU runs hundreds of work-items at a time.
  options.items = (options.ranges ? 4 : 256) * units;
  options.units = units;
  // Requirements of the largest group tiles, on devices that are known to benefit from them.
  constexpr size_t kGroupItems = 256, kGroupBytes = 20 << 10;
  options.group_tiles = device_class == DeviceClass::kDesktop && profile.known &&
                        profile.max_group_size >= kGroupItems && profile.local_bytes >= kGroupBytes;
  // Matrix units with TF32 and float16 inputs and float32 sums exist from this capability on.
  constexpr uint32_t kMinCapability = 80;
  options.matrix_units = options.group_tiles && profile.nvidia_capability >= kMinCapability;
  options.whole_groups = profile.nvidia_capability > 0 && options.group_tiles;
  options.vnni = options.ranges && profile.host_vnni;
  options.vector_width = 4;
  if (options.ranges && profile.float_width > 4) {
    options.vector_width = static_cast<int>(profile.float_width);
  }
  return options;
}

Storage PreferredStorage(const DeviceProfile& profile, DeviceClass device_class) {
  const auto names = [&](const char* part) {
    return profile.name.find(part) != std::string::npos ||
           profile.vendor.find(part) != std::string::npos;
  };
  const bool is_adreno = names("Adreno") || names("QUALCOMM") || names("Qualcomm");
  return device_class == DeviceClass::kMobile && is_adreno ? Storage::kImage2d : Storage::kBuffer;
}

namespace {

// Describes the error that a kernel reported in the status buffer.
std::string StatusText(const Graph& graph, const compiler::Operation& operation) {
  std::string text = "node " + std::to_string(operation.node) + ": ";
  const auto* gather = std::get_if<compiler::Gather>(&operation.kind);
  if (gather == nullptr) return text + "an input value is out of range";
  const Value& values = graph.value(operation.inputs[0]);
  const int extent = values.shape[static_cast<size_t>(gather->axis)];
  return text + "expected indices from 0 to " + std::to_string(extent - 1) +
         ", found one out of range";
}

// Returns true if a driver rejected the local size. Some do so within the limits that they report.
bool IsGroupSizeRefused(cl_int code) {
  return code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE;
}

// Returns the options of a plan, with the kernel variants chosen for it. Choices of CLBlast are
// cleared if it is not available.
PlanOptions ChosenOptions(const DeviceProfile& profile, const ExecutorOptions& options) {
  PlanOptions plan_options = PlanOptionsFor(profile, options.device_class);
  plan_options.choices = options.choices;
  plan_options.storage = options.storage;
  plan_options.images = profile.image_limits;
  if (options.clblast == nullptr) {
    for (auto& [operation, choice] : plan_options.choices) choice.clblast = false;
  }
  return plan_options;
}

}  // namespace

Executor::Executor(std::shared_ptr<SharedContext> context, Graph graph,
                   const PlanOptions& plan_options, std::shared_ptr<const ClblastApi> clblast)
    : context_(std::move(context)),
      graph_(AdaptGraph(std::move(graph), plan_options)),
      lifetimes_(FindLifetimes(graph_)),
      plan_options_(plan_options),
      plan_(MakePlan(graph_, lifetimes_.storage, plan_options_)),
      buffers_(graph_.values.size()),
      clblast_(std::move(clblast)) {}

Executor::~Executor() {
  // The device must not use memory that is being released. A failure to wait is ignored.
  FinishQueues();
  staging_.clear();
  kernels_.clear();
  block_images_.clear();
  texels_.clear();
  filters_.clear();
  // Releases in reverse order of creation: NVIDIA's driver (580) crashes if a sub-buffer is
  // released before a younger one that overlaps it.
  while (!buffers_.empty()) buffers_.pop_back();
}

// Fingerprints the constants that the plan reads, and their ids.
void Executor::FingerprintConstants() {
  has_fingerprint_ = true;
  constants_ = {};
  const auto add = [&](ValueId id) {
    if (id == compiler::kNoValue || !graph_.value(id).constant()) return;
    constants_.Add(static_cast<uint64_t>(id));
    constants_.Add(graph_.value(id).data, graph_.value(id).bytes());
  };
  for (const Step& step : plan_.steps) {
    for (const Argument& argument : step.arguments) {
      if (const auto* value = std::get_if<ValueBuffer>(&argument)) add(value->value);
      if (const auto* image = std::get_if<ValueImage>(&argument)) add(image->value);
    }
  }
  for (const Packing& packing : plan_.packings) {
    add(packing.filter);
    add(packing.bias);
  }
  for (ValueId id : graph_.outputs) add(id);
}

bool Executor::Computes(const Executor& other) const {
  const auto is_same = [](const Value& a, const Value& b) {
    return a.type == b.type && a.shape == b.shape;
  };
  return context_ == other.context_ && constants_ == other.constants_ && plan_ == other.plan_ &&
         graph_.inputs == other.graph_.inputs && graph_.outputs == other.graph_.outputs &&
         lifetimes_ == other.lifetimes_ &&
         std::equal(graph_.values.begin(), graph_.values.end(), other.graph_.values.begin(),
                    other.graph_.values.end(), is_same);
}

void Executor::ForgetModel() {
  for (Value& value : graph_.values) {
    value.data = nullptr;
    value.owned.reset();
  }
}

std::unique_ptr<Executor> Executor::Planned(std::shared_ptr<SharedContext> context, Graph graph,
                                            const ExecutorOptions& options) {
  PlanOptions plan_options = ChosenOptions(context->device().profile, options);
  plan_options.refused = context->RefusedKernels();
  return std::unique_ptr<Executor>(
      new Executor(std::move(context), std::move(graph), plan_options, options.clblast));
}

ClStatus Executor::Start(const ExecutorOptions& options) {
  ClStatus status = CheckDevice(*context_);
  options_ = options;
  if (status.ok()) status = OpenQueue(options);
  if (status.ok()) status = Prepare();
  if (IsDeviceLost(status.code)) context_->Poison();
  return status;
}

std::unique_ptr<Executor> Executor::Create(std::shared_ptr<SharedContext> context, Graph graph,
                                           const ExecutorOptions& options, ClStatus* out_status) {
  std::unique_ptr<Executor> executor = Planned(std::move(context), std::move(graph), options);
  *out_status = executor->Start(options);
  if (!out_status->ok()) return nullptr;
  return executor;
}

ClStatus Executor::OpenQueue(const ExecutorOptions& options) {
  if (options.profiling) timing_ = &timeline_.emplace(&api());
  if (options.queue != nullptr) {
    ClStatus status = ClCall("clRetainCommandQueue", api().RetainCommandQueue(options.queue));
    if (status.ok()) queue_ = ClQueue(&api(), options.queue);
    return status;
  }
  return NewQueue(&queue_);
}

ClStatus Executor::NewQueue(ClQueue* out_queue) {
  const cl_command_queue_properties properties = options_.profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
  cl_int code = CL_SUCCESS;
  *out_queue = ClQueue(&api(), api().CreateCommandQueue(context_->context(), context_->device().id,
                                                        properties, &code));
  return ClCall("clCreateCommandQueue", code);
}

// Compiles the plan and allocates its memory. If the device rejects kernels, retries with fallback
// plans until there are no more.
ClStatus Executor::Prepare() {
  ClStatus status;
  do {
    failed_kernels_.clear();
    kernels_.clear();
    groups_.clear();
    status = Load();
    if (status.ok()) status = Allocate();
    if (status.ok()) status = Bind();
  } while (!status.ok() && PlanFallback(status));
  return status;
}

// Makes a plan without the failed kernels. Returns false if no kernel is known to have failed, or
// if there is no other plan.
bool Executor::PlanFallback(const ClStatus& failure) {
  // Maximum number of plans that replace only the failed kernels. Beyond it, all kernels are
  // replaced at once, since each attempt costs a compilation.
  constexpr int kMaxAttempts = 4;
  if (!options_.use_fallbacks || failed_kernels_.empty() || IsDeviceLost(failure.code))
    return false;
  if (++attempts_ > kMaxAttempts)
    failed_kernels_.insert(plan_.kernels.begin(), plan_.kernels.end());
  // A kernel that failed for lack of memory may succeed later, so it is not refused for the
  // context.
  if (!IsOutOfMemory(failure.code)) context_->RefuseKernels(failed_kernels_);
  plan_options_.refused.merge(failed_kernels_);
  Plan next = MakePlan(graph_, lifetimes_.storage, plan_options_);
  if (next == plan_) return false;
  plan_ = std::move(next);
  if (has_fingerprint_) FingerprintConstants();
  return true;
}

bool Executor::RetryWithFallbackKernels(ClStatus* status) {
  if (has_run_ || !PlanFallback(*status)) return false;
  const ClStatus prepared = Prepare();
  if (!prepared.ok()) *status = prepared;
  if (IsDeviceLost(prepared.code)) context_->Poison();
  return prepared.ok();
}

ClStatus Executor::Load() {
  if (plan_.kernels.empty()) return {};
  ClStatus status;
  ProgramRequest request;
  request.source = plan_.Source();
  request.cache_token = options_.cache_token;
  if (!options_.optimize) request.build_options = "-cl-opt-disable";
  if (!options_.source_dir.empty()) {
    const std::string problem = WriteSource(options_.source_dir, request.source);
    if (!problem.empty()) return {CL_INVALID_VALUE, problem};
  }
  for (size_t i = 0; i < plan_.kernels.size(); ++i) {
    request.kernels.push_back(Plan::KernelName(static_cast<int>(i)));
  }
  ProgramFailure failure;
  program_ = Program::Get(context_, request, options_.cache, &status, &failure);
  for (size_t i = 0; failure.in_build && i < plan_.kernels.size(); ++i) {
    if (failure.kernel.empty() || failure.kernel == request.kernels[i]) {
      failed_kernels_.insert(plan_.kernels[i]);
    }
  }
  return status;
}

// ---- Kernels ------------------------------------------------------------------------------------

ClStatus Executor::Bind() {
  for (const Step& step : plan_.steps) {
    ClStatus status = BindStep(step);
    if (!status.ok()) return status;
  }
  return {};
}

// Returns the plan's local size, or zeros (the driver chooses) if the device does not allow as many
// items for this kernel.
std::array<size_t, 3> Executor::AllowedGroup(const Step& step) const {
  if (step.clblast) return {};
  const KernelLimits* limits = program_->LimitsOf(Plan::KernelName(step.kernel));
  const size_t items = step.local[0] * step.local[1] * step.local[2];
  return limits != nullptr && items > limits->max_group_size ? std::array<size_t, 3>{} : step.local;
}

ClStatus Executor::SetArgument(cl_kernel kernel, cl_uint index, const Argument& argument) {
  const auto set = [&](const auto& value) {
    return ClCall("clSetKernelArg", api().SetKernelArg(kernel, index, sizeof value, &value));
  };
  if (const auto* number = std::get_if<int32_t>(&argument)) return set(*number);
  if (const auto* real = std::get_if<float>(&argument)) return set(*real);
  const auto* image = std::get_if<ValueImage>(&argument);
  const auto* texel = std::get_if<ValueTexel>(&argument);
  if (image == nullptr && texel == nullptr) return set(BufferOf(argument));
  cl_mem memory = nullptr;
  cl_int first = 0;
  ClStatus status = TexelsOf(image != nullptr ? image->value : texel->value, &memory, &first);
  if (!status.ok()) return status;
  return image != nullptr ? set(memory) : set(first);
}

ClStatus Executor::BindStep(const Step& step) {
  ClStatus status;
  groups_.push_back(AllowedGroup(step));
  if (step.clblast) {
    kernels_.emplace_back();
    return status;
  }
  ClKernel kernel = program_->NewKernel(Plan::KernelName(step.kernel), &status);
  if (!status.ok()) return status;
  cl_uint index = 0;
  for (const Argument& argument : step.arguments) {
    status = SetArgument(kernel.get(), index, argument);
    if (!status.ok()) {
      status.text += ": argument " + std::to_string(index) + " of " + Plan::KernelName(step.kernel);
      return status;
    }
    ++index;
  }
  kernels_.push_back(std::move(kernel));
  return {};
}

// ---- Running ------------------------------------------------------------------------------------

// Returns the address at which a command's event is to be stored; null if not profiling.
cl_event* Executor::TimeCopy(const char* name) {
  return timing_ != nullptr ? timing_->Next({.name = name, .kernel = ""}) : nullptr;
}

cl_event* Executor::TimeStep(const Step& step) {
  if (timing_ == nullptr) return nullptr;
  const compiler::Operation& operation = graph_.operations[static_cast<size_t>(step.operation)];
  return timing_->Next({.name = compiler::KindName(operation.kind),
                        .kernel = step.clblast ? "CLBlastSgemm" : Plan::KernelName(step.kernel),
                        .node = operation.node});
}

std::vector<TimedCommand> Executor::TakeTimes() {
  return timeline_ ? timeline_->Take() : std::vector<TimedCommand>();
}

std::vector<TimedCommand> Executor::NewestTimes() const {
  return timeline_ ? timeline_->newest() : std::vector<TimedCommand>();
}

ClStatus Executor::RunStep(size_t index) {
  const Step& step = plan_.steps[index];
  if (step.clblast) {
    return EnqueueClblast(*clblast_, *step.clblast, BufferOf(step.arguments[0]),
                          BufferOf(step.arguments[1]), BufferOf(step.arguments[2]), queue_.get(),
                          TimeStep(step));
  }
  const std::array<size_t, 3>& local = groups_[index];
  ClStatus status = ClCall("clEnqueueNDRangeKernel",
                           api().EnqueueNDRangeKernel(
                               queue_.get(), kernels_[index].get(), 3, nullptr, step.global.data(),
                               local[0] == 0 ? nullptr : local.data(), 0, nullptr, TimeStep(step)));
  if (!IsGroupSizeRefused(status.code) || local[0] == 0) return status;
  groups_[index] = {};  // the driver chooses from now on
  return RunStep(index);
}

ClStatus Executor::RunSteps() {
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    ClStatus status = RunStep(i);
    if (status.ok()) continue;
    failed_kernels_.insert(plan_.TextOf(plan_.steps[i]));
    const auto operation = static_cast<size_t>(plan_.steps[i].operation);
    status.text += ": step " + std::to_string(i) + ", " +
                   compiler::KindName(graph_.operations[operation].kind);
    return status;
  }
  return {};
}

ClStatus Executor::TimeSteps(double* out_ns) {
  using std::chrono::steady_clock;
  ClStatus status = CheckDevice(*context_);
  if (!status.ok()) return status;
  const steady_clock::time_point begin = steady_clock::now();
  status = RunSteps();
  if (status.ok()) status = ClCall("clFinish", api().Finish(queue_.get()));
  *out_ns = std::chrono::duration<double, std::nano>(steady_clock::now() - begin).count();
  return Finish(status);
}

// Sets the status buffer, in which kernels report invalid inputs, to 0. Does nothing without one.
ClStatus Executor::ClearStatus(cl_bool blocks) {
  static constexpr cl_int kZero = 0;
  if (!uses_status_) return {};
  return ClCall("clEnqueueWriteBuffer",
                api().EnqueueWriteBuffer(queue_.get(), status_.get(), blocks, 0, sizeof kZero,
                                         &kZero, 0, nullptr, nullptr));
}

// Reads the status buffer. Changes nothing without one.
ClStatus Executor::ReadStatus(cl_bool blocks, cl_int* out_found) {
  if (!uses_status_) return {};
  return ClCall("clEnqueueReadBuffer",
                api().EnqueueReadBuffer(queue_.get(), status_.get(), blocks, 0, sizeof *out_found,
                                        out_found, 0, nullptr, nullptr));
}

// Converts the contents of the status buffer to a status.
ClStatus Executor::StatusOf(cl_int found) const {
  if (found == 0) return {};
  const auto step = static_cast<size_t>(
      std::clamp<cl_int>(found - 1, 0, static_cast<cl_int>(plan_.steps.size()) - 1));
  const auto operation = static_cast<size_t>(plan_.steps[step].operation);
  return {CL_INVALID_VALUE, StatusText(graph_, graph_.operations[operation])};
}

// Waits for all commands. Failures are ignored.
void Executor::FinishQueues() {
  if (overlap_ != nullptr) (void)api().Finish(overlap_->uploads.get());
  if (queue_) (void)api().Finish(queue_.get());
  if (overlap_ == nullptr) return;
  (void)api().Finish(overlap_->downloads.get());
  overlap_->Reset();
}

ClStatus Executor::Finish(ClStatus status) {
  if (IsDeviceLost(status.code)) context_->Poison();
  // Commands enqueued before a failure must not write to the client's memory after the return.
  if (!status.ok()) FinishQueues();
  if (timeline_) timeline_->Collect();
  return status;
}

ClStatus Executor::Copy(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset,
                        size_t bytes) {
  return ClCall("clEnqueueCopyBuffer",
                api().EnqueueCopyBuffer(queue_.get(), from, to, from_offset, to_offset, bytes, 0,
                                        nullptr, TimeCopy("copy")));
}

// Begins a new run. Returns a failure if the device is lost or kernels are missing.
ClStatus Executor::CheckRunnable() {
  failed_kernels_.clear();
  ClStatus status = CheckDevice(*context_);
  if (!status.ok() || kernels_.size() == plan_.steps.size()) return status;
  return {CL_INVALID_PROGRAM_EXECUTABLE, "cannot create the kernels of the partition"};
}

ClStatus Executor::Upload(std::span<const InputLocation> inputs, bool stages) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t bytes = graph_.value(graph_.inputs[i]).bytes();
    if (bytes == 0) continue;
    const DeviceBuffer* from = inputs[i].device.get();
    ClStatus status =
        from != nullptr
            ? Copy(from->memory.get(), from->offset, BufferOf(graph_.inputs[i]), 0, bytes)
            : UploadFromHost(graph_.inputs[i], inputs[i].host, bytes, stages);
    if (!status.ok()) return status;
  }
  return {};
}

ClStatus Executor::UploadFromHost(ValueId input, const void* host, size_t bytes, bool stages) {
  cl_mem to = BufferOf(input);
  if (stages && Staging::IsFaster(context_->device().profile, bytes) &&
      !HostBlocks::Process().Contain(*context_, host, bytes)) {
    Staging& staging = staging_.try_emplace(input, context_.get(), queue_.get()).first->second;
    return staging.Upload(to, host, bytes, [this] { return TimeCopy("upload"); });
  }
  return ClCall("clEnqueueWriteBuffer",
                api().EnqueueWriteBuffer(queue_.get(), to, CL_FALSE, 0, bytes, host, 0, nullptr,
                                         TimeCopy("upload")));
}

ClStatus Executor::Download(std::span<const OutputLocation> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t bytes = graph_.value(graph_.outputs[i]).bytes();
    if (bytes == 0) continue;
    cl_mem from = BufferOf(graph_.outputs[i]);
    ClStatus status;
    if (const DeviceBuffer* to = outputs[i].device.get()) {
      status = Copy(from, 0, to->memory.get(), to->offset, bytes);
    } else if (outputs[i].host != nullptr) {
      status = ClCall("clEnqueueReadBuffer",
                      api().EnqueueReadBuffer(queue_.get(), from, CL_FALSE, 0, bytes,
                                              outputs[i].host, 0, nullptr, TimeCopy("download")));
    }
    if (!status.ok()) return status;
  }
  return {};
}

std::shared_ptr<const DeviceBuffer> Executor::OutputBuffer(size_t output,
                                                           ClStatus* out_status) const {
  cl_mem memory = BufferOf(graph_.outputs[output]);
  auto buffer = std::make_shared<DeviceBuffer>();
  *out_status = ClCall("clRetainMemObject", api().RetainMemObject(memory));
  if (!out_status->ok()) return nullptr;
  buffer->memory = ClMemory(&api(), memory);
  buffer->bytes = graph_.value(graph_.outputs[output]).bytes();
  return buffer;
}

ClStatus Executor::Run(std::span<const InputLocation> inputs,
                       std::span<const OutputLocation> outputs) {
  ClStatus status = CheckRunnable();
  if (!status.ok()) return status;
  status = ClearStatus(CL_TRUE);
  if (status.ok()) status = Upload(inputs, true);
  if (status.ok()) status = RunSteps();
  if (status.ok()) status = Download(outputs);
  if (!status.ok()) return Finish(status);
  status = ClCall("clFinish", api().Finish(queue_.get()));
  cl_int found = 0;
  if (status.ok()) status = ReadStatus(CL_TRUE, &found);
  if (status.ok()) status = StatusOf(found);
  if (status.ok()) KeepProgram();
  return Finish(status);
}

// Saves the program after a successful run, when the driver has compiled all kernels. A failure to
// save is ignored.
void Executor::KeepProgram() {
  if (program_ != nullptr) (void)program_->Save("");
  has_run_ = true;
}

// Enqueues a marker, which completes after earlier commands of the queue and after `waits`.
// `out_event` receives its event unless it is null.
ClStatus Executor::Mark(cl_command_queue queue, std::span<const cl_event> waits,
                        ClEvent* out_event) {
  cl_event event = nullptr;
  ClStatus status =
      ClCall("clEnqueueMarkerWithWaitList",
             api().EnqueueMarkerWithWaitList(queue, static_cast<cl_uint>(waits.size()),
                                             waits.empty() ? nullptr : waits.data(),
                                             out_event == nullptr ? nullptr : &event));
  if (status.ok() && out_event != nullptr) *out_event = ClEvent(&api(), event);
  return status;
}

// Inputs are not staged, because the next run would overwrite the staging memory.
ClStatus Executor::EnqueueRun(std::span<const InputLocation> inputs,
                              std::span<const OutputLocation> outputs,
                              std::span<const cl_event> waits, Submission* submission) {
  ClStatus status;
  if (!waits.empty()) status = Mark(queue_.get(), waits, nullptr);
  if (status.ok()) status = ClearStatus(CL_FALSE);
  if (status.ok()) status = Upload(inputs, false);
  if (status.ok()) status = RunSteps();
  if (status.ok()) status = Download(outputs);
  if (status.ok()) status = ReadStatus(CL_FALSE, &submission->problem);
  if (status.ok()) status = Mark(queue_.get(), {}, &submission->done);
  if (status.ok()) status = ClCall("clFlush", api().Flush(queue_.get()));
  return status;
}

ClStatus Executor::Submit(std::span<const InputLocation> inputs,
                          std::span<const OutputLocation> outputs, std::span<const cl_event> waits,
                          Submission* submission) {
  ClStatus status = CheckRunnable();
  if (!status.ok()) return status;
  if (timeline_) timing_ = &submission->timeline.emplace(&api());
  try {
    status = StartOverlap();
    if (status.ok()) {
      status = overlap_ != nullptr ? EnqueueOverlapped(inputs, outputs, waits, submission)
                                   : EnqueueRun(inputs, outputs, waits, submission);
    }
  } catch (const std::bad_alloc&) {
    status = {CL_OUT_OF_HOST_MEMORY, "out of memory"};
  }
  timing_ = timeline_ ? &*timeline_ : nullptr;
  return status.ok() ? status : Finish(status);
}

ClStatus Executor::Complete(const ClStatus& waited, Submission* submission) {
  ClStatus status = waited.ok() ? StatusOf(submission->problem) : Finish(waited);
  if (status.ok()) KeepProgram();
  if (submission->timeline) {
    submission->timeline->Collect();
    timeline_->Append(&*submission->timeline);
  }
  return status;
}

}  // namespace deputy::gpu_cl
