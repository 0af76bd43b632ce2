// SPDX-License-Identifier: Apache-2.0
//
// Private interface between the builtin kernels and the interpreter that runs them. Kernels are
// written against the public (TfLiteContext*, TfLiteNode*) signature, as custom operators are; the
// headers of core/kernel_api declare everything that they may use beyond it.
//
// A delegate may call a builtin's invoke with a context of its own. RuntimeOf returns null for any
// context that is not Deputy's, and the helpers below then run single-threaded with default
// arithmetic.
#ifndef DEPUTY_CORE_KERNEL_API_RUNTIME_H_
#define DEPUTY_CORE_KERNEL_API_RUNTIME_H_

#include <cstdarg>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/base/memory.h"
#include "core/base/packed_constants.h"
#include "core/base/resources.h"
#include "core/base/scratch_arena.h"
#include "core/base/thread_pool.h"
#include "core/base/tile_observer.h"

namespace deputy {

struct CpuKernels;  // kernels/cpu/cpu.h

// Rounding of quantised results. kDefault scales in float, as XNNPACK does; kReference is
// gemmlowp's double rounding, equal to TensorFlow Lite's reference kernels bit by bit.
enum class Arithmetic { kDefault, kReference };

// Precision of float32 products. kBfloat16 permits kernels to round factors to bfloat16 and to
// accumulate in float32, on machines where that is faster; kFloat16 also permits float16 factors
// and sums (the table of kernels decides).
enum class Precision { kFloat32, kBfloat16, kFloat16 };

// An argument of a subgraph call: a view of memory that the caller owns.
struct CallInput {
  TfLiteType type = kTfLiteNoType;  // element type; NoType: an optional input that is absent
  std::span<const int> dims;
  const char* data = nullptr;  // contents; only Call reads them
  size_t bytes = 0;
};

// An output's type and shape, as far as they are known before the call.
struct CallOutput {
  TfLiteType type = kTfLiteNoType;
  bool known = false;  // false: the shape is known only after the subgraph has run
  std::vector<int> dims;
};

// Interface by which control flow operators call another subgraph of the model. InferOutputs and
// Call take input_count() inputs.
class CallableSubgraph {
 public:
  virtual size_t input_count() const = 0;
  virtual size_t output_count() const = 0;

  // Returns the number of operators of the model's subgraph, including those that a delegate runs.
  virtual size_t operator_count() const = 0;
  virtual TfLiteBuiltinOperator operator_code(size_t n) const = 0;

  // For prepare: infers types and shapes of the outputs from those of the inputs. Prepares the
  // subgraph for the inputs unless the result is known already.
  virtual TfLiteStatus InferOutputs(std::span<const CallInput> inputs,
                                    std::vector<CallOutput>* out_outputs) = 0;

  // For invoke: copies the inputs, which must not be tensors of the subgraph, prepares the subgraph
  // again if their shapes have changed, and runs it. Afterwards its outputs can be read, even if a
  // delegate computed them on a device.
  virtual TfLiteStatus Call(std::span<const CallInput> inputs) = 0;

  // Returns the n-th output, n < output_count(), valid until the next call of any subgraph; null if
  // it is absent.
  virtual const TfLiteTensor* output(size_t n) = 0;

 protected:
  ~CallableSubgraph() = default;
};

struct FusionOffer;
struct ViewOffer;

class Runtime {
 public:
  virtual ThreadPool& pool() = 0;
  // Returns the receiver of the tiles that the pool's threads compute for a node; null: there is
  // none.
  virtual TileObserver* tile_observer() = 0;
  virtual Arithmetic arithmetic() const = 0;
  // For prepare: returns the precision of the node's products.
  virtual Precision precision() const = 0;
  virtual const Limits& limits() const = 0;
  // Returns the table of kernels of the interpreter, in prepare that for the node's precision; see
  // CpuOf in kernels/cpu/cpu.h.
  virtual const CpuKernels& cpu() const = 0;

  // Returns false if the tensor is certainly not read: by no node of the current plan, by no
  // replaced node that may run on the CPU, and not by the client as an output of the graph.
  virtual bool TensorIsRead(int tensor_index) const = 0;

  // Returns true if the tensor has the shape that the model declares, without open extents.
  virtual bool HasDeclaredShape(int tensor_index) const = 0;
  // Returns the declared shape if only dimension 0 of graph inputs is resized, otherwise empty.
  virtual std::span<const int> DeclaredShape(int tensor_index) const = 0;

  // Returns the subgraph with this index, or null if it is out of range.
  virtual CallableSubgraph* FindSubgraph(int index) = 0;

  // For kernels that loop: returns true once per request to cancel, and whenever the client's
  // function for cancellation does; the kernel then returns kTfLiteCancelled.
  virtual bool TakeCancellation() = 0;

  // Returns the memory whose lifetime is one invoke; see scratch.h.
  virtual ScratchArena& scratch() = 0;

  // Returns the state that persists between inferences, shared by all subgraphs of the interpreter.
  virtual Resources& resources() = 0;

  // Returns the store of packed constants that the interpreters of the model share, if `data` is
  // part of the model's file or of that store; else null. See packed_constant.h.
  virtual PackedConstants* PackedConstantsOf(const void* data) = 0;

  // Returns the store of constants that belong to one node; its lifetime is the interpreter's.
  virtual PackedConstants& node_constants() = 0;

