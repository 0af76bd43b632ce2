// SPDX-License-Identifier: Apache-2.0
//
// Allocators of MindSpore Lite and of a provider, as allocators of tensors and by themselves.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/allocator.h"
#include "include/api/types.h"
#include "providers/dpico/src/custom_allocator.h"
#include "src/extendrt/dynamic_mem_allocator.h"
#include "src/litert/inner_allocator.h"

namespace {

using mindspore::Allocator;
using mindspore::MSTensor;

using Create = std::function<std::shared_ptr<Allocator>()>;

class AllocatorsCheck : public testing::TestWithParam<Create> {};

TEST_P(AllocatorsCheck, counts_references_and_reuses_blocks) {
  const std::shared_ptr<Allocator> allocator = GetParam()();
  void* const block = allocator->Malloc(1000);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 32, 0U);
  EXPECT_EQ(allocator->SetRefCount(block, 3), 3);
  EXPECT_EQ(allocator->IncRefCount(block, 2), 5);
  EXPECT_EQ(allocator->DecRefCount(block, 4), 1);
  EXPECT_EQ(allocator->RefCount(block), 1);
  EXPECT_EQ(allocator->RefCount(nullptr), -1);
  EXPECT_EQ(allocator->SetRefCount(nullptr, 1), -1);
  EXPECT_EQ(allocator->Prepare(block), block);
  EXPECT_EQ(allocator->Malloc(8, 8, mindspore::DataType::kNumberTypeFloat32), nullptr);
  allocator->Free(block);
  EXPECT_EQ(allocator->Malloc(1000), block);
  allocator->Free(block);
}

TEST_P(AllocatorsCheck, allocates_and_frees_the_data_of_tensors) {
  const std::shared_ptr<Allocator> allocator = GetParam()();
  void* data = nullptr;
  {
    MSTensor tensor("t", mindspore::DataType::kNumberTypeFloat32, {5, 50}, nullptr, 0);
    tensor.SetAllocator(allocator);
    EXPECT_EQ(tensor.allocator(), allocator);
    data = tensor.MutableData();
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(allocator->SetRefCount(data, 7), 7);  // the block is the allocator's
  }
  EXPECT_EQ(allocator->Malloc(1000), data);  // the tensor has freed it
  allocator->Free(data);
}

INSTANTIATE_TEST_SUITE_P(
    All, AllocatorsCheck,
    testing::Values([] { return std::make_shared<mindspore::DefaultAllocator>(32); },
                    [] { return std::make_shared<mindspore::lite::CustomAllocator>(32); },
                    [] { return std::make_shared<mindspore::DynamicMemAllocator>(-1); }));

TEST(AllocatorSizes, sizes_are_counted_and_limited) {
  mindspore::DefaultAllocator inner;
  mindspore::lite::CustomAllocator provider;
  inner.SetContext({1, true});
  provider.SetContext({1, false});
  for (const size_t size : {100, 40}) {
    inner.Free(inner.Malloc(size));
    provider.Free(provider.Malloc(size));
  }
  // The second block cannot reuse the first one, which is more than twice as large.
  EXPECT_EQ(inner.total_size(), 140U);
  EXPECT_EQ(provider.total_size(), 140U);
  EXPECT_EQ(provider.Malloc(SIZE_MAX), nullptr);
  inner.Clear();
  provider.Clear();
}

}  // namespace
