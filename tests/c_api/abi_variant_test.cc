// SPDX-License-Identifier: Apache-2.0
//
// Tests tensors that hold a C++ object, which is copied and deleted through its own virtual
// functions; exceptions thrown by these are caught.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "c_api/include/common.h"

namespace abi_variant_test {
namespace {

int alive = 0;

struct Box : VariantData {
  explicit Box(int initial) : value(initial) { ++alive; }
  ~Box() override { --alive; }
  VariantData* CloneTo(VariantData* maybe_reuse) const override {
    if (value < 0) throw std::runtime_error("negative");
    if (maybe_reuse == nullptr) return new Box(value);
    maybe_reuse->~VariantData();
    return new (maybe_reuse) Box(value);
  }
  int value;
};

TfLiteTensor VariantTensor(Box* box) {
  TfLiteTensor tensor{};
  tensor.type = kTfLiteVariant;
  tensor.allocation_type = kTfLiteVariantObject;
  tensor.data.data = static_cast<VariantData*>(box);
  return tensor;
}

int ValueOf(const TfLiteTensor& tensor) {
  return static_cast<Box*>(static_cast<VariantData*>(tensor.data.data))->value;
}

TEST(VariantTensor, CloneIsAnIndependentObject) {
  TfLiteTensor tensor = VariantTensor(new Box(4));
  TfLiteTensor clone = TfLiteTensorClone(tensor);
  EXPECT_EQ(alive, 2);
  TfLiteTensorFree(&tensor);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(ValueOf(clone), 4);
  TfLiteTensorFree(&clone);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(clone.data.data, nullptr);
}

TEST(VariantTensor, CopyReusesOrCreatesTheObject) {
  TfLiteTensor from = VariantTensor(new Box(5));
  TfLiteTensor to = VariantTensor(new Box(6));
  void* const object = to.data.data;
  EXPECT_EQ(TfLiteTensorCopy(&from, &to), kTfLiteOk);
  EXPECT_EQ(to.data.data, object);
  EXPECT_EQ(ValueOf(to), 5);
  TfLiteTensorFree(&to);

  TfLiteTensor other{};
  EXPECT_EQ(TfLiteTensorCopy(&from, &other), kTfLiteOk);
  EXPECT_EQ(other.allocation_type, kTfLiteVariantObject);
  EXPECT_EQ(ValueOf(other), 5);
  TfLiteTensorFree(&other);
  TfLiteTensorFree(&from);
  EXPECT_EQ(alive, 0);
}

TEST(VariantTensor, ExceptionOfACloneLeavesNoObject) {
  TfLiteTensor tensor = VariantTensor(new Box(-1));
  TfLiteTensor clone = TfLiteTensorClone(tensor);
  EXPECT_EQ(clone.data.data, nullptr);
  TfLiteTensorFree(&clone);
  TfLiteTensorFree(&tensor);
  EXPECT_EQ(alive, 0);
}

// Upstream passes the exception on.
TEST(VariantTensor, ExceptionOfACopyIsAnError) {
  TfLiteTensor from = VariantTensor(new Box(-1));
  TfLiteTensor to{};
  EXPECT_EQ(TfLiteTensorCopy(&from, &to), kTfLiteError);
  EXPECT_EQ(to.data.data, nullptr);
  TfLiteTensorFree(&to);
  TfLiteTensorFree(&from);
  EXPECT_EQ(alive, 0);
}

// A tensor whose object was freed is copied as such.
TEST(VariantTensor, CopyOfNoObjectIsNoObject) {
  TfLiteTensor from = VariantTensor(nullptr);
  TfLiteTensor to{};
  EXPECT_EQ(TfLiteTensorCopy(&from, &to), kTfLiteOk);
  EXPECT_EQ(to.allocation_type, kTfLiteVariantObject);
  EXPECT_EQ(to.data.data, nullptr);
}

}  // namespace
}  // namespace abi_variant_test
