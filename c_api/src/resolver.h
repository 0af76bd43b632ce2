// SPDX-License-Identifier: Apache-2.0
//
// Which operators an interpreter knows: those a client brought through the options, in any of the
// ABI's spellings, and the builtin kernels. This is where core and kernels meet.
#ifndef DEPUTY_C_API_SRC_RESOLVER_H_
#define DEPUTY_C_API_SRC_RESOLVER_H_

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "core/kernel_api/op_resolver.h"

namespace deputy {

// A client's resolver callbacks. Each setter of the API fills one or two pairs and clears the rest;
// queried in the order of the members.
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

  // With any callback set they are the whole resolver: neither added nor builtin operators count.
  bool any() const;
};

// The operators a client added to its options. Version ranges are stored as ranges, not expanded
// per version.
class OperatorSet {
 public:
  void AddBuiltin(TfLiteBuiltinOperator code, const TfLiteRegistration& registration,
                  int min_version, int max_version);
  // `name` is borrowed, as the ABI has it.
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

// The resolver of one creation: added operators first, then the builtin kernels if wanted.
class ClientResolver final : public OpResolver {
 public:
  ClientResolver(const OperatorSet& operators, bool with_builtins)
      : operators_(operators), with_builtins_(with_builtins) {}

  const TfLiteRegistration* FindBuiltin(TfLiteBuiltinOperator code, int version) override;
  const TfLiteRegistration* FindCustom(const char* name, int version) override;
  const OpDef* FindParser(TfLiteBuiltinOperator code) override;

 private:
  const TfLiteRegistration* FindBuiltinByCallback(TfLiteBuiltinOperator code, int version);
  const TfLiteRegistration* FindCustomByCallback(const char* name, int version);
  const TfLiteRegistration* Keep(const TfLiteRegistration& registration);

  const OperatorSet& operators_;
  const bool with_builtins_;
  TfLiteRegistration found_{};  // what the last Find returned, where it is not the client's own
};

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_RESOLVER_H_
