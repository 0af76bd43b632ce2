// SPDX-License-Identifier: Apache-2.0
//
// Tests that the list of the fields of the graph's structs is complete, and that a change of each
// field is detected by all code that uses the list: copies, the digest, the snapshot of a failed
// apply, the validation layer.
#include "core/graph/graph_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/delegation/graph_snapshot.h"
#include "core/graph/graph_digest.h"
#include "core/validation/validation_fields.h"
#include "tests/support/hand_graph.h"

namespace deputy::graph_fields_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ---- Completeness -------------------------------------------------------------------------------

template <typename Struct>
int CountRows() {
  int rows = 0;
  FieldsOf<Struct>::Visit([&](const char*, auto, FieldKind) { ++rows; });
  return rows;
}

// A structured binding compiles only with the struct's exact number of fields.
TEST(GraphFields, cover_all_fields_of_the_structs) {
  const auto& [t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15] = TfLiteTensor{};
  (void)t1;
  EXPECT_EQ(CountRows<TfLiteTensor>(), 15);
  const auto& [n1, n2, n3, n4, n5, n6, n7, n8, n9, n10] = TfLiteNode{};
  (void)n1;
  EXPECT_EQ(CountRows<TfLiteNode>(), 10);
  const auto& [r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11] = TfLiteRegistration{};
  (void)r1;
  EXPECT_EQ(CountRows<TfLiteRegistration>(), 11);
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
// Expects that every byte of the struct except padding belongs to exactly one row of the list of
// fields.
template <typename Struct>
void ExpectEveryByteOnce() {
  Struct fields;
  memset(&fields, 0xFF, sizeof fields);
  __builtin_clear_padding(&fields);
  std::vector<int> rows(sizeof fields, 0);
  FieldsOf<Struct>::Visit([&](const char*, auto member, FieldKind) {
    const auto offset =
        reinterpret_cast<const char*>(&(fields.*member)) - reinterpret_cast<const char*>(&fields);
    for (size_t i = 0; i < sizeof(fields.*member); ++i) ++rows[static_cast<size_t>(offset) + i];
  });
  const auto* bytes = reinterpret_cast<const unsigned char*>(&fields);
  for (size_t i = 0; i < sizeof fields; ++i) {
    if (bytes[i] == 0) continue;
    EXPECT_EQ(rows[i], 1) << "byte " << i;
  }
}

TEST(GraphFields, cover_every_byte_of_the_structs_once) {
  ExpectEveryByteOnce<TfLiteTensor>();
  ExpectEveryByteOnce<TfLiteNode>();
  ExpectEveryByteOnce<TfLiteRegistration>();
}
#endif
#endif

// ---- Detection of changes -----------------------------------------------------------------------

// The target of pointers that the test changes; it is never read through them.
char elsewhere;

// Each overload assigns a different value to a field.
void Change(TfLiteIntArray*& array) { array = IntArrayOf({7, 7, 7}); }
void Change(const TfLiteIntArray*& array) { array = IntArrayOf({7, 7, 7}); }
void Change(TfLitePtrUnion& data) { data.raw = &elsewhere; }
void Change(TfLiteQuantizationParams& params) { params.zero_point += 1; }
void Change(TfLiteQuantization& quantization) { quantization.type = kTfLiteBlockwiseQuantization; }
template <typename Value>
void Change(Value& value) {
  static_assert(std::is_scalar_v<Value>);
  if constexpr (std::is_pointer_v<Value>) {
    value = reinterpret_cast<Value>(&elsewhere);
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = !value;
  } else {
    value = static_cast<Value>(static_cast<int>(value) + 1);
  }
}

struct Changes {
  std::vector<std::string> by_copy, by_validation;
  bool by_digest = false;
  bool restored = false;
};

std::vector<std::string> Found(const SavedFields& saved) {
  std::vector<std::string> names;
  saved.Compare([&](const FieldChange& change) { names.emplace_back(change.name); });
  return names;
}

// Changes one field of a struct of a graph, records which code detects it, and restores it.
template <typename Struct, typename Member>
Changes ChangeOne(HandGraph* graph, Struct* fields, Member member) {
  using Value = std::decay_t<decltype(fields->*member)>;
  const StructCopy<Struct> copy(*fields);
  const SavedFields saved(&**graph, graph->context());
  GraphSnapshot snapshot(&**graph);
  const uint64_t digest = GraphDigest(**graph);
  const Value before = fields->*member;
  Change(fields->*member);

  Changes changes;
  copy.Compare(*fields, [&](const char* name) { changes.by_copy.emplace_back(name); });
  changes.by_validation = Found(saved);
  changes.by_digest = GraphDigest(**graph) != digest;
  snapshot.Restore([](int) {});
  bool same = true;
  copy.Compare(*fields, [&](const char*) { same = false; });
  changes.restored = same && GraphDigest(**graph) == digest;
  if constexpr (!kIsArray<Value>) {
    fields->*member = before;
    // The snapshot has replaced the array by a copy, so the original is freed here.
  } else if (fields->*member != before) {
    TfLiteIntArrayFree(const_cast<TfLiteIntArray*>(before));
  }
  return changes;
}

class EachField : public testing::Test {
 protected:
  EachField() {
    graph_.AddNode({0}, {1});
    graph_->tensor(0)->dims_signature = IntArrayOf({-1});
  }

  HandGraph graph_{2};
};

TEST_F(EachField, of_a_tensor_is_compared) {
  FieldsOf<TfLiteTensor>::Visit([&](const char* name, auto member, FieldKind kind) {
    SCOPED_TRACE(name);
    const Changes changes = ChangeOne(&graph_, graph_->tensor(0), member);
    EXPECT_THAT(changes.by_copy, ElementsAre(name));
    EXPECT_THAT(changes.by_validation, ElementsAre(name));
    const bool is_address = std::string(name) == "data";
    EXPECT_EQ(changes.by_digest, !is_address);
    EXPECT_EQ(changes.restored, kind != FieldKind::kOwned && !is_address);
  });
}

TEST_F(EachField, of_a_node_is_compared) {
  FieldsOf<TfLiteNode>::Visit([&](const char* name, auto member, FieldKind kind) {
    SCOPED_TRACE(name);
    const Changes changes = ChangeOne(&graph_, graph_->node(0), member);
    EXPECT_THAT(changes.by_copy, ElementsAre(name));
    EXPECT_THAT(changes.by_validation, ElementsAre(name));
    EXPECT_TRUE(changes.by_digest);
    EXPECT_EQ(changes.restored, kind != FieldKind::kOwned);
  });
}

TEST_F(EachField, of_a_registration_is_compared_except_runtime_fields) {
  FieldsOf<TfLiteRegistration>::Visit([&](const char* name, auto member, FieldKind kind) {
    SCOPED_TRACE(name);
    const Changes changes = ChangeOne(&graph_, graph_->registration(0), member);
    if (kind == FieldKind::kRuntime) {
      EXPECT_THAT(changes.by_copy, IsEmpty());
      EXPECT_THAT(changes.by_validation, IsEmpty());
      EXPECT_FALSE(changes.by_digest);
    } else {
      EXPECT_THAT(changes.by_copy, ElementsAre(name));
      EXPECT_THAT(changes.by_validation, ElementsAre("registration"));
      EXPECT_TRUE(changes.by_digest);
      EXPECT_TRUE(changes.restored);
    }
  });
}

// ---- Copies and numbers -------------------------------------------------------------------------

TEST(StructCopy, rejects_invalid_array_sizes) {
  TfLiteNode node{};
  node.inputs = IntArrayOf({1, 2});
  node.inputs->size = -5;
  const StructCopy<TfLiteNode> copy(node);
  EXPECT_EQ(copy.fields().inputs->size, 0);
  EXPECT_EQ(copy.fields().outputs, nullptr);
  TfLiteIntArrayFree(node.inputs);
}

TEST(StructCopy, moves_with_its_arrays) {
  TfLiteNode node{};
  node.inputs = IntArrayOf({1, 2});
  std::vector<StructCopy<TfLiteNode>> copies;
  copies.emplace_back(node);
  copies.emplace_back(TfLiteNode{});
  copies[1] = std::move(copies[0]);
  EXPECT_TRUE(SameField(copies[1].fields().inputs, node.inputs));
  TfLiteIntArrayFree(node.inputs);
}

TEST(GraphDigest, depends_on_affine_quantisation_and_the_plan) {
  HandGraph graph(2);
  graph.AddNode({0}, {1});
  graph.AddNode({0}, {1});
  auto* affine =
      static_cast<TfLiteAffineQuantization*>(calloc(1, sizeof(TfLiteAffineQuantization)));
  affine->scale = TfLiteFloatArrayCreate(1);
  affine->scale->data[0] = 0.5f;
  affine->zero_point = IntArrayOf({3});
  graph->tensor(0)->quantization = {kTfLiteAffineQuantization, affine};
  const uint64_t digest = GraphDigest(*graph);
  EXPECT_EQ(GraphDigest(*graph), digest);
  affine->zero_point->data[0] = 4;
  EXPECT_NE(GraphDigest(*graph), digest);
  affine->zero_point->data[0] = 3;
  affine->scale->data[0] = 0.25f;
  EXPECT_NE(GraphDigest(*graph), digest);
  affine->scale->data[0] = 0.5f;
  EXPECT_EQ(GraphDigest(*graph), digest);
  graph->SetPlan({1, 0});
  EXPECT_NE(GraphDigest(*graph), digest);
}

}  // namespace
}  // namespace deputy::graph_fields_test
