// SPDX-License-Identifier: Apache-2.0
//
// Deputy's own C API, beyond the TensorFlow Lite C API.
//
// The functions are exported by libdeputy.so.1 under the symbol version DEPUTY_1.0; the drop-in
// library libtensorflowlite_c.so does not have them. Every struct begins with its size in bytes:
// the caller sets `struct_size` to sizeof the struct in its own version of this header, and the
// library reads and writes no byte beyond it, so that structs can grow at their end. In structs
// that the caller fills, fields beyond the caller's size count as zero, and fields that an older
// library does not have are ignored. In structs that the library fills, fields that an older
// library does not have are not written: a caller that zeroes its struct first reads zero there. A
// `struct_size` smaller than the struct of the first release is kTfLiteError.
//
// The rules of c_api.h on threads, NULL and failures apply. Unless a comment says otherwise,
// strings and arrays that these functions return belong to the interpreter and are valid until its
// graph changes (AllocateTensors, a resize, a delegate) or it is deleted.
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

// Name of the set of CPU kernels that this process uses: "reference" or "generic" on any machine,
// "avx2", "avx512" or "amx" on x86-64, "neon", "neon_dot", "neon_fp16", "neon_i8mm" or
// "neon_bf16" on 64-bit Arm, "neon32" on 32-bit Arm. The environment variable DEPUTY_CPU overrides
// the choice. Static string. Any thread.
TFL_CAPI_EXPORT const char* DeputyCpuTable(void);

// ------------------------------------------------------------------------------------------------
// Failures
// ------------------------------------------------------------------------------------------------

// Returns the text of the newest report on the calling thread, e.g. the reason why a call returned
// NULL; "" if there was none. Failures that are not reported, such as NULL arguments, do not change
// it. Valid until the thread's next report. Any thread.
TFL_CAPI_EXPORT const char* DeputyLastError(void);

// Returns the text of the newest report of this interpreter; "" if there was none. Valid until the
// interpreter's next report.
TFL_CAPI_EXPORT const char* DeputyInterpreterLastError(const TfLiteInterpreter* interpreter);

// Sends messages that would be printed to stderr to `reporter`, which receives a printf format and
// its arguments, like that of TfLiteInterpreterOptionsSetErrorReporter, and may be called on any
// thread. NULL restores stderr. `user_data` must stay valid until the reporter is replaced. Any
// thread.
TFL_CAPI_EXPORT void DeputySetDefaultReporter(void (*reporter)(void* user_data, const char* format,
                                                               va_list args),
                                              void* user_data);

// Reports environment variables that look like misspelt ones of Deputy's, such as DEPUTY_VALIDATE
// for DEPUTY_VALIDATION; other variables are ignored. The first interpreter that is created does
// the same. Each variable is reported once per process. Any thread.
TFL_CAPI_EXPORT void DeputyCheckEnvironment(void);

// ------------------------------------------------------------------------------------------------
// Operators
// ------------------------------------------------------------------------------------------------

// An operator that Deputy has a kernel for.
typedef struct DeputyOperator {
  // sizeof(DeputyOperator).
  size_t struct_size;
  // Name of the operator in the model format, in capitals, or of the custom operator. Static
  // string.
  const char* name;
  // Number of the builtin operator; 32 for custom operators.
  int32_t builtin_code;
  // First and last version of the operator that the kernel supports.
  int32_t min_version;
  int32_t max_version;
  int32_t reserved;
  // Supported element types: bit 1 << TfLiteType is set for each.
  uint64_t types;
} DeputyOperator;

// Number of operators that have a kernel. Any thread.
TFL_CAPI_EXPORT size_t DeputyGetOperatorCount(void);

// Fills `op`, whose struct_size the caller has set, with the operator at `index`, counted from 0.
// kTfLiteError if the index is out of range. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyGetOperator(size_t index, DeputyOperator* op);

// An operator in one version that a model uses.
typedef struct DeputyModelOperator {
  // sizeof(DeputyModelOperator).
  size_t struct_size;
  // Name of the operator, as in DeputyOperator; valid as long as the model.
  const char* name;
  // Number of the builtin operator; 32 for custom operators.
  int32_t builtin_code;
  // Version of the operator in the model.
  int32_t version;
  // Number of nodes of the operator in all subgraphs; 0 if the model lists the operator but does
  // not use it.
  int32_t node_count;
  // 1 if Deputy has a kernel for this version, else 0.
  int32_t has_kernel;
} DeputyModelOperator;

// Number of operators that the model lists; 0 for NULL. Any thread.
TFL_CAPI_EXPORT size_t DeputyModelGetOperatorCount(const TfLiteModel* model);

// Fills `op`, whose struct_size the caller has set, with the operator at `index`, counted from 0.
// kTfLiteError if the index is out of range. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyModelGetOperator(const TfLiteModel* model, size_t index,
                                                    DeputyModelOperator* op);

// ------------------------------------------------------------------------------------------------
// Models and options
// ------------------------------------------------------------------------------------------------

// Creates a model like TfLiteModelCreateFromFile, but reads the file into memory instead of mapping
// it, so that truncating or overwriting the file does not affect the model. NULL on failure.
TFL_CAPI_EXPORT TfLiteModel* DeputyModelCreateFromFileByCopy(const char* model_path);

// Rounding of quantised results.
typedef enum DeputyArithmetic {
  // Rescaling in float, as fast CPU backends do; within one quantisation step of the reference.
  kDeputyArithmeticDefault = 0,
  // Integer arithmetic with double rounding: bit-exact with TensorFlow Lite's reference kernels.
  kDeputyArithmeticReference = 1,
} DeputyArithmetic;

// Sets the arithmetic of interpreters created with these options. Overrides the environment
// variable DEPUTY_ARITHMETIC. kTfLiteError for NULL options and for a value that is not in the
// enum.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetArithmetic(
    TfLiteInterpreterOptions* options, DeputyArithmetic arithmetic);

// Precision of the CPU's float32 products in CONV_2D, FULLY_CONNECTED and BATCH_MATMUL.
typedef enum DeputyPrecision {
  // Products and sums in float32.
  kDeputyPrecisionFloat32 = 0,
  // Factors may be rounded to bfloat16, each with a relative error of at most 2^-8; denormal
  // factors and sums may become zero. Sums and tensors stay float32. Faster in large layers on
  // AMD's processors with AVX512-BF16, about twice, on Intel's with AMX, and on 64-bit Arm with
  // FEAT_BF16 and FEAT_I8MM; no effect on others. DeputyNodeRun reports the affected nodes.
  kDeputyPrecisionBfloat16 = 1,
  // Factors may be rounded to float16, each with a relative error of at most 2^-11 if its magnitude
  // is between 2^-14 and 65504; those from 65520 on become infinite. Up to 64 products are added in
  // float16, whose sums become infinite from 65520 on; a sum's error is at most 68 * 2^-11 of the
  // sum of its absolute products if no value leaves this range. Used on Intel's processors with
  // AVX512-FP16 and without AMX, and on 64-bit Arm with FEAT_FP16 and FEAT_DotProd, where it is
  // meant for out-of-order processors (Cortex-A76 and later); elsewhere the same as
  // kDeputyPrecisionBfloat16.
  kDeputyPrecisionFloat16 = 2,
} DeputyPrecision;

// Sets the precision of interpreters created with these options. Overrides the environment variable
// DEPUTY_PRECISION ("float32", "bf16" or "fp16"). Reference arithmetic and validation always
// compute in float32. kTfLiteError for NULL options and for a value that is not in the enum.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetPrecision(TfLiteInterpreterOptions* options,
                                                                  DeputyPrecision precision);

