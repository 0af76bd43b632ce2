/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators on images: those of TensorFlow Lite whose operations require NCHW.
 */
#include <string.h>

#include "deputy/deputy_plugin.h"
#include "npu_stub/import.h"

/* ---- Windows --------------------------------------------------------------------------------- */

/* Parameters of a window along one axis. */
typedef struct Window {
  int size, stride, dilation; /* as in the weights or the operator's options */
  int32_t before;             /* padding before the first element */
  int32_t clamped_stride;
} Window;

/* Computes the padding before the first element, and the stride clamped to the image. Returns false
 * and refuses if the padding or the window is invalid, or if the window or the missing elements
 * exceed 2^20. */
static bool ComputePadding(NpuImport* import, TfLitePadding padding, int in, int out,
                           Window* window) {
  if (padding != kTfLitePaddingSame && padding != kTfLitePaddingValid) {
    return NpuRefuse(import, kDeputyReasonParameter, "padding: expected SAME or VALID");
  }
  if (window->size < 1 || window->stride < 1 || window->dilation < 1) {
    return NpuRefuse(import, kDeputyReasonParameter, "window %d, stride %d, dilation %d",
                     window->size, window->stride, window->dilation);
  }
  const int64_t covers = (int64_t)(window->size - 1) * window->dilation + 1;
  const int64_t missing = (int64_t)(out - 1) * window->stride + covers - in;
  if (covers > 1 << 20 || missing > 1 << 20) {
    return NpuRefuse(import, kDeputyReasonShape, "a window of %lld elements", (long long)covers);
  }
  const bool padded = padding == kTfLitePaddingSame && missing > 0;
  window->before = padded ? (int32_t)(missing / 2) : 0;
  window->clamped_stride = window->stride > in ? in : window->stride;
  return true;
}

static bool PlaceWindow(NpuImport* import, TfLitePadding padding, const TfLiteTensor* in,
                        const TfLiteTensor* out, Window* vertical, Window* horizontal) {
  if (in->dims->size != 4 || out->dims->size != 4) {
    return NpuRefuse(import, kDeputyReasonShape, "expected an image of rank 4, found rank %d",
                     in->dims->size);
  }
  return ComputePadding(import, padding, in->dims->data[1], out->dims->data[1], vertical) &&
         ComputePadding(import, padding, in->dims->data[2], out->dims->data[2], horizontal);
}

/* ---- Convolutions ---------------------------------------------------------------------------- */

/* Permutes a filter from [A, H, W, B] to [A, B, H, W], or with `depthwise` to [B, A, H, W]. */
static int32_t PermuteFilter(NpuImport* import, int i, bool depthwise) {
  const NpuTensor from = *NpuTensorAt(import->builder, NpuInput(import, i));
  const int32_t taps = from.dims[1] * from.dims[2];
  const int32_t first = depthwise ? from.dims[3] : from.dims[0];
  const int32_t second = depthwise ? from.dims[0] : from.dims[3];
  const int32_t dims[] = {first, second, from.dims[1], from.dims[2]};
  float* to;
  const int32_t index = NpuNewConstant(import, 4, dims, &to);
  if (to == NULL || from.data == NULL || import->checking) return index;
  const float* data = from.data;
  for (int32_t a = 0; a < first; ++a) {
    for (int32_t b = 0; b < second; ++b) {
      for (int32_t tap = 0; tap < taps; ++tap) {
        const int32_t outer = depthwise ? b : a, inner = depthwise ? a : b;
        *to++ = data[((int64_t)outer * taps + tap) * from.dims[3] + inner];
      }
    }
  }
  return index;
}

static bool CheckFilter(NpuImport* import, int filter, int bias) {
  const TfLiteTensor* tensor = NpuInputTensor(import, filter);
  if (!NpuExpectConstant(import, filter, "weights")) return false;
  if (NpuTypeOf(tensor->type) != kNpuFloat32) {
    return NpuRefuse(import, kDeputyReasonType, "weights: expected FLOAT32 or FLOAT16");
  }
  if (tensor->dims->size != 4) {
    return NpuRefuse(import, kDeputyReasonShape, "weights: expected rank 4, found %d",
                     tensor->dims->size);
  }
  if (NpuInputTensor(import, bias) == NULL) return true;
  return NpuExpectConstant(import, bias, "bias");
}

