// SPDX-License-Identifier: Apache-2.0
//
// Executor: a graph's plan bound to buffers and kernels of a device, ready to run.
#ifndef DEPUTY_GPU_CL_RUN_EXEC_H_
#define DEPUTY_GPU_CL_RUN_EXEC_H_

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
#include "gpu_cl/device/buffer_table.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/clblast.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/program.h"
#include "gpu_cl/device/program_cache.h"
#include "gpu_cl/device/staging.h"
#include "gpu_cl/device/timeline.h"
#include "gpu_cl/emit/plan.h"
#include "gpu_cl/emit/plan_options.h"
#include "gpu_cl/run/fingerprint.h"
#include "gpu_cl/run/overlap.h"

namespace deputy::gpu_cl {

// Location of an input: host memory or a device buffer.
struct InputLocation {
  const void* host = nullptr;
  std::shared_ptr<const DeviceBuffer> device;  // null: in host memory
};

// Destination of an output: host memory or a device buffer; with neither, the output stays where
// Executor::OutputBuffer returns it.
struct OutputLocation {
  void* host = nullptr;
  std::shared_ptr<const DeviceBuffer> device;
};

// A run that was submitted and whose commands may not have completed.
struct Submission {
  ClEvent done;        // completes after all commands of the run
  cl_int problem = 0;  // a copy of the status buffer, in which kernels report invalid inputs
  std::optional<Timeline> timeline;  // times of the commands; empty unless profiling
};

// Options of compiling and running a graph.
struct ExecutorOptions {
  DeviceClass device_class = DeviceClass::kDesktop;
  // Token and cache of compiled programs (ProgramRequest). The cache may be null.
  std::string cache_token;
  std::shared_ptr<const ProgramCache> cache;
  // The client's queue, to which the executor adds a reference; null: the executor creates one.
  cl_command_queue queue = nullptr;
  // True to measure execution times.
  bool profiling = false;
  // True to let the driver optimise kernels.
  bool optimize = true;
  // Directory for the source of programs; "": none.
  std::string source_dir;
  // Storage of filters (PlanOptions::storage).
  Storage storage = Storage::kBuffer;
  // True to use fallback kernels (see MakePlan) for operations whose kernel the device fails to
  // build, or fails to run before the first successful run.
  bool use_fallbacks = true;
  // Kernel variants by operation of the adapted graph (PlanOptions::choices), and the library for
  // those that are CLBlast. If `clblast` is null, these operations use other kernels.
  std::map<int, KernelChoice> choices = {};
  std::shared_ptr<const ClblastApi> clblast;
  // Number of submitted runs whose transfers overlap with the kernels of others (overlap.h); 0: all
  // commands are in one queue.
  size_t overlapped_runs = 0;
};

// Returns the plan options that follow from a device and a class, without choices.
PlanOptions PlanOptionsFor(const DeviceProfile& profile, DeviceClass device_class);

// Returns the best storage of filters for a device: images on Adreno, whose texture cache they use;
// buffers elsewhere.
Storage PreferredStorage(const DeviceProfile& profile, DeviceClass device_class);

// A graph's plan bound to buffers and kernels of a context. Not thread-safe; several executors may
// run concurrently in one context.
class Executor {
 public:
  // Plans the graph for devices of the class, compiles the plan (or loads it from the cache) and
  // allocates memory. Returns null on failure; poisons the context if the device is lost.
  static std::unique_ptr<Executor> Create(std::shared_ptr<SharedContext> context,
                                          compiler::Graph graph, const ExecutorOptions& options,
                                          ClStatus* out_status);
  // Create in two steps: Planned returns an executor with a plan, and Start compiles the plan and
  // allocates memory. Start must be called before the executor runs.
  static std::unique_ptr<Executor> Planned(std::shared_ptr<SharedContext> context,
                                           compiler::Graph graph, const ExecutorOptions& options);
  ClStatus Start(const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Computes the graph's outputs from its inputs, both in the graph's order. The outputs are
  // complete on return. Poisons the context if the device is lost.
  ClStatus Run(std::span<const InputLocation> inputs, std::span<const OutputLocation> outputs);

  // Enqueues the commands of a Run after the events of `waits`, and returns before they complete.
  // Runs complete in the order of their submission. The memory of inputs and outputs and the
  // submission must be valid until Complete. After a failure, which waits for all commands of the
  // executor, none of the run's commands uses them.
  ClStatus Submit(std::span<const InputLocation> inputs, std::span<const OutputLocation> outputs,
                  std::span<const cl_event> waits, Submission* submission);
  // Ends a submitted run, for whose event the caller has waited with the result `waited`, and
  // returns the status of the run. If waiting has failed, this function waits for all commands.
  ClStatus Complete(const ClStatus& waited, Submission* submission);

  // Rebinds the operations that failed in a Run or Submit to their fallback kernels; returns true
  // if a retry makes sense. Always returns false after the first successful Run, since kernels do
  // not fail after that. `*status` is the status of the failed call, and is replaced if rebinding
  // fails.
  bool RetryWithFallbackKernels(ClStatus* status);

  // Runs the steps once on the current contents of the buffers, and measures the time.
  ClStatus TimeSteps(double* out_ns);

  // Returns the buffer of an output, whose contents are valid until the next run. Null on failure.
  std::shared_ptr<const DeviceBuffer> OutputBuffer(size_t output, ClStatus* out_status) const;

  // Returns the commands that the device has executed since the last call; empty unless profiling.
  std::vector<TimedCommand> TakeTimes();
  // Returns the commands of the newest run, also after TakeTimes.
  std::vector<TimedCommand> NewestTimes() const;

  // Returns true if both executors compute bitwise equal results from equal inputs, because plan,
  // shapes and constants are equal. Requires FingerprintConstants of both.
  bool Computes(const Executor& other) const;
  // Computes the fingerprint of the constants that the plan reads. Must not be called after
  // ForgetModel.
  void FingerprintConstants();
  // Replaces the graph by that of an equivalent executor (see Computes), whose tensor and node
  // numbers may differ.
  void TakeGraph(Executor* other) { graph_ = std::move(other->graph_); }
  // Drops pointers to and copies of the model's constants; they have been uploaded.
  void ForgetModel();

  const compiler::Graph& graph() const { return graph_; }
  const Plan& plan() const { return plan_; }
  // Returns true if the program came from the cache on disk; false before Start.
  bool is_from_cache() const { return program_ != nullptr && program_->from_cache(); }
  // Returns the compiler's messages about the started plan (Program::BuildLog); "" if the plan has
  // no kernels.
  std::string BuildLog() const { return program_ == nullptr ? "" : program_->BuildLog(); }
  // Returns the number of bytes allocated on the device.
  size_t device_bytes() const { return device_bytes_; }

 private:
  // A filter in panels: a buffer, an image, or an image over a buffer.
  struct Filter {
    ClMemory buffer, image;
  };
  // An image over the memory of a value: the value's own image, or one over its whole block.
  struct Texels {
    ClMemory own;
    cl_mem image = nullptr;
    cl_int first = 0;
  };

  Executor(std::shared_ptr<SharedContext> context, compiler::Graph graph,
           const PlanOptions& plan_options, std::shared_ptr<const ClblastApi> clblast);

  ClStatus OpenQueue(const ExecutorOptions& options);
  ClStatus NewQueue(ClQueue* out_queue);
  ClStatus Prepare();
  ClStatus Load();
  bool PlanFallback(const ClStatus& failure);
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
  cl_mem BufferOf(const Argument& argument) const;  // defined for buffers only
  ClStatus Bind();
  std::array<size_t, 3> AllowedGroup(const Step& step) const;
  ClStatus BindStep(const Step& step);
  ClStatus SetArgument(cl_kernel kernel, cl_uint index, const Argument& argument);
  ClStatus CheckRunnable();
  ClStatus Upload(std::span<const InputLocation> inputs, bool stages);
  ClStatus UploadFromHost(compiler::ValueId input, const void* host, size_t bytes, bool stages);
  ClStatus Mark(cl_command_queue queue, std::span<const cl_event> waits, ClEvent* out_event);
  ClStatus EnqueueRun(std::span<const InputLocation> inputs,
                      std::span<const OutputLocation> outputs, std::span<const cl_event> waits,
                      Submission* submission);
  ClStatus StartOverlap();
  ClStatus EnqueueOverlapped(std::span<const InputLocation> inputs,
                             std::span<const OutputLocation> outputs,
                             std::span<const cl_event> waits, Submission* submission);
  ClStatus UploadToSlot(std::span<const InputLocation> inputs, std::span<const cl_event> waits,
                        TransferSlot* slot, ClEvent* uploaded);
  ClStatus ComputeInSlot(std::span<const InputLocation> inputs,
                         std::span<const OutputLocation> outputs, cl_event uploaded,
                         TransferSlot* slot, Submission* submission, ClEvent* computed);
  ClStatus DownloadFromSlot(std::span<const OutputLocation> outputs, cl_event uploaded,
                            cl_event computed, TransferSlot* slot, ClEvent* done);
  ClStatus RunStep(size_t index);
  ClStatus RunSteps();
  ClStatus Download(std::span<const OutputLocation> outputs);
  cl_event* TimeCopy(const char* name);
  cl_event* TimeStep(const Step& step);
  ClStatus Copy(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset, size_t bytes);
  ClStatus ClearStatus(cl_bool blocks);
  ClStatus ReadStatus(cl_bool blocks, cl_int* out_found);
  ClStatus StatusOf(cl_int found) const;
  void KeepProgram();
  void FinishQueues();
  ClStatus Finish(ClStatus status);
  const ClApi& api() const { return context_->api(); }

  // Members are destroyed from the last to the first: kernels before programs, buffers before the
  // queue.
  std::shared_ptr<SharedContext> context_;
  compiler::Graph graph_;
  compiler::Lifetimes lifetimes_;
  PlanOptions plan_options_;
  Plan plan_;
  ExecutorOptions options_;
  std::shared_ptr<Program> program_;
  ClQueue queue_;
  std::unique_ptr<Overlap> overlap_;  // created by the first run that is submitted
  std::vector<ClMemory> blocks_;
  std::vector<size_t> block_bytes_;
  std::vector<compiler::Location> locations_;  // position in the blocks, by value
  // By value: constants, and sub-buffers of blocks or whole blocks; else empty.
  std::vector<ClMemory> buffers_;
  std::vector<Filter> filters_;  // packed filters, by packing
  // Images over values, by the value that owns the memory and the element type.
  std::map<std::pair<compiler::ValueId, TfLiteType>, Texels> texels_;
  std::map<std::pair<int, TfLiteType>, ClMemory> block_images_;
  bool rejects_sub_buffer_images_ = false;  // the driver rejects images over sub-buffers
  ClMemory zeros_, status_;
  bool uses_status_ = false;
  std::vector<ClKernel> kernels_;              // by step; empty for CLBlast
  std::vector<std::array<size_t, 3>> groups_;  // local size by step; see Step::local
  std::shared_ptr<const ClblastApi> clblast_;
  std::optional<Timeline> timeline_;
  Timeline* timing_ = nullptr;  // timeline of the commands of a run; null unless profiling
  std::map<compiler::ValueId, Staging> staging_;  // staging memory by input
  size_t device_bytes_ = 0, filter_bytes_ = 0;
  Fingerprint constants_;
  bool has_fingerprint_ = false, has_run_ = false;
  // Texts of the kernels that caused the last failure.
  std::set<std::string> failed_kernels_;
  int attempts_ = 0;  // number of fallback plans made
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_RUN_EXEC_H_
