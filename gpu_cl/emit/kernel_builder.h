// SPDX-License-Identifier: Apache-2.0
//
// Builds the text of one kernel in OpenCL C, and its arguments. Parameters are declared on first
// use: p0, p1, … are buffers, i0, i1, … images of texels, n0, n1, … ints, f0, f1, … floats.
#ifndef DEPUTY_GPU_CL_EMIT_KERNEL_BUILDER_H_
#define DEPUTY_GPU_CL_EMIT_KERNEL_BUILDER_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/emit/plan.h"
#include "gpu_cl/emit/scalar_text.h"

namespace deputy::gpu_cl {

class KernelBuilder {
 public:
  KernelBuilder(const compiler::Graph& graph, const compiler::Operation& operation)
      : graph_(graph), operation_(operation) {}

  const compiler::Graph& graph() const { return graph_; }
  const compiler::Operation& operation() const { return operation_; }
  const compiler::Value& value(compiler::ValueId id) const { return graph_.value(id); }
  const compiler::Shape& shape(compiler::ValueId id) const { return graph_.value(id).shape; }

  // ---- Parameters ----

  Buffer Input(size_t n) { return Read(operation_.inputs[n]); }
  bool has_input(size_t n) const {
    return n < operation_.inputs.size() && operation_.inputs[n] != compiler::kNoValue;
  }
  // Returns true for a product of integers (graph.h).
  bool sums_integers() const { return !LoadsAsFloat(value(operation_.inputs[0]).type); }
  compiler::ValueId bias() const {
    return has_input(2) ? operation_.inputs[2] : compiler::kNoValue;
  }
  Buffer Read(compiler::ValueId id) { return Declare(id, true); }
  // Declares a value as an image of texels; requires float32 or float16, and a multiple of four
  // elements.
  Buffer Texels(compiler::ValueId id);
  Buffer Output(size_t n = 0) { return Declare(operation_.outputs[n], false); }
  // Declare a new parameter with the given value in each call, and return its name.
  std::string Int(int64_t value);
  std::string Float(float value);
  // Declares an int parameter with the given name.
  void Named(const std::string& name, int64_t value);
  std::string Status();
  // Packed declares the packed filter, as an image if it is stored in one; Zeros declares `count`
  // zeros of at most four bytes each. Apart from images, both are pointers to const.
  Buffer Packed(const Packing& packing);
  std::string Zeros(int count, TfLiteType type);

  // ---- Text ----

  // Appends a line to the function's body, indented by its open braces.
  void Line(const std::string& text);
  // Appends a line that ends in an opening brace, and the line that closes it.
  void Open(const std::string& text);
  void Close();

  // Makes the function require a work-group size.
  void RequireGroup(const std::array<size_t, 3>& group) { group_ = group; }
  const std::array<size_t, 3>& group() const { return group_; }

  // Before inserts a line before all others. BeforeOpen also encloses the others in the braces that
  // the line opens.
  void Before(const std::string& text);
  void BeforeOpen(const std::string& text);
  // Returns true if a line of the body so far contains the word.
  bool Mentions(const std::string& word) const;

  // Declares `name`: the index into a buffer of shape `from` of the element that is broadcast to
  // element `index` of a value of shape `to`.
  void BroadcastIndex(const std::string& name, const compiler::Shape& from,
                      const compiler::Shape& to, const std::string& index);
  // Appends the nodes of an expression; returns the text of its result. `operands` are expressions
  // of the compute types, or of vectors of `width` of them (vector_text.h).
  std::string Evaluate(const compiler::Expression& expression,
                       const std::vector<std::string>& operands, int width = 1);
  // Returns an unused name.
  std::string Temporary();
  // Returns the zero point of a product of integers, as a new parameter; "" for other operations.
  std::string ZeroPoint();
  // Adds left * right, or (left - zero_point) * right for integers, to the variable `sum`.
  void AddProduct(const std::string& left, const std::string& right, const std::string& zero_point);
  // Applies the operation's epilogue to `result` and stores it at `index` of the first output; with
  // a width, to a vector of neighbours along the last axis. `channel` is the index along that axis,
  // if there is a shorter expression for it than a modulo operation.
  void StoreResult(const std::string& result, const std::string& index, int width = 1,
                   const std::string& channel = "");
  // Declares the parameters of the common epilogue (common_epilogue.h), which StoreResult then
  // applies. Returns false, and declares nothing, if the operation's epilogue is a different one.
  bool UseCommonEpilogue();
  // Declares that all vectors are aligned to their size, in buffers that are declared after this
  // call.
  void AssumeAligned() { aligned_ = added_.aligned = true; }
  // Returns true if StoreResult supports vectors: HasVectorForm of the epilogue.
  bool StoresVectors() const;
  // Returns true if a kernel may repeat StoreResult for many vectors: it is a common epilogue, or
  // it is short and has no function from kSqrt to kErf.
  bool HasShortEpilogue() const;

  // ---- Result ----

  // Returns the function's text, with the placeholder NAME as its name.
  std::string Text() const;
  const std::vector<Argument>& arguments() const { return arguments_; }
  // Returns the packings to which PackedBuffer arguments refer by index.
  const std::vector<Packing>& packings() const { return packings_; }

 private:
  Buffer Declare(compiler::ValueId id, bool read_only);
  std::string Constant(const compiler::ScalarNode& node);
  std::string CommonResult(const std::string& result, const std::string& index, int width);
  std::string LoadAt(compiler::ValueId id, const std::string& index, int width,
                     const std::string& channel);
  void Parameter(const std::string& declaration, const Argument& argument);

  const compiler::Graph& graph_;
  const compiler::Operation& operation_;
  std::string parameters_, before_, body_;
  std::vector<Argument> arguments_;
  std::vector<Packing> packings_;
  std::vector<std::pair<compiler::ValueId, Buffer>> buffers_, texels_;
  std::array<size_t, 3> group_ = {0, 0, 0};
  bool uses_common_ = false, aligned_ = false;
  Buffer added_ = {"added", kTfLiteFloat32};  // operand of the common epilogue
  int ints_ = 0, floats_ = 0, temporaries_ = 0, depth_ = 1, depth_before_ = 1;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_KERNEL_BUILDER_H_
