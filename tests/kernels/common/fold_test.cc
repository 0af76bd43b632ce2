// SPDX-License-Identifier: Apache-2.0
//
// Tests shape arithmetic over constants (kernels/common/fold.h): it is computed in prepare, so that
// static delegates can be applied, and is bit-identical with the same nodes run by invoke.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::fold_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int32_t>;

// Builds a graph of integers in two variants: leaves are constants of the model, or inputs of the
// graph, so that nothing can be folded.
class IntGraph {
 public:
  explicit IntGraph(ModelBuilder* m, bool leaves_are_inputs = false)
      : m_(*m), leaves_are_inputs_(leaves_are_inputs) {}

  int Leaf(const std::vector<int32_t>& shape, const Ints& values) {
    if (!leaves_are_inputs_) return m_.AddConstant<int32_t>(kTfLiteInt32, shape, values);
    inputs.push_back(Tensor(shape));
    contents.push_back(values);
    return inputs.back();
  }
  // Axes, permutations and masks are constants in both variants.
  int Constant(const Ints& values) {
    return m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int32_t>(values.size())}, values);
  }
  int Scalar(int32_t value) { return m_.AddConstant<int32_t>(kTfLiteInt32, {}, {value}); }
  int Tensor(const std::vector<int32_t>& shape = {1}, TfLiteType type = kTfLiteInt32) {
    return m_.AddTensor(type, shape, "t" + std::to_string(made_++));
  }
  template <typename Options>
  int Op(TfLiteBuiltinOperator code, const Ints& in, flatbuffers::Offset<Options> options) {
    const int out = Tensor();
    m_.AddOp(code, in, {out}, options);
    return out;
  }
  int Op(TfLiteBuiltinOperator code, const Ints& in) {
    const int out = Tensor();
    m_.AddOp(code, in, {out});
    return out;
  }
  ModelBuilder& m() { return m_; }
  flatbuffers::FlatBufferBuilder& fbb() { return m_.fbb(); }

  std::vector<int32_t> inputs;
  std::vector<Ints> contents;

 private:
  ModelBuilder& m_;
  const bool leaves_are_inputs_;
  int made_ = 0;
};

TfLiteAllocationType AllocationOf(TestInterpreter* t, int tensor) {
  return t->Tensor(tensor)->allocation_type;
}

// ---- Static delegates ---------------------------------------------------------------------------

// Adds nodes that compute a vector of integers from [2, 3, 4], the shape of tensor `x`.
using Chain = std::function<int(IntGraph*, int shape)>;