// Sets the number of input shapes for which a subgraph of interpreters created with these options
// stays prepared; 1 by default. With more, TfLiteInterpreterAllocateTensors after a resize to one
// of the last `shapes` shapes prepares no node and plans no memory: the tensors get the memory that
// they had for that shape. Each shape takes an arena of its own (DeputyMemoryMap.idle_bytes).
// Results are the same; variables are reset as after every allocation. No effect on subgraphs with
// delegates, kernels of the client, operators that keep state or call other subgraphs, shapes that
// depend on values, strings, or memory of the client, on graphs built in code, under
// kDeputyPolicyHot, and with verification or validation enabled. kTfLiteError for NULL options and
// for a number below 1.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetPreparedShapes(TfLiteInterpreterOptions* options, int32_t shapes);

// Thread pool that several interpreters can share.
typedef struct DeputyThreadPool DeputyThreadPool;

// Creates a pool of `threads` threads, including the calling one; values below 1 mean 1, values
// above 1024 mean 1024. Uses fewer threads if some cannot be started. The caller owns the pool.
// NULL if out of memory.
TFL_CAPI_EXPORT DeputyThreadPool* DeputyThreadPoolCreate(int32_t threads);

// Drops the caller's reference. Interpreters and options may still use the pool; its threads end
// with the last of them. NULL is ignored.
TFL_CAPI_EXPORT void DeputyThreadPoolDelete(DeputyThreadPool* pool);

// Makes interpreters created with these options use the threads of `pool` instead of threads of
// their own; overrides the number of threads in the options. NULL restores the default.
// kTfLiteError for NULL options.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetThreadPool(TfLiteInterpreterOptions* options, DeputyThreadPool* pool);

// Upper bounds on the resources that a model can make the library use. A field of 0 keeps its
// default.
//
// Limits are checked twice. When a model is loaded, the sizes of its tables are checked before
// anything of these sizes is allocated: against the defaults, or against the limits that a
// ...WithLimits function below received. When an interpreter is created, the tables are checked
// against the limits of its options, which from then on bound its memory, the tensors and nodes
// that kernels and delegates add, and the depth of calls. A model beyond the defaults therefore
// needs raised limits in both calls; lower limits for an interpreter need only its options.
typedef struct DeputyLimits {
  // sizeof(DeputyLimits).
  size_t struct_size;
  // Maximum size of the arena and of any other block, and of all variables and hash tables that
  // operators share, in bytes; for a model, of a copy of its file or of one of its constants.
  // Default: the smaller of the machine's memory and the process's limit of address space.
  size_t max_block_bytes;
  // Maximum number of tensors: of all subgraphs of the model together, and of each subgraph
  // including those that kernels and delegates add. Default: one million.
  int32_t max_tensors;
  // Maximum number of nodes, counted like tensors, and of operator codes, of signatures and of
  // metadata entries. Default: one million.
  int32_t max_nodes;
  // Maximum depth of nested calls of subgraphs. Default: 64. A model with deeper or cyclic calls
  // can be loaded, but its subgraphs whose calls exceed the limit cannot be allocated.
  int32_t max_call_depth;
  // Maximum number of subgraphs. Default: 100 000.
  int32_t max_subgraphs;
} DeputyLimits;

// Sets limits for interpreters created with these options; the struct is copied. Creating an
// interpreter fails if its model exceeds them. kTfLiteError for NULL, a wrong struct_size, or a
// negative number.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetLimits(TfLiteInterpreterOptions* options,
                                                               const DeputyLimits* limits);

// Sets an upper bound on the memory of an interpreter created with these options, in bytes. The sum
// includes the two blocks and the idle plans of all subgraphs, scratch memory, and packed
// constants, also those that the interpreter shares with others of its model (DeputyMemoryMap).
// Memory beyond it is refused: AllocateTensors or Invoke fails with a report. Scratch memory that
// grows during an inference counts twice. 0, the default: no bound. The model, outputs of dynamic
// size, resources, memory of delegates and of fallbacks for them are not limited. kTfLiteError for
// NULL options.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetMemoryBudget(TfLiteInterpreterOptions* options, size_t bytes);

// Create a model like TfLiteModelCreate and TfLiteModelCreateFromFile, with other limits than the
// defaults. NULL on failure, and for limits that DeputyInterpreterOptionsSetLimits rejects.
TFL_CAPI_EXPORT TfLiteModel* DeputyModelCreateWithLimits(const void* model_data, size_t model_size,
                                                         const DeputyLimits* limits);
TFL_CAPI_EXPORT TfLiteModel* DeputyModelCreateFromFileWithLimits(const char* model_path,
                                                                 const DeputyLimits* limits);

// ------------------------------------------------------------------------------------------------
// Weight cache
// ------------------------------------------------------------------------------------------------

// Sets the path of a file for the packed constants of builtin kernels. AllocateTensors of
// interpreters created with these options maps the values in the file instead of packing constants,
// and writes the file if it lacks values. Processes with the same file share its memory. A file
// that is damaged, or was written for another model, build of this library or table of CPU kernels,
// is replaced. The first path that is used with a model applies as long as an interpreter of the
// model exists. A failure to write the file is reported and has no other effect. The file must not
// be changed in place. Checksums do not detect forgery, so restrict the directory to the user. NULL
// or "", the default: no file. kTfLiteError for NULL options.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetWeightCache(TfLiteInterpreterOptions* options, const char* path);

// State of a weight cache's file when it was opened.
typedef enum DeputyWeightCacheState {
  kDeputyWeightCacheUsable = 0,
  // There is no such file, or it cannot be read.
  kDeputyWeightCacheAbsent = 1,
  // It is not a weight cache, or its header or index is damaged.
  kDeputyWeightCacheDamaged = 2,
  // It was written by another build of the library or for another table of CPU kernels.
  kDeputyWeightCacheOtherBuild = 3,
  // It has the values of another model.
  kDeputyWeightCacheOtherModel = 4,
} DeputyWeightCacheState;

// Use of a weight cache by the interpreters of a model.
typedef struct DeputyWeightCache {
  // sizeof(DeputyWeightCache).
  size_t struct_size;
  // kDeputyWeightCacheAbsent also if no weight cache is used.
  DeputyWeightCacheState state;
  // Number of values that were found in the file, and of values that were packed because it lacked
  // them.
  int64_t reused;
  int64_t packed;
  // Size in bytes of the values in mapped pages of the file; included in
  // DeputyMemoryMap.packed_bytes.
  size_t mapped_bytes;
} DeputyWeightCache;

// Fills `cache`, whose struct_size the caller has set. kTfLiteError for NULL or a wrong
// struct_size.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetWeightCache(const TfLiteInterpreter* interpreter,
                                                             DeputyWeightCache* cache);

// ------------------------------------------------------------------------------------------------
// When a delegate fails
// ------------------------------------------------------------------------------------------------

// Reaction of an interpreter to the failure of a delegate.
typedef enum DeputyDelegatePolicy {
  // The statuses and the resulting state are those of TensorFlow Lite: if a delegate's Prepare
  // fails, all other delegates are removed, too; a failing kernel fails the inference.
  kDeputyPolicyTfLite = 0,
  // A delegate that cannot be applied has no effect on the graph: the call that applies it returns
  // kTfLiteDelegateError, or another error if the delegate was rejected before its Prepare was
  // called, and an interpreter whose options contain it is created without it. If a delegate's
  // kernel fails during an inference, the nodes that it replaced run on the CPU: if they succeed,
  // the inference returns kTfLiteOk, and DeputyDelegationStatus has `degraded` set.
  kDeputyPolicyHot = 1,
} DeputyDelegatePolicy;

