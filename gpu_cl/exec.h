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
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/graph.h"
#include "compiler/lifetimes.h"
#include "compiler/memory_plan.h"
#include "gpu_cl/buffer_table.h"
#include "gpu_cl/cl_api.h"
#include "gpu_cl/clblast.h"
#include "gpu_cl/device.h"
#include "gpu_cl/fingerprint.h"
#include "gpu_cl/plan.h"
#include "gpu_cl/plan_options.h"
#include "gpu_cl/program.h"
#include "gpu_cl/program_cache.h"
#include "gpu_cl/staging.h"
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
  // PlanOptions::storage.
  Storage storage = Storage::kBuffer;
  // Whether operations are computed the next way (MakePlan) where the device does not build a
  // kernel, or does not run it at first.
  bool next_ways = true;
  // PlanOptions::choices, by operation of the adapted graph; what computes those of CLBlast. Null:
  // the rules decide about them, too.
  std::map<int, KernelChoice> choices = {};
  std::shared_ptr<const ClblastApi> clblast;
};

// What plans for a device and a class depend on, without choices.
PlanOptions PlanOptionsFor(const DeviceProfile& profile, DeviceClass device_class);

// Where filters lie best on a device of the class: in images on Adreno, whose texture cache serves
// them, else in buffers.
Storage PreferredStorage(const DeviceProfile& profile, DeviceClass device_class);

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

  // After a Run that failed: whether operations are bound to the next way to compute them, so that
  // another one may succeed. Only until a Run has succeeded: ways do not fail after that. `status`
  // is that of the Run, and then that of binding, if that failed.
  bool TakesNextWays(ClStatus* status);

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
  // Returns true if the program came from the cache on disk; false before the start.
  bool is_from_cache() const { return program_ != nullptr && program_->from_cache(); }
  // Program::BuildLog of the started plan; "" where it has no kernels.
  std::string BuildLog() const { return program_ == nullptr ? "" : program_->BuildLog(); }
  // What it holds on the device.
  size_t device_bytes() const { return device_bytes_; }

 private:
  // A filter in panels: a buffer, an image, or an image over a buffer.
  struct Filter {
    ClMemory buffer, image;
  };
  // An image over the memory of a value, of its own or one over a block.
  struct Texels {
    ClMemory own;
    cl_mem image = nullptr;
    cl_int first = 0;
  };

  Executor(std::shared_ptr<SharedContext> context, compiler::Graph graph,
           const PlanOptions& plan_options, std::shared_ptr<const ClblastApi> clblast);

  ClStatus OpenQueue(const ExecutorOptions& options);
  ClStatus Prepare();
  ClStatus Load();
  bool PlanNextWays(const ClStatus& failure);
  ClStatus Allocate();
  ClStatus AllocateConstants(const std::vector<bool>& is_read, size_t zeros);
  ClStatus AllocateConstant(compiler::ValueId id);
  ClStatus AllocateFilter(const Packing& packing, Filter* out_filter);
  ClStatus AllocateBlocks();
  ClStatus NewBuffer(cl_mem_flags flags, size_t bytes, void* contents, const std::string& what,
                     ClMemory* out_buffer);
  ClStatus NewImage(cl_mem_flags flags, TfLiteType type, const cl_image_desc& description,
                    void* contents, const std::string& what, ClMemory* out_image);
  ClStatus TexelsOf(compiler::ValueId id, cl_mem* out_image, cl_int* out_first);
  compiler::ValueId OwnerOf(compiler::ValueId id) const;
  cl_mem BufferOf(compiler::ValueId id) const;
  cl_mem BufferOf(const Argument& argument) const;  // other than a number
  ClStatus Bind();
  std::array<size_t, 3> AllowedGroup(const Step& step) const;
  ClStatus BindStep(const Step& step);
  ClStatus SetArgument(cl_kernel kernel, cl_uint index, const Argument& argument);
  ClStatus Upload(std::span<const InputPlace> inputs);
  ClStatus UploadFromHost(compiler::ValueId input, const void* host, size_t bytes);
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
  PlanOptions plan_options_;
  Plan plan_;
  ExecutorOptions options_;
  std::shared_ptr<Program> program_;
  ClQueue queue_;
  std::vector<ClMemory> blocks_;
  std::vector<size_t> block_bytes_;
  std::vector<compiler::Place> places_;  // by value, in blocks
  std::vector<ClMemory> buffers_;        // by value: constants, and parts of blocks; else empty
  std::vector<Filter> filters_;          // by packing
  std::map<std::pair<compiler::ValueId, TfLiteType>, Texels> texels_;  // by what owns the memory
  std::map<std::pair<int, TfLiteType>, ClMemory> block_images_;
  bool refuses_parts_ = false;  // the driver, as the memory of images
  ClMemory zeros_, status_;
  bool uses_status_ = false;
  std::vector<ClKernel> kernels_;              // by step; empty where it is CLBlast's
  std::vector<std::array<size_t, 3>> groups_;  // by step, as Step::local
  std::shared_ptr<const ClblastApi> clblast_;
  std::optional<Timeline> timeline_;
  std::map<compiler::ValueId, Staging> staging_;  // by input
  size_t device_bytes_ = 0, filter_bytes_ = 0;
  Fingerprint constants_;
  bool has_fingerprint_ = false, has_run_ = false;
  // Texts of the kernels that the last failure is about.
  std::set<std::string> blamed_;
  int attempts_ = 0;  // to plan next ways
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EXEC_H_