const std::map<std::string, Chain>& Chains() {
  static const std::map<std::string, Chain> chains = {
      {"slice",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinSlice, {shape, g->Constant({0}), g->Constant({2})});
       }},
      {"strided_slice_and_pack",
       [](IntGraph* g, int shape) {
         const int batch = g->Op(kTfLiteBuiltinStridedSlice,
                                 {shape, g->Constant({0}), g->Constant({1}), g->Constant({1})},
                                 schema::CreateStridedSliceOptions(g->fbb(), 0, 0, 0, 0, 1));
         return g->Op(kTfLiteBuiltinPack, {batch, g->Scalar(12)},
                      schema::CreatePackOptions(g->fbb(), 2, 0));
       }},
      {"gather",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinGather, {shape, g->Constant({2, 1})},
                      schema::CreateGatherOptions(g->fbb(), 0));
       }},
      {"concatenation",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinConcatenation, {g->Constant({1}), shape},
                      schema::CreateConcatenationOptions(g->fbb(), 0));
       }},
      {"concatenation_with_an_empty_slice",
       [](IntGraph* g, int shape) {
         const int none = g->Op(kTfLiteBuiltinSlice, {shape, g->Constant({0}), g->Constant({0})});
         return g->Op(kTfLiteBuiltinConcatenation, {none, shape},
                      schema::CreateConcatenationOptions(g->fbb(), 0));
       }},
      {"unpack",
       [](IntGraph* g, int shape) {
         const int a = g->Tensor(), b = g->Tensor(), c = g->Tensor();
         g->m().AddOp(kTfLiteBuiltinUnpack, {shape}, {a, b, c},
                      schema::CreateUnpackOptions(g->fbb(), 3, 0));
         return g->Op(kTfLiteBuiltinPack, {c, a, b}, schema::CreatePackOptions(g->fbb(), 3, 0));
       }},
      {"split",
       [](IntGraph* g, int shape) {
         const int a = g->Tensor(), b = g->Tensor(), c = g->Tensor();
         g->m().AddOp(kTfLiteBuiltinSplit, {g->Scalar(0), shape}, {a, b, c},
                      schema::CreateSplitOptions(g->fbb(), 3));
         return g->Op(kTfLiteBuiltinConcatenation, {b, c},
                      schema::CreateConcatenationOptions(g->fbb(), 0));
       }},
      {"squeeze_and_expand_dims",
       [](IntGraph* g, int shape) {
         const int wide = g->Op(kTfLiteBuiltinExpandDims, {shape, g->Scalar(0)});
         return g->Op(kTfLiteBuiltinSqueeze, {wide});
       }},
      {"reshape",
       [](IntGraph* g, int shape) {
         const int column = g->Op(kTfLiteBuiltinReshape, {shape, g->Constant({3, 1})});
         return g->Op(kTfLiteBuiltinReshape, {column, g->Constant({-1})});
       }},
      {"mul",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinMul, {shape, g->Constant({2, 1, 3})},
                      schema::CreateMulOptions(g->fbb()));
       }},
      {"add",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinAdd, {shape, g->Scalar(1)}, schema::CreateAddOptions(g->fbb()));
       }},
      {"sub",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinSub, {shape, g->Scalar(1)}, schema::CreateSubOptions(g->fbb()));
       }},
      {"floor_div",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinFloorDiv, {shape, g->Constant({2, 3, 2})});
       }},
      {"floor_mod",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinFloorMod, {shape, g->Constant({3, 5, 5})});
       }},
      {"maximum",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinMaximum, {shape, g->Constant({3, 3, 3})});
       }},
      {"minimum",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinMinimum, {shape, g->Constant({3, 3, 3})});
       }},
      {"reduce_prod_and_expand_dims",
       [](IntGraph* g, int shape) {
         const int count = g->Op(kTfLiteBuiltinReduceProd, {shape, g->Constant({0})},
                                 schema::CreateReducerOptions(g->fbb(), false));
         return g->Op(kTfLiteBuiltinExpandDims, {count, g->Scalar(0)});
       }},
      {"reduce_max_with_kept_dims",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinReduceMax, {shape, g->Constant({0})},
                      schema::CreateReducerOptions(g->fbb(), true));
       }},
      {"cast_there_and_back",
       [](IntGraph* g, int shape) {
         const int wide = g->Tensor({3}, kTfLiteInt64);
         g->m().AddOp(kTfLiteBuiltinCast, {shape}, {wide});
         return g->Op(kTfLiteBuiltinCast, {wide});
       }},
      {"reverse",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinReverseV2, {shape, g->Constant({0})});
       }},
      {"tile",
       [](IntGraph* g, int shape) {
         return g->Op(kTfLiteBuiltinTile, {shape, g->Constant({2})});
       }},
      {"equal_and_select",
       [](IntGraph* g, int shape) {
         const int equal = g->Tensor({3}, kTfLiteBool);
         g->m().AddOp(kTfLiteBuiltinEqual, {shape, g->Constant({2, 2, 2})}, {equal});
         return g->Op(kTfLiteBuiltinSelectV2, {equal, g->Scalar(7), shape});
       }},
      {"range",
       [](IntGraph* g, int shape) {
         const int last = g->Op(kTfLiteBuiltinStridedSlice,
                                {shape, g->Constant({2}), g->Constant({3}), g->Constant({1})},
                                schema::CreateStridedSliceOptions(g->fbb(), 0, 0, 0, 0, 1));
         return g->Op(kTfLiteBuiltinRange, {g->Scalar(1), last, g->Scalar(1)});
       }},
  };
  return chains;
}