// Sets the policy of interpreters created with these options. Overrides the environment variable
// DEPUTY_DELEGATE_POLICY ("tflite" or "hot"). kTfLiteError for NULL options and for a value that is
// not in the enum.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetDelegatePolicy(
    TfLiteInterpreterOptions* options, DeputyDelegatePolicy policy);

// Sets the number of inferences during which a failed node of a delegate stays on the CPU before it
// is retried, under kDeputyPolicyHot. 0, the default: it is retried in the next inference; -1: not
// before the graph changes. An inference is one Invoke of the interpreter or of a signature, even
// if it runs a subgraph several times in a loop. kTfLiteError for NULL options and for numbers
// below -1.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetDelegateRetry(TfLiteInterpreterOptions* options, int32_t inferences);

// Summary of delegation and fallbacks, over all subgraphs.
typedef struct DeputyDelegationStatus {
  // sizeof(DeputyDelegationStatus).
  size_t struct_size;
  // A DeputyDelegatePolicy.
  int32_t policy;
  // Not 0 if the newest inference used results of the CPU for nodes of a delegate, in any subgraph,
  // because the delegate had failed or was wrong (DeputyVerification), or if delegates_skipped is
  // not 0.
  int32_t degraded;
  // Number of times that a delegate could not be applied and was skipped, also if it was applied
  // later; 0 under kDeputyPolicyTfLite.
  int64_t delegates_skipped;
  // Number of times that the CPU's results were used for a delegate's node.
  int64_t recomputed_nodes;
  // Number of times that an inference, or the run of one subgraph, was restarted because a delegate
  // could not copy its results to host memory.
  int64_t restarts;
  // Cost of being prepared for fallbacks: memory reserved for the replaced nodes, in bytes, and
  // time spent so far on saving variables, in nanoseconds. Both 0 under kDeputyPolicyTfLite without
  // verification.
  size_t reserved_bytes;
  int64_t saving_ns;
} DeputyDelegationStatus;

// Fills `status`, whose struct_size the caller has set. kTfLiteError for NULL or a wrong
// struct_size.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetDelegationStatus(
    const TfLiteInterpreter* interpreter, DeputyDelegationStatus* status);

// Selects the runs of partitions in which a delegate's results are compared with those of the
// replaced nodes on the CPU.
typedef enum DeputyVerificationMode {
  kDeputyVerifyNever = 0,
  // Compares the first run of each partition, again after delegates are applied or undone, e.g. by
  // a resize.
  kDeputyVerifyFirst = 1,
  // Compares the first run of each partition, and every `interval`-th run after it.
  kDeputyVerifyEveryNth = 2,
  kDeputyVerifyAlways = 3,
} DeputyVerificationMode;

// Settings of verification. NaN and infinities have to be at the same positions in both results;
// elements other than float64, float32, float16 and quantised int8, uint8 and int16 have to be
// equal.
typedef struct DeputyVerification {
  // sizeof(DeputyVerification).
  size_t struct_size;
  // A DeputyVerificationMode.
  int32_t mode;
  // Interval for kDeputyVerifyEveryNth, in runs of the partition, at least 1; 0 for other modes.
  int32_t interval;
  // Tolerance for float32 and float64, and for float16, as a fraction of the tensor's largest
  // magnitude; 0 means 1e-4 and 1e-2. An absolute tolerance of 1e-5 is added.
  double float32_tolerance;
  double float16_tolerance;
  // Tolerance for quantised values, in quantisation steps; 0 means three steps, plus one for every
  // two nodes of the partition; -1 means equality.
  int32_t quantized_steps;
  // Reserved; 0.
  int32_t reserved;
} DeputyVerification;

// Sets the verification of delegates in interpreters created with these options; the struct is
// copied. The replaced nodes of a partition compute its outputs again on the CPU, from the same
// inputs and variables. A float32 whose difference exceeds the tolerance is still accepted if
// rounding explains it: if the excess is at most eight times the largest change of the CPU's own
// result, over all elements of the tensor, when the last bits of the float32 inputs change, and at
// most 100 tolerances. A wrong output is reported with its tensor, element, expected and found
// value. Under kDeputyPolicyHot the CPU's outputs then replace the delegate's, and the partition
// stays on the CPU until the graph changes; under kDeputyPolicyTfLite the outputs are kept. As
// under kDeputyPolicyHot, memory is reserved for the replaced nodes. A run is not compared if an
// output is a string or has a shape that becomes known only during its computation, or if only the
// delegate can compute one of the nodes. kTfLiteError for NULL, a wrong struct_size, and numbers
// out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetVerification(
    TfLiteInterpreterOptions* options, const DeputyVerification* verification);

// Results of verification so far, over all subgraphs.
typedef struct DeputyVerificationStatus {
  // sizeof(DeputyVerificationStatus).
  size_t struct_size;
  // Numbers of runs of partitions: runs that were compared, runs with a wrong result among them,
  // and runs that could not be compared.
  int64_t verified;
  int64_t wrong;
  int64_t skipped;
  // Time spent on recomputation and comparison, in nanoseconds.
  int64_t spent_ns;
  // Position of the first wrong element in the first subgraph that has one: the subgraph, the
  // delegate's node, and the tensor; -1 if there is none.
  int32_t subgraph_index;
  int32_t node_index;
  int32_t tensor_index;
  // Reserved; 0.
  int32_t reserved;
  // Index of the wrong element in the tensor, the value computed by the CPU, and the delegate's
  // value.
  int64_t element;
  double expected;
  double found;
} DeputyVerificationStatus;

// Fills `status`, whose struct_size the caller has set. kTfLiteError for NULL or a wrong
// struct_size.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetVerificationStatus(
    const TfLiteInterpreter* interpreter, DeputyVerificationStatus* status);

// Returns a hash of the graph's structure: the execution plans; tensors, operator and data pointers
// of each node; all fields of each tensor except the address of its contents; the applied
// delegates. Equal structures have equal hashes within one process only. 0 for NULL.
TFL_CAPI_EXPORT uint64_t DeputyInterpreterGetGraphDigest(const TfLiteInterpreter* interpreter);

// Runs one delegate's node of the execution plan with the present contents of its inputs, after
// TfLiteInterpreterAllocateTensors. Outputs may stay on the delegate's device, from which
// TfLiteInterpreterEnsureTensorDataIsReadable copies those of subgraph 0. Under the policy Hot a
// node that fails is computed on the CPU. kTfLiteError for NULL, for an index out of range, for
// nodes of the CPU and replaced nodes, and if the node fails; DeputyInterpreterLastError() has the
// text. TfLiteInterpreterCancel can end the call as it ends Invoke, with kTfLiteCancelled. Not
// while the interpreter runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterInvokeNode(TfLiteInterpreter* interpreter,
                                                         int32_t subgraph_index,
                                                         int32_t node_index);

// ------------------------------------------------------------------------------------------------
// Delegates in the background
// ------------------------------------------------------------------------------------------------

// Settings of delegates that are prepared in the background.
typedef struct DeputyBackgroundOptions {
  // sizeof(DeputyBackgroundOptions).
  size_t struct_size;
  // Maximum number of input shapes for which prepared delegates are kept; the least recently used
  // ones are dropped. 0 means 1. With more than 1, a delegate is prepared for one shape while its
  // kernels run for another one: it must allow its functions to be called for two interpreters at
  // the same time.
  int32_t max_shapes;
  // Time limit of one preparation in milliseconds, after which it is given up; 0: none.
  int32_t time_limit_ms;
} DeputyBackgroundOptions;

