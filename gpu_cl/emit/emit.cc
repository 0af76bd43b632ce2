// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/emit.h"

#include <algorithm>

#include "core/support/int_math.h"

namespace deputy::gpu_cl {

Axis::Axis(const compiler::Shape& shape, int axis) {
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    (i < axis ? outer : i == axis ? extent : inner) *= shape[static_cast<size_t>(i)];
  }
}

namespace {

// Minimum number of elements per work-item that computes a range (PlanOptions::ranges).
constexpr size_t kMinElements = 1024;

// Declares the indices and sizes of the work-item that the body uses.
void DeclareIndices(KernelBuilder* k) {
  for (const char* d : {"0", "1", "2"}) {
    const std::string index = std::string("g") + d, size = std::string("s") + d;
    if (k->Mentions(index)) k->Before("const int " + index + " = get_global_id(" + d + ");");
    if (k->Mentions(size)) k->Before("const int " + size + " = get_global_size(" + d + ");");
  }
}

}  // namespace

// Opens loops so that each work-item computes a range of rows, which are numbered by the pairs (g1,
// g2). Returns the global size.
std::array<size_t, 3> StepWriter::OpenRows(KernelBuilder* k,
                                           const std::array<size_t, 3>& extents) const {
  const size_t rows = extents[1] * extents[2];
  const size_t wanted = 4 * static_cast<size_t>(options_.items);
  const uint64_t each = std::max(CeilDiv(rows, wanted), CeilDiv(kMinElements, extents[0]));
  const std::string range = k->Int(static_cast<int64_t>(each));
  const std::string count = k->Int(static_cast<int64_t>(rows));
  k->Before("const int end = min((int)(get_global_id(0) + 1) * " + range + ", " + count + ");");
  k->BeforeOpen("for (int row = get_global_id(0) * " + range + "; row < end; ++row)");
  k->Before("const int g1 = row % s1, g2 = row / s1;");
  k->BeforeOpen("for (int g0 = 0; g0 < s0; ++g0)");
  return {static_cast<size_t>(CeilDiv(rows, each)), 1, 1};
}

// Opens a loop so that each work-item computes a range of one row. Returns the global size.
std::array<size_t, 3> StepWriter::OpenRange(KernelBuilder* k,
                                            const std::array<size_t, 3>& extents) const {
  const size_t items = static_cast<size_t>(options_.items);
  const uint64_t range = std::max<uint64_t>(CeilDiv(extents[0], items), kMinElements);
  const std::string each = k->Int(static_cast<int64_t>(range));
  k->Before("const int g1 = get_global_id(1), g2 = get_global_id(2);");
  k->Before("const int first = get_global_id(0) * " + each + ", end = min(first + " + each +
            ", s0);");
  k->BeforeOpen("for (int g0 = first; g0 < end; ++g0)");
  return {static_cast<size_t>(CeilDiv(extents[0], range)), extents[1], extents[2]};
}

namespace {

// Returns a work-group size that divides the global size and fills waves of 32: up to 128 items,
// fewer if compute units would be left without work, preferably 8 or more neighbours along the
// first dimension. Returns zeros if the best weighted size (see `value`) is below half of the
// maximum.
std::array<size_t, 3> WholeGroup(const std::array<size_t, 3>& global, size_t units) {
  constexpr size_t kWave = 32, kMaxGroupItems = 128, kNeighbours = 8;
  const size_t all = global[0] * global[1] * global[2];
  const size_t max_items = std::clamp(all / units / kWave * kWave, kWave, kMaxGroupItems);
  std::array<size_t, 3> best = {0, 0, 0};
  size_t best_value = kNeighbours * kWave * max_items / 2 - 1;
  for (size_t x = 1; x <= std::min(max_items, global[0]); ++x) {
    if (global[0] % x != 0) continue;
    for (size_t y = 1; x * y <= max_items && y <= global[1]; ++y) {
      if (global[1] % y != 0) continue;
      size_t z = std::min(max_items / (x * y), global[2]);
      while (global[2] % z != 0) --z;
      const size_t items = x * y * z;
      const size_t waves = CeilDiv(items, kWave);
      const size_t neighbours = std::min(global[0], kNeighbours);
      // Number of items, weighted by the filled fraction of their waves and by the fraction of
      // wanted neighbours.
      const size_t value =
          items * items / waves * kNeighbours * std::min(x, neighbours) / neighbours;
      if (value < best_value || (value == best_value && x * y <= best[0] * best[1])) continue;
      best_value = value;
      best = {x, y, z};
    }
  }
  return best;
}

}  // namespace

