// SPDX-License-Identifier: Apache-2.0
//
// Options of a plan (make_plan.h): kernel variants, and the properties of the device that decide
// between kernels.
#ifndef DEPUTY_GPU_CL_EMIT_PLAN_OPTIONS_H_
#define DEPUTY_GPU_CL_EMIT_PLAN_OPTIONS_H_

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "gpu_cl/device/storage.h"

namespace deputy::gpu_cl {

// Kernel variant of an operation, where several are possible (tune.h finds the fastest).
struct KernelChoice {
  // Tile of a product; 0: chosen by heuristics.
  int rows = 0, vectors = 0;
  // Work-group size; zeros: chosen as without a variant (PlanOptions::whole_groups). The driver
  // chooses for steps whose global size is not divisible by it.
  std::array<size_t, 3> local = {0, 0, 0};
  // For a product on a GPU: number of items, adjacent in dimension 1, that share the filter through
  // local memory and form a work-group; 0: each item reads the filter itself.
  int sharing = 0;
  // True if CLBlast computes the product.
  bool clblast = false;

  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

// Parameters of a plan in addition to the graph.
struct PlanOptions {
  // True if work-items compute ranges of elements, in groups of one item: for CPUs, whose compiler
  // vectorises loops and compiles a function for every group size. Otherwise an item computes one
  // element, one vector or one tile.
  bool ranges = false;
  // Approximate number of work-items that keeps the device busy.
  int items = 16;
  // True if work-groups compute tiles of products cooperatively through local memory
  // (emit_group_tiles.cc). Otherwise each item computes its own tile.
  bool group_tiles = false;
  // True if group tiles use NVIDIA's matrix units (emit_matrix_tiles.cc) for the products that
  // these support.
  bool matrix_units = false;
  // Number of the device's compute units.
  int units = 1;
  // True if the plan chooses group sizes of kernels without a required size, for devices that run
  // 32 items at a time. Otherwise the driver chooses them.
  bool whole_groups = false;
  // Vector width, in floats, of vectorised kernels (emit_tiles.cc, emit_rows.cc, emit_vectors.cc):
  // 4, 8 or 16. 0: basic kernels only.
  int vector_width = 0;
  // True if kernels may contain instructions of AVX-512 VNNI (DeviceProfile::host_vnni).
  bool vnni = false;
  // Storage of filters for kernels with vectors of four, within the limits of images. With images,
  // other values are read through images, too.
  Storage storage = Storage::kBuffer;
  ImageLimits images = {};
  // Texts of kernels that the device failed to build or run: operations that need one of them use
  // the next implementation (MakePlan).
  std::set<std::string> refused = {};
  // Kernel variants by operation of the graph; heuristics decide for operations that are not
  // listed.
  std::map<int, KernelChoice> choices = {};
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_PLAN_OPTIONS_H_