// A model of x -> SHAPE -> chain -> FILL -> MUL; the last two are of float32.
std::vector<uint8_t> FillOfShape(const Chain& chain, int* out_shape) {
  ModelBuilder m;
  IntGraph g(&m);
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3, 4}, "x");
  const int shape =
      g.Op(kTfLiteBuiltinShape, {x}, schema::CreateShapeOptions(m.fbb(), SchemaType(kTfLiteInt32)));
  *out_shape = chain(&g, shape);
  const int value = m.AddConstant<float>(kTfLiteFloat32, {}, {1.5F});
  const int two = m.AddConstant<float>(kTfLiteFloat32, {}, {2.0F});
  const int filled = m.AddTensor(kTfLiteFloat32, {1}, "filled");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinFill, {*out_shape, value}, {filled});
  m.AddOp(kTfLiteBuiltinMul, {filled, two}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y, *out_shape});
  return m.Finish();
}

TEST(Fold, shape_computations_leave_no_dynamic_tensor) {
  for (const auto& [name, chain] : Chains()) {
    SCOPED_TRACE(name);
    Scripted delegate({});
    int shape = -1;
    TestInterpreter t(FillOfShape(chain, &shape));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
        << t.log();
    EXPECT_EQ(AllocationOf(&t, shape), kTfLitePersistentRo);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    const Ints wanted = t.Get<int32_t>(1);
    ASSERT_FALSE(wanted.empty());
    EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)), wanted);
    for (const float value : t.Get<float>(0)) EXPECT_EQ(value, 3.0F);
  }
}

TEST(Fold, a_resize_computes_the_shape_again) {
  int shape = -1;
  TestInterpreter t(FillOfShape(Chains().at("strided_slice_and_pack"), &shape));
  for (const int batch : {2, 5, 1}) {
    ASSERT_EQ(t.Resize(0, {batch, 3, 4}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<int32_t>(1), ElementsAre(batch, 12));
    EXPECT_EQ(t.Get<float>(0), std::vector<float>(static_cast<size_t>(batch) * 12, 3.0F));
  }
}

// ---- Limits -------------------------------------------------------------------------------------

TEST(Fold, errors_in_the_contents_are_reported_by_invoke) {
  ModelBuilder m;
  IntGraph g(&m);
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int out = g.Op(kTfLiteBuiltinGather, {g.Constant({1, 2}), g.Constant({5})},
                       schema::CreateGatherOptions(m.fbb(), 0));
  m.SetInputs({x});
  m.SetOutputs({out});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(AllocationOf(&t, out), kTfLiteArenaRw);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("GATHER"));
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
}

TEST(Fold, large_constants_are_computed_by_invoke) {
  for (const int count : {256, 257}) {
    ModelBuilder m;
    IntGraph g(&m);
    const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
    const int out = g.Op(kTfLiteBuiltinReduceMax,
                         {g.Constant(Ints(static_cast<size_t>(count), 3)), g.Constant({0})},
                         schema::CreateReducerOptions(m.fbb(), false));
    m.SetInputs({x});
    m.SetOutputs({out});
    TestInterpreter t(m.Finish());
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(AllocationOf(&t, out), count == 256 ? kTfLitePersistentRo : kTfLiteArenaRw);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<int32_t>(0), ElementsAre(3));
  }
}

TEST(Fold, client_memory_is_written_by_every_inference) {
  ModelBuilder m;
  IntGraph g(&m);
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int out = g.Op(kTfLiteBuiltinAdd, {g.Constant({1, 2}), g.Constant({3, 4})},
                       schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({out});
  TestInterpreter t(m.Finish());
  alignas(64) int32_t memory[16] = {};
  TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), out, &allocation, 0), kTfLiteOk);
  for (int i = 0; i < 2; ++i) {
    memory[0] = memory[1] = 0;
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(memory[0], 4);
    EXPECT_EQ(memory[1], 6);
  }
}

