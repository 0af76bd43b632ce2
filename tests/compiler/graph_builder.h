// SPDX-License-Identifier: Apache-2.0
//
// Builds graphs of the compiler for tests.
#ifndef DEPUTY_TESTS_COMPILER_GRAPH_BUILDER_H_
#define DEPUTY_TESTS_COMPILER_GRAPH_BUILDER_H_

#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/copy.h"
#include "compiler/graph.h"
#include "compiler/reference.h"

namespace deputy::compiler {

class GraphBuilder {
 public:
  Graph graph;

  ValueId Input(Shape shape, TfLiteType type = kTfLiteFloat32) {
    graph.inputs.push_back(graph.AddValue(type, std::move(shape)));
    return graph.inputs.back();
  }
  ValueId Constant(Shape shape, const std::vector<float>& numbers) {
    return graph.AddConstantOf<float>(kTfLiteFloat32, std::move(shape),
                                      std::span<const float>(numbers));
  }
  // Adds a constant of multiples of 1/4 between -2 and 2, so that few sums are rounded.
  ValueId Weights(Shape shape) {
    std::vector<float> numbers(static_cast<size_t>(ElementCount(shape)));
    for (float& number : numbers)
      number = static_cast<float>(static_cast<int>(random_() % 17) - 8) / 4;
    return Constant(std::move(shape), numbers);
  }

  ValueId Add(OperationKind kind, std::vector<ValueId> inputs, Shape shape,
              TfLiteType type = kTfLiteFloat32) {
    Operation operation;
    operation.kind = std::move(kind);
    operation.inputs = std::move(inputs);
    operation.outputs = {graph.AddValue(type, std::move(shape))};
    graph.operations.push_back(operation);
    return operation.output();
  }
  // Adds an element-wise operation; the result has the first input's shape.
  ValueId Compute(Expression expression, const std::vector<ValueId>& inputs) {
    const TfLiteType type = expression.result_type();
    return Add(Elementwise{std::move(expression)}, inputs, ShapeOf(inputs[0]), type);
  }
  ValueId Unary(ScalarOp op, ValueId a) {
    Expression e;
    e.Apply(op, e.Operand(0, TypeOf(a)));
    return Compute(std::move(e), {a});
  }
  ValueId Binary(ScalarOp op, ValueId a, ValueId b) {
    Expression e;
    const int left = e.Operand(0, TypeOf(a));
    e.Apply(op, left, e.Operand(1, TypeOf(b)));
    return Compute(std::move(e), {a, b});
  }
  // Adds op(number, a) for max and min, as in activations, and op(a, number) for other operations.
  ValueId WithNumber(ScalarOp op, ValueId a, double number) {
    Expression e;
    const int x = e.Operand(0, TypeOf(a)), n = e.Constant(TypeOf(a), number);
    const bool bound = op == ScalarOp::kMax || op == ScalarOp::kMin;
    e.Apply(op, bound ? n : x, bound ? x : n);
    return Compute(std::move(e), {a});
  }
  ValueId Reshaped(ValueId a, Shape shape) { return Add(View{}, {a}, std::move(shape), TypeOf(a)); }
  ValueId Transposed(ValueId a, const std::vector<int>& axes) {
    Shape to;
    for (int axis : axes) to.push_back(ShapeOf(a)[static_cast<size_t>(axis)]);
    const std::vector<int> zeros(axes.size(), 0);
    const CopyRegion region = RegionOf({0, to, zeros, zeros, {}, axes}, ShapeOf(a), to);
    return Add(Copy{{region}, {}}, {a}, to, TypeOf(a));
  }
  // Adds a border of the value `fill` around an image.
  ValueId Padded(ValueId a, int top, int left, int bottom, int right, Number fill = {}) {
    const Shape from = ShapeOf(a);
    const Shape to = {from[0], from[1] + top + bottom, from[2] + left + right, from[3]};
    const CopyRegion region =
        RegionOf({0, from, {0, 0, 0, 0}, {0, top, left, 0}, {}, {}}, from, to);
    return Add(Copy{{region}, fill}, {a}, to, TypeOf(a));
  }
  // Returns a 3x3 window, which applies to positions inside the image only unless padded.
  static Window Window3x3(int padding = 0) {
    Window window;
    window.height = window.width = 3;
    window.top = window.left = window.bottom = window.right = padding;
    return window;
  }
  ValueId Conv3x3(ValueId image, int channels, int padding = 0) {
    const Shape in = ShapeOf(image);
    const int less = 2 - 2 * padding;
    return Add(Conv2d{Window3x3(padding), 1},
               {image, Weights({channels, 3, 3, in[3]}), Weights({channels})},
               {in[0], in[1] - less, in[2] - less, channels});
  }
  void Output(ValueId id) { graph.outputs.push_back(id); }

  Shape ShapeOf(ValueId id) const { return graph.value(id).shape; }
  TfLiteType TypeOf(ValueId id) const { return graph.value(id).type; }

 private:
  std::mt19937 random_{1};
};

// Computes the graph for random inputs: integers, or multiples of 1/4 including zeros of both
// signs. Returns nothing if that fails.
inline std::vector<std::vector<std::byte>> Computed(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<std::byte>> contents;
  std::vector<const std::byte*> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    contents.emplace_back(value.bytes() + 1);
    for (int64_t i = 0; i < ElementCount(value.shape); ++i) {
      const int number = static_cast<int>(random() % 65) - 32;
      const double real = number == 0 && random() % 2 == 0 ? -0.0 : number / 4.0;
      StoreElement(value.type, {real, number}, contents.back().data(), i);
    }
  }
  for (const auto& of_input : contents) inputs.push_back(of_input.data());
  std::vector<std::vector<std::byte>> outputs;
  std::string error;
  if (!ComputeGraph(graph, inputs, &outputs, &error)) return {};
  return outputs;
}

}  // namespace deputy::compiler

#endif  // DEPUTY_TESTS_COMPILER_GRAPH_BUILDER_H_
