// SPDX-License-Identifier: Apache-2.0
//
// Operators of an interpreter: those that a client added to the options, in any of the ABI's forms,
// and the builtin kernels. Connects core and kernels.
#ifndef DEPUTY_C_API_SRC_RESOLVER_H_
#define DEPUTY_C_API_SRC_RESOLVER_H_

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "core/kernel_api/op_def.h"
#include "core/kernel_api/op_resolver.h"

namespace deputy {

// Returns the registration of a kernel for a version that it supports.
TfLiteRegistration FromOpDef(const OpDef& def, int version);

// Returns the kernel of this library that a registration has without changes, null for any other
// registration.
const OpDef* FindOwnKernel(const TfLiteRegistration& registration);

// Resolver callbacks of a client. Each setter of the API sets one or two pairs and clears the
// others. Callbacks are called in the order of the members until one finds the operator.
struct ResolverCallbacks {
  void* user_data = nullptr;
  const TfLiteOperator* (*find_builtin_external)(void*, int, int) = nullptr;
  const TfLiteOperator* (*find_custom_external)(void*, const char*, int) = nullptr;
  const TfLiteRegistration* (*find_builtin)(void*, TfLiteBuiltinOperator, int) = nullptr;
  const TfLiteRegistration* (*find_custom)(void*, const char*, int) = nullptr;
  const TfLiteRegistration_V3* (*find_builtin_v3)(void*, TfLiteBuiltinOperator, int) = nullptr;
  const TfLiteRegistration_V3* (*find_custom_v3)(void*, const char*, int) = nullptr;
  const TfLiteRegistration_V2* (*find_builtin_v2)(void*, TfLiteBuiltinOperator, int) = nullptr;
  const TfLiteRegistration_V2* (*find_custom_v2)(void*, const char*, int) = nullptr;
  const TfLiteRegistration_V1* (*find_builtin_v1)(void*, TfLiteBuiltinOperator, int) = nullptr;
  const TfLiteRegistration_V1* (*find_custom_v1)(void*, const char*, int) = nullptr;

  // Returns true if any callback is set; added and builtin operators are then ignored.
  bool any() const;
};

// Operators that a client added to its options. Version ranges are stored as ranges, not expanded
// per version.
class OperatorSet {
 public:
  void AddBuiltin(TfLiteBuiltinOperator code, const TfLiteRegistration& registration,
                  int min_version, int max_version);
  // Adds a custom operator. `name` is borrowed, as the ABI requires.
  void AddCustom(const char* name, const TfLiteRegistration& registration, int min_version,
                 int max_version);
  void AddOperator(const TfLiteOperator* op);

  const TfLiteRegistration* FindBuiltin(TfLiteBuiltinOperator code, int version) const;
  const TfLiteRegistration* FindCustom(const char* name, int version) const;

  ResolverCallbacks callbacks;

 private:
  struct Entry {
    int min_version, max_version;
    TfLiteRegistration registration;
  };
  std::vector<Entry> builtins_, customs_;
};

// Resolver for the creation of one interpreter: it calls the client's callbacks if any is set;
// otherwise it searches the added operators, then the builtin kernels unless they are excluded.
class ClientResolver final : public OpResolver {
 public:
  ClientResolver(const OperatorSet& operators, bool with_builtins)
      : operators_(operators), with_builtins_(with_builtins) {}

  const TfLiteRegistration* FindBuiltin(TfLiteBuiltinOperator code, int version) override;
  const TfLiteRegistration* FindCustom(const char* name, int version) override;
  const OpDef* FindParser(TfLiteBuiltinOperator code) override;
  bool IsOwnKernel(const TfLiteRegistration& registration) const override;

 private:
  const TfLiteRegistration* FindBuiltinByCallback(TfLiteBuiltinOperator code, int version);
  const TfLiteRegistration* FindCustomByCallback(const char* name, int version);
  const TfLiteRegistration* Keep(const TfLiteRegistration& registration);

  const OperatorSet& operators_;
  const bool with_builtins_;
  TfLiteRegistration found_{};  // copy of the registration found last, if it needs one
};

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_RESOLVER_H_