// ---- Nodes that a delegate replaces -------------------------------------------------------------

// Replaces node 1, a SLICE of SHAPE, by a node that copies the first elements of its input. The
// delegate supports dynamic shapes: the graph can be resized while the delegate stays applied.
TfLiteStatus ReplaceSlice(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration copy{};
  copy.custom_name = "CopyFirst";
  copy.invoke = [](TfLiteContext* c, TfLiteNode* node) {
    const TfLiteTensor& in = c->tensors[node->inputs->data[0]];
    const TfLiteTensor& out = c->tensors[node->outputs->data[0]];
    memcpy(out.data.data, in.data.data, out.bytes);
    return kTfLiteOk;
  };
  TfLiteIntArray* nodes = TfLiteIntArrayCreate(1);
  nodes->data[0] = 1;
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, copy, nodes, delegate);
  TfLiteIntArrayFree(nodes);
  return status;
}

TEST(Fold, shapes_computed_by_a_delegate_follow_a_resize) {
  for (const DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    SCOPED_TRACE(policy);
    Programmed delegate(&ReplaceSlice, kTfLiteDelegateFlagsAllowDynamicTensors);
    int shape = -1;
    TestInterpreter t(FillOfShape(Chains().at("slice"), &shape),
                      [policy](TfLiteInterpreterOptions* options) {
                        DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
                      });
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk)
        << t.log();
    for (const int batch : {2, 5, 1}) {
      ASSERT_EQ(t.Resize(0, {batch, 3, 4}), kTfLiteOk);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_THAT(t.Get<int32_t>(1), ElementsAre(batch, 3));
      EXPECT_EQ(t.Get<float>(0).size(), static_cast<size_t>(batch) * 3);
    }
  }
}

// ---- Against the same nodes in invoke -----------------------------------------------------------

// Adds one random node over two vectors of equal length; every result is a vector again.
int AddRandomNode(IntGraph* g, std::mt19937* random, int a, int b, int length, int* out_length) {
  *out_length = length;
  const auto below = [&](int n) {
    return static_cast<int>((*random)() % static_cast<unsigned>(n));
  };
  switch (below(14)) {
    case 0:
      return g->Op(kTfLiteBuiltinAdd, {a, b}, schema::CreateAddOptions(g->fbb()));
    case 1:
      return g->Op(kTfLiteBuiltinSub, {a, b}, schema::CreateSubOptions(g->fbb()));
    case 2:
      return g->Op(kTfLiteBuiltinMul, {a, b}, schema::CreateMulOptions(g->fbb()));
    case 3:
      return g->Op(kTfLiteBuiltinMaximum, {a, b});
    case 4:
      return g->Op(kTfLiteBuiltinMinimum, {a, b});
    case 5:
      return g->Op(kTfLiteBuiltinFloorDiv, {a, g->Scalar(1 + below(5))});
    case 6:
      return g->Op(kTfLiteBuiltinFloorMod, {a, g->Scalar(1 + below(5))});
    case 7: {
      const int begin = below(length), size = 1 + below(length - begin);
      *out_length = size;
      return g->Op(kTfLiteBuiltinSlice, {a, g->Constant({begin}), g->Constant({size})});
    }
    case 8: {
      const int begin = below(length), stride = 1 + below(2);
      *out_length = (length - begin + stride - 1) / stride;
      return g->Op(kTfLiteBuiltinStridedSlice,
                   {a, g->Constant({begin}), g->Constant({length}), g->Constant({stride})},
                   schema::CreateStridedSliceOptions(g->fbb()));
    }
    case 9:
      *out_length = 2 * length;
      return g->Op(kTfLiteBuiltinConcatenation, {a, b},
                   schema::CreateConcatenationOptions(g->fbb(), 0));
    case 10: {
      const int indices = g->Constant({below(length), below(length), below(length)});
      *out_length = 3;
      return g->Op(kTfLiteBuiltinGather, {a, indices}, schema::CreateGatherOptions(g->fbb(), 0));
    }
    case 11: {
      *out_length = 1;
      const TfLiteBuiltinOperator codes[] = {kTfLiteBuiltinReduceProd, kTfLiteBuiltinReduceMax,
                                             kTfLiteBuiltinReduceMin, kTfLiteBuiltinSum};
      return g->Op(codes[below(4)], {a, g->Constant({0})},
                   schema::CreateReducerOptions(g->fbb(), true));
    }
    case 12: {
      *out_length = 2 * length;
      const int packed =
          g->Op(kTfLiteBuiltinPack, {a, b}, schema::CreatePackOptions(g->fbb(), 2, below(2)));
      const int turned = g->Op(kTfLiteBuiltinTranspose, {packed, g->Constant({1, 0})});
      return g->Op(kTfLiteBuiltinReshape, {turned, g->Constant({-1})});
    }
    default: {
      const int less = g->Tensor({1}, kTfLiteBool);
      g->m().AddOp(kTfLiteBuiltinLess, {a, b}, {less});
      return g->Op(kTfLiteBuiltinSelect, {less, b, a});
    }
  }
}

