// SPDX-License-Identifier: Apache-2.0
//
// What Deputy offers beyond the TensorFlow Lite C API.
//
// The functions are in libdeputy.so.1 under the version DEPUTY_1.0; the drop-in library does not
// have them. Every struct starts with its size: the caller sets `struct_size` to sizeof the struct
// it was compiled with, and the library reads and writes no byte beyond that, so structs may grow
// at their end. Of a struct that the caller fills, fields that it does not have count as zero, and
// those that an older library does not have are ignored. Of a struct that the library fills, fields
// that an older library does not have are left alone: a caller that sets its struct to zero first
// finds zero there. A `struct_size` below that of the first release is kTfLiteError.
//
// Rules on threads, NULL and failure are those of c_api.h. Strings and arrays that are handed out
// belong to the interpreter and hold until its graph changes (AllocateTensors, a resize, a
// delegate) or it is deleted.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c_api.h"
#include "deputy_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------
// The library
// ------------------------------------------------------------------------------------------------

// Deputy's own version as "major.minor.patch". Static string. Any thread.
TFL_CAPI_EXPORT const char* DeputyVersion(void);

// Which table of CPU kernels this process uses: "generic", "avx2", "avx512" or "amx". The
// environment variable DEPUTY_CPU forces one. Static string. Any thread.
TFL_CAPI_EXPORT const char* DeputyCpuTable(void);

// ------------------------------------------------------------------------------------------------
// Failures
// ------------------------------------------------------------------------------------------------

// The text of the newest failure on the calling thread, "" if there was none; the way to learn why
// a call returned NULL. It holds until the thread's next failure. Any thread.
TFL_CAPI_EXPORT const char* DeputyLastError(void);

// The text of the newest failure of this interpreter, "" if there was none. It holds until the
// interpreter's next failure.
TFL_CAPI_EXPORT const char* DeputyInterpreterLastError(const TfLiteInterpreter* interpreter);

// Sends what would go to stderr to `reporter`, which gets a printf format and its arguments, as
// that of TfLiteInterpreterOptionsSetErrorReporter, and may be called from any thread. NULL brings
// stderr back. `user_data` must live until then. Any thread.
TFL_CAPI_EXPORT void DeputySetDefaultReporter(void (*reporter)(void* user_data, const char* format,
                                                               va_list args),
                                              void* user_data);

// Reports variables of the environment that look like misspelt ones of Deputy's, as DEPUTY_VALIDATE
// for DEPUTY_VALIDATION; other names are left alone. What does not happen here happens when the
// first interpreter is made: each is reported once per process. Any thread.
TFL_CAPI_EXPORT void DeputyCheckEnvironment(void);

// ------------------------------------------------------------------------------------------------
// Operators
// ------------------------------------------------------------------------------------------------

// An operator that Deputy has a kernel for.
typedef struct DeputyOperator {
  // sizeof(DeputyOperator).
  size_t struct_size;
  // The model format's name in capitals, or a custom operator's own. Static.
  const char* name;
  // Number of the builtin operator; 32 for custom operators.
  int32_t builtin_code;
  // The versions that have the kernel.
  int32_t min_version;
  int32_t max_version;
  int32_t reserved;
  // The element types it computes with: a bit 1 << TfLiteType for each.
  uint64_t types;
} DeputyOperator;

// How many operators have a kernel. Any thread.
TFL_CAPI_EXPORT size_t DeputyGetOperatorCount(void);

// Fills `op`, whose struct_size the caller has set, with the operator of that number, from 0 on.
// kTfLiteError if there is none. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyGetOperator(size_t index, DeputyOperator* op);

// An operator that a model names, in one version.
typedef struct DeputyModelOperator {
  // sizeof(DeputyModelOperator).
  size_t struct_size;
  // As DeputyOperator's; holds as long as the model.
  const char* name;
  // Likewise.
  int32_t builtin_code;
  // The version the model asks for.
  int32_t version;
  // Nodes of it in all subgraphs; 0 where the model names it without need.
  int32_t node_count;
  // 1 if Deputy has a kernel for this version, else 0.
  int32_t has_kernel;
} DeputyModelOperator;

// How many operators the model names; 0 for NULL. Any thread.
TFL_CAPI_EXPORT size_t DeputyModelGetOperatorCount(const TfLiteModel* model);

// Fills `op`, whose struct_size the caller has set, with the operator of that number, from 0 on.
// kTfLiteError if there is none. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyModelGetOperator(const TfLiteModel* model, size_t index,
                                                    DeputyModelOperator* op);

// ------------------------------------------------------------------------------------------------
// Models and options
// ------------------------------------------------------------------------------------------------

// As TfLiteModelCreateFromFile, but reads the file into memory instead of mapping it, so that the
// model survives a file that is truncated or overwritten. NULL on failure.
TFL_CAPI_EXPORT TfLiteModel* DeputyModelCreateFromFileByCopy(const char* model_path);

// How quantised results are rounded.
typedef enum DeputyArithmetic {
  // In float, as fast CPU backends do; within one step of the reference.
  kDeputyArithmeticDefault = 0,
  // In integers with double rounding: equal to TensorFlow Lite's reference kernels, bit by bit.
  kDeputyArithmeticReference = 1,
} DeputyArithmetic;

// Chooses the arithmetic of interpreters made with these options. It beats the environment variable
// DEPUTY_ARITHMETIC. kTfLiteError for NULL options and for a value that is none of the enum's.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetArithmetic(
    TfLiteInterpreterOptions* options, DeputyArithmetic arithmetic);