// State of the delegates that are prepared in the background.
typedef enum DeputyBackgroundState {
  // There are none.
  kDeputyBackgroundNone = 0,
  // The preparation begins with the next successful TfLiteInterpreterAllocateTensors.
  kDeputyBackgroundWaiting = 1,
  // Delegates are being prepared. The CPU runs the model.
  kDeputyBackgroundPreparing = 2,
  // Delegates are ready. The next TfLiteInterpreterInvoke, TfLiteInterpreterAllocateTensors or
  // DeputyInterpreterWaitForBackground switches to them.
  kDeputyBackgroundReady = 3,
  // Inferences use the delegates.
  kDeputyBackgroundActive = 4,
  // The delegates could not be prepared for the present shapes. The CPU runs the model.
  kDeputyBackgroundFailed = 5,
  // A preparation exceeded its time limit. The CPU runs the model, except for shapes for which
  // delegates were ready before; no other preparation is begun.
  kDeputyBackgroundTimedOut = 6,
} DeputyBackgroundState;

// Status of the delegates that are prepared in the background.
typedef struct DeputyBackgroundStatus {
  // sizeof(DeputyBackgroundStatus).
  size_t struct_size;
  // A DeputyBackgroundState.
  int32_t state;
  // Number of input shapes for which prepared delegates are kept.
  int32_t kept_shapes;
  // Number of preparations that were begun.
  int64_t preparations;
  // Numbers of inferences that the CPU and that delegates have run since
  // DeputyInterpreterApplyInBackground.
  int64_t cpu_inferences;
  int64_t delegate_inferences;
  // Number of the interpreter's first inference that used the delegates, counted from 1; 0: none.
  int64_t first_inference;
  // Duration of the newest preparation that has ended, in nanoseconds; 0: none.
  int64_t prepare_ns;
  // Reason of kDeputyBackgroundFailed and kDeputyBackgroundTimedOut; "" otherwise. Valid until the
  // next call with this interpreter.
  const char* failure;
} DeputyBackgroundStatus;

// Prepares delegates on another thread while the CPU runs the model, and uses them as soon as they
// are ready. `delegates` are applied in their order, as by
// TfLiteInterpreterModifyGraphWithDelegate. They and their libraries must stay valid until the
// interpreter or its delegates are deleted (DeputyInterpreterRemoveDelegates). `options` may be
// NULL.
//
// The delegates are applied to a second interpreter of the model, with the shapes of the inputs at
// the last TfLiteInterpreterAllocateTensors. Its thread calls Prepare of the delegates, init and
// prepare of their kernels, and init and prepare of the client's kernels; everything else is called
// on the thread that uses this interpreter. The switch happens at the begin of an inference. It
// invalidates no pointer to a tensor or its contents: the second interpreter uses the memory of
// this one's inputs, outputs and variables. Its constants and packed weights are shared; its other
// tensors have memory of their own. Operators that draw random numbers begin their sequence again.
//
// After a resize the CPU runs the model until the delegates are ready for the new shapes. Shapes
// that cannot be prepared stay on the CPU: the reason is reported once, on the client's thread, and
// in DeputyBackgroundStatus. The functions that describe nodes, delegates and partitions describe
// the plan that the next inference uses.
//
// TfLiteInterpreterDelete and DeputyInterpreterRemoveDelegates wait for the end of a preparation.
// A preparation that exceeds its time limit is not waited for: its delegates, and a buffer that the
// model was created from, must then stay valid until it ends; for a delegate that hangs, until the
// process ends. TfLiteInterpreterCancel ends inferences, not the preparation.
//
// kTfLiteError for NULL, no delegate, a wrong struct_size, negative options and out of memory.
// kTfLiteApplicationError, after a report, if the interpreter has delegates already, was built or
// changed in code, has resource variables or hash tables, is validated or runs. Other delegates
// cannot be applied afterwards; TfLiteInterpreterModifyGraphWithDelegate then returns
// kTfLiteApplicationError.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterApplyInBackground(TfLiteInterpreter* interpreter, TfLiteDelegate* const* delegates,
                                   size_t count, const DeputyBackgroundOptions* options);

// Waits until the preparation for the present shapes has ended, and switches to the delegates if
// they are ready. At most `timeout_ms` milliseconds; negative: no limit. kTfLiteOk if no
// preparation for the present shapes is in progress any more, whatever its result
// (DeputyBackgroundStatus); kTfLiteError after the timeout, for NULL and while asynchronous runs
// are in flight.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterWaitForBackground(TfLiteInterpreter* interpreter,
                                                                int64_t timeout_ms);

// Fills `status`, whose struct_size the caller has set. kTfLiteError for NULL, a wrong struct_size
// and while asynchronous runs are in flight.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetBackgroundStatus(
    const TfLiteInterpreter* interpreter, DeputyBackgroundStatus* status);

// ------------------------------------------------------------------------------------------------
// Contents of an interpreter
// ------------------------------------------------------------------------------------------------

// Number of subgraphs; 0 for NULL.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSubgraphCount(const TfLiteInterpreter* interpreter);

// Name of a subgraph, "" if it has none. NULL if the index is out of range.
TFL_CAPI_EXPORT const char* DeputyInterpreterGetSubgraphName(const TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index);

// Number of tensors of a subgraph; 0 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetTensorCount(const TfLiteInterpreter* interpreter,
                                                        int32_t subgraph_index);

// Returns a tensor of any subgraph, owned by the interpreter. NULL if an index is out of range.
TFL_CAPI_EXPORT const TfLiteTensor* DeputyInterpreterGetTensor(const TfLiteInterpreter* interpreter,
                                                               int32_t subgraph_index,
                                                               int32_t tensor_index);

// Resizes the signature's input of that name. Unlike TfLiteSignatureRunnerResizeInputTensor, and
// like TfLiteInterpreterResizeInputTensor, this function can change every dimension and the rank.
TFL_CAPI_EXPORT TfLiteStatus DeputySignatureRunnerResizeInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name, const int* input_dims,
    int32_t input_dims_size);

// Number of nodes in a subgraph's table, including replaced ones; 0 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetNodeCount(const TfLiteInterpreter* interpreter,
                                                      int32_t subgraph_index);

// One node of an interpreter.
typedef struct DeputyNodeInfo {
  // sizeof(DeputyNodeInfo).
  size_t struct_size;
  // Index of the node's subgraph, and the node's index in the table of nodes.
  int32_t subgraph_index;
  int32_t node_index;
  // Position in the execution plan; -1 if the node does not run.
  int32_t plan_position;
  // Number of the builtin operator; 32 for custom operators, 51 for delegates' nodes.
  int32_t builtin_code;
  // Version of the operator.
  int32_t version;
  // Name of the operator: that of the model format in capitals, or that of the custom operator or
  // of the delegate's kernel.
  const char* operator_name;
  // Name of the delegate's kernel for a delegate's node; "CPU" for any other node, even if a
  // delegate has replaced it (see DeputyNodeRun.runner).
  const char* owner;
  // Tensor indices of the inputs, -1 where an optional input is absent.
  const int32_t* inputs;
  int32_t input_count;
  int32_t output_count;
  // Tensor indices of the outputs.
  const int32_t* outputs;
} DeputyNodeInfo;

// Fills `info`, whose struct_size the caller has set. kTfLiteError if an index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetNodeInfo(const TfLiteInterpreter* interpreter,
                                                          int32_t subgraph_index,
                                                          int32_t node_index, DeputyNodeInfo* info);

// ------------------------------------------------------------------------------------------------
// Assignment of nodes to delegates
// ------------------------------------------------------------------------------------------------