// A model of random nodes whose vectors are all outputs. `folded` selects the variant with
// constants; both variants have the same nodes and contents for a seed.
std::vector<uint8_t> RandomGraph(unsigned seed, bool folded, std::vector<Ints>* out_contents) {
  std::mt19937 random(seed);
  ModelBuilder m;
  IntGraph g(&m, !folded);
  std::map<int, std::vector<int>> by_length;
  for (int i = 0; i < 6; ++i) {
    const int length = 1 + static_cast<int>(random() % 4);
    Ints values(static_cast<size_t>(length));
    for (int32_t& value : values) value = static_cast<int32_t>(random() % 41) - 20;
    by_length[length].push_back(g.Leaf({length}, values));
  }
  std::vector<int32_t> outputs;
  for (int i = 0; i < 12; ++i) {
    auto group = by_length.begin();
    std::advance(group, static_cast<int>(random() % by_length.size()));
    const std::vector<int>& vectors = group->second;
    const int a = vectors[random() % vectors.size()], b = vectors[random() % vectors.size()];
    int length = 0;
    const int made = AddRandomNode(&g, &random, a, b, group->first, &length);
    if (length <= 16) by_length[length].push_back(made);
    outputs.push_back(made);
  }
  m.SetInputs(g.inputs);
  m.SetOutputs(outputs);
  *out_contents = g.contents;
  return m.Finish();
}

TEST(Fold, random_graphs_have_the_bits_of_invoke) {
  int folded_tensors = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Ints> none, contents;
    TestInterpreter folded(RandomGraph(seed, true, &none));
    TestInterpreter plain(RandomGraph(seed, false, &contents));
    ASSERT_EQ(folded.Allocate(), kTfLiteOk) << folded.log();
    ASSERT_EQ(plain.Allocate(), kTfLiteOk) << plain.log();
    for (size_t i = 0; i < contents.size(); ++i) plain.Set(static_cast<int>(i), contents[i]);
    for (int round = 0; round < 2; ++round) {
      ASSERT_EQ(folded.Invoke(), kTfLiteOk) << folded.log();
      ASSERT_EQ(plain.Invoke(), kTfLiteOk) << plain.log();
      for (int n = 0; n < TfLiteInterpreterGetOutputTensorCount(folded.get()); ++n) {
        const TfLiteTensor* out = TfLiteInterpreterGetOutputTensor(folded.get(), n);
        EXPECT_EQ(TestInterpreter::Shape(out),
                  TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(plain.get(), n)));
        EXPECT_EQ(folded.Get<int32_t>(n), plain.Get<int32_t>(n)) << "output " << n;
        folded_tensors += out->allocation_type == kTfLitePersistentRo ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(folded_tensors, 300 * 12 * 2);
}

}  // namespace
}  // namespace deputy::fold_test
