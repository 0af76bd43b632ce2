// SPDX-License-Identifier: Apache-2.0
//
// Images in NCHW for delegates. Models of TensorFlow Lite have images with the dimensions batch,
// height, width, channels (NHWC). A plug-in whose delegates compute in batch, channels, height,
// width (NCHW) sets kDeputyPluginNchw in DeputyDelegatePlugin.flags; the runtime then transposes.
//
// get_support, the delegate's Prepare and previews see the nodes and tensors of the model. When the
// delegate replaces nodes, its node gets in TfLiteDelegateParams, and in its own inputs and
// outputs, nodes and tensors in NCHW:
//
// - Operators that depend on the layout always read and write 4-D images in NCHW: CONV_2D,
//   DEPTHWISE_CONV_2D, TRANSPOSE_CONV, AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D, RESIZE_BILINEAR,
//   RESIZE_NEAREST_NEIGHBOR, DEPTH_TO_SPACE, SPACE_TO_DEPTH, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND,
//   LOCAL_RESPONSE_NORMALIZATION. Filters, biases, sizes (height, width), block shapes, crops and
//   paddings of SPACE_TO_BATCH_ND are those of the model.
// - Operators that do not depend on the layout compute what they always compute, on the dimensions
//   that their tensors have. 4-D tensors that are connected with those above through such nodes of
//   the delegate are in NCHW, and what refers to dimensions is corrected: the axes of
//   CONCATENATION, SPLIT, SPLIT_V, ARG_MAX, ARG_MIN, MEAN, SUM and REDUCE_*, the paddings of PAD,
//   PADV2 and MIRROR_PAD, the begin, end, size, strides and masks of SLICE and STRIDED_SLICE, the
//   multiples of TILE, the output shape of TRANSPOSE_CONV, constants that are added, multiplied or
//   otherwise combined with images (constants of up to three dimensions become 4-D, unless they
//   have one element), and the quantised dimension of these.
// - All other nodes and tensors are those of the model. The runtime transposes between both kinds,
//   on the CPU, so such a border also separates partitions. Two partitions that exchange an image
//   in NCHW need no transposition.
//
// A node that depends on the layout and cannot be converted is not replaced: its image has an
// unknown rank or is a variable, or its shape tensor is not constant. The
// nodes that the delegate gets are copies: their indices are not those of the model, they have no
// kernel functions, and events of deputy_plugin.h may use their indices. Inputs and outputs of the
// graph do not change. Shapes are propagated as with kTfLiteDelegateFlagsRequirePropagatedShapes.
//
// Hosts that do not know the flag pass images in NHWC. They call the exported
// tflite_plugin_create_delegate, not `create` of the struct.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_LAYOUT_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_LAYOUT_H_

#ifdef __cplusplus
extern "C" {
#endif

// More bits of DeputyDelegatePlugin.flags (DeputyPluginFlags).
typedef enum DeputyPluginLayoutFlags {
  // The delegate's nodes read and write images in NCHW.
  kDeputyPluginNchw = 2,
} DeputyPluginLayoutFlags;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_LAYOUT_H_