// A delegate that the interpreter has tried to apply. Strings are valid until delegates are
// applied, undone by a resize, or removed.
typedef struct DeputyDelegateInfo {
  // sizeof(DeputyDelegateInfo).
  size_t struct_size;
  // Pointer that the caller passed as the delegate.
  const TfLiteDelegate* delegate;
  // Name of the plug-in, else of the delegate's kernels, else "".
  const char* name;
  // Not 0: the delegate was applied successfully and has not been removed since.
  int32_t applied;
  // Number of the delegate's nodes in the execution plans, which is the number of its partitions.
  int32_t partition_count;
  // Number of the model's nodes that the delegate runs, over all subgraphs.
  int32_t node_count;
  // Reserved; 0.
  int32_t reserved;
  // Reason why the delegate could not be applied or was removed; "" otherwise.
  const char* failure;
} DeputyDelegateInfo;

// Number of delegates that the interpreter has a record of, in the order of their first
// application: the applied ones, and in each subgraph the newest 16 of those that failed or were
// removed. Older records are deleted, which lowers the indices of later ones. A delegate that could
// not be applied may be deleted before these functions are called. 0 for NULL.
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
  // Number of the atomic group of the node, -1 for none.
  int32_t group;
  // Reserved; 0.
  int32_t reserved;
  // The delegate's estimate of the node's run time in nanoseconds, negative if it gave none.
  double cost_ns;
} DeputyNodeSupport;

// Fills `support`, whose struct_size the caller has set. kTfLiteError if an index is out of range
// or the delegate was not queried about that node.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetNodeSupport(const TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index,
                                                             int32_t node_index,
                                                             int32_t delegate_index,
                                                             DeputyNodeSupport* support);

// Called once for each node of the queried execution plans. `support` is valid during the call; its
// `delegated` is not 0 if the delegate would run the node.
typedef void (*DeputySupportCallback)(void* user_data, int32_t subgraph_index, int32_t node_index,
                                      const DeputyNodeSupport* support);

// Queries which nodes of the execution plans the delegate of a plug-in would run, and calls
// `callback` for each of them, subgraph by subgraph, without the subgraphs to which no delegate is
// applied. The delegate is not applied: only its get_support (deputy_plugin.h) is called, no node
// is replaced, and nothing is compiled. The CPU kernels are prepared first if the delegate needs
// shapes and the graph has none yet. Placement and limits on partitions have no effect here; when
// the delegate is applied they may leave it fewer nodes.
//
// Returns kTfLiteUnresolvedOps, without a call of `callback`, if the delegate does not come from a
// plug-in or its plug-in has no get_support; kTfLiteError if get_support failed, if out of memory,
// or if an argument is NULL; the status of the preparation if that failed; and
// kTfLiteApplicationError if the delegate needs static shapes and the graph has others. Each
// failure but a NULL argument is reported, the last one only once for each subgraph; `callback` may
// have been called for earlier subgraphs.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterCheckDelegate(TfLiteInterpreter* interpreter,
                                                            TfLiteDelegate* delegate,
                                                            DeputySupportCallback callback,
                                                            void* user_data);

// Where and how one node of the model runs, and its execution statistics.
typedef struct DeputyNodeRun {
  // sizeof(DeputyNodeRun).
  size_t struct_size;
  // Index of the node of the plan that runs this node: itself, or a delegate's node; -1 if the node
  // does not run.
  int32_t runner;
  // Index of the delegate that runs the node, -1 for the CPU.
  int32_t delegate_index;
  // Number of runs of the node, and their total time in nanoseconds, while a profile, worker or
  // telemetry callback was set.
  int64_t runs;
  int64_t total_ns;
  // For a delegate's node: number of times that the CPU's results were used for it.
  int64_t recomputed;
  // Index of the head of the fusion group that the node is in, which can be the node itself, and
  // the number of nodes in the group; -1 and 0 if it is not fused. Tensors inside a group are not
  // stored. `runs` and `total_ns` of a group are those of its head.
  int32_t group_head;
  int32_t group_size;
  // Name of the operator's implementation that the CPU runs, e.g. "gemm_float" or "pointwise_bf16";
  // "" if the operator has only one, before AllocateTensors, and if a delegate runs the node. Names
  // that end in "_bf16" or "_fp16" multiply in bfloat16 or float16 (DeputyPrecision). Static
  // string.
  const char* implementation;
  // Strides of the output rows and columns that the CPU computes, starting with the first ones; 1
  // if it computes all. No node reads the other rows and columns, and they are not stored.
  int32_t row_stride;
  int32_t column_stride;
  // Time that a delegate reported for the node while such a callback was set (DeputyOpEvent), in
  // nanoseconds. For a delegate's node: the reported time that belongs to none of the replaced
  // nodes.
  int64_t reported_ns;
} DeputyNodeRun;

// Fills `run`, whose struct_size the caller has set. kTfLiteError if an index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetNodeRun(const TfLiteInterpreter* interpreter,
                                                         int32_t subgraph_index, int32_t node_index,
                                                         DeputyNodeRun* run);

// A partition: a delegate's node, the nodes that it replaced, and the tensors that cross its
// border.
typedef struct DeputyPartition {
  // sizeof(DeputyPartition).
  size_t struct_size;
  // Index of the delegate's node, and its position in the execution plan.
  int32_t node_index;
  int32_t plan_position;
  // Index of the delegate, for DeputyInterpreterGetDelegateInfo.
  int32_t delegate_index;
  // Number of nodes that the partition replaced, and their indices.
  int32_t node_count;
  const int32_t* nodes;
  // Number of input tensors other than constants and of output tensors, and their sizes in bytes.
  int32_t input_count;
  int32_t output_count;
  size_t input_bytes;
  size_t output_bytes;
  // Size of the constants that the partition reads, in bytes.
  size_t constant_bytes;
} DeputyPartition;

// Number of partitions of a subgraph, which is the number of delegates' nodes in its execution
// plan; 0 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetPartitionCount(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index);

// Fills `partition`, whose struct_size the caller has set, with the partition at `partition_index`
// in execution order. kTfLiteError if an index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetPartition(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index,
                                                           int32_t partition_index,
                                                           DeputyPartition* partition);

// ------------------------------------------------------------------------------------------------
// Placement
// ------------------------------------------------------------------------------------------------

// Criterion by which a DeputyPlacement selects nodes.
typedef enum DeputyNodeSelector {
  // The node with index node_index.
  kDeputySelectIndex = 0,
  // The node that produces the tensor of that name.
  kDeputySelectOutputTensor = 1,
  // All nodes of the operator of that name, as in DeputyNodeInfo: "CONV_2D", or the name of a
  // custom operator.
  kDeputySelectOperator = 2,
} DeputyNodeSelector;

// Constraint that restricts nodes to one delegate, or to the CPU. It does not make the delegate
// claim them.
typedef struct DeputyPlacement {
  // sizeof(DeputyPlacement).
  size_t struct_size;
  // A DeputyNodeSelector.
  int32_t selector;
  // Index of the subgraph, -1 for all.
  int32_t subgraph_index;
  // Index of the node, for kDeputySelectIndex.
  int32_t node_index;
  // Reserved; 0.
  int32_t reserved;
  // Name of the tensor or operator, for the other selectors; it is copied.
  const char* name;
  // The only delegate that may claim the nodes; NULL excludes them from delegation.
  const TfLiteDelegate* delegate;
} DeputyPlacement;

