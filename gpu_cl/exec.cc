// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/exec.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compiler/memory_plan.h"
#include "gpu_cl/adapt.h"
#include "gpu_cl/make_plan.h"

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Value;
using compiler::ValueId;

PlanOptions PlanOptionsFor(const DeviceProfile& profile, DeviceClass device_class) {
  PlanOptions options;
  options.ranges = device_class == DeviceClass::kCpu;
  const int units = static_cast<int>(std::max(profile.compute_units, 1u));
  // A unit of a GPU runs some hundred work-items at a time.
  options.items = (options.ranges ? 4 : 256) * units;
  options.vector_width = 4;
  if (options.ranges && profile.float_width > 4) {
    options.vector_width = static_cast<int>(profile.float_width);
  }
  return options;
}

namespace {

// What a kernel that reports a status has found.
std::string StatusText(const Graph& graph, const compiler::Operation& operation) {
  std::string text = "node " + std::to_string(operation.node) + ": ";
  const auto* gather = std::get_if<compiler::Gather>(&operation.kind);
  if (gather == nullptr) return text + "an input is out of range";
  const Value& values = graph.value(operation.inputs[0]);
  const int extent = values.shape[static_cast<size_t>(gather->axis)];
  return text + "expected indices from 0 to " + std::to_string(extent - 1) + ", found another";
}

// What some drivers say of a size of groups that their limits allow.
bool IsGroupSizeRefused(cl_int code) {
  return code == CL_INVALID_WORK_GROUP_SIZE || code == CL_INVALID_WORK_ITEM_SIZE;
}

// A context is of no use after the loss, even where the driver still answers.
ClStatus CheckDevice(const SharedContext& context) {
  if (!context.lost()) return {};
  return {CL_INVALID_CONTEXT, "the device was lost; a delegate that is created anew gets it back"};
}

// The options of a plan with what was chosen for it. Without CLBlast there is nothing of its own.
PlanOptions ChosenOptions(const DeviceProfile& profile, const ExecutorOptions& options) {
  PlanOptions plan_options = PlanOptionsFor(profile, options.device_class);
  plan_options.choices = options.choices;
  if (options.clblast == nullptr) {
    for (auto& [operation, choice] : plan_options.choices) choice.clblast = false;
  }
  return plan_options;
}

}  // namespace

Executor::Executor(std::shared_ptr<SharedContext> context, Graph graph,
                   const PlanOptions& plan_options, std::shared_ptr<const ClblastApi> clblast)
    : context_(std::move(context)),
      graph_(Adapted(std::move(graph), plan_options)),
      lifetimes_(FindLifetimes(graph_)),
      plan_(MakePlan(graph_, lifetimes_.storage, plan_options)),
      buffers_(graph_.values.size()),
      clblast_(std::move(clblast)) {}

Executor::~Executor() {
  // Nothing may go that the device still works on; a failure to wait changes nothing about it.
  if (queue_) (void)api().Finish(queue_.get());
}

