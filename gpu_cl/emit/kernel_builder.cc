// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/kernel_builder.h"

#include <algorithm>
#include <cctype>

#include "gpu_cl/emit/common_epilogue.h"
#include "gpu_cl/emit/vector_text.h"

namespace deputy::gpu_cl {

using compiler::Expression;
using compiler::ScalarNode;
using compiler::ScalarOp;
using compiler::Shape;
using compiler::ValueId;

// ---- Parameters ---------------------------------------------------------------------------------

void KernelBuilder::Parameter(const std::string& declaration, const Argument& argument) {
  parameters_ += (parameters_.empty() ? "" : ", ") + declaration;
  arguments_.push_back(argument);
}

Buffer KernelBuilder::Declare(ValueId id, bool read_only) {
  for (const auto& [known, buffer] : buffers_) {
    if (known == id) return buffer;
  }
  Buffer buffer = {"p" + std::to_string(buffers_.size()), value(id).type};
  buffer.aligned = aligned_;
  const std::string pointer = read_only ? ConstPointer(buffer.type)
                                        : std::string("global ") + StorageType(buffer.type) + "*";
  Parameter(pointer + " restrict " + buffer.name, ValueBuffer{id});
  buffers_.emplace_back(id, buffer);
  return buffer;
}

Buffer KernelBuilder::Texels(ValueId id) {
  for (const auto& [known, buffer] : texels_) {
    if (known == id) return buffer;
  }
  Buffer buffer = {"i" + std::to_string(texels_.size()), value(id).type, true};
  Parameter("read_only image1d_buffer_t " + buffer.name, ValueImage{id});
  Parameter("int " + buffer.name + "_first", ValueTexel{id});
  texels_.emplace_back(id, buffer);
  return buffer;
}

std::string KernelBuilder::Int(int64_t number) {
  std::string name = "n" + std::to_string(ints_++);
  Parameter("int " + name, static_cast<int32_t>(number));
  return name;
}

void KernelBuilder::Named(const std::string& name, int64_t number) {
  Parameter("int " + name, static_cast<int32_t>(number));
}

std::string KernelBuilder::Float(float number) {
  std::string name = "f" + std::to_string(floats_++);
  Parameter("float " + name, number);
  return name;
}

std::string KernelBuilder::Status() {
  Parameter("global int* restrict status", StatusBuffer{});
  return "status";
}

Buffer KernelBuilder::Packed(const Packing& packing) {
  Buffer buffer = {"packed", packing.type};
  const bool is_image = packing.storage != Storage::kBuffer;
  Parameter((is_image ? std::string("read_only ") + ImageType(packing.storage) + " "
                      : ConstPointer(packing.type) + " restrict ") +
                buffer.name,
            PackedBuffer{static_cast<int>(packings_.size())});
  packings_.push_back(packing);
  return buffer;
}

std::string KernelBuilder::Zeros(int count, TfLiteType type) {
  Parameter(ConstPointer(type) + " restrict zeros", ZeroBuffer{count});
  return "zeros";
}

// Numbers that fit in a parameter are passed as arguments, so that layers that differ only in a
// scale share a kernel.
std::string KernelBuilder::Constant(const ScalarNode& node) {
  if (node.type == kTfLiteFloat32 || node.type == kTfLiteFloat16) {
    return Float(static_cast<float>(node.constant.real));
  }
  const int64_t integer = node.constant.integer;
  if (compiler::IsFloat(node.type) || integer < INT32_MIN || integer > INT32_MAX) {
    return Literal(node.type, node.constant);
  }
  return "((" + std::string(ComputeType(node.type)) + ")" + Int(integer) + ")";
}

std::string KernelBuilder::ZeroPoint() {
  return sums_integers() ? Int(compiler::ZeroPointOf(operation_.kind)) : "";
}

void KernelBuilder::AddProduct(const std::string& left, const std::string& right,
                               const std::string& zero_point) {
  Line(zero_point.empty() ? "sum = fma(" + left + ", " + right + ", sum);"
                          : "sum += (" + left + " - " + zero_point + ") * " + right + ";");
}

std::string KernelBuilder::Temporary() { return "t" + std::to_string(temporaries_++); }

// ---- Text ---------------------------------------------------------------------------------------

void KernelBuilder::Line(const std::string& text) {
  body_ += std::string(2 * static_cast<size_t>(depth_), ' ') + text + "\n";
}

void KernelBuilder::Open(const std::string& text) {
  Line(text + " {");
  ++depth_;
}

void KernelBuilder::Close() {
  --depth_;
  Line("}");
}

void KernelBuilder::Before(const std::string& text) {
  before_ += std::string(2 * static_cast<size_t>(depth_before_), ' ') + text + "\n";
}

void KernelBuilder::BeforeOpen(const std::string& text) {
  Before(text + " {");
  ++depth_before_;
}

bool KernelBuilder::Mentions(const std::string& word) const {
  const auto is_letter = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = body_.find(word); at != std::string::npos; at = body_.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(body_[at - 1])) && (end == body_.size() || !is_letter(body_[end]))) {
      return true;
    }
  }
  return false;
}

