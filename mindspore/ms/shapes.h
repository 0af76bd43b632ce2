// SPDX-License-Identifier: Apache-2.0
//
// Adds operators that compute a shape from the shape of another tensor, so that a converted model
// keeps MindSpore Lite's rules after its inputs are resized. All shapes are int32 tensors of
// rank 1. Deputy evaluates these operators when it prepares the model (kernels/common/fold.h): they
// cost nothing in an inference, and the shapes of the tensors that depend on them stay static.
#ifndef DEPUTY_MINDSPORE_MS_SHAPES_H_
#define DEPUTY_MINDSPORE_MS_SHAPES_H_

#include <cstdint>
#include <vector>

#include "mindspore/ms/mapping.h"

namespace deputy::ms {

// Each function returns the index of a new tensor in the new model.

// Returns the shape of a tensor.
int ShapeOf(Mapping& m, int tensor);

// Returns the shape of a tensor. If the tensor's rank is not `rank`, its model is refused when it
// is prepared.
int ShapeOfRank(Mapping& m, int tensor, int rank);

// Returns `count` dimensions from `first` on. A shape with fewer dimensions is refused when the
// model is prepared.
int DimsOf(Mapping& m, int shape, int first, int count);

// Returns dimension d * factors[d] + offsets[d] for each dimension d.
int ScaledShape(Mapping& m, int shape, const std::vector<int32_t>& factors,
                const std::vector<int32_t>& offsets);

// Returns each dimension divided by `divisor`, rounded down.
int DividedShape(Mapping& m, int shape, int32_t divisor);

// Returns the product of all dimensions, as a shape of one dimension.
int ProductOf(Mapping& m, int shape);

int JoinShapes(Mapping& m, const std::vector<int>& shapes);

// Adds a RESHAPE to a shape that the graph computes.
void ReshapeTo(Mapping& m, int input, int shape, int output);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_SHAPES_H_
