// SPDX-License-Identifier: Apache-2.0
//
// What is run on a device, as plain data: kernels in OpenCL C, and the steps that call them. Made
// from a graph without a device; exec.h runs it.
#ifndef DEPUTY_GPU_CL_PLAN_H_
#define DEPUTY_GPU_CL_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/clblast.h"
#include "gpu_cl/packing.h"

namespace deputy::gpu_cl {

// The buffer of a value of the graph.
struct ValueBuffer {
  compiler::ValueId value = compiler::kNoValue;

  friend bool operator==(const ValueBuffer&, const ValueBuffer&) = default;
};

// A constant filter in the order in which tiles of a product read it (packing.h), in a buffer or an
// image: an index of Plan::packings.
struct PackedBuffer {
  int packing = 0;

  friend bool operator==(const PackedBuffer&, const PackedBuffer&) = default;
};

// An image of texels of four over the memory of a value, or over the block in which that lies: the
// value's first texel in it is a ValueTexel.
struct ValueImage {
  compiler::ValueId value = compiler::kNoValue;

  friend bool operator==(const ValueImage&, const ValueImage&) = default;
};

// Passed as cl_int.
struct ValueTexel {
  compiler::ValueId value = compiler::kNoValue;

  friend bool operator==(const ValueTexel&, const ValueTexel&) = default;
};

// Zeros, as many floats as the largest such argument of the plan says: what lies around an image.
struct ZeroBuffer {
  int32_t count = 0;

  friend bool operator==(const ZeroBuffer&, const ZeroBuffer&) = default;
};

// The buffer in which a kernel says what is wrong with its inputs: one int, 0 while all is well,
// else the number of the step, plus one.
struct StatusBuffer {
  friend bool operator==(const StatusBuffer&, const StatusBuffer&) = default;
};

// An int is passed as cl_int, a float as cl_float.
using Argument = std::variant<ValueBuffer, ValueImage, ValueTexel, PackedBuffer, ZeroBuffer,
                              StatusBuffer, int32_t, float>;

struct Step {
  int kernel = 0;  // of Plan::kernels; -1: CLBlast's
  std::vector<Argument> arguments;
  std::array<size_t, 3> global = {1, 1, 1};
  std::array<size_t, 3> local = {0, 0, 0};  // zeros: the driver chooses
  int operation = 0;                        // of the graph: several steps may belong to one
  // Of a step of CLBlast, whose arguments are the buffers of a, b and c.
  std::optional<ClblastProduct> clblast = {};

  friend bool operator==(const Step&, const Step&) = default;
};

struct Plan {
  // What the kernels use beyond OpenCL C.
  std::string prelude;
  // Each the text of one function, with NAME for its name. No two are equal: sizes are arguments,
  // so that one function serves many steps.
  std::vector<std::string> kernels;
  std::vector<Step> steps;  // in the order in which they run
  std::vector<Packing> packings;

  // Names are k0, k1, …
  static std::string KernelName(int kernel);
  friend bool operator==(const Plan&, const Plan&) = default;
  // Of a step's kernel; that of CLBlast's has no text of ours.
  const std::string& TextOf(const Step& step) const;
  // The prelude and all functions, with their names: one program.
  std::string Source() const;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PLAN_H_