// What the CPU may do with float32 factors of CONV_2D, FULLY_CONNECTED and BATCH_MATMUL.
typedef enum DeputyPrecision {
  // Nothing: products and sums in float32.
  kDeputyPrecisionFloat32 = 0,
  // Factors may be rounded to bfloat16, each by up to 2^-8 of itself, denormals to zero; sums and
  // what tensors hold stay float32. On CPUs with AVX512-BF16, about twice as fast in large layers;
  // on others nothing changes. DeputyNodeRun says which nodes it was.
  kDeputyPrecisionBfloat16 = 1,
} DeputyPrecision;

// Chooses the precision of interpreters made with these options; without it the environment
// variable DEPUTY_PRECISION does ("float32" or "bf16"). Reference arithmetic and validation compute
// in float32 all the same. kTfLiteError for NULL options and for a value that is none of the
// enum's.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetPrecision(TfLiteInterpreterOptions* options,
                                                                  DeputyPrecision precision);

// Threads that interpreters share.
typedef struct DeputyThreadPool DeputyThreadPool;

// A pool of `threads` threads, the calling one included; less than 1 means 1. Threads that cannot
// be started are done without. The caller owns it. NULL if memory is short.
TFL_CAPI_EXPORT DeputyThreadPool* DeputyThreadPoolCreate(int32_t threads);

// Drops the caller's reference. Legal while interpreters and options use the pool; its threads end
// with the last of them.
TFL_CAPI_EXPORT void DeputyThreadPoolDelete(DeputyThreadPool* pool);

// Interpreters made with these options use the threads of `pool` instead of their own, whatever the
// number of threads in the options. NULL takes it back. kTfLiteError for NULL options.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetThreadPool(TfLiteInterpreterOptions* options, DeputyThreadPool* pool);

// What a model may make the library take. 0 in a field keeps the default.
//
// Limits act twice. When a model is loaded, its tables are held against them before anything of
// their size is allocated: against the defaults, or against those given to a function ...WithLimits
// below. When an interpreter is made, the tables are held against the limits of its options, which
// from then on bound its memory, the tensors and nodes that kernels and delegates add, and calls.
// So a model beyond the defaults needs them raised in both places; for a smaller bound on what an
// interpreter takes, the options are enough.
typedef struct DeputyLimits {
  // sizeof(DeputyLimits).
  size_t struct_size;
  // Greatest size of the arena and of any one block, in bytes; for a model, of a copy of its file
  // or of one of its constants. Default: the machine's memory or the process's limit of address
  // space, whichever is less.
  size_t max_block_bytes;
  // Greatest number of tensors of all subgraphs of the model together, and of each subgraph with
  // those that kernels and delegates add. Default: a million.
  int32_t max_tensors;
  // Greatest number of nodes, counted like tensors, and each of operator codes, signatures and
  // metadata entries. Default: a million.
  int32_t max_nodes;
  // How deep subgraphs may call each other. Default: 64. A model with deeper calls, or with a
  // circle, loads, but those of its subgraphs that call too deep cannot be allocated.
  int32_t max_call_depth;
  // Greatest number of subgraphs. Default: a hundred thousand.
  int32_t max_subgraphs;
} DeputyLimits;

// Limits for interpreters made with these options; the struct is copied. Creating an interpreter of
// a model beyond them fails. kTfLiteError for NULL, a wrong struct_size, or a negative number.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetLimits(TfLiteInterpreterOptions* options,
                                                               const DeputyLimits* limits);

// As TfLiteModelCreate and TfLiteModelCreateFromFile, with limits other than the defaults for what
// the model may hold. NULL on failure, and for limits that DeputyInterpreterOptionsSetLimits
// refuses.
TFL_CAPI_EXPORT TfLiteModel* DeputyModelCreateWithLimits(const void* model_data, size_t model_size,
                                                         const DeputyLimits* limits);
TFL_CAPI_EXPORT TfLiteModel* DeputyModelCreateFromFileWithLimits(const char* model_path,
                                                                 const DeputyLimits* limits);

// ------------------------------------------------------------------------------------------------
// When a delegate fails
// ------------------------------------------------------------------------------------------------

// What an interpreter does when a delegate fails.
typedef enum DeputyDelegatePolicy {
  // What TensorFlow Lite does, in statuses and resulting state: a delegate that cannot be applied
  // takes all others with it, a failing kernel fails the inference.
  kDeputyPolicyTfLite = 0,
  // A delegate that cannot be applied leaves everything as it was before: kTfLiteDelegateError, or
  // for delegates in the options, an interpreter without it. A kernel that fails is replaced by its
  // own nodes on the CPU, in mid-inference: kTfLiteOk, and DeputyDelegationStatus says "degraded".
  kDeputyPolicyHot = 1,
} DeputyDelegatePolicy;

// Chooses the policy of interpreters made with these options. It beats the environment variable
// DEPUTY_DELEGATE_POLICY ("tflite" or "hot"). kTfLiteError for NULL options and for a value that is
// none of the enum's.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetDelegatePolicy(
    TfLiteInterpreterOptions* options, DeputyDelegatePolicy policy);

// Under kDeputyPolicyHot: for how many inferences a delegate's node that failed is left out before
// it is tried again. 0, the default: it is tried in the next one; -1: never again, until the graph
// changes. An inference is one Invoke of the interpreter or of a signature, however often it runs a
// subgraph in a loop. kTfLiteError for NULL options and other negative numbers.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetDelegateRetry(TfLiteInterpreterOptions* options, int32_t inferences);

