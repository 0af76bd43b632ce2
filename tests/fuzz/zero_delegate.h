// SPDX-License-Identifier: Apache-2.0
//
// A delegate for untrusted graphs: it claims random nodes and fills their outputs with zeros. Its
// callbacks access only data that the interface guarantees.
#ifndef DEPUTY_TESTS_FUZZ_ZERO_DELEGATE_H_
#define DEPUTY_TESTS_FUZZ_ZERO_DELEGATE_H_

#include "c_api/include/common.h"
#include "tests/fuzz/random.h"

namespace deputy::fuzz {

class ZeroDelegate {
 public:
  explicit ZeroDelegate(Random random);
  ZeroDelegate(const ZeroDelegate&) = delete;
  ZeroDelegate& operator=(const ZeroDelegate&) = delete;

  TfLiteDelegate* get() { return &base_; }

 private:
  static TfLiteStatus Claim(TfLiteContext* context, TfLiteDelegate* base);
  static void* Init(TfLiteContext* context, const char* buffer, size_t length);
  static TfLiteStatus PrepareKernel(TfLiteContext* context, TfLiteNode* node);
  static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node);
  static TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* base,
                               TfLiteBufferHandle handle, TfLiteTensor* tensor);
  static void FreeHandle(TfLiteContext* context, TfLiteDelegate* base, TfLiteBufferHandle* handle);

  TfLiteDelegate base_ = {};
  Random random_;
  size_t claims_one_in_;
  bool on_device_;  // true if outputs have buffer handles
  bool may_fail_;   // true if callbacks fail occasionally
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_ZERO_DELEGATE_H_
