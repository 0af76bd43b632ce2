// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_matrix_units.h"

#include <string>

namespace deputy::gpu_cl {
namespace {

// Emulation of a matrix product in OpenCL C: each work item of a warp writes its six registers, and
// reads those of the others. With `halves` a register holds two float16 numbers, otherwise one
// float, which is truncated to the precision of TF32. `scratch` must be local memory, so the kernel
// declares it.
constexpr char kUnits[] = R"(
void Multiply(int halves, local uint* scratch, float* d0, float* d1, float* d2, float* d3, uint a0,
              uint a1, uint a2, uint a3, uint b0, uint b1) {
  const int number = get_local_id(0) + get_local_id(2) * get_local_size(0), lane = number % 32;
  local uint* warp = scratch + number / 32 * 192;
  barrier(CLK_LOCAL_MEM_FENCE);
  warp[lane * 6] = a0;
  warp[lane * 6 + 1] = a1;
  warp[lane * 6 + 2] = a2;
  warp[lane * 6 + 3] = a3;
  warp[lane * 6 + 4] = b0;
  warp[lane * 6 + 5] = b1;
  barrier(CLK_LOCAL_MEM_FENCE);
  float sums[4];
  for (int e = 0; e < 4; ++e) {
    const int row = lane / 4 + e / 2 * 8, column = 2 * (lane % 4) + e % 2;
    sums[e] = 0;
    for (int k = 0; k < 8; ++k) {
      const uint a = warp[((row % 8) * 4 + k % 4) * 6 + row / 8 + k / 4 * 2];
      const uint b = warp[(column * 4 + k % 4) * 6 + 4 + k / 4];
      if (halves) {
        const ushort2 as = as_ushort2(a), bs = as_ushort2(b);
        const ushort parts[4] = {as.x, as.y, bs.x, bs.y};
        for (int i = 0; i < 2; ++i) {
          sums[e] += vload_half(i, (private const half*)parts) *
                     vload_half(2 + i, (private const half*)parts);
        }
      } else {
        sums[e] += as_float(a & 0xffffe000u) * as_float(b & 0xffffe000u);
      }
    }
  }
  *d0 += sums[0];
  *d1 += sums[1];
  *d2 += sums[2];
  *d3 += sums[3];
}
#define MULTIPLY_HALVES(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1) \
  Multiply(1, scratch, &d0, &d1, &d2, &d3, a0, a1, a2, a3, b0, b1)
#define MULTIPLY_TF32(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1) \
  Multiply(0, scratch, &d0, &d1, &d2, &d3, a0, a1, a2, a3, b0, b1))";

// Inserts checks that end a kernel without results if it stores to the half of local memory that it
// reads. That is a race on a GPU, where other warps may still read the chunk of this step when the
// next one is stored; the emulation's barriers hide it.
void CheckBuffers(std::string* text) {
  const std::string read = "local uint4 *const read_lefts = lefts, *const read_rights = rights;\n";
  const std::string check = "if (lefts == read_lefts || rights == read_rights) return;\n";
  for (size_t at = 0; (at = text->find("const int other = step", at)) != std::string::npos;) {
    text->insert(at, read);
    at = text->find("lefts[item + ", at);
    text->insert(at, check);
  }
}

decltype(&clCreateProgramWithSource) create_program = nullptr;

cl_program CL_API_CALL CreateProgramWithUnits(cl_context context, cl_uint, const char** sources,
                                              const size_t*, cl_int* code) {
  std::string text = sources[0];
  const size_t begin = text.find("#define MULTIPLY_HALVES(");
  if (begin != std::string::npos) {
    const std::string last = "\"r\"(b1))";
    const size_t end = text.find(last, text.find("#define MULTIPLY_TF32(")) + last.size();
    text.replace(begin, end - begin, kUnits);
    const std::string memory = "local uint4 memory[";
    for (size_t at = text.find(memory); at != std::string::npos; at = text.find(memory, at + 1)) {
      const std::string scratch = "local uint scratch[32 * 192];\n  ";
      text.insert(at, scratch);
      at += scratch.size();
    }
    CheckBuffers(&text);
  }
  const char* source = text.c_str();
  return create_program(context, 1, &source, nullptr, code);
}

}  // namespace

std::shared_ptr<const ClApi> WithMatrixUnits(const ClApi& api) {
  create_program = api.CreateProgramWithSource;
  ClApi table = api;
  table.CreateProgramWithSource = &CreateProgramWithUnits;
  return std::make_shared<const ClApi>(table);
}

void ReportAsNvidia(DeviceProfile* profile) {
  profile->nvidia_capability = 90;
  profile->slow_sub_buffers = true;
  profile->kind = DeviceKind::kDiscreteGpu;
}

}  // namespace deputy::gpu_cl