// How delegation went, over all subgraphs.
typedef struct DeputyDelegationStatus {
  // sizeof(DeputyDelegationStatus).
  size_t struct_size;
  // A DeputyDelegatePolicy.
  int32_t policy;
  // Not 0: the newest inference computed nodes of a delegate, in whatever subgraph, on the CPU
  // because it failed, or a delegate could not be applied and was left out.
  int32_t degraded;
  // Delegates that could not be applied and were left out.
  int64_t delegates_left_out;
  // How often a delegate's node was computed on the CPU.
  int64_t recomputed_nodes;
  // How often an inference, or a subgraph's run within one, started over because a delegate could
  // not hand out its tensors.
  int64_t restarts;
  // What being able to go on costs: memory kept for the replaced nodes, in bytes, and time spent so
  // far on keeping variables, in nanoseconds. Both 0 under kDeputyPolicyTfLite.
  size_t reserved_bytes;
  int64_t saving_ns;
} DeputyDelegationStatus;

// Fills `status`, whose struct_size the caller has set.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetDelegationStatus(
    const TfLiteInterpreter* interpreter, DeputyDelegationStatus* status);

// When the results of delegates are compared with those of their own nodes on the CPU.
typedef enum DeputyVerificationMode {
  kDeputyVerifyNever = 0,
  // In the first run of each partition behind every allocation.
  kDeputyVerifyFirst = 1,
  // In the first run, and in every `interval`-th after it.
  kDeputyVerifyEveryNth = 2,
  kDeputyVerifyAlways = 3,
} DeputyVerificationMode;

// How results are verified. NaN and infinities have to stand in the same places; what is neither
// float nor quantised has to be equal.
typedef struct DeputyVerification {
  // sizeof(DeputyVerification).
  size_t struct_size;
  // A DeputyVerificationMode.
  int32_t mode;
  // Of kDeputyVerifyEveryNth, at least 1; 0 otherwise.
  int32_t interval;
  // How far a float may lie from the CPU's, as a part of the greatest magnitude in its tensor; 0:
  // 1e-4 for float32, 1e-2 for float16.
  double float32_tolerance;
  double float16_tolerance;
  // How many steps a quantised value may lie from the CPU's; 0: three, and one more for every two
  // nodes of the partition; -1: none.
  int32_t quantized_steps;
  // 0; room for what may come.
  int32_t reserved;
} DeputyVerification;

// Chooses how delegates are verified in interpreters made with these options; the struct is copied.
// A partition's nodes compute its outputs again on the CPU, from the same inputs and variables. A
// float beyond the tolerance is still right where the nodes themselves, given float32 inputs that
// differ in their last bits, differ by an eighth of as much, up to a hundred tolerances: there any
// two right answers do. A wrong output is reported with tensor, element, expected and found. Under
// kDeputyPolicyHot the CPU's outputs take its place and the partition stays on the CPU until the
// graph changes; otherwise nothing else happens. As under kDeputyPolicyHot, the replaced nodes are
// kept ready to run. Outputs whose shapes are known only when they are computed, and nodes that
// only the delegate can compute, are not compared. kTfLiteError for NULL, a wrong struct_size, and
// numbers out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetVerification(
    TfLiteInterpreterOptions* options, const DeputyVerification* verification);

// What verification has found so far, over all subgraphs.
typedef struct DeputyVerificationStatus {
  // sizeof(DeputyVerificationStatus).
  size_t struct_size;
  // Runs of partitions that were compared; those of them that were wrong; and those that could not
  // be compared.
  int64_t verified;
  int64_t wrong;
  int64_t skipped;
  // What it cost: nanoseconds spent on computing again and comparing.
  int64_t spent_ns;
  // The first wrong number: its subgraph, the delegate's node, and the tensor; -1 if there is none.
  int32_t subgraph_index;
  int32_t node_index;
  int32_t tensor_index;
  // 0; room for what may come.
  int32_t reserved;
  // Its place in the tensor, and what it should be and was.
  int64_t element;
  double expected;
  double found;
} DeputyVerificationStatus;

// Fills `status`, whose struct_size the caller has set. kTfLiteError for NULL.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetVerificationStatus(
    const TfLiteInterpreter* interpreter, DeputyVerificationStatus* status);

// A number that is equal as long as the graph's structure is: the plans; per node its tensors,
// operator and data; per tensor all fields but the address of its bytes; the delegates applied. It
// means something within one process only. 0 for NULL.
TFL_CAPI_EXPORT uint64_t DeputyInterpreterGetGraphDigest(const TfLiteInterpreter* interpreter);

// ------------------------------------------------------------------------------------------------
// What is in an interpreter
// ------------------------------------------------------------------------------------------------

// Number of subgraphs; 0 for NULL.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSubgraphCount(const TfLiteInterpreter* interpreter);

// Name of a subgraph, "" if it has none. NULL if out of range.
TFL_CAPI_EXPORT const char* DeputyInterpreterGetSubgraphName(const TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index);

// Number of tensors of a subgraph; 0 if out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetTensorCount(const TfLiteInterpreter* interpreter,
                                                        int32_t subgraph_index);

// A tensor of any subgraph, owned by the interpreter. NULL if out of range.
TFL_CAPI_EXPORT const TfLiteTensor* DeputyInterpreterGetTensor(const TfLiteInterpreter* interpreter,
                                                               int32_t subgraph_index,
                                                               int32_t tensor_index);

// Resizes an input by name. Unlike TfLiteSignatureRunnerResizeInputTensor, and like
// TfLiteInterpreterResizeInputTensor, it may change every dimension and the rank.
TFL_CAPI_EXPORT TfLiteStatus DeputySignatureRunnerResizeInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name, const int* input_dims,
    int32_t input_dims_size);

