// SPDX-License-Identifier: Apache-2.0
//
// A resolver to which a program adds kernels.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_H_

#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deputy/deputy_graph.h"
#include "tensorflow/lite/core/api/op_resolver.h"
#include "tensorflow/lite/core/api/op_resolver_internal.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {

namespace op_resolver_hasher {

template <typename V>
struct ValueHasher {
  size_t operator()(const V& v) const { return std::hash<V>()(v); }
};

template <>
struct ValueHasher<tflite::BuiltinOperator> {
  size_t operator()(const tflite::BuiltinOperator& v) const {
    return std::hash<int>()(static_cast<int>(v));
  }
};

// Hash of a pair.
template <typename T>
struct OperatorKeyHasher {
  size_t operator()(const T& x) const {
    const size_t first = ValueHasher<typename T::first_type>()(x.first);
    const size_t second = ValueHasher<typename T::second_type>()(x.second);
    return (first * 31 + second) * 0x9E3779B97F4A7C15u;
  }
};

}  // namespace op_resolver_hasher

// FindOp searches the kernels that were added, then the library's if a derived class has added
// them, then the chained resolvers in the order in which they were chained.
class MutableOpResolver : public OpResolver {
 public:
  const TfLiteRegistration* FindOp(tflite::BuiltinOperator op, int version) const override {
    const auto found = builtins_.find({op, version});
    if (found != builtins_.end()) return &found->second;
    return FindFallback(op, version);
  }

  const TfLiteRegistration* FindOp(const char* op, int version) const override {
    if (op == nullptr) return nullptr;
    const auto found = custom_ops_.find({op, version});
    if (found != custom_ops_.end()) return &found->second;
    return FindFallback(op, version);
  }

  // Add copies of a kernel for one version of an operator, or for all from `min_version` to
  // `max_version`. They replace earlier ones. A null kernel or name is ignored.
  void AddBuiltin(tflite::BuiltinOperator op, const TfLiteRegistration* registration,
                  int version = 1) {
    if (registration == nullptr) return;
    TfLiteRegistration& added = builtins_[{op, version}];
    added = *registration;
    added.builtin_code = op;
    added.custom_name = nullptr;
    added.version = version;
    may_directly_contain_user_defined_ops_ = true;
  }

  void AddBuiltin(tflite::BuiltinOperator op, const TfLiteRegistration* registration,
                  int min_version, int max_version) {
    for (int version = min_version; version <= max_version; ++version) {
      AddBuiltin(op, registration, version);
    }
  }

  // `name` must outlive the resolver and its interpreters.
  void AddCustom(const char* name, const TfLiteRegistration* registration, int version = 1) {
    if (name == nullptr || registration == nullptr) return;
    TfLiteRegistration& added = custom_ops_[{name, version}];
    added = *registration;
    added.builtin_code = BuiltinOperator_CUSTOM;
    added.custom_name = name;
    added.version = version;
    may_directly_contain_user_defined_ops_ = true;
  }

  void AddCustom(const char* name, const TfLiteRegistration* registration, int min_version,
                 int max_version) {
    for (int version = min_version; version <= max_version; ++version) {
      AddCustom(name, registration, version);
    }
  }

  // Adds all kernels of another resolver. They replace those that were added to this resolver; the
  // chained resolvers of `other` are searched before those of this resolver.
  void AddAll(const MutableOpResolver& other) {
    if (other.has_library_kernels_) AddLibraryKernels();
    for (const auto& entry : other.builtins_) builtins_[entry.first] = entry.second;
    for (const auto& entry : other.custom_ops_) custom_ops_[entry.first] = entry.second;
    other_op_resolvers_.insert(other_op_resolvers_.begin(), other.other_op_resolvers_.begin(),
                               other.other_op_resolvers_.end());
    if (!other.builtins_.empty() || !other.custom_ops_.empty()) {
      may_directly_contain_user_defined_ops_ = true;
    }
  }

  OpResolver::TfLiteDelegateCreators GetDelegateCreators() const final {
    return delegate_creators_;
  }
  OpResolver::TfLiteOpaqueDelegateCreators GetOpaqueDelegateCreators() const final {
    return opaque_delegate_creators_;
  }

 protected:
  // Appends a resolver, which is borrowed.
  void ChainOpResolver(const OpResolver* other) { other_op_resolvers_.push_back(other); }

  // Adds the library's kernels of all operators, which are looked up when they are needed. They
  // replace kernels that were added for the same operator and version.
  void AddLibraryKernels() {
    has_library_kernels_ = true;
    for (auto it = builtins_.begin(); it != builtins_.end();) {
      it = FindLibraryKernel(it->first.first, it->first.second) != nullptr ? builtins_.erase(it)
                                                                           : std::next(it);
    }
    for (auto it = custom_ops_.begin(); it != custom_ops_.end();) {
      it = FindLibraryKernel(it->first.first.c_str(), it->first.second) != nullptr
               ? custom_ops_.erase(it)
               : std::next(it);
    }
  }

  // True after a program added a kernel, which may compute something else than the library's.
  bool may_directly_contain_user_defined_ops_ = false;

  TfLiteDelegateCreators delegate_creators_;
  TfLiteOpaqueDelegateCreators opaque_delegate_creators_;

 private:
  using BuiltinOperatorKey = std::pair<tflite::BuiltinOperator, int>;
  using CustomOperatorKey = std::pair<std::string, int>;

  static const TfLiteRegistration* FindLibraryKernel(tflite::BuiltinOperator op, int version) {
    return DeputyFindBuiltinKernel(static_cast<TfLiteBuiltinOperator>(op), version);
  }
  static const TfLiteRegistration* FindLibraryKernel(const char* op, int version) {
    return DeputyFindCustomKernel(op, version);
  }

  template <typename Op>
  const TfLiteRegistration* FindFallback(Op op, int version) const {
    if (has_library_kernels_) {
      if (const TfLiteRegistration* found = FindLibraryKernel(op, version)) return found;
    }
    for (const OpResolver* other : other_op_resolvers_) {
      if (const TfLiteRegistration* found = other->FindOp(op, version)) return found;
    }
    return nullptr;
  }

  bool MayContainUserDefinedOps() const override {
    if (may_directly_contain_user_defined_ops_ || !has_library_kernels_) return true;
    for (const OpResolver* other : other_op_resolvers_) {
      if (OpResolverInternal::MayContainUserDefinedOps(*other)) return true;
    }
    return false;
  }

  std::unordered_map<BuiltinOperatorKey, TfLiteRegistration,
                     op_resolver_hasher::OperatorKeyHasher<BuiltinOperatorKey>>
      builtins_;
  std::unordered_map<CustomOperatorKey, TfLiteRegistration,
                     op_resolver_hasher::OperatorKeyHasher<CustomOperatorKey>>
      custom_ops_;
  std::vector<const OpResolver*> other_op_resolvers_;
  bool has_library_kernels_ = false;
};

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_MUTABLE_OP_RESOLVER_H_