// Adds a placement to interpreters created with these options; the struct is copied. kTfLiteError
// for NULL, a wrong struct_size or selector, a subgraph_index below -1, or a missing name.
// Contradictory placements, and indices and names of tensors that do not exist, are reported when
// the interpreter is created: the creation returns NULL. An operator that the model does not have
// is ignored.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsAddPlacement(TfLiteInterpreterOptions* options,
                                                                  const DeputyPlacement* placement);

// Minimum part of a model that delegates have to run.
typedef enum DeputyRequirement {
  // No minimum.
  kDeputyRequireNothing = 0,
  // At least one node must run in a delegate.
  kDeputyRequirePartial = 1,
  // All nodes of all subgraphs to which delegates are applied must run in a delegate.
  kDeputyRequireFull = 2,
} DeputyRequirement;

// Makes the creation of interpreters with these options fail if the delegates in the options do not
// meet the requirement: it returns NULL, and the message lists up to eight nodes that no delegate
// runs. kTfLiteError for NULL options and for a value that is not in the enum.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsRequireDelegation(
    TfLiteInterpreterOptions* options, DeputyRequirement requirement);

// Checks that the delegates of an interpreter meet the requirement: kTfLiteOk if they do, else
// kTfLiteError with a report that lists up to eight nodes that no delegate runs. `delegated` and
// `total`, which may be NULL, receive the number of delegated nodes and of all nodes, counted in
// the subgraphs to which delegates are applied.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterCheckDelegation(const TfLiteInterpreter* interpreter,
                                                              DeputyRequirement requirement,
                                                              int32_t* delegated, int32_t* total);

// ------------------------------------------------------------------------------------------------
// Validation of delegates
// ------------------------------------------------------------------------------------------------

// Severity of a finding.
typedef enum DeputySeverity {
  // The delegate violates the contract.
  kDeputySeverityError = 0,
  // The delegate does something that is nearly always an error, but intended by some delegates.
  kDeputySeveritySuspicion = 1,
  // The delegate does something that is permitted here, but not in every release of TensorFlow
  // Lite.
  kDeputySeverityPortability = 2,
} DeputySeverity;

// A violation of one rule of the delegate contract. docs/validation.md lists the rules.
typedef struct DeputyFinding {
  // sizeof(DeputyFinding).
  size_t struct_size;
  // Number and name of the rule, e.g. "V31 writes-outside-output". Static string.
  const char* rule;
  // Message with the rule, the delegate, the call and the violation.
  const char* text;
  // A DeputySeverity.
  int32_t severity;
  // Indices of the subgraph, node and tensor; -1 where the finding concerns none.
  int32_t subgraph_index;
  int32_t node_index;
  int32_t tensor_index;
  // Number of occurrences of the finding so far.
  int64_t count;
  // Pointer to the delegate: the caller's for a finding in Prepare or get_support, else the one in
  // the delegate's nodes, which differs for delegates of plug-ins; NULL if no delegate caused the
  // finding.
  const TfLiteDelegate* delegate;
  // Name of the delegate, "" if unknown.
  const char* delegate_name;
} DeputyFinding;

// Settings of the validation layer.
typedef struct DeputyValidationOptions {
  // sizeof(DeputyValidationOptions).
  size_t struct_size;
  // Not 0: the layer is enabled.
  int32_t enabled;
  // Reserved; 0.
  int32_t reserved;
  // Maximum time of one invoke of a delegate's kernel, in nanoseconds; 0: unlimited.
  int64_t invoke_budget_ns;
  // Called when a finding is made for the first time, including those made while the interpreter is
  // deleted. May be NULL. It is called on the thread that violates the rule and must not use the
  // interpreter; the finding is valid during the call only.
  void (*on_finding)(void* user_data, const DeputyFinding* finding);
  // Argument of on_finding; must stay valid as long as the interpreters.
  void* user_data;
} DeputyValidationOptions;

// Enables or disables the validation layer for interpreters created with these options; the struct
// is copied. It checks the delegate contract at run time, costs time and memory, and changes
// neither statuses nor results. Overrides the environment variable DEPUTY_VALIDATION, which enables
// the layer if it is "1". Findings are also sent to the error reporter. kTfLiteError for NULL, a
// wrong struct_size and a negative number.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetValidation(
    TfLiteInterpreterOptions* options, const DeputyValidationOptions* validation);

// Number of different findings of an interpreter so far; 0 for NULL and without validation.
TFL_CAPI_EXPORT size_t DeputyInterpreterGetFindingCount(const TfLiteInterpreter* interpreter);

// Fills `finding`, whose struct_size the caller has set. Its strings are valid as long as the
// interpreter. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetFinding(const TfLiteInterpreter* interpreter,
                                                         size_t index, DeputyFinding* finding);

// ------------------------------------------------------------------------------------------------
// Memory map
// ------------------------------------------------------------------------------------------------

// Memory use of a subgraph.
typedef struct DeputyMemoryMap {
  // sizeof(DeputyMemoryMap).
  size_t struct_size;
  // Size of the block that tensors share during an inference, in bytes.
  size_t arena_bytes;
  // Size of the block whose contents survive between inferences, in bytes.
  size_t persistent_bytes;
  // Number of tensors in the two blocks, for DeputyInterpreterGetTensorMemory.
  size_t tensor_count;
  // Since the second release of the struct: size of the scratch block that the builtin kernels of
  // all subgraphs of this interpreter use while they run, in bytes.
  size_t scratch_bytes;
  // Size of values that builtin kernels compute from constants, in bytes: packed copies, and
  // results of DEQUANTIZE and DENSIFY. All interpreters of a model share them; they are freed with
  // the last one.
  size_t packed_bytes;
  // Since the third release of the struct: size of the contents of variables (VAR_HANDLE) and hash
  // tables (HASHTABLE) that operators share by name, in all subgraphs of this interpreter, in
  // bytes.
  size_t resource_bytes;
  // Since the fourth release of the struct: size of the two blocks of plans that stay prepared for
  // other shapes of the inputs (DeputyInterpreterOptionsSetPreparedShapes), in bytes.
  size_t idle_bytes;
  // Number of times that the subgraph was prepared for shapes of its inputs.
  int64_t preparations;
  // Since the fifth release of the struct: memory in bytes that was released because the delegates
  // of this interpreter have copies of the constants (kDeputyPluginCopiesConstants): packed values,
  // which packed_bytes no longer includes, and pages of the model's file. 0 after the delegates are
  // removed. Packed values are not released while several interpreters share them.
  size_t released_packed_bytes;
  size_t released_file_bytes;
} DeputyMemoryMap;

// Fills `map`, whose struct_size the caller has set. Before AllocateTensors both blocks are empty
// and contain no tensor. kTfLiteError if the index is out of range or if out of memory.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetMemoryMap(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index,
                                                           DeputyMemoryMap* map);

// Memory of one tensor.
typedef struct DeputyTensorMemory {
  // sizeof(DeputyTensorMemory).
  size_t struct_size;
  // Index of the tensor in its subgraph.
  int32_t tensor_index;
  // Not 0: the tensor is in the persistent block, otherwise in the arena.
  int32_t persistent;
  // Offset of the tensor in its block, in bytes.
  size_t offset;
  // Size of the tensor in its block, in bytes.
  size_t bytes;
  // First and last position in the execution plan at which the tensor's contents are needed.
  int32_t first_use;
  int32_t last_use;
  // Since the second release of the struct: index of the tensor whose memory this tensor uses,
  // because its operator works in place or one tensor is a part of the other; tensor_index if it
  // has memory of its own.
  int32_t owner;
  int32_t reserved;
} DeputyTensorMemory;

