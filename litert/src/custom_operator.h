// SPDX-License-Identifier: Apache-2.0
//
// A client's kernel for a custom operator, as an operator of the interpreter.
#ifndef DEPUTY_LITERT_SRC_CUSTOM_OPERATOR_H_
#define DEPUTY_LITERT_SRC_CUSTOM_OPERATOR_H_

#include "deputy/c_api.h"
#include "deputy/operator.h"
#include "litert/src/options.h"

namespace deputy::litert {

class CustomOperator {
 public:
  explicit CustomOperator(const CustomKernel& kernel);
  ~CustomOperator();
  CustomOperator(const CustomOperator&) = delete;
  CustomOperator& operator=(const CustomOperator&) = delete;

  // Null if memory is exhausted.
  TfLiteOperator* get() { return operator_; }

 private:
  static void* Init(void* self, TfLiteOpaqueContext*, const char* data, size_t bytes);
  static TfLiteStatus Prepare(void* self, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);
  static TfLiteStatus Invoke(void* self, TfLiteOpaqueContext* context, TfLiteOpaqueNode* node);

  const CustomKernel kernel_;
  TfLiteOperator* operator_ = nullptr;
  bool is_initialized_ = false;
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_CUSTOM_OPERATOR_H_
