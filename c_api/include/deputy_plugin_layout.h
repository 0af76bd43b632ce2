// SPDX-License-Identifier: Apache-2.0
//
// Images in NCHW for delegates. Models of TensorFlow Lite have images with the dimensions batch,
// height, width, channels (NHWC). A plug-in whose delegates compute in batch, channels, height,
// width (NCHW) sets kDeputyPluginNchw in DeputyDelegatePlugin.flags; the runtime then transposes.
//
// get_support, the delegate's Prepare and previews get the nodes and tensors of the model. When the
// delegate replaces nodes, the TfLiteDelegateParams and the inputs and outputs of its node have
// nodes and tensors in NCHW:
//
// - Operators that depend on the layout always read and write 4-D images in NCHW: CONV_2D,
//   DEPTHWISE_CONV_2D, TRANSPOSE_CONV, AVERAGE_POOL_2D, MAX_POOL_2D, L2_POOL_2D, RESIZE_BILINEAR,
//   RESIZE_NEAREST_NEIGHBOR, DEPTH_TO_SPACE, SPACE_TO_DEPTH, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND,
//   LOCAL_RESPONSE_NORMALIZATION. Filters, biases, sizes (height, width), block shapes, crops and
//   paddings of SPACE_TO_BATCH_ND are those of the model.
// - Operators that do not depend on the layout keep their definition, which applies to the
//   dimensions that their tensors have. 4-D tensors that are connected with those above through
//   such nodes of the delegate are in NCHW. What refers to dimensions is corrected: the axes of
//   CONCATENATION, SPLIT, SPLIT_V, ARG_MAX, ARG_MIN, MEAN, SUM and REDUCE_*, the paddings of PAD,
//   PADV2 and MIRROR_PAD, the begin, end, size, strides and masks of SLICE and STRIDED_SLICE, the
//   multiples of TILE, the output shape of TRANSPOSE_CONV, constants that are added, multiplied or
//   otherwise combined with images (constants of up to three dimensions become 4-D, unless they
//   have one element), and the quantised dimension of these.
// - All other nodes and tensors are those of the model. The runtime transposes between both kinds
//   on the CPU, which also separates partitions. Two partitions that exchange an image in NCHW need
//   no transposition.
//
// A node that depends on the layout and cannot be converted is not replaced, e.g. if its image is a
// variable, a constant, sparse or of an unknown rank, or if its shape tensor is not constant. The
// converted nodes that the delegate gets are copies: they have indices of their own, which node
// events (deputy_plugin.h) must use, and no kernel functions. Inputs and outputs of the graph do
// not change. Shapes are propagated as with kTfLiteDelegateFlagsRequirePropagatedShapes.
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
