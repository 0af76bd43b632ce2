// SPDX-License-Identifier: Apache-2.0
//
// A graph on a device: its plan bound to buffers and kernels, ready to run.
#ifndef DEPUTY_GPU_CL_EXEC_H_
#define DEPUTY_GPU_CL_EXEC_H_

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph.h"
#include "compiler/lifetimes.h"
#include "gpu_cl/buffer_table.h"
#include "gpu_cl/cl_api.h"
#include "gpu_cl/clblast.h"
#include "gpu_cl/device.h"
#include "gpu_cl/fingerprint.h"
#include "gpu_cl/plan.h"
#include "gpu_cl/plan_options.h"
#include "gpu_cl/program.h"
#include "gpu_cl/program_cache.h"
#include "gpu_cl/timeline.h"

namespace deputy::gpu_cl {

// Where an input is: in host memory, or on the device.
struct InputPlace {
  const void* host = nullptr;
  std::shared_ptr<const DeviceBuffer> device;  // null: in host memory
};

// Where an output goes: to host memory, into a buffer on the device, or, with neither, nowhere: it
// stays where Executor::OutputBuffer says.
struct OutputPlace {
  void* host = nullptr;
  std::shared_ptr<const DeviceBuffer> device;
};

// How a graph is compiled and run.
struct ExecutorOptions {
  DeviceClass device_class = DeviceClass::kDesktop;
  // See ProgramRequest. The cache may be null.
  std::string cache_token;
  std::shared_ptr<const ProgramCache> cache;
  // The client's queue, which outlives the executor; null: one of its own.
  cl_command_queue queue = nullptr;
  // Whether times are taken.
  bool profiling = false;
  // Whether the driver optimises kernels.
  bool optimize = true;
  // PlanOptions::choices, by operation of the adapted graph; what computes those of CLBlast. Null:
  // the rules decide about them, too.
  std::map<int, KernelChoice> choices = {};
  std::shared_ptr<const ClblastApi> clblast;
};

// What plans for a device and a class depend on, without choices.
PlanOptions PlanOptionsFor(const DeviceProfile& profile, DeviceClass device_class);

// One thread at a time may use it; many may run on one context at once.
class Executor {
 public:
  // Plans the graph for devices of the class, compiles it (or takes it from the cache) and gives it
  // memory. Null on failure; after the loss of the device the context is poisoned.
  static std::unique_ptr<Executor> Create(std::shared_ptr<SharedContext> context,
                                          compiler::Graph graph, const ExecutorOptions& options,
                                          ClStatus* out_status);
  // The same in two steps: one that has its plan, and must be started before it runs.
  static std::unique_ptr<Executor> Planned(std::shared_ptr<SharedContext> context,
                                           compiler::Graph graph, const ExecutorOptions& options);
  ClStatus Start(const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Computes the graph's outputs from its inputs, both in their order in the graph. On return the
  // outputs are complete. After the loss of the device the context is poisoned.
  ClStatus Run(std::span<const InputPlace> inputs, std::span<const OutputPlace> outputs);

  // Runs the steps once, on whatever is in the buffers, and says how long that took.
  ClStatus TimeSteps(double* out_ns);

  // Where an output lies after a run, until the next one. Null on failure.
  std::shared_ptr<const DeviceBuffer> OutputBuffer(size_t output, ClStatus* out_status) const;

  // What the device has done since the last call; empty unless times are taken.
  std::vector<TimedCommand> TakeTimes();

  // Whether it computes from the same inputs what `other` would, to the bit: its plan, its shapes
  // and its constants are the same. Of both FingerprintConstants was called.
  bool Computes(const Executor& other) const;
  // To be called before ForgetModel, if at all.
  void FingerprintConstants();
  // Takes over the graph of one for which Computes holds: its tensors and nodes may have other
  // numbers.
  void TakeGraph(Executor* other) { graph_ = std::move(other->graph_); }
  // Lets go of what is the model's, which may go: contents of constants.
  void ForgetModel();

  const compiler::Graph& graph() const { return graph_; }
  const Plan& plan() const { return plan_; }
  // What it holds on the device.
  size_t device_bytes() const { return device_bytes_; }

 private:
  Executor(std::shared_ptr<SharedContext> context, compiler::Graph graph,
           const PlanOptions& plan_options, std::shared_ptr<const ClblastApi> clblast);

  ClStatus OpenQueue(const ExecutorOptions& options);
  ClStatus Load(const ExecutorOptions& options);
  ClStatus Allocate();
  ClStatus AllocateConstants(const std::vector<bool>& is_read, size_t zeros);
  ClStatus AllocateConstant(compiler::ValueId id);
  ClStatus AllocateBlocks();
  ClStatus NewBuffer(cl_mem_flags flags, size_t bytes, void* contents, const std::string& what,
                     ClMemory* out_buffer);
  cl_mem BufferOf(compiler::ValueId id) const;
  cl_mem BufferOf(const Argument& argument) const;  // other than a number
  ClStatus Bind();
  std::array<size_t, 3> AllowedGroup(const Step& step) const;
  ClStatus BindStep(const Step& step);
  ClStatus Upload(std::span<const InputPlace> inputs);
  ClStatus RunStep(size_t index);
  ClStatus RunSteps();
  ClStatus Download(std::span<const OutputPlace> outputs);
  cl_event* TimeCopy(const char* name);
  cl_event* TimeStep(const Step& step);
  ClStatus Copy(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset, size_t bytes);
  ClStatus CheckStatus();
  ClStatus Finish(ClStatus status);
  const ClApi& api() const { return context_->api(); }

  // In the order in which they may go: kernels before programs, buffers before the queue.
  std::shared_ptr<SharedContext> context_;
  compiler::Graph graph_;
  compiler::Lifetimes lifetimes_;
  Plan plan_;
  std::shared_ptr<Program> program_;
  ClQueue queue_;
  std::vector<ClMemory> blocks_;
  std::vector<ClMemory> buffers_;  // by value: constants, and parts of blocks; else empty
  std::vector<ClMemory> packed_;   // by packing
  ClMemory zeros_, status_;
  bool uses_status_ = false;
  std::vector<ClKernel> kernels_;              // by step; empty where it is CLBlast's
  std::vector<std::array<size_t, 3>> groups_;  // by step, as Step::local
  std::shared_ptr<const ClblastApi> clblast_;
  std::optional<Timeline> timeline_;
  size_t device_bytes_ = 0;
  Fingerprint constants_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EXEC_H_