// Number of nodes in a subgraph's table, replaced ones included; 0 if out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetNodeCount(const TfLiteInterpreter* interpreter,
                                                      int32_t subgraph_index);

// One node.
typedef struct DeputyNodeInfo {
  // sizeof(DeputyNodeInfo).
  size_t struct_size;
  // Where it is.
  int32_t subgraph_index;
  int32_t node_index;
  // Its position in the order of execution; -1 if it does not run.
  int32_t plan_position;
  // Number of the builtin operator; 32 for custom operators, 51 for nodes of delegates.
  int32_t builtin_code;
  // Version of the operator.
  int32_t version;
  // The operator's name: the model format's in capitals, or a custom operator's or delegate's own.
  const char* operator_name;
  // Who runs it: "CPU", or the name of the delegate's kernel.
  const char* owner;
  // Tensor indices, -1 where an optional input is absent.
  const int32_t* inputs;
  int32_t input_count;
  int32_t output_count;
  // Tensor indices.
  const int32_t* outputs;
} DeputyNodeInfo;

// Fills `info`, whose struct_size the caller has set. kTfLiteError if an index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetNodeInfo(const TfLiteInterpreter* interpreter,
                                                          int32_t subgraph_index,
                                                          int32_t node_index, DeputyNodeInfo* info);

// ------------------------------------------------------------------------------------------------
// Who runs what, and why
// ------------------------------------------------------------------------------------------------

// One delegate that was asked, whether it could be applied or not. Strings hold until delegates are
// applied, undone by a resize, or removed.
typedef struct DeputyDelegateInfo {
  // sizeof(DeputyDelegateInfo).
  size_t struct_size;
  // As it was handed in.
  const TfLiteDelegate* delegate;
  // What it calls itself: the plug-in's name, else that of its kernels, else "".
  const char* name;
  // Not 0: it could be applied, and has not been removed since.
  int32_t applied;
  // Number of its nodes in the plans: its partitions.
  int32_t partition_count;
  // Number of the model's nodes that it runs, over all subgraphs.
  int32_t node_count;
  // 0; room for what may come.
  int32_t reserved;
  // Why it could not be applied or was removed, "" otherwise.
  const char* failure;
} DeputyDelegateInfo;

// Number of delegates that are known, in the order of their first application: those that are
// applied, and of those that failed or were removed the newest 16 of each subgraph. Older ones are
// forgotten, and those behind them move up. A delegate that could not be applied may be deleted
// before these functions are called. 0 for NULL.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetDelegateCount(const TfLiteInterpreter* interpreter);

// Fills `info`, whose struct_size the caller has set. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetDelegateInfo(const TfLiteInterpreter* interpreter,
                                                              int32_t delegate_index,
                                                              DeputyDelegateInfo* info);

// The support status of one node of the model for one delegate, and whether the delegate runs it
// now. Strings are valid as long as those of DeputyDelegateInfo.
typedef struct DeputyNodeSupport {
  // sizeof(DeputyNodeSupport).
  size_t struct_size;
  // Not 0: the node runs in the delegate, or in a node of the delegate that a later delegate has
  // claimed.
  int32_t delegated;
  // A DeputyReason (deputy_plugin.h); kDeputyReasonNone if `delegated` is not 0.
  int32_t reason;
  // The name of the reason, such as "NOT_CLAIMED". Static string.
  const char* reason_name;
  // The explanation that belongs to the reason; "" if there is none.
  const char* text;
  // The atomic group, -1 for none.
  int32_t group;
  // 0; reserved.
  int32_t reserved;
  // The delegate's estimate in nanoseconds, negative if it gave none.
  double cost_ns;
} DeputyNodeSupport;

// Fills `support`, whose struct_size the caller has set. kTfLiteError if an index is out of range
// or the delegate was not queried about that node.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetNodeSupport(const TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index,
                                                             int32_t node_index,
                                                             int32_t delegate_index,
                                                             DeputyNodeSupport* support);

// Called once for each node of the model. `support` is valid during the call; its `delegated` is
// not 0 if the delegate would run the node.
typedef void (*DeputySupportCallback)(void* user_data, int32_t subgraph_index, int32_t node_index,
                                      const DeputyNodeSupport* support);

// Queries which nodes of the execution plans the delegate of a plug-in would run, and calls
// `callback` for each node, subgraph by subgraph. The delegate is not applied: only its get_support
// (deputy_plugin.h) is called, no node is replaced, nothing is compiled, and the graph is
// unchanged. The CPU kernels are prepared, so that the delegate has shapes. Placement and limits on
// partitions have no effect here; when the delegate is applied they may leave it fewer nodes.
//
// Returns kTfLiteUnresolvedOps, without a call of `callback`, if the delegate does not come from a
// plug-in or its plug-in has no get_support; kTfLiteError if get_support failed, memory is short,
// or an argument is NULL; and the status of the preparation if that failed. Each is reported;
// `callback` may have been called for earlier subgraphs.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterCheckDelegate(TfLiteInterpreter* interpreter,
                                                            TfLiteDelegate* delegate,
                                                            DeputySupportCallback callback,
                                                            void* user_data);

