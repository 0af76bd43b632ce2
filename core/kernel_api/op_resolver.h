// SPDX-License-Identifier: Apache-2.0
//
// How a model's operator codes find their kernels, and how builtin options find their parsers.
#ifndef DEPUTY_CORE_KERNEL_API_OP_RESOLVER_H_
#define DEPUTY_CORE_KERNEL_API_OP_RESOLVER_H_

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/kernel_api/op_def.h"

namespace deputy {

// Answers null when it knows no such operator. A registration is copied during creation of the
// interpreter, so it need only live that long; what it points to must outlive the interpreter.
class OpResolver {
 public:
  virtual ~OpResolver() = default;
  virtual const TfLiteRegistration* FindBuiltin(TfLiteBuiltinOperator code, int version) = 0;
  virtual const TfLiteRegistration* FindCustom(const char* name, int version) = 0;

  // The row whose parser reads the operator's options, of any version; null for a builtin that has
  // no parser, which then cannot be loaded even if a client brings a kernel for it.
  virtual const OpDef* FindParser(TfLiteBuiltinOperator code) = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_OP_RESOLVER_H_
