// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_GPU_CL_PLAN_OPTIONS_H_
#define DEPUTY_GPU_CL_PLAN_OPTIONS_H_

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "gpu_cl/storage.h"

namespace deputy::gpu_cl {

// How an operation's kernel is made, where several ways would do (tune.h finds the fastest).
struct KernelChoice {
  // Of a product's tile; 0: the one that the rules choose.
  int rows = 0, vectors = 0;
  // Work-items in a group; zeros: the driver chooses, and so it does for a step whose items this
  // does not divide.
  std::array<size_t, 3> local = {0, 0, 0};
  // Of a product on a GPU: how many items, one above the other, read the filter through local
  // memory, which is their group then; 0: each reads it by itself.
  int sharing = 0;
  // Whether CLBlast computes it.
  bool clblast = false;

  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

// What the plan depends on beside the graph.
struct PlanOptions {
  // Work-items that take a range of elements each, and groups of one item: for processors whose
  // compiler makes vectors of loops, and a function of every size of group. Else an item takes one
  // element, and the driver chooses the groups.
  bool ranges = false;
  // About how many items keep the device busy.
  int items = 16;
  // Whether groups of items compute tiles of products together, through local memory
  // (emit_group_tiles.cc), and how many units the device has for them. Else each item computes its
  // own tile.
  bool group_tiles = false;
  // Whether they do so with NVIDIA's units for matrices (emit_matrix_tiles.cc), where these take
  // the product.
  bool matrix_units = false;
  int units = 1;
  // Whether groups of kernels that need none are chosen here, for devices that run 32 items at a
  // time. Else the driver does.
  bool whole_groups = false;
  // Floats in a vector of kernels that are written with vectors (emit_tiles.cc, emit_rows.cc): 4, 8
  // or 16. 0: plain kernels only.
  int vector_width = 0;
  // Where kernels of vectors of four have their filters, as far as the limits allow; in images
  // other values are read through images, too.
  Storage storage = Storage::kBuffer;
  ImageLimits images = {};
  // Texts of kernels that the device did not build or run: an operation that needs one of them is
  // computed the next way (MakePlan).
  std::set<std::string> refused = {};
  // By operation of the graph; the rules decide for those that are not here.
  std::map<int, KernelChoice> choices = {};
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PLAN_OPTIONS_H_