void KernelBuilder::BroadcastIndex(const std::string& name, const Shape& from, const Shape& to,
                                   const std::string& index) {
  if (compiler::ElementCount(from) == compiler::ElementCount(to)) {
    return Line("const int " + name + " = " + index + ";");
  }
  if (compiler::ElementCount(from) == 1) return Line("const int " + name + " = 0;");
  // A run of adjacent axes that are all broadcast or all not, merged from the last axis to the
  // first.
  struct Run {
    int64_t extent;
    bool repeats;
  };
  std::vector<Run> runs;
  for (size_t back = 1; back <= to.size(); ++back) {
    const int extent = to[to.size() - back];
    if (extent == 1) continue;
    const bool repeats = back > from.size() || from[from.size() - back] == 1;
    if (!runs.empty() && runs.back().repeats == repeats) {
      runs.back().extent *= extent;
    } else {
      runs.push_back({extent, repeats});
    }
  }
  std::string remaining = index, sum;
  int64_t stride = 1;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool last = i + 1 == runs.size();
    const std::string extent = last ? "" : Int(runs[i].extent);
    if (!runs[i].repeats) {
      const std::string position = last ? remaining : "(" + remaining + ") % " + extent;
      sum += (sum.empty() ? "" : " + ") + std::string("(") + position + ")" +
             (stride == 1 ? "" : " * " + Int(stride));
      stride *= runs[i].extent;
    }
    if (!last) remaining = "(" + remaining + ") / " + extent;
  }
  Line("const int " + name + " = " + sum + ";");
}

std::string KernelBuilder::Evaluate(const Expression& expression,
                                    const std::vector<std::string>& operands, int width) {
  std::vector<std::string> results;
  const auto type_of = [width](const ScalarNode& node) {
    return width == 1 ? std::string(ComputeType(node.type)) : VectorType(node.type, width);
  };
  for (const ScalarNode& node : expression.nodes()) {
    if (node.op == ScalarOp::kOperand) {
      results.push_back(operands[static_cast<size_t>(node.operand)]);
      continue;
    }
    if (node.op == ScalarOp::kConstant) {
      const std::string constant = Constant(node);
      results.push_back(width == 1 ? constant : Splat(node.type, constant, width));
      continue;
    }
    std::vector<std::string> arguments;
    arguments.reserve(3);
    for (int i = 0; i < compiler::ArgumentCount(node.op); ++i) {
      arguments.push_back(results[static_cast<size_t>(node.arguments[i])]);
    }
    const std::string name = Temporary();
    Line("const " + type_of(node) + " " + name + " = " +
         (width == 1 ? ScalarText(expression, node, arguments)
                     : VectorText(expression, node, arguments, width)) +
         ";");
    results.push_back(name);
  }
  return results.back();
}