void StepWriter::Add(KernelBuilder* kernel, std::array<size_t, 3> extents) {
  if (extents[0] == 0 || extents[1] == 0 || extents[2] == 0) return;
  std::array<size_t, 3> global = extents;
  if (!options_.ranges) {
    DeclareIndices(kernel);
  } else {
    const bool many_rows = extents[1] * extents[2] >= static_cast<size_t>(options_.items);
    for (const size_t d : {0, 1, 2}) {
      const std::string name = "s" + std::to_string(d);
      const bool by_loops = d == 0 || (d == 1 && many_rows);
      if (by_loops || kernel->Mentions(name)) {
        kernel->Named(name, static_cast<int64_t>(extents[d]));
      }
    }
    global = many_rows ? OpenRows(kernel, extents) : OpenRange(kernel, extents);
  }
  AddItems(*kernel, global);
}

void StepWriter::AddItems(const KernelBuilder& kernel, std::array<size_t, 3> global) {
  const std::string text = kernel.Text();
  const auto known = std::find(plan_->kernels.begin(), plan_->kernels.end(), text);
  Step step;
  step.kernel = static_cast<int>(known - plan_->kernels.begin());
  if (known == plan_->kernels.end()) plan_->kernels.push_back(text);
  step.arguments = kernel.arguments();
  for (Argument& argument : step.arguments) {
    if (auto* packed = std::get_if<PackedBuffer>(&argument)) {
      packed->packing += static_cast<int>(plan_->packings.size());
    }
  }
  plan_->packings.insert(plan_->packings.end(), kernel.packings().begin(), kernel.packings().end());
  step.global = global;
  step.local = options_.ranges ? std::array<size_t, 3>{1, 1, 1} : ChosenLocal(global);
  if (kernel.group()[0] != 0) {
    step.local = kernel.group();
    for (size_t d = 0; d < global.size(); ++d) {
      step.global[d] = CeilDiv(global[d], step.local[d]) * step.local[d];
    }
  }
  step.operation = operation_;
  plan_->steps.push_back(std::move(step));
}

// Returns the local size, which divides the global size; zeros if the driver is to choose.
std::array<size_t, 3> StepWriter::ChosenLocal(const std::array<size_t, 3>& global) const {
  const KernelChoice* chosen = choice();
  if (chosen == nullptr || chosen->local[0] == 0) {
    return options_.whole_groups ? WholeGroup(global, static_cast<size_t>(options_.units))
                                 : std::array<size_t, 3>{0, 0, 0};
  }
  for (size_t d = 0; d < global.size(); ++d) {
    if (chosen->local[d] == 0 || global[d] % chosen->local[d] != 0) return {0, 0, 0};
  }
  return chosen->local;
}

const KernelChoice* StepWriter::choice() const {
  const auto found = options_.choices.find(operation_);
  return found == options_.choices.end() ? nullptr : &found->second;
}

bool StepWriter::ReadsTexels(compiler::ValueId id) const {
  const compiler::Value& value = graph_.value(id);
  if (options_.storage == Storage::kBuffer || options_.ranges ||
      options_.vector_width != kTexelWidth || !LoadsAsFloat(value.type) || value.shape.empty()) {
    return false;
  }
  const int64_t elements = compiler::ElementCount(value.shape);
  return elements > 0 && value.shape.back() % kTexelWidth == 0 &&
         static_cast<uint64_t>(elements / kTexelWidth) <= options_.images.buffer_width;
}

void StepWriter::AddClblast(const ClblastProduct& product) {
  const compiler::Operation& operation = graph_.operations[static_cast<size_t>(operation_)];
  Step step;
  step.kernel = -1;
  step.arguments = {ValueBuffer{operation.inputs[0]}, ValueBuffer{operation.inputs[1]},
                    ValueBuffer{operation.output()}};
  step.operation = operation_;
  step.clblast = product;
  plan_->steps.push_back(std::move(step));
}

