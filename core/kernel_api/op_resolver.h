// SPDX-License-Identifier: Apache-2.0
//
// Interface that maps operator codes to kernels, and builtin operators to the parsers of their
// options.
#ifndef DEPUTY_CORE_KERNEL_API_OP_RESOLVER_H_
#define DEPUTY_CORE_KERNEL_API_OP_RESOLVER_H_

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/kernel_api/op_def.h"

namespace deputy {

// The Find functions return null for an unknown operator. A registration is copied while the
// interpreter is created, so it need only live that long; the objects it points to must outlive the
// interpreter.
class OpResolver {
 public:
  virtual ~OpResolver() = default;
  virtual const TfLiteRegistration* FindBuiltin(TfLiteBuiltinOperator code, int version) = 0;
  virtual const TfLiteRegistration* FindCustom(const char* name, int version) = 0;

  // Returns true if the registration, which a Find function has returned, is a builtin kernel of
  // this library.
  virtual bool IsOwnKernel(const TfLiteRegistration& registration) const = 0;

  // Returns the row whose parser reads the operator's options, of any version; null for a builtin
  // without a parser. Such an operator cannot be loaded even if a client provides a kernel for it.
  virtual const OpDef* FindParser(TfLiteBuiltinOperator code) = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_OP_RESOLVER_H_