  // Reads a part of a constant that lies in a mapped file; see constant_reader.h. Returns `data`,
  // or `to` after copying; null if the constant lies elsewhere or cannot be read. Thread-safe.
  virtual const void* ReadConstant(const void* data, size_t bytes, void* to) = 0;

  // For prepare: requests a call of `pack` for the node once memory is planned for the nodes that
  // were prepared together with it, so that its first invoke need not pack constants. The call is
  // not guaranteed: requests of nodes that a delegate has claimed are discarded.
  virtual void RequestPacking(const TfLiteNode* node,
                              TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) = 0;

  // For `pack`: NoteContents declares that the node's output, a constant (PersistentRo), has its
  // contents now; HasContents queries that. Other constants of this kind are computed by the first
  // invoke.
  virtual void NoteContents(int tensor_index) = 0;
  virtual bool HasContents(int tensor_index) const = 0;

  // For prepare, by operators with several implementations: sets the name of the one that computes
  // the node. The string is static; it is shown in reports.
  virtual void NoteImplementation(const char* name) = 0;

  // For prepare: declares that the node keeps state between inferences which its prepare resets.
  // Every AllocateTensors after a resize then prepares the node.
  virtual void NoteState() = 0;

  // For prepare: declares that the node can be fused, with the state it has prepared. Valid until
  // the node is prepared again.
  virtual void OfferFusion(const TfLiteNode* node, const FusionOffer& offer) = 0;

  // For prepare: declares that parts and their whole may share memory. The kernel must not copy a
  // part that already lies in the whole. Valid until the node is prepared again.
  virtual void OfferViews(const TfLiteNode* node, const ViewOffer& offer) = 0;

  // For FusionOffer::run: returns the node with this index.
  virtual TfLiteNode* group_node(int node_index) = 0;

  // Keeps the reason of a failing kernel for the one report the interpreter makes about it.
  virtual void NoteFailure(const char* text) = 0;

  // Receives a text that a kernel or a delegate reports through the context.
  virtual void Report(const char* format, va_list args) = 0;

  // Returns the external context that the client has set for the type, or null.
  virtual TfLiteExternalContext* external_context(TfLiteExternalContextType type) = 0;

 protected:
  ~Runtime() = default;
};

// Object to which impl_ of each of Deputy's contexts points. A client may set impl_ to an object of
// its own that begins with the same pointer (deputy_graph.h).
struct ContextOwner {
  Runtime* runtime = nullptr;
};

// Function GetExternalContext of all contexts of Deputy, by which they are recognised: layers
// around a delegate may exchange ReportError and the functions that change the graph, but not this
// one.
TfLiteExternalContext* GetContextExternal(TfLiteContext* context, TfLiteExternalContextType type);

// Function ReportError of all contexts of Deputy.
void ReportContextError(TfLiteContext* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Returns the Runtime of one of Deputy's contexts, or null for a foreign context.
inline Runtime* RuntimeOf(const TfLiteContext* context) {
  if (context == nullptr || context->GetExternalContext != &GetContextExternal) return nullptr;
  return static_cast<const ContextOwner*>(context->impl_)->runtime;
}

inline Arithmetic ArithmeticOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Arithmetic::kDefault : runtime->arithmetic();
}

inline Precision PrecisionOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Precision::kFloat32 : runtime->precision();
}

// Returns the number of threads that ParallelFor may use, at least 1. Worker numbers are below this
// number.
inline int ThreadCount(const TfLiteContext* context) {
  Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? 1 : runtime->pool().threads();
}

// Calls function(tile, worker) for every tile on the interpreter's threads. Results must not depend
// on which worker runs a tile.
template <typename Function>
void ParallelFor(const TfLiteContext* context, int tiles, Function&& function) {
  if (Runtime* runtime = RuntimeOf(context)) {
    runtime->pool().ParallelFor(tiles, function, runtime->tile_observer());
  } else {
    for (int tile = 0; tile < tiles; ++tile) function(tile, 0);
  }
}

// Calls call(function, first, last, worker) on the interpreter's threads for ranges that together
// cover [0, count). Each range, unless it is the only one, has at least `grain` elements, so that
// the work outweighs the cost of passing it to a thread.
void RunRanges(const TfLiteContext* context, int64_t count, int64_t grain, const void* function,
               void (*call)(const void* function, int64_t first, int64_t last, int worker));

// Calls RunRanges with function(first, last) or function(first, last, worker). RunRanges itself is
// compiled once for all functions.
template <typename Function>
void ParallelRanges(const TfLiteContext* context, int64_t count, int64_t grain,
                    const Function& function) {
  RunRanges(context, count, grain, &function,
            [](const void* f, int64_t first, int64_t last, [[maybe_unused]] int worker) {
              const Function& run = *static_cast<const Function*>(f);
              if constexpr (std::is_invocable_v<const Function&, int64_t, int64_t, int>) {
                run(first, last, worker);
              } else {
                run(first, last);
              }
            });
}

// Reports a kernel's failure. The text has the form "tensor T 'name': expected X, found Y". Under
// Deputy's interpreter it becomes part of the one report "Node number N (OP) failed to prepare.;
// subgraph S node N OP: <reason>" (or "failed to invoke."); under a foreign context it is reported
// at once. Returns kTfLiteError.
TfLiteStatus KernelError(TfLiteContext* context, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_RUNTIME_H_
