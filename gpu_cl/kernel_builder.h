// SPDX-License-Identifier: Apache-2.0
//
// Writes one kernel in OpenCL C, and what it is called with. Parameters are declared as they are
// asked for: p0, p1, … are buffers, n0, n1, … ints, f0, f1, … floats.
#ifndef DEPUTY_GPU_CL_KERNEL_BUILDER_H_
#define DEPUTY_GPU_CL_KERNEL_BUILDER_H_

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/plan.h"
#include "gpu_cl/scalar_text.h"

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
  compiler::ValueId bias() const {
    return has_input(2) ? operation_.inputs[2] : compiler::kNoValue;
  }
  Buffer Read(compiler::ValueId id) { return Declare(id, true); }
  // The value as texels: of float32 or float16, with a multiple of four elements.
  Buffer Texels(compiler::ValueId id);
  Buffer Output(size_t n = 0) { return Declare(operation_.outputs[n], false); }
  // A parameter of its own for each call.
  std::string Int(int64_t value);
  std::string Float(float value);
  // An int of that name.
  void Named(const std::string& name, int64_t value);
  std::string Status();
  // The filter in panels, an image where it lies in one, and `count` zeros, of at most four bytes
  // each: pointers to const.
  Buffer Packed(const Packing& packing);
  std::string Zeros(int count, TfLiteType type);

  // ---- Text ----

  // One line of the function's body, indented by its open braces.
  void Line(const std::string& text);
  // A line that ends in an open brace, and the line that closes it.
  void Open(const std::string& text);
  void Close();

  // Work-items in a group of this function: no others will do.
  void RequireGroup(const std::array<size_t, 3>& group) { group_ = group; }
  const std::array<size_t, 3>& group() const { return group_; }

  // Lines before all others, and braces around them.
  void Before(const std::string& text);
  void BeforeOpen(const std::string& text);
  // Whether a line so far has the word.
  bool Mentions(const std::string& word) const;

  // Declares `name`: the index into a buffer of shape `from` of the element that is broadcast to
  // element `index` of a value of shape `to`.
  void BroadcastIndex(const std::string& name, const compiler::Shape& from,
                      const compiler::Shape& to, const std::string& index);
  // Appends the nodes of an expression; returns the text of its result. `operands` are expressions
  // of the compute types, or of vectors of `width` of them (vector_text.h).
  std::string Evaluate(const compiler::Expression& expression,
                       const std::vector<std::string>& operands, int width = 1);
  // A name that nothing else has.
  std::string Temporary();
  // Applies the operation's epilogue to `result` and stores it at `index` of the first output; with
  // a width to a vector of neighbours along the last axis. `channel` is the index along that axis,
  // where there is a shorter text for it than the rest of a division.
  void StoreResult(const std::string& result, const std::string& index, int width = 1,
                   const std::string& channel = "");
  // Declares the parameters of the common epilogue (common_epilogue.h), with which StoreResult then
  // does what most operations do. False, and nothing is declared, where this one does not.
  bool UseCommonEpilogue();
  // All vectors lie at multiples of their size, of buffers that are declared after this.
  void AssumeAligned() { aligned_ = added_.aligned = true; }
  // Whether StoreResult takes vectors: HasVectorForm of the epilogue.
  bool StoresVectors() const;
  // Whether a kernel may have StoreResult of vectors many times: it is short, and no curve is in
  // it.
  bool StoresShortly() const;

  // ---- What was built ----

  // The function's text, with NAME for its name.
  std::string Text() const;
  const std::vector<Argument>& arguments() const { return arguments_; }
  // What PackedBuffer arguments count among.
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
  Buffer added_ = {"added", kTfLiteFloat32};  // of the common epilogue
  int ints_ = 0, floats_ = 0, temporaries_ = 0, depth_ = 1, depth_before_ = 1;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_KERNEL_BUILDER_H_