// Fills `memory`, whose struct_size the caller has set, with the entry at `entry_index` of a
// subgraph's map. kTfLiteError if an index is out of range or if out of memory.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetTensorMemory(const TfLiteInterpreter* interpreter,
                                                              int32_t subgraph_index,
                                                              size_t entry_index,
                                                              DeputyTensorMemory* memory);

// ------------------------------------------------------------------------------------------------
// Profiling
// ------------------------------------------------------------------------------------------------

// Timing of one operator. The library sets struct_size; a client has to check it before it reads
// fields of later releases.
//
// A delegate's node is one event, unless the delegate has the flag
// kTfLiteDelegateFlagsPerOperatorProfiling and reports the times of the operators in its partition
// (node_events in deputy_plugin.h). These events then replace the node's event; each has the index
// and the operator of a node that the partition replaces. A node can have several events, or none
// if the delegate computes it together with another node. Work of the partition as a whole, such as
// copies, has the index and the operator of the delegate's node.
typedef struct DeputyOpEvent {
  // Size of the struct that the library filled.
  size_t struct_size;
  // Indices of the subgraph and of the node.
  int32_t subgraph_index;
  int32_t node_index;
  // Name of the operator, as in DeputyNodeInfo. Valid during the call only.
  const char* operator_name;
  // Begin of the operator, on a monotonic clock, and its duration, in nanoseconds.
  int64_t begin_ns;
  int64_t duration_ns;
  // Status that the operator's kernel returned; kTfLiteOk for an event that a delegate reported.
  TfLiteStatus status;
  // Reserved; 0.
  int32_t reserved;
  // For an event that a delegate reported: name of the delegate, name of the operation ("conv_2d")
  // or "", index of the delegate's node, and begin and duration of that node's whole run. Otherwise
  // "", "", -1, 0 and 0. The strings are valid during the call only.
  const char* delegate_name;
  const char* detail;
  int64_t node_begin_ns;
  int64_t node_duration_ns;
  int32_t delegate_node;
  // Reserved; 0.
  int32_t reserved2;
} DeputyOpEvent;

// Called after each operator or fusion group, on the thread that invokes; for a delegate's events,
// after its node. Must not use the interpreter.
typedef void (*DeputyProfileCallback)(void* user_data, const DeputyOpEvent* event);

// Sets the callback that is called after each operator; NULL disables it. `user_data` must stay
// valid until the callback is replaced. kTfLiteError for a NULL interpreter.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetProfileCallback(TfLiteInterpreter* interpreter,
                                                                 DeputyProfileCallback callback,
                                                                 void* user_data);

// Work of one thread on an operator that several threads compute in tiles, from the thread's first
// tile to its last one. An operator can have several parallel sections in sequence, each with its
// own events. The library sets struct_size as in DeputyOpEvent.
typedef struct DeputyWorkerEvent {
  // Size of the struct that the library filled.
  size_t struct_size;
  // Indices of the subgraph and of the node.
  int32_t subgraph_index;
  int32_t node_index;
  // Index of the thread: 0 is the thread that invokes, all others are threads of the pool.
  int32_t worker;
  // Number of tiles that the thread computed.
  int32_t tiles;
  // Begin and duration of the work in nanoseconds, on the clock of DeputyOpEvent.
  int64_t begin_ns;
  int64_t duration_ns;
} DeputyWorkerEvent;

// Called on the thread that invokes, for the event of any thread, after the tiles are done and
// before the operator's DeputyOpEvent. Must not use the interpreter.
typedef void (*DeputyWorkerCallback)(void* user_data, const DeputyWorkerEvent* event);

// Sets the callback that is called for each thread's work on an operator of the CPU. NULL, the
// default, disables it and the measurement of these times. `user_data` must stay valid until the
// callback is replaced. Threads of delegates are not reported. kTfLiteError for a NULL interpreter.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetWorkerCallback(TfLiteInterpreter* interpreter,
                                                                DeputyWorkerCallback callback,
                                                                void* user_data);

// ------------------------------------------------------------------------------------------------
// Plug-ins
// ------------------------------------------------------------------------------------------------

// A loaded shared object that creates delegates. Reference counts belong to this handle; the shared
// object itself stays loaded until the process ends, because its own threads, or those of a driver
// that it uses, may still run its code. Loading a file again does not read it again: a new version
// of it needs a new process or a new file name.
typedef struct DeputyPlugin DeputyPlugin;

// Interface that a plug-in exports.
typedef enum DeputyPluginKind {
  // The library exports tflite_plugin_create_delegate and tflite_plugin_destroy_delegate.
  kDeputyPluginExternal = 0,
  // The library exports TFL_TheStableDelegate.
  kDeputyPluginStable = 1,
  // The library also exports deputy_plugin, which describes the plug-in and its options.
  kDeputyPluginDeputy = 2,
} DeputyPluginKind;

// Loads the library at `path`. A name without a slash is first searched for as the name of a
// plug-in, in the directories that DeputyPluginListCreate searches by default: "mine" is libmine.so
// or libdeputy_mine.so, "libmine.so" is that file, and "gpu" is Deputy's OpenCL delegate. If there
// is none, libdeputy_mine.so next to this library is loaded; without that, the name is passed to
// dlopen. The caller owns one reference. NULL on failure; DeputyLastError() describes the problem
// of the file. Any thread; but for a stable delegate the function sets the environment variable
// TFLITE_STABLE_DELEGATE_LIBRARY_PATH, so no other thread may read the environment at the same
// time.
//
// The parts of the file that the system's loader relies on are checked before the loader reads it,
// so that a damaged file is rejected. The library's code and data, its initialisers and the
// libraries that it needs cannot be checked: the initialisers run in this process and can end it.
// With the environment variable DEPUTY_PLUGIN_PROBE=1 a library that is not yet loaded is first
// loaded in a child process, created by fork, and rejected if it ends that process or takes longer
// than 10 seconds. Use it for untrusted plug-ins only: it can reject a good one whose driver does
// not work after fork, or that needs a lock held by another thread.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginLoad(const char* path);

// Loads a library like DeputyPluginLoad, but sends messages of the call to `reporter` instead of
// the default reporter, like TfLiteModelCreateWithErrorReporter. NULL means the default reporter.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginLoadWithErrorReporter(
    const char* path, void (*reporter)(void* user_data, const char* format, va_list args),
    void* user_data);

// Adds a reference to a plug-in and returns its argument. NULL is ignored. Any thread.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginRetain(DeputyPlugin* plugin);

// Drops a reference to a plug-in; dropping the last one frees the handle. NULL is ignored. Any
// thread.
TFL_CAPI_EXPORT void DeputyPluginRelease(DeputyPlugin* plugin);

// A plug-in's description. Strings and options belong to the plug-in and are valid as long as the
// caller holds a reference to it; strings that the plug-in does not provide are "".
typedef struct DeputyPluginInfo {
  // sizeof(DeputyPluginInfo).
  size_t struct_size;
  // Path from which the plug-in was loaded.
  const char* path;
  // A DeputyPluginKind.
  int32_t kind;
  // A DeputyLayout.
  int32_t preferred_layout;
  // Name that the plug-in exports, or the name of its file.
  const char* name;
  // Version that the plug-in exports.
  const char* version;
  // Vendor of the plug-in.
  const char* vendor;
  // Options that the plug-in declares, and their number. A plug-in that declares none may still
  // accept options.
  const DeputyPluginOption* options;
  size_t option_count;
} DeputyPluginInfo;

// Fills `info`, whose struct_size the caller has set. kTfLiteError for NULL and for a struct_size
// that is too small. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginDescribe(const DeputyPlugin* plugin,
                                                  DeputyPluginInfo* info);