static void SetWindow(NpuOp* op, const Window* vertical, const Window* horizontal, int32_t groups) {
  op->attributes[kNpuConvStrideH] = vertical->clamped_stride;
  op->attributes[kNpuConvStrideW] = horizontal->clamped_stride;
  op->attributes[kNpuConvPadTop] = vertical->before;
  op->attributes[kNpuConvPadLeft] = horizontal->before;
  op->attributes[kNpuConvDilationH] = vertical->dilation;
  op->attributes[kNpuConvDilationW] = horizontal->dilation;
  op->attributes[kNpuConvGroups] = groups;
}

/* Sets the inputs of the operation: image, permuted filter, optional bias. Returns their number. */
static int32_t ConvInputs(NpuImport* import, int image, int filter, int bias, bool depthwise,
                          int32_t inputs[3]) {
  inputs[0] = NpuInput(import, image);
  inputs[1] = PermuteFilter(import, filter, depthwise);
  if (NpuInputTensor(import, bias) == NULL) return 2;
  inputs[2] = NpuInput(import, bias);
  return 3;
}

/* Options that both convolution operators have. */
typedef struct ConvOptions {
  TfLitePadding padding;
  TfLiteFusedActivation activation;
  int stride_h, stride_w, dilation_h, dilation_w;
} ConvOptions;

/* Imports CONV_2D or DEPTHWISE_CONV_2D. Inputs: image, weights, optional bias. */
static bool ImportConv(NpuImport* import, const ConvOptions* options, bool depthwise) {
  if (!NpuExpectInputs(import, 2, 3) || !CheckFilter(import, 1, 2)) return false;
  const TfLiteTensor *x = NpuInputTensor(import, 0), *w = NpuInputTensor(import, 1);
  Window rows = {w->dims->data[1], options->stride_h, options->dilation_h, 0, 0};
  Window columns = {w->dims->data[2], options->stride_w, options->dilation_w, 0, 0};
  if (!PlaceWindow(import, options->padding, x, NpuOutputTensor(import, 0), &rows, &columns)) {
    return false;
  }
  if (depthwise && w->dims->data[0] != 1) {
    return NpuRefuse(import, kDeputyReasonShape, "weights: expected 1 in front, found %d",
                     w->dims->data[0]);
  }
  if (!depthwise && x->dims->data[3] % w->dims->data[3] != 0) {
    return NpuRefuse(import, kDeputyReasonShape, "%d channels of %d", w->dims->data[3],
                     x->dims->data[3]);
  }
  const int32_t groups = depthwise ? x->dims->data[3] : x->dims->data[3] / w->dims->data[3];
  int32_t inputs[3];
  const int32_t count = ConvInputs(import, 0, 1, 2, depthwise, inputs);
  const int32_t op = NpuAddActivated(import, kNpuConv, 0, inputs, count, options->activation);
  SetWindow(NpuOpAt(import->builder, op), &rows, &columns, groups);
  return op >= 0 || import->builder->failed;
}

bool NpuImportConv(NpuImport* import, int32_t argument) {
  const TfLiteConvParams* p = import->node->builtin_data;
  (void)argument;
  const ConvOptions options = {p->padding,
                               p->activation,
                               p->stride_height,
                               p->stride_width,
                               p->dilation_height_factor,
                               p->dilation_width_factor};
  return ImportConv(import, &options, false);
}

bool NpuImportDepthwise(NpuImport* import, int32_t argument) {
  const TfLiteDepthwiseConvParams* p = import->node->builtin_data;
  (void)argument;
  const ConvOptions options = {p->padding,
                               p->activation,
                               p->stride_height,
                               p->stride_width,
                               p->dilation_height_factor,
                               p->dilation_width_factor};
  return ImportConv(import, &options, true);
}