bool KernelBuilder::UseCommonEpilogue() {
  const auto common = FindCommonEpilogue(graph_, operation_);
  if (!common) return false;
  const bool adds = common->added != compiler::kNoValue;
  added_.type = value(adds ? common->added : operation_.output()).type;
  Parameter(ConstPointer(added_.type) + " restrict " + added_.name,
            adds ? Argument(ValueBuffer{common->added}) : Argument(ZeroBuffer{1}));
  Named("adds", adds ? 1 : 0);
  Parameter("float low", common->low);
  Parameter("float high", common->high);
  uses_common_ = true;
  return true;
}

std::string KernelBuilder::CommonResult(const std::string& result, const std::string& index,
                                        int width) {
  std::string name = Temporary();
  const auto wide = [width](const std::string& number) {
    return width == 1 ? number : Splat(kTfLiteFloat32, number, width);
  };
  Line((width == 1 ? "float " : VectorType(kTfLiteFloat32, width) + " ") + name + " = " + result +
       ";");
  Line("if (adds) " + name +
       " += " + (width == 1 ? Load(added_, index) : LoadVector(added_, index, width)) + ";");
  Line(name + " = " + wide("low") + " > " + name + " ? " + wide("low") + " : " + name + ";");
  Line(name + " = " + wide("high") + " < " + name + " ? " + wide("high") + " : " + name + ";");
  return name;
}

bool KernelBuilder::StoresVectors() const { return HasVectorForm(operation_.epilogue); }

bool KernelBuilder::HasShortEpilogue() const {
  constexpr size_t kFewNodes = 8;
  const auto nodes = operation_.epilogue.nodes();
  const auto is_curve = [](const compiler::ScalarNode& node) {
    return node.op >= compiler::ScalarOp::kSqrt && node.op <= compiler::ScalarOp::kErf;
  };
  return uses_common_ || (StoresVectors() && nodes.size() <= kFewNodes &&
                          std::none_of(nodes.begin(), nodes.end(), is_curve));
}

// Loads an operand of the epilogue.
std::string KernelBuilder::LoadAt(ValueId id, const std::string& index, int width,
                                  const std::string& channel) {
  const Shape &from = shape(id), &to = shape(operation_.output());
  const Buffer buffer = Read(id);
  std::string position = channel;
  const bool along_channels = !from.empty() && from.back() == to.back();
  if (channel.empty() || !along_channels || compiler::ElementCount(from) != from.back()) {
    position = Temporary();
    BroadcastIndex(position, from, to, index);
  }
  if (width == 1) return Load(buffer, position);
  return along_channels ? LoadVector(buffer, position, width) : LoadSplat(buffer, position, width);
}

void KernelBuilder::StoreResult(const std::string& result, const std::string& index, int width,
                                const std::string& channel) {
  std::string stored = result;
  if (uses_common_) {
    stored = CommonResult(result, index, width);
  } else if (!operation_.epilogue.empty()) {
    std::vector<std::string> operands = {result};
    for (ValueId id : operation_.epilogue_inputs) {
      operands.push_back(LoadAt(id, index, width, channel));
    }
    stored = Evaluate(operation_.epilogue, operands, width);
  }
  const Buffer out = Output();
  Line(width == 1 ? Store(out, index, stored) : StoreVector(out, index, stored, width));
}

std::string KernelBuilder::Text() const {
  std::string text = "kernel void NAME(" + parameters_ + ") {\n" + before_;
  if (group_[0] != 0) {
    text = "__attribute__((reqd_work_group_size(" + std::to_string(group_[0]) + ", " +
           std::to_string(group_[1]) + ", " + std::to_string(group_[2]) + ")))\n" + text;
  }
  // Indents the body by the braces that BeforeOpen opened around it.
  for (size_t start = 0; start < body_.size();) {
    const size_t end = body_.find('\n', start) + 1;
    text += std::string(2 * static_cast<size_t>(depth_before_ - 1), ' ');
    text += body_.substr(start, end - start);
    start = end;
  }
  for (int depth = depth_before_; depth-- > 0;) {
    text += std::string(2 * static_cast<size_t>(depth), ' ') + "}\n";
  }
  return text;
}

}  // namespace deputy::gpu_cl
