// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/graphs.h"

#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"

namespace deputy::fuzz {
namespace {

// A model of y = RESHAPE(x, PACK(SHAPE(x)[0], -1)): the nodes that converters write for "flatten".
std::vector<uint8_t> ComputedShape() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3, 4}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {3}), first = m.AddTensor(kTfLiteInt32, {});
  const int begin = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {0});
  const int end = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int rest = m.AddConstant<int32_t>(kTfLiteInt32, {}, {-1});
  const int wanted = m.AddTensor(kTfLiteInt32, {2}), y = m.AddTensor(kTfLiteFloat32, {2, 12}, "y");
  m.AddOp(kTfLiteBuiltinShape, {x}, {shape},
          schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  m.AddOp(kTfLiteBuiltinStridedSlice, {shape, begin, end, end}, {first},
          schema::CreateStridedSliceOptions(m.fbb(), 0, 0, 0, 0, 1));
  m.AddOp(kTfLiteBuiltinPack, {first, rest}, {wanted}, schema::CreatePackOptions(m.fbb(), 2, 0));
  m.AddOp(kTfLiteBuiltinReshape, {x, wanted}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("flatten", {{"x", 0}}, {{"y", static_cast<uint32_t>(y)}});
  return m.Finish();
}

// A model of TILE, PAD, SLICE and MIRROR_PAD in sequence, whose output shapes are all computed from
// inputs.
std::vector<uint8_t> RunTimeShapes() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x");
  const int times = m.AddTensor(kTfLiteInt32, {2}, "times");
  const int margins = m.AddTensor(kTfLiteInt32, {2, 2}, "margins");
  const int sizes = m.AddTensor(kTfLiteInt32, {2}, "sizes");
  const int tiled = m.AddTensor(kTfLiteFloat32, {1}), padded = m.AddTensor(kTfLiteFloat32, {1});
  const int cut = m.AddTensor(kTfLiteFloat32, {1}), y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinTile, {x, times}, {tiled});
  m.AddOp(kTfLiteBuiltinPad, {tiled, margins}, {padded}, schema::CreatePadOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSlice, {padded, times, sizes}, {cut}, schema::CreateSliceOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMirrorPad, {cut, margins}, {y},
          schema::CreateMirrorPadOptions(m.fbb(), schema::MirrorPadMode::SYMMETRIC));
  m.SetInputs({x, times, margins, sizes});
  m.SetOutputs({y});
  return m.Finish();
}

// Adds subgraph `index` with one node code(x, x) -> y of int32 [1].
void AddTwice(ModelBuilder* m, int index, TfLiteBuiltinOperator code) {
  m->SelectSubgraph(index);
  const int x = m->AddTensor(kTfLiteInt32, {1}, "x"), y = m->AddTensor(kTfLiteInt32, {1}, "y");
  if (code == kTfLiteBuiltinAdd) {
    m->AddOp(code, {x, x}, {y}, schema::CreateAddOptions(m->fbb()));
  } else {
    m->AddOp(code, {x, x}, {y}, schema::CreateMulOptions(m->fbb()));
  }
  m->SetInputs({x});
  m->SetOutputs({y});
}

// A model of while x < 100: x = x < 10 ? x + x : x * x.
std::vector<uint8_t> IfInsideWhile() {
  ModelBuilder m;
  const int condition = m.AddSubgraph("condition"), body = m.AddSubgraph("body");
  const int sum = m.AddSubgraph("sum"), product = m.AddSubgraph("product");
  AddTwice(&m, sum, kTfLiteBuiltinAdd);
  AddTwice(&m, product, kTfLiteBuiltinMul);
  for (const int index : {condition, body}) {
    m.SelectSubgraph(index);
    const int x = m.AddTensor(kTfLiteInt32, {1}, "x");
    const int bound = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {index == condition ? 100 : 10});
    const int below = m.AddTensor(kTfLiteBool, {1}), y = m.AddTensor(kTfLiteInt32, {1}, "y");
    m.AddOp(kTfLiteBuiltinLess, {x, bound}, {below});
    if (index == body) {
      m.AddOp(kTfLiteBuiltinIf, {below, x}, {y}, schema::CreateIfOptions(m.fbb(), sum, product));
    }
    m.SetInputs({x});
    m.SetOutputs({index == body ? y : below});
  }
  m.SelectSubgraph(0);
  const int first = m.AddTensor(kTfLiteInt32, {1}), last = m.AddTensor(kTfLiteInt32, {1});
  m.AddOp(kTfLiteBuiltinWhile, {first}, {last},
          schema::CreateWhileOptions(m.fbb(), condition, body));
  m.SetInputs({first});
  m.SetOutputs({last});
  return m.Finish();
}

// A model with a variable that two nodes read and no node writes.
std::vector<uint8_t> Variables() {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int state = m.AddTensor(kTfLiteFloat32, {4}, "state", variable);
  const int sum = m.AddTensor(kTfLiteFloat32, {4}), y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, state}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {sum, state}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A model of strings that are tiled, sliced, compared and gathered by indices from the graph's
// inputs.
std::vector<uint8_t> Strings() {
  ModelBuilder m;
  const int texts = m.AddTensor(kTfLiteString, {3}, "texts");
  const int known = m.AddStringConstant({2}, {"ab", ""}, "known");
  const int at = m.AddTensor(kTfLiteInt32, {2}, "at");
  const int two = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {2});
  const int tiled = m.AddTensor(kTfLiteString, {6}), picked = m.AddTensor(kTfLiteString, {2});
  const int some = m.AddTensor(kTfLiteString, {2}), same = m.AddTensor(kTfLiteBool, {2}, "same");
  m.AddOp(kTfLiteBuiltinTile, {texts, two}, {tiled});
  m.AddOp(kTfLiteBuiltinGather, {tiled, at}, {picked}, schema::CreateGatherOptions(m.fbb(), 0));
  m.AddOp(kTfLiteBuiltinSlice, {tiled, two, two}, {some}, schema::CreateSliceOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinEqual, {picked, known}, {same}, schema::CreateEqualOptions(m.fbb()));
  m.SetInputs({texts, at});
  m.SetOutputs({some, same});
  return m.Finish();
}

// A model whose two layers share half-precision weights, each through a DEQUANTIZE of its own.
std::vector<uint8_t> HalfWeights() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int half = m.AddConstant<uint16_t>(kTfLiteFloat16, {2, 2}, {0x3c00, 0x4000, 0xc000, 0});
  const int weights = m.AddTensor(kTfLiteFloat32, {2, 2});
  const int again = m.AddTensor(kTfLiteFloat32, {2, 2});
  const int hidden = m.AddTensor(kTfLiteFloat32, {1, 2}), y = m.AddTensor(kTfLiteFloat32, {1, 2});
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {weights});
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {again});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {hidden},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinFullyConnected, {hidden, again}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

}  // namespace

std::vector<std::pair<std::string, std::vector<uint8_t>>> Graphs() {
  return {{"computed shape", ComputedShape()},
          {"run-time shapes", RunTimeShapes()},
          {"IF inside WHILE", IfInsideWhile()},
          {"variables", Variables()},
          {"strings", Strings()},
          {"half weights", HalfWeights()},
          {"chain", Chain(12)}};
}

}  // namespace deputy::fuzz