/* Imports TRANSPOSE_CONV. Inputs: shape of the output, weights, image, optional bias. The window
 * has one position per element of the image and covers elements of the output. */
bool NpuImportTransposeConv(NpuImport* import, int32_t argument) {
  const TfLiteTransposeConvParams* params = import->node->builtin_data;
  (void)argument;
  if (!NpuExpectInputs(import, 3, 4) || !NpuExpectConstant(import, 0, "output shape") ||
      !CheckFilter(import, 1, 3)) {
    return false;
  }
  const TfLiteTensor *x = NpuInputTensor(import, 2), *w = NpuInputTensor(import, 1);
  Window rows = {w->dims->data[1], params->stride_height, 1, 0, 0};
  Window columns = {w->dims->data[2], params->stride_width, 1, 0, 0};
  if (!PlaceWindow(import, params->padding, NpuOutputTensor(import, 0), x, &rows, &columns)) {
    return false;
  }
  rows.clamped_stride = rows.stride;
  columns.clamped_stride = columns.stride;
  int32_t inputs[3];
  const int32_t count = ConvInputs(import, 2, 1, 3, false, inputs);
  const int32_t op =
      NpuAddActivated(import, kNpuConvTranspose, 0, inputs, count, params->activation);
  SetWindow(NpuOpAt(import->builder, op), &rows, &columns, 1);
  return op >= 0 || import->builder->failed;
}

/* ---- Pooling and resizing -------------------------------------------------------------------- */

bool NpuImportPool(NpuImport* import, int32_t argument) {
  const TfLitePoolParams* params = import->node->builtin_data;
  if (!NpuExpectInputs(import, 1, 1)) return false;
  Window rows = {params->filter_height, params->stride_height, 1, 0, 0};
  Window columns = {params->filter_width, params->stride_width, 1, 0, 0};
  if (!PlaceWindow(import, params->padding, NpuInputTensor(import, 0), NpuOutputTensor(import, 0),
                   &rows, &columns)) {
    return false;
  }
  const int32_t input = NpuInput(import, 0);
  const int32_t index = NpuAddActivated(import, kNpuPool, argument, &input, 1, params->activation);
  NpuOp* op = NpuOpAt(import->builder, index);
  op->attributes[kNpuPoolStrideH] = rows.clamped_stride;
  op->attributes[kNpuPoolStrideW] = columns.clamped_stride;
  op->attributes[kNpuPoolPadTop] = rows.before;
  op->attributes[kNpuPoolPadLeft] = columns.before;
  op->attributes[kNpuPoolFilterH] = params->filter_height;
  op->attributes[kNpuPoolFilterW] = params->filter_width;
  return index >= 0 || import->builder->failed;
}

/* Imports RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, which have distinct parameter structs
 * with the same members. */
bool NpuImportResize(NpuImport* import, int32_t argument) {
  const TfLiteResizeBilinearParams* bilinear = import->node->builtin_data;
  const TfLiteResizeNearestNeighborParams* nearest = import->node->builtin_data;
  const bool is_bilinear = argument == kNpuResizeBilinear;
  const bool align = is_bilinear ? bilinear->align_corners : nearest->align_corners;
  const bool half = is_bilinear ? bilinear->half_pixel_centers : nearest->half_pixel_centers;
  if (!NpuExpectInputs(import, 2, 2) || !NpuExpectConstant(import, 1, "size")) return false;
  if (NpuInputTensor(import, 0)->dims->size != 4) {
    return NpuRefuse(import, kDeputyReasonShape, "expected an image of rank 4");
  }
  const int32_t input = NpuInput(import, 0);
  const int32_t op = NpuAddNode(import, kNpuResize, argument, &input, 1, NpuOutput(import, 0));
  NpuOpAt(import->builder, op)->attributes[kNpuResizeAlignCorners] = align ? 1 : 0;
  NpuOpAt(import->builder, op)->attributes[kNpuResizeHalfPixel] = half ? 1 : 0;
  return true;
}