namespace {

// PoCL's vload16 and vstore16 assemble vectors from halves of halves, some forty instructions that
// its compiler optimises away at every use. A vector in a packed struct is one instruction from the
// start, which halves the compile time of kernels there. PoCL's vload_half8 and vstore_half8 assume
// an alignment of 16 bytes, where OpenCL guarantees only that of one half; so halves are loaded and
// stored through a private vector.
//
// FEW_TIMES precedes loops with fewer iterations than a vector has elements. PoCL's compiler does
// not know this, and would spend up to a fifth of a kernel's compile time on a vectorised and
// unrolled form that never runs.
constexpr char kPackedVectors[] =
    "#define FEW_TIMES \\\n"
    "  _Pragma(\"clang loop vectorize(disable) interleave(disable) unroll(disable)\")\n"
    "#define PACKED(t, n) \\\n"
    "  typedef struct __attribute__((packed, aligned(sizeof(t)))) { t##n v; } packed_##t##n;\n"
    "#define PACKED_OF(t) PACKED(t, 4) PACKED(t, 8) PACKED(t, 16)\n"
    "PACKED_OF(char) PACKED_OF(uchar) PACKED_OF(short) PACKED_OF(ushort)\n"
    "PACKED_OF(int) PACKED_OF(uint) PACKED_OF(long) PACKED_OF(ulong) PACKED_OF(float)\n"
    "#define LOAD(t, n, p) (((global const packed_##t##n*)(p))->v)\n"
    "#define STORE(t, n, x, p) ((global packed_##t##n*)(p))->v = (x)\n"
    "#define HALVES(n) \\\n"
    "  float##n LOAD_HALF##n(global const half* p) { \\\n"
    "    const ushort##n bits = LOAD(ushort, n, p); \\\n"
    "    return vload_half##n(0, (private const half*)&bits); \\\n"
    "  } \\\n"
    "  void STORE_HALF##n(float##n x, global half* p) { \\\n"
    "    ushort##n bits; \\\n"
    "    vstore_half##n(x, 0, (private half*)&bits); \\\n"
    "    STORE(ushort, n, bits, p); \\\n"
    "  }\n"
    "HALVES(4) HALVES(8) HALVES(16)\n"
    "#define LOAD_HALF(n, p) LOAD_HALF##n(p)\n"
    "#define STORE_HALF(n, x, p) STORE_HALF##n(x, p)\n";

constexpr char kVectorFunctions[] =
    "#define FEW_TIMES\n"
    "#define LOAD(t, n, p) vload##n(0, p)\n"
    "#define STORE(t, n, x, p) vstore##n(x, 0, p)\n"
    "#define LOAD_HALF(n, p) vload_half##n(0, p)\n"
    "#define STORE_HALF(n, x, p) vstore_half##n(x, 0, p)\n";

constexpr char kDivisions[] =
    "#define FLOOR_DIV(t, a, b) \\\n"
    "  ((t)((b) == 0 ? 0 : (b) == -1 ? -(a) : \\\n"
    "       (a) / (b) - ((a) % (b) != 0 && ((a) < 0) != ((b) < 0))))\n"
    "#define FLOOR_MOD(t, a, b) \\\n"
    "  ((t)((b) == 0 || (b) == -1 ? 0 : \\\n"
    "       (a) % (b) + ((a) % (b) != 0 && ((a) < 0) != ((b) < 0) ? (b) : 0)))\n"
    "float FLOOR_MOD_REAL(float a, float b) {\n"
    "  const float rest = fmod(a, b);\n"
    "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n"
    "}\n";

// QUAD(p) loads four elements from p in global memory as an int, the first in the lowest byte.
// ADD_DOT<n>(s, x, w) adds to each of n sums the dot product of the quads in the same lanes of x
// and w. The elements of w are signed. Built-in functions and assembly are used because PoCL's
// compiler does not combine four multiplications into an instruction for dot products.
constexpr char kUnsignedDots[] =
    "#define QUAD(p) as_int(LOAD(char, 4, p))\n"
    "#define DOTS(n) \\\n"
    "  int##n DOT##n(int##n s, int##n x, int##n w) { \\\n"
    "    return s + (x & 255) * (w << 24 >> 24) + (x >> 8 & 255) * (w << 16 >> 24) + \\\n"
    "           (x >> 16 & 255) * (w << 8 >> 24) + (x >> 24 & 255) * (w >> 24); \\\n"
    "  }\n"
    "DOTS(4) DOTS(8) DOTS(16)\n"
    "#define PAIR_DOT(n, bits) \\\n"
    "  typedef short pairs##n __attribute__((vector_size(n * 4))); \\\n"
    "  int##n PAIR_DOT##n(int##n s, int##n x, int##n w) { \\\n"
    "    const pairs##n a = (pairs##n)x, b = (pairs##n)w; \\\n"
    "    return s + __builtin_ia32_pmaddwd##bits(a & 255, b << 8 >> 8) + \\\n"
    "           __builtin_ia32_pmaddwd##bits(a >> 8 & 255, b >> 8); \\\n"
    "  }\n"
    "#if defined(HAS_VNNI) && defined(__AVX512VL__)\n"
    "#define ADD_DOT(s, x, w) __asm__(\"vpdpbusd %2, %1, %0\" : \"+v\"(s) : \"v\"(x), \"v\"(w))\n"
    "#define ADD_DOT16(s, x, w) ADD_DOT(s, x, w)\n"
    "#define ADD_DOT8(s, x, w) ADD_DOT(s, x, w)\n"
    "#define ADD_DOT4(s, x, w) ADD_DOT(s, x, w)\n"
    "#else\n"
    "#if defined(__AVX512BW__)\n"
    "PAIR_DOT(16, 512)\n"
    "#define ADD_DOT16(s, x, w) s = PAIR_DOT16(s, x, w)\n"
    "#else\n"
    "#define ADD_DOT16(s, x, w) s = DOT16(s, x, w)\n"
    "#endif\n"
    "#if defined(__AVX2__)\n"
    "PAIR_DOT(8, 256)\n"
    "#define ADD_DOT8(s, x, w) s = PAIR_DOT8(s, x, w)\n"
    "#else\n"
    "#define ADD_DOT8(s, x, w) s = DOT8(s, x, w)\n"
    "#endif\n"
    "#define ADD_DOT4(s, x, w) s = DOT4(s, x, w)\n"
    "#endif\n";

constexpr char kSignedDots[] =
    "#define QUAD(p) as_int(vload4(0, p))\n"
    "#if defined(__opencl_c_integer_dot_product_input_4x8bit_packed)\n"
    "#define DOT(s, x, w) ((s) + dot_4x8packed_ss_int(as_uint(x), as_uint(w)))\n"
    "#elif defined(cl_arm_integer_dot_product_accumulate_int8)\n"
    "#pragma OPENCL EXTENSION cl_arm_integer_dot_product_accumulate_int8 : enable\n"
    "#define DOT(s, x, w) arm_dot_acc(as_char4(x), as_char4(w), s)\n"
    "#else\n"
    "int DOT(int s, int x, int w) {\n"
    "  return s + (x << 24 >> 24) * (w << 24 >> 24) + (x << 16 >> 24) * (w << 16 >> 24) +\n"
    "         (x << 8 >> 24) * (w << 8 >> 24) + (x >> 24) * (w >> 24);\n"
    "}\n"
    "#endif\n"
    "#define ADD_DOT4(s, x, w) \\\n"
    "  s = (int4)(DOT(s.s0, x.s0, w.s0), DOT(s.s1, x.s1, w.s1), DOT(s.s2, x.s2, w.s2), \\\n"
    "             DOT(s.s3, x.s3, w.s3))\n";

// Returns the definition of a macro for a multiply-accumulate of a warp on the matrix units: d += a
// * b (PTX ISA, mma.sync).
std::string MatrixUnit(const std::string& name, const std::string& shape,
                       const std::string& types) {
  return "#define " + name +
         "(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1) \\\n"
         "  asm(\"mma.sync.aligned." +
         shape + ".row.col.f32." + types +
         ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\" \\\n"
         "      : \"+f\"(d0), \"+f\"(d1), \"+f\"(d2), \"+f\"(d3) \\\n"
         "      : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"r\"(b0), \"r\"(b1))\n";
}

}  // namespace

std::string PreludeOfIntegers(const PlanOptions& options) {
  return (options.vnni ? std::string("#define HAS_VNNI\n") : std::string()) +
         (options.ranges ? kUnsignedDots : kSignedDots);
}

TfLiteType MultipliedType(const PlanOptions& options) {
  return options.ranges ? kTfLiteUInt8 : kTfLiteInt8;
}

std::string Prelude(const PlanOptions& options) {
  std::string text = options.ranges ? kPackedVectors : kVectorFunctions;
  text += kDivisions;
  if (options.matrix_units) {
    text += MatrixUnit("MULTIPLY_HALVES", "m16n8k16", "f16.f16");
    text += MatrixUnit("MULTIPLY_TF32", "m16n8k8", "tf32.tf32");
  }
  return text;
}

}  // namespace deputy::gpu_cl