// What the plan reads of them, and of which values.
void Executor::FingerprintConstants() {
  const auto add = [&](ValueId id) {
    if (id == compiler::kNoValue || !graph_.value(id).constant()) return;
    constants_.Add(static_cast<uint64_t>(id));
    constants_.Add(graph_.value(id).data, graph_.value(id).bytes());
  };
  for (const Step& step : plan_.steps) {
    for (const Argument& argument : step.arguments) {
      if (const auto* value = std::get_if<ValueBuffer>(&argument)) add(value->value);
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
  const PlanOptions plan_options = ChosenOptions(context->device().profile, options);
  return std::unique_ptr<Executor>(
      new Executor(std::move(context), std::move(graph), plan_options, options.clblast));
}

ClStatus Executor::Start(const ExecutorOptions& options) {
  ClStatus status = CheckDevice(*context_);
  if (status.ok()) status = OpenQueue(options);
  if (status.ok()) status = Load(options);
  if (status.ok()) status = Allocate();
  if (status.ok()) status = Bind();
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
  if (options.profiling) timeline_.emplace(&api());
  if (options.queue != nullptr) {
    ClStatus status = ClCall("clRetainCommandQueue", api().RetainCommandQueue(options.queue));
    if (status.ok()) queue_ = ClQueue(&api(), options.queue);
    return status;
  }
  const cl_command_queue_properties properties = options.profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
  cl_int code = CL_SUCCESS;
  queue_ = ClQueue(&api(), api().CreateCommandQueue(context_->context(), context_->device().id,
                                                    properties, &code));
  return ClCall("clCreateCommandQueue", code);
}

ClStatus Executor::Load(const ExecutorOptions& options) {
  if (plan_.kernels.empty()) return {};
  ClStatus status;
  ProgramRequest request;
  request.source = plan_.Source();
  request.cache_token = options.cache_token;
  if (!options.optimize) request.build_options = "-cl-opt-disable";
  for (size_t i = 0; i < plan_.kernels.size(); ++i) {
    request.kernels.push_back(Plan::KernelName(static_cast<int>(i)));
  }
  program_ = Program::Get(context_, request, options.cache, &status);
  return status;
}

// ---- Memory -------------------------------------------------------------------------------------

ClStatus Executor::Allocate() {
  std::vector<bool> is_read(buffers_.size(), false);
  size_t zeros = 0;
  for (const Step& step : plan_.steps) {
    for (const Argument& argument : step.arguments) {
      uses_status_ = uses_status_ || std::holds_alternative<StatusBuffer>(argument);
      if (const auto* zero = std::get_if<ZeroBuffer>(&argument)) {
        zeros = std::max(zeros, static_cast<size_t>(zero->count));
      } else if (const auto* value = std::get_if<ValueBuffer>(&argument)) {
        is_read[static_cast<size_t>(value->value)] = true;
      }
    }
  }
  for (ValueId id : graph_.outputs) is_read[static_cast<size_t>(id)] = true;
  ClStatus status = AllocateConstants(is_read, zeros);
  if (status.ok()) status = AllocateBlocks();
  if (!status.ok() || !uses_status_) return status;
  return NewBuffer(CL_MEM_READ_WRITE, sizeof(cl_int), nullptr, "the status", &status_);
}

// Constants that a kernel reads as they are, and filters in panels.
ClStatus Executor::AllocateConstants(const std::vector<bool>& is_read, size_t zeros) {
  constexpr cl_mem_flags kCopied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  ClStatus status;
  for (size_t i = 0; i < is_read.size() && status.ok(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (is_read[i] && graph_.value(id).constant()) status = AllocateConstant(id);
  }
  for (const Packing& packing : plan_.packings) {
    if (!status.ok()) return status;
    std::vector<std::byte> contents = Pack(graph_, packing);
    packed_.emplace_back();
    status = NewBuffer(kCopied, contents.size(), contents.data(),
                       "filter '" + graph_.value(packing.filter).name + "'", &packed_.back());
  }
  if (!status.ok() || zeros == 0) return status;
  std::vector<float> contents(zeros, 0.0f);
  return NewBuffer(kCopied, zeros * sizeof(float), contents.data(), "zeros", &zeros_);
}

ClStatus Executor::NewBuffer(cl_mem_flags flags, size_t bytes, void* contents,
                             const std::string& what, ClMemory* out_buffer) {
  cl_int code = CL_SUCCESS;
  *out_buffer =
      ClMemory(&api(), api().CreateBuffer(context_->context(), flags, bytes, contents, &code));
  ClStatus status = ClCall("clCreateBuffer", code);
  if (status.ok()) {
    device_bytes_ += bytes;
  } else {
    status.text += ": " + std::to_string(bytes) + " bytes for " + what + ", beside " +
                   std::to_string(device_bytes_) + " bytes that are held";
  }
  return status;
}

ClStatus Executor::AllocateConstant(ValueId id) {
  const Value& value = graph_.value(id);
  // A buffer cannot be empty; what it is made of is only read.
  const bool empty = value.bytes() == 0;
  return NewBuffer(empty ? CL_MEM_READ_ONLY : CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                   empty ? 1 : value.bytes(), empty ? nullptr : const_cast<std::byte*>(value.data),
                   "constant '" + value.name + "'", &buffers_[static_cast<size_t>(id)]);
}

// Values whose lifetimes do not overlap share memory: parts of few large blocks.
ClStatus Executor::AllocateBlocks() {
  std::vector<compiler::Interval> intervals(buffers_.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    const compiler::Lifetime& lifetime = lifetimes_.of_storage[i];
    if (lifetime.empty()) {
      intervals[i] = {0, 0, -1};
    } else {
      const size_t bytes = graph_.value(static_cast<ValueId>(i)).bytes();
      intervals[i] = {std::max<size_t>(bytes, 1), lifetime.first, lifetime.last};
    }
  }
  const DeviceProfile& profile = context_->device().profile;
  compiler::MemoryPlan memory;
  if (!PlanMemory(intervals, std::max(profile.base_alignment, 1u), profile.max_allocation,
                  &memory)) {
    return {CL_INVALID_BUFFER_SIZE, "a tensor is larger than the device's largest buffer, " +
                                        std::to_string(profile.max_allocation) + " bytes"};
  }
  for (size_t bytes : memory.block_bytes) {
    blocks_.emplace_back();
    ClStatus status = NewBuffer(CL_MEM_READ_WRITE, bytes, nullptr, "tensors", &blocks_.back());
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (lifetimes_.of_storage[i].empty()) continue;
    const cl_buffer_region region = {memory.places[i].offset, intervals[i].bytes};
    cl_int code = CL_SUCCESS;
    cl_mem block = blocks_[static_cast<size_t>(memory.places[i].block)].get();
    buffers_[i] =
        ClMemory(&api(), api().CreateSubBuffer(block, CL_MEM_READ_WRITE,
                                               CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    ClStatus status = ClCall("clCreateSubBuffer", code);
    if (!status.ok()) return status;
  }
  return {};
}

cl_mem Executor::BufferOf(ValueId id) const {
  const ValueId owner = lifetimes_.storage[static_cast<size_t>(id)];
  return buffers_[static_cast<size_t>(owner == compiler::kNoValue ? id : owner)].get();
}

cl_mem Executor::BufferOf(const Argument& argument) const {
  if (const auto* value = std::get_if<ValueBuffer>(&argument)) return BufferOf(value->value);
  if (const auto* packed = std::get_if<PackedBuffer>(&argument)) {
    return packed_[static_cast<size_t>(packed->packing)].get();
  }
  return std::holds_alternative<ZeroBuffer>(argument) ? zeros_.get() : status_.get();
}

// ---- Kernels ------------------------------------------------------------------------------------

ClStatus Executor::Bind() {
  for (const Step& step : plan_.steps) {
    ClStatus status = BindStep(step);
    if (!status.ok()) return status;
  }
  return {};
}

// The group that the plan has, unless the device cannot have so many items of this kernel in one:
// then the driver chooses.
std::array<size_t, 3> Executor::AllowedGroup(const Step& step) const {
  if (step.clblast) return {};
  const KernelLimits* limits = program_->LimitsOf(Plan::KernelName(step.kernel));
  const size_t items = step.local[0] * step.local[1] * step.local[2];
  return limits != nullptr && items > limits->max_group_size ? std::array<size_t, 3>{} : step.local;
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
    cl_int code = CL_SUCCESS;
    if (const auto* number = std::get_if<int32_t>(&argument)) {
      code = api().SetKernelArg(kernel.get(), index, sizeof *number, number);
    } else if (const auto* real = std::get_if<float>(&argument)) {
      code = api().SetKernelArg(kernel.get(), index, sizeof *real, real);
    } else {
      cl_mem buffer = BufferOf(argument);
      code = api().SetKernelArg(kernel.get(), index, sizeof buffer, &buffer);
    }
    status = ClCall("clSetKernelArg", code);
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

// Where the event of a command goes; null if no times are taken.
cl_event* Executor::TimeCopy(const char* name) {
  return timeline_ ? timeline_->Next({.name = name, .kernel = ""}) : nullptr;
}

cl_event* Executor::TimeStep(const Step& step) {
  if (!timeline_) return nullptr;
  const compiler::Operation& operation = graph_.operations[static_cast<size_t>(step.operation)];
  return timeline_->Next({.name = compiler::KindName(operation.kind),
                          .kernel = step.clblast ? "CLBlastSgemm" : Plan::KernelName(step.kernel),
                          .node = operation.node});
}

std::vector<TimedCommand> Executor::TakeTimes() {
  return timeline_ ? timeline_->Take() : std::vector<TimedCommand>();
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
  groups_[index] = {};  // from now on the driver chooses
  return RunStep(index);
}

ClStatus Executor::RunSteps() {
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    ClStatus status = RunStep(i);
    if (status.ok()) continue;
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

// What the kernels say of their inputs.
ClStatus Executor::CheckStatus() {
  if (!uses_status_) return {};
  cl_int found = 0;
  ClStatus status = ClCall("clEnqueueReadBuffer",
                           api().EnqueueReadBuffer(queue_.get(), status_.get(), CL_TRUE, 0,
                                                   sizeof found, &found, 0, nullptr, nullptr));
  if (!status.ok() || found == 0) return status;
  const auto step = static_cast<size_t>(
      std::clamp<cl_int>(found - 1, 0, static_cast<cl_int>(plan_.steps.size()) - 1));
  const auto operation = static_cast<size_t>(plan_.steps[step].operation);
  return {CL_INVALID_VALUE, StatusText(graph_, graph_.operations[operation])};
}

ClStatus Executor::Finish(ClStatus status) {
  if (IsDeviceLost(status.code)) context_->Poison();
  // What was enqueued before the failure must not write to the client's memory afterwards.
  if (!status.ok()) (void)api().Finish(queue_.get());
  if (timeline_) timeline_->Collect();
  return status;
}

ClStatus Executor::Copy(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset,
                        size_t bytes) {
  return ClCall("clEnqueueCopyBuffer",
                api().EnqueueCopyBuffer(queue_.get(), from, to, from_offset, to_offset, bytes, 0,
                                        nullptr, TimeCopy("copy")));
}

ClStatus Executor::Upload(std::span<const InputPlace> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t bytes = graph_.value(graph_.inputs[i]).bytes();
    if (bytes == 0) continue;
    cl_mem to = BufferOf(graph_.inputs[i]);
    const DeviceBuffer* from = inputs[i].device.get();
    ClStatus status =
        from != nullptr
            ? Copy(from->memory.get(), from->offset, to, 0, bytes)
            : ClCall("clEnqueueWriteBuffer",
                     api().EnqueueWriteBuffer(queue_.get(), to, CL_FALSE, 0, bytes, inputs[i].host,
                                              0, nullptr, TimeCopy("upload")));
    if (!status.ok()) return status;
  }
  return {};
}

ClStatus Executor::Download(std::span<const OutputPlace> outputs) {
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

ClStatus Executor::Run(std::span<const InputPlace> inputs, std::span<const OutputPlace> outputs) {
  ClStatus status = CheckDevice(*context_);
  if (!status.ok()) return status;
  if (uses_status_) {
    const cl_int zero = 0;
    status = ClCall("clEnqueueWriteBuffer",
                    api().EnqueueWriteBuffer(queue_.get(), status_.get(), CL_TRUE, 0, sizeof zero,
                                             &zero, 0, nullptr, nullptr));
    if (!status.ok()) return Finish(status);
  }
  status = Upload(inputs);
  if (status.ok()) status = RunSteps();
  if (status.ok()) status = Download(outputs);
  if (!status.ok()) return Finish(status);
  status = ClCall("clFinish", api().Finish(queue_.get()));
  if (status.ok()) status = CheckStatus();
  // Only now has the driver compiled everything. A program that cannot be kept is no failure.
  if (status.ok() && program_ != nullptr) (void)program_->Save("");
  return Finish(status);
}

}  // namespace deputy::gpu_cl
