// SPDX-License-Identifier: Apache-2.0
//
// A plan as plain data: kernels in OpenCL C, and the steps that call them. It is made from a graph
// without a device; exec.h runs it.
#ifndef DEPUTY_GPU_CL_EMIT_PLAN_H_
#define DEPUTY_GPU_CL_EMIT_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/device/clblast.h"
#include "gpu_cl/emit/packing.h"

namespace deputy::gpu_cl {

// The buffer of a value of the graph.
struct ValueBuffer {
  compiler::ValueId value = compiler::kNoValue;

  friend bool operator==(const ValueBuffer&, const ValueBuffer&) = default;
};

// A constant filter in a buffer or an image, packed in the order in which product tiles read it
// (packing.h). It is identified by an index into Plan::packings.
struct PackedBuffer {
  int packing = 0;

  friend bool operator==(const PackedBuffer&, const PackedBuffer&) = default;
};

// An image of four-element texels over the memory of a value, or over the block that contains it;
// the value's first texel in it is passed as a ValueTexel.
struct ValueImage {
  compiler::ValueId value = compiler::kNoValue;

  friend bool operator==(const ValueImage&, const ValueImage&) = default;
};

// The position of a value's first texel in its image, passed as cl_int.
struct ValueTexel {
  compiler::ValueId value = compiler::kNoValue;

  friend bool operator==(const ValueTexel&, const ValueTexel&) = default;
};

// A buffer of zeros, as large as the largest such argument of the plan; used as padding of images,
// and for the operand of a common epilogue that adds nothing.
struct ZeroBuffer {
  int32_t count = 0;

  friend bool operator==(const ZeroBuffer&, const ZeroBuffer&) = default;
};

// The buffer in which a kernel reports invalid inputs: one int, 0 if all inputs are valid, else the
// number of the step plus one.
struct StatusBuffer {
  friend bool operator==(const StatusBuffer&, const StatusBuffer&) = default;
};

// An argument of a kernel. int32_t is passed as cl_int, float as cl_float.
using Argument = std::variant<ValueBuffer, ValueImage, ValueTexel, PackedBuffer, ZeroBuffer,
                              StatusBuffer, int32_t, float>;

struct Step {
  int kernel = 0;  // index into Plan::kernels; -1: CLBlast
  std::vector<Argument> arguments;
  std::array<size_t, 3> global = {1, 1, 1};
  std::array<size_t, 3> local = {0, 0, 0};  // zeros: the driver chooses
  int operation = 0;  // index in the graph; one operation may have several steps
  // Set for a step of CLBlast, whose arguments are the buffers of a, b and c.
  std::optional<ClblastProduct> clblast = {};

  friend bool operator==(const Step&, const Step&) = default;
};

struct Plan {
  // Definitions that the kernels use beyond OpenCL C.
  std::string prelude;
  // Texts of functions, each with the placeholder NAME as its name. No two are equal: sizes are
  // arguments, so that one function serves many steps.
  std::vector<std::string> kernels;
  std::vector<Step> steps;  // in order of execution
  std::vector<Packing> packings;

  // Returns "k0", "k1", …
  static std::string KernelName(int kernel);
  friend bool operator==(const Plan&, const Plan&) = default;
  // Returns the text of a step's kernel; "CLBlast" for a step of CLBlast.
  const std::string& TextOf(const Step& step) const;
  // Returns the source of the program: the prelude and all functions with their names.
  std::string Source() const;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_PLAN_H_