// What one node took, and who ran it.
typedef struct DeputyNodeRun {
  // sizeof(DeputyNodeRun).
  size_t struct_size;
  // The node of the plan that runs it: itself, or a delegate's node; -1 if none does.
  int32_t runner;
  // Index of that delegate, -1 for the CPU.
  int32_t delegate_index;
  // While a profile callback was set: how often it ran by itself, and how long that took.
  int64_t runs;
  int64_t total_ns;
  // For a delegate's node: how often its nodes were computed on the CPU in its place.
  int64_t recomputed;
  // The head of the step in which the CPU runs it together with others, itself perhaps, and how
  // many nodes these are; -1 and 0 if it runs by itself. What the nodes of a step hand to each
  // other is not in memory. `runs` and `total_ns` of a step are those of its head.
  int32_t step_head;
  int32_t step_nodes;
  // Which of the operator's implementations the CPU runs, "gemm_float" or "pointwise_bf16" say;
  // "" where the operator has but one, before AllocateTensors, and where a delegate runs the node.
  // Names that end in "_bf16" multiply in bfloat16 (DeputyPrecision). Static.
  const char* implementation;
  // Which rows and columns of its output the CPU computes: every so many-th, from the first on; 1
  // where it computes all. The others, which no node reads, are not in memory.
  int32_t row_stride;
  int32_t column_stride;
  // While a profile callback was set: the time that a delegate reported for it (DeputyOpEvent), in
  // nanoseconds. For a delegate's node, what was for none of its nodes in particular.
  int64_t reported_ns;
} DeputyNodeRun;

// Fills `run`, whose struct_size the caller has set. kTfLiteError if an index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetNodeRun(const TfLiteInterpreter* interpreter,
                                                         int32_t subgraph_index, int32_t node_index,
                                                         DeputyNodeRun* run);

// A delegate's node and what crosses its boundary.
typedef struct DeputyPartition {
  // sizeof(DeputyPartition).
  size_t struct_size;
  // The delegate's node, and its place in the order of execution.
  int32_t node_index;
  int32_t plan_position;
  // The delegate.
  int32_t delegate_index;
  // How many nodes it replaced, and which.
  int32_t node_count;
  const int32_t* nodes;
  // Tensors that come in, constants apart, and go out, and their bytes.
  int32_t input_count;
  int32_t output_count;
  size_t input_bytes;
  size_t output_bytes;
  // Bytes of the constants it reads.
  size_t constant_bytes;
} DeputyPartition;

// Number of delegates' nodes in a subgraph's plan; 0 if out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetPartitionCount(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index);

// Fills `partition`, whose struct_size the caller has set, with the n-th in the order of execution.
// kTfLiteError if an index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetPartition(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index,
                                                           int32_t partition_index,
                                                           DeputyPartition* partition);

// ------------------------------------------------------------------------------------------------
// Saying who runs what
// ------------------------------------------------------------------------------------------------

// What DeputyPlacement.selector may say.
typedef enum DeputyNodeSelector {
  // The node with the number node_index.
  kDeputySelectIndex = 0,
  // The node that gives out the tensor of that name.
  kDeputySelectOutputTensor = 1,
  // All nodes of the operator of that name, as in DeputyNodeInfo: "CONV_2D", or a custom one's.
  kDeputySelectOperator = 2,
} DeputyNodeSelector;

// Keeps nodes for one delegate, or for the CPU. The delegate is not made to take them.
typedef struct DeputyPlacement {
  // sizeof(DeputyPlacement).
  size_t struct_size;
  // A DeputyNodeSelector.
  int32_t selector;
  // The subgraph, -1 for all.
  int32_t subgraph_index;
  // For kDeputySelectIndex.
  int32_t node_index;
  // 0; room for what may come.
  int32_t reserved;
  // For the other selectors; it is copied.
  const char* name;
  // The one delegate that may take them; NULL excludes them from delegation.
  const TfLiteDelegate* delegate;
} DeputyPlacement;

// Adds a placement to the interpreters made with these options; the struct is copied. kTfLiteError
// for NULL, a wrong struct_size, selector or missing name. That two placements contradict each
// other, or that a node is not there, shows when the interpreter is created: NULL, with a message.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsAddPlacement(TfLiteInterpreterOptions* options,
                                                                  const DeputyPlacement* placement);

// How much of a model has to be delegated.
typedef enum DeputyRequirement {
  // Nothing.
  kDeputyRequireNothing = 0,
  // At least one node.
  kDeputyRequirePartial = 1,
  // All nodes of all subgraphs that delegates are asked about.
  kDeputyRequireFull = 2,
} DeputyRequirement;

// Refuses interpreters of these options whose delegates, those in the options, do not run as much:
// creation returns NULL and the message lists the nodes that are left. kTfLiteError for NULL
// options and for a value that is none of the enum's.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsRequireDelegation(
    TfLiteInterpreterOptions* options, DeputyRequirement requirement);

// The same question to an interpreter: kTfLiteOk, or kTfLiteError after a report that lists the
// nodes that are left. `delegated` and `total`, which may be NULL, get numbers of the model's
// nodes.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterCheckDelegation(const TfLiteInterpreter* interpreter,
                                                              DeputyRequirement requirement,
                                                              int32_t* delegated, int32_t* total);

// ------------------------------------------------------------------------------------------------
// Watching delegates
// ------------------------------------------------------------------------------------------------

// How bad a finding is.
typedef enum DeputySeverity {
  // The delegate breaks the contract.
  kDeputySeverityError = 0,
  // Nearly always an error; some delegates mean it.
  kDeputySeveritySuspicion = 1,
  // Fine here, but not in every release of TensorFlow Lite.
  kDeputySeverityPortability = 2,
} DeputySeverity;

// One way in which a delegate breaks a rule of the contract. docs/validation.md lists the rules.
typedef struct DeputyFinding {
  // sizeof(DeputyFinding).
  size_t struct_size;
  // The rule's number and name, as "V31 writes-outside-output". Static string.
  const char* rule;
  // Rule, delegate, call and what happened, in words.
  const char* text;
  // A DeputySeverity.
  int32_t severity;
  // Where: -1 if it is about no subgraph, node or tensor.
  int32_t subgraph_index;
  int32_t node_index;
  int32_t tensor_index;
  // How often it happened so far.
  int64_t count;
  // The delegate, as its kernels know it; NULL if none is to blame.
  const TfLiteDelegate* delegate;
  // What it calls itself, "" if it has not said.
  const char* delegate_name;
} DeputyFinding;

