// SPDX-License-Identifier: Apache-2.0
//
// One row of an operator family's table: everything that the runtime needs about an operator. The
// core defines the struct but contains no operators; `kernels/` fills the tables; `c_api/` passes
// them to the core.
#ifndef DEPUTY_CORE_KERNEL_API_OP_DEF_H_
#define DEPUTY_CORE_KERNEL_API_OP_DEF_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/base/op_options.h"

namespace deputy {

// Bit of a TfLiteType in OpDef::types.
constexpr uint32_t TypeBit(TfLiteType type) { return uint32_t{1} << type; }

struct OpDef {
  const char* name;  // name in the schema, in capitals, or of the custom operator
  // Number of the builtin operator; kTfLiteBuiltinCustom for custom operators.
  TfLiteBuiltinOperator code;
  int min_version, max_version;  // inclusive range of versions that the kernel supports
  uint32_t types;  // TypeBit mask of the supported element types of the first data input

  // Options: size 0 means that the operator has none (node->builtin_data is NULL). `parse` fills a
  // zeroed struct of that size from the options; if it returns false, no interpreter is created.
  OptionsKind options;
  size_t params_size;
  bool (*parse)(const OpOptions& options, void* params);

  // Functions of the kernel; optional ones are null. An OpDef without invoke is a parser only: the
  // client or a delegate must provide the kernel.
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* user_data);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  uint64_t inplace;  // combination of TfLiteInPlaceOp bits

  // Returns TensorFlow Lite's error message for options that `parse` has rejected; null: there is
  // none.
  std::string (*refusal)(const OpOptions& options) = nullptr;
};

// Kernel functions are called through C function pointers, so no exception may leave them. A table
// row names Guarded<&Function> instead of &Function: a noexcept trampoline that turns exceptions
// into kTfLiteError; GuardedInit turns those of an init into TfLiteKernelInitFailed(). CallGuarded,
// CallGuardedInit and CallGuardedGroup (fusion.h) contain the handlers for all kernels.
using OpFunction = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);
using OpInit = void* (*)(TfLiteContext*, const char*, size_t);

TfLiteStatus CallGuarded(TfLiteContext* context, TfLiteNode* node, OpFunction function) noexcept;
void* CallGuardedInit(TfLiteContext* context, const char* buffer, size_t length,
                      OpInit function) noexcept;

template <OpFunction function>
TfLiteStatus Guarded(TfLiteContext* context, TfLiteNode* node) noexcept {
  return CallGuarded(context, node, function);
}

template <OpInit function>
void* GuardedInit(TfLiteContext* context, const char* buffer, size_t length) noexcept {
  return CallGuardedInit(context, buffer, length, function);
}

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_OP_DEF_H_