// Calls `callback` for each device that the plug-in's delegates can use. The device belongs to the
// plug-in and is valid during the call; fields of DeputyDeviceInfo beyond its struct_size must not
// be read. kTfLiteError if the plug-in cannot list devices, or has none; DeputyLastError() has the
// text. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginListDevices(const DeputyPlugin* plugin,
                                                     DeputyDeviceCallback callback,
                                                     void* user_data);

// Calls `callback` for each operator of which the plug-in's delegates support at least some nodes.
// The operator belongs to the plug-in and is valid during the call; fields of
// DeputyDelegateOperator beyond its struct_size must not be read. kTfLiteError if the plug-in
// cannot list operators; DeputyLastError() has the text. Any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginListOperators(const DeputyPlugin* plugin,
                                                       DeputyDelegateOperatorCallback callback,
                                                       void* user_data);

// Calls `callback` with texts about the partitions of a delegate of DeputyPluginCreateDelegate,
// such as the graph that its compiler works on; without a call if the delegate was created without
// the option to keep them. kTfLiteError for a delegate whose plug-in cannot describe partitions;
// DeputyLastError() has the text. Must not be called while the delegate is applied.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginDescribePartitions(TfLiteDelegate* delegate,
                                                            DeputyPartitionTextCallback callback,
                                                            void* user_data);

// Calls `callback` for each event on the device of a delegate of DeputyPluginCreateDelegate since
// the last call, and discards the events; without a call if the delegate was created without
// profiling. Fields of DeputyDeviceEvent beyond its struct_size must not be read. kTfLiteError for
// a delegate whose plug-in has no device events; DeputyLastError() has the text. Must not be called
// while an interpreter that uses the delegate runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginTakeEvents(TfLiteDelegate* delegate,
                                                    DeputyDeviceEventCallback callback,
                                                    void* user_data);

// Reports on a delegate of a plug-in (see DeputyPluginDeleteDelegate): fills `report`, whose
// struct_size the caller has set, and calls `callback`, which may be NULL, for each option that its
// plug-in declares and each that was given. Fields that the plug-in does not fill keep their values
// for "unknown". Costs are cumulative: they grow when the delegate is applied. Returns kTfLiteError
// for other delegates, a wrong struct_size, and if the plug-in fails; DeputyLastError() has the
// text. Must not be called while the delegate is applied or an interpreter that uses it runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginReportDelegate(TfLiteDelegate* delegate,
                                                        DeputyDelegateReport* report,
                                                        DeputyOptionUseCallback callback,
                                                        void* user_data);

// Changes `count` options of a delegate of a plug-in (see DeputyPluginDeleteDelegate). The next run
// uses the new values; an applied delegate stays applied. The arrays are as in
// DeputyPluginCreateDelegate. Returns kTfLiteError and changes nothing for other delegates, an
// unknown key, an option that is not `live` (DeputyPluginOption), a value of the wrong type, and if
// the plug-in refuses; only DeputyLastError() has the text, no reporter gets it. Must not be called
// while an interpreter applies, prepares in the background or runs the delegate.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginSetDelegateOptions(TfLiteDelegate* delegate,
                                                            const char* const* keys,
                                                            const char* const* values,
                                                            size_t count);

// Calls `callback` for the option `key`, as DeputyPluginReportDelegate does for all options.
// kTfLiteError if the delegate has no such option.
TFL_CAPI_EXPORT TfLiteStatus DeputyPluginGetDelegateOption(TfLiteDelegate* delegate,
                                                           const char* key,
                                                           DeputyOptionUseCallback callback,
                                                           void* user_data);

// Result of a search for plug-ins: plug-ins, and files that could not be loaded as plug-ins.
typedef struct DeputyPluginList DeputyPluginList;

// Loads the files and directories in `paths`, which are separated by colons. In a directory every
// file is loaded whose name ends in ".so", or in ".so." and a version, in the order of their names.
// NULL reads the paths from the environment variable DEPUTY_PLUGIN_PATH and appends, if it exists,
// the directory deputy/plugins next to this library, in which plug-ins are installed. A file with
// several names is loaded once. A file that cannot be loaded, and a directory that cannot be read,
// becomes an entry with an error. The caller owns the list. NULL if out of memory. Any thread; see
// DeputyPluginLoad.
TFL_CAPI_EXPORT DeputyPluginList* DeputyPluginListCreate(const char* paths);

// Frees a list of plug-ins and its references. NULL is ignored.
TFL_CAPI_EXPORT void DeputyPluginListDelete(DeputyPluginList* list);

// Number of entries of a list of plug-ins; 0 for NULL.
TFL_CAPI_EXPORT size_t DeputyPluginListGetCount(const DeputyPluginList* list);

// Returns the plug-in of an entry, owned by the list: call DeputyPluginRetain to keep it longer.
// NULL if the entry could not be loaded or the index is out of range.
TFL_CAPI_EXPORT DeputyPlugin* DeputyPluginListGetPlugin(const DeputyPluginList* list, size_t index);

// The path of an entry, owned by the list. NULL if the index is out of range.
TFL_CAPI_EXPORT const char* DeputyPluginListGetPath(const DeputyPluginList* list, size_t index);

// The reason why an entry could not be loaded, "" if it was loaded. Owned by the list. NULL if the
// index is out of range.
TFL_CAPI_EXPORT const char* DeputyPluginListGetError(const DeputyPluginList* list, size_t index);

// Creates a delegate of a plug-in with `count` options. The arrays and their strings are borrowed
// during the call; both arrays may be NULL if `count` is 0. If the plug-in declares its options,
// unknown keys and values of the wrong type are errors. The caller owns the delegate, which holds a
// reference to the plug-in, and deletes it with DeputyPluginDeleteDelegate after every interpreter
// that it was applied to. NULL on failure, and for stable delegates; DeputyLastError() has the
// text, including the plug-in's own.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyPluginCreateDelegate(DeputyPlugin* plugin,
                                                           const char* const* keys,
                                                           const char* const* values, size_t count);

// Creates a delegate like DeputyPluginCreateDelegate, but sends messages of the call to `reporter`
// instead of the default reporter. NULL means the default reporter.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyPluginCreateDelegateWithErrorReporter(
    DeputyPlugin* plugin, const char* const* keys, const char* const* values, size_t count,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Creates a delegate of a stable delegate's plug-in. `settings` is a FlatBuffer table
// TFLiteSettings, passed on unchanged and borrowed during the call; NULL if the plug-in needs none.
// Ownership and failures are as in DeputyPluginCreateDelegate.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyPluginCreateStableDelegate(DeputyPlugin* plugin,
                                                                 const void* settings);

// Deletes a delegate of a plug-in: one from a DeputyPluginCreate… function,
// TfLiteExternalDelegateCreate or DeputyXnnpackDelegateCreate. NULL is ignored; a delegate that no
// plug-in created is reported and not deleted.
TFL_CAPI_EXPORT void DeputyPluginDeleteDelegate(TfLiteDelegate* delegate);

// Creates a delegate that runs nodes in XNNPACK, from the plug-in "xnnpack" (docs/xnnpack.md);
// fewer than one thread count as one. TfLiteXNNPackDelegateCreate does the same if the environment
// variable DEPUTY_XNNPACK is "bridge" and the plug-in is installed; otherwise its delegate claims
// no node, because Deputy's kernels are faster. Delete it with DeputyPluginDeleteDelegate or
// TfLiteXNNPackDelegateDelete. NULL, after a report, if the plug-in is not installed.
TFL_CAPI_EXPORT TfLiteDelegate* DeputyXnnpackDelegateCreate(int32_t num_threads);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_H_