// How to watch.
typedef struct DeputyValidationOptions {
  // sizeof(DeputyValidationOptions).
  size_t struct_size;
  // Not 0: delegates are watched.
  int32_t enabled;
  // 0; room for what may come.
  int32_t reserved;
  // How long one invoke of a delegate's kernel may take, in nanoseconds; 0: as long as it likes.
  int64_t invoke_budget_ns;
  // Hears of each finding when it is made first, also of those made while the interpreter is
  // deleted. May be NULL. It is called on the thread that breaks the rule, must not use the
  // interpreter, and the finding holds during the call only.
  void (*on_finding)(void* user_data, const DeputyFinding* finding);
  // For on_finding; it must live as long as the interpreters.
  void* user_data;
} DeputyValidationOptions;

// Switches the validation layer on or off for interpreters made with these options; the struct is
// copied. It checks the contract while delegates run, at the price of time and memory, and changes
// neither statuses nor results. It beats the environment variable DEPUTY_VALIDATION, which switches
// it on when it is "1". Findings go to the error reporter, too. kTfLiteError for NULL, a wrong
// struct_size and a negative number.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetValidation(
    TfLiteInterpreterOptions* options, const DeputyValidationOptions* validation);

// Number of different findings so far; 0 for NULL and without validation.
TFL_CAPI_EXPORT size_t DeputyInterpreterGetFindingCount(const TfLiteInterpreter* interpreter);

// Fills `finding`, whose struct_size the caller has set. Its strings hold as long as the
// interpreter. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetFinding(const TfLiteInterpreter* interpreter,
                                                         size_t index, DeputyFinding* finding);

// ------------------------------------------------------------------------------------------------
// Memory map
// ------------------------------------------------------------------------------------------------

// The memory of a subgraph.
typedef struct DeputyMemoryMap {
  // sizeof(DeputyMemoryMap).
  size_t struct_size;
  // Size of the block that tensors share while a model runs.
  size_t arena_bytes;
  // Size of the block whose contents survive between inferences.
  size_t persistent_bytes;
  // Number of tensors in the two, for DeputyInterpreterGetTensorMemory.
  size_t tensor_count;
  // Since the second release of the struct: size of the block in which the builtin kernels of all
  // subgraphs of this interpreter work while they run.
  size_t scratch_bytes;
  // Size of values that builtin kernels compute from constants: packed copies, and results of
  // DEQUANTIZE and DENSIFY. The interpreters of a model share them; the last one to be deleted
  // frees them.
  size_t packed_bytes;
  // Since the third release of the struct: what variables hold that operators share by name
  // (VAR_HANDLE), in all subgraphs of this interpreter.
  size_t resource_bytes;
} DeputyMemoryMap;

// Fills `map`, whose struct_size the caller has set. All zero before AllocateTensors. kTfLiteError
// if the index is out of range or memory is short.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetMemoryMap(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index,
                                                           DeputyMemoryMap* map);

// The place of one tensor.
typedef struct DeputyTensorMemory {
  // sizeof(DeputyTensorMemory).
  size_t struct_size;
  // Which tensor.
  int32_t tensor_index;
  // Not 0: in the persistent block.
  int32_t persistent;
  // Where it starts in its block.
  size_t offset;
  // How much it takes there.
  size_t bytes;
  // The first and last position of the execution order at which its bytes matter.
  int32_t first_use;
  int32_t last_use;
  // Since the second release of the struct: the tensor in whose place this one lies, because the
  // operator that makes it works in place, or one is a part of the other; tensor_index itself where
  // the place is its own.
  int32_t owner;
  int32_t reserved;
} DeputyTensorMemory;

// Fills `memory`, whose struct_size the caller has set, with the n-th entry of a subgraph's map.
// kTfLiteError if an index is out of range or memory is short.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetTensorMemory(const TfLiteInterpreter* interpreter,
                                                              int32_t subgraph_index,
                                                              size_t entry_index,
                                                              DeputyTensorMemory* memory);

// ------------------------------------------------------------------------------------------------
// Profiling
// ------------------------------------------------------------------------------------------------

// One operator that has run. The library sets struct_size; a client looks at it before it reads a
// field that a later release brought.
//
// A delegate's node is one event, unless the delegate has the flag
// kTfLiteDelegateFlagsPerOperatorProfiling and reports the times of the operators in its partition
// (node_events in deputy_plugin.h). The event of the node is then replaced by those: each has the
// index and the operator of a node that the partition replaces. A node can have several of them, or
// none, where the delegate computes it together with another. What the delegate did for none of
// them in particular, such as copies, has the index and the operator of the delegate's node.
typedef struct DeputyOpEvent {
  // Size of the struct that the library filled.
  size_t struct_size;
  // Which node.
  int32_t subgraph_index;
  int32_t node_index;
  // The operator's name, as in DeputyNodeInfo. It holds during the call only.
  const char* operator_name;
  // When it started, on a clock that only runs forward, and how long it took, in nanoseconds.
  int64_t begin_ns;
  int64_t duration_ns;
  // How it ended.
  TfLiteStatus status;
  // 0; room for what may come.
  int32_t reserved;
  // For an event that a delegate reported: its name, the name of the operation ("conv_2d") or "",
  // the delegate's node, and the begin and duration of that node's whole run. Otherwise "", "", -1,
  // 0 and 0. The texts are valid during the call only.
  const char* delegate_name;
  const char* detail;
  int64_t node_begin_ns;
  int64_t node_duration_ns;
  int32_t delegate_node;
  // 0; for later use.
  int32_t reserved_too;
} DeputyOpEvent;

// Called after each operator or step, on the thread that invokes; with the events of a delegate
// after its node. It must not use the interpreter.
typedef void (*DeputyProfileCallback)(void* user_data, const DeputyOpEvent* event);

// Sets the callback that is called after each operator; NULL switches it off. `user_data` must live
// until then. kTfLiteError for a NULL interpreter.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetProfileCallback(TfLiteInterpreter* interpreter,
                                                                 DeputyProfileCallback callback,
                                                                 void* user_data);

// What one thread did for an operator that several threads computed in pieces, from its first piece
// to its last; an operator can have several of these in a row. The library sets struct_size as that
// of DeputyOpEvent.
typedef struct DeputyWorkerEvent {
  // Size of the struct that the library filled.
  size_t struct_size;
  // Which node.
  int32_t subgraph_index;
  int32_t node_index;
  // Which thread: 0 is the one that invokes, the others are the pool's.
  int32_t worker;
  // How many pieces it computed.
  int32_t tiles;
  // When it started and how long it took, on the clock of DeputyOpEvent.
  int64_t begin_ns;
  int64_t duration_ns;
} DeputyWorkerEvent;

// Called on the thread that invokes, when the pieces are done and before the operator's
// DeputyOpEvent, whichever thread the event is about. It must not use the interpreter.
typedef void (*DeputyWorkerCallback)(void* user_data, const DeputyWorkerEvent* event);

// Sets the callback that is called for each thread's part of an operator of the CPU; NULL switches
// it off, and is how an interpreter begins, which then takes no such times. `user_data` must live
// until then. Delegates' threads are their own and not reported. kTfLiteError for a NULL
// interpreter.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetWorkerCallback(TfLiteInterpreter* interpreter,
                                                                DeputyWorkerCallback callback,
                                                                void* user_data);

// ------------------------------------------------------------------------------------------------
// Plug-ins
// ------------------------------------------------------------------------------------------------

// A shared object that delegates are made from. The reference counts below are for this description
// of it; the shared object itself stays loaded until the process ends, since threads of its own, or
// of a driver that it uses, may still run its code. A file that is loaded again is not looked at
// again: to use a new version of it, start a new process or give it a new name.
typedef struct DeputyPlugin DeputyPlugin;

// What a plug-in is.
typedef enum DeputyPluginKind {
  // It exports tflite_plugin_create_delegate and tflite_plugin_destroy_delegate.
  kDeputyPluginExternal = 0,
  // It exports TFL_TheStableDelegate.
  kDeputyPluginStable = 1,
  // It exports deputy_plugin, and so says what it is and which options it takes.
  kDeputyPluginDeputy = 2,
} DeputyPluginKind;

// Loads the library at `path`. A name without a slash is that of a plug-in first: "mine" is
// libmine.so or libdeputy_mine.so, "libmine.so" that file, in the places that
// DeputyPluginListCreate searches by default, and "gpu" is our own OpenCL delegate. If there is
// none it is searched for as dlopen does. The caller owns one reference. NULL on failure;
// DeputyLastError() tells what is wrong with the file. Any thread, but a stable delegate makes it
// set the environment variable TFLITE_STABLE_DELEGATE_LIBRARY_PATH, which must not happen while
// another thread reads the environment.
//
// What the system's loader relies on in the file is checked before it sees the file, so that a
// damaged one is refused. What cannot be checked is the library's code and data, which of its code
// runs first, and the libraries that it needs: its initialisers run in this process and may end it.
// With the environment variable DEPUTY_PLUGIN_PROBE=1 a library that is not yet in the process is
// first loaded in a child process, made by fork, and refused if it ends that one or takes longer
// than 10 seconds. This is for plug-ins that nobody vouches for: a driver that must not be used
// after fork, or a lock that another thread holds, may have a good one refused.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginLoad(const char* path);

// The same, but what is reported during the call goes to `reporter` instead of the default one, as
// with TfLiteModelCreateWithErrorReporter; NULL is the default one.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginLoadWithErrorReporter(
    const char* path, void (*reporter)(void* user_data, const char* format, va_list args),
    void* user_data);

// Adds a reference and returns its argument. NULL is fine. Any thread.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginRetain(DeputyPlugin* plugin);

// Drops a reference; with the last one the description is freed. NULL is fine. Any thread.
TFL_CAPI_EXPORT void DeputyPluginRelease(DeputyPlugin* plugin);

// What a plug-in says of itself. Strings and options belong to the plug-in and hold as long as a
// reference to it does; strings that it does not give are "".
typedef struct DeputyPluginInfo {
  // sizeof(DeputyPluginInfo).
  size_t struct_size;
  // As it was loaded.
  const char* path;
  // A DeputyPluginKind.
  int32_t kind;
  // A DeputyLayout.
  int32_t preferred_layout;
  // Its own name, or that of its file.
  const char* name;
  // Its own version.
  const char* version;
  // Who makes it.
  const char* vendor;
  // The options it declares, and how many. None does not mean that it takes none.
  const DeputyPluginOption* options;
  size_t option_count;
} DeputyPluginInfo;

// Fills `info`, whose struct_size the caller has set. kTfLiteError for NULL and for a struct_size
// that is too small. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginDescribe(const DeputyPlugin* plugin,
                                                  DeputyPluginInfo* info);

// Calls `callback` for each device that the plug-in's delegates can work on; what it gets is the
// plug-in's and holds during the call. Of a DeputyDeviceInfo, fields beyond its struct_size are not
// to be read. kTfLiteError for a plug-in that does not say, and where it has no device;
// DeputyLastError() has the text. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginListDevices(const DeputyPlugin* plugin,
                                                     DeputyDeviceCallback callback,
                                                     void* user_data);

// Calls `callback` for each operator that the plug-in's delegates take in some form; what it gets
// is the plug-in's and holds during the call. Of a DeputyDelegateOperator, fields beyond its
// struct_size are not to be read. kTfLiteError for a plug-in that does not say; DeputyLastError()
// has the text. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginListOperators(const DeputyPlugin* plugin,
                                                       DeputyDelegateOperatorCallback callback,
                                                       void* user_data);

// Calls `callback` with texts about the partitions of a delegate of DeputyPluginCreateDelegate,
// such as the graph that a compiler works on; no texts where the delegate was not made to keep
// them. kTfLiteError for a delegate whose plug-in has none; DeputyLastError() has the text. Not
// while the delegate is applied.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginDescribePartitions(TfLiteDelegate* delegate,
                                                            DeputyPartitionTextCallback callback,
                                                            void* user_data);

// Calls `callback` with what the device of a delegate of DeputyPluginCreateDelegate has done since
// the last call, and forgets it; nothing where the delegate was not made to take times. Of a
// DeputyDeviceEvent, fields beyond its struct_size are not to be read. kTfLiteError for a delegate
// whose plug-in never takes times; DeputyLastError() has the text. Not while an interpreter that
// uses the delegate runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginTakeEvents(TfLiteDelegate* delegate,
                                                    DeputyDeviceEventCallback callback,
                                                    void* user_data);

// Reports on a delegate of DeputyPluginCreateDelegate or TfLiteExternalDelegateCreate: fills
// `report`, whose struct_size the caller has set, and calls `callback`, which may be NULL, for each
// option that its plug-in declares and each that was given. Fields that the plug-in does not fill
// keep their unknown values. Costs are cumulative: they grow when the delegate is applied.
// Returns kTfLiteError for other delegates, a wrong struct_size, and where the plug-in fails;
// DeputyLastError() has the text. Must not be called while the delegate is applied or an
// interpreter that uses it runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginReportDelegate(TfLiteDelegate* delegate,
                                                        DeputyDelegateReport* report,
                                                        DeputyOptionUseCallback callback,
                                                        void* user_data);

// Plug-ins found by a search, and the files that looked like plug-ins and are none.
typedef struct DeputyPluginList DeputyPluginList;

// Loads what `paths` names, separated by colons: files, and folders, of which every file is tried
// whose name ends in ".so" or ".so." and a version, in the order of their names. NULL takes the
// paths from the environment variable DEPUTY_PLUGIN_PATH, and behind them, if it is there, the
// folder deputy/plugins beside this library, where plug-ins are installed. A file with several
// names is loaded once. What cannot be loaded becomes an entry with an error. The caller owns the
// list. NULL if memory is short. Any thread, see DeputyPluginLoad.
TFL_CAPI_EXPORT DeputyPluginList* DeputyPluginListCreate(const char* paths);

// Frees a list and its references. NULL is fine.
TFL_CAPI_EXPORT void DeputyPluginListDelete(DeputyPluginList* list);

// Number of entries; 0 for NULL.
TFL_CAPI_EXPORT size_t DeputyPluginListGetCount(const DeputyPluginList* list);

// The plug-in of an entry, which the list holds: retain it to keep it longer. NULL if it could not
// be loaded or the index is out of range.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginListGetPlugin(const DeputyPluginList* list, size_t index);

// The path of an entry, which belongs to the list. NULL if the index is out of range.
TFL_CAPI_EXPORT const char* DeputyPluginListGetPath(const DeputyPluginList* list, size_t index);

// Why an entry could not be loaded, "" if it could. It belongs to the list. NULL if the index is
// out of range.
TFL_CAPI_EXPORT const char* DeputyPluginListGetError(const DeputyPluginList* list, size_t index);

// Asks a plug-in for a delegate with `count` options, borrowed during the call; both arrays may be
// NULL if there are none. Where the plug-in declares its options, an unknown key and a value of the
// wrong type are refused. The caller owns the delegate, which holds a reference to the plug-in, and
// deletes it with DeputyPluginDeleteDelegate after every interpreter it was applied to. NULL on
// failure, also for stable delegates; DeputyLastError() has the text, with what the plug-in said.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyPluginCreateDelegate(DeputyPlugin* plugin,
                                                           const char* const* keys,
                                                           const char* const* values, size_t count);

// The same, but what is reported during the call goes to `reporter` instead of the default one;
// NULL is the default one.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyPluginCreateDelegateWithErrorReporter(
    DeputyPlugin* plugin, const char* const* keys, const char* const* values, size_t count,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Asks a stable delegate's plug-in for a delegate. `settings` is a FlatBuffer table TFLiteSettings,
// handed on as it is and borrowed during the call; NULL if the plug-in can do without. The rest is
// as for DeputyPluginCreateDelegate.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyPluginCreateStableDelegate(DeputyPlugin* plugin,
                                                                 const void* settings);

// Frees a delegate of the two functions above or of TfLiteExternalDelegateCreate. NULL is fine; any
// other delegate is reported and left alone.
TFL_CAPI_EXPORT void DeputyPluginDeleteDelegate(TfLiteDelegate* delegate);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_H_
