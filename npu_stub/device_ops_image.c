/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on images in NCHW.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "npu_stub/device_ops.h"

/* Height and width of one channel of an image. */
typedef struct Plane {
  int64_t height, width;
} Plane;

static Plane PlaneOf(const NpuTensor* tensor) {
  const Plane plane = {tensor->dims[2], tensor->dims[3]};
  return plane;
}

/* ---- Convolutions ---------------------------------------------------------------------------- */

/* Returns the contribution of one input channel to one output element. */
static float ConvTaps(const NpuOp* op, Plane in, Plane filter, const float* image,
                      const float* weights, int64_t top, int64_t left) {
  float sum = 0.0f;
  for (int64_t y = 0; y < filter.height; ++y) {
    const int64_t from_y = top + y * op->attributes[kNpuConvDilationH];
    if (from_y < 0 || from_y >= in.height) continue;
    for (int64_t x = 0; x < filter.width; ++x) {
      const int64_t from_x = left + x * op->attributes[kNpuConvDilationW];
      if (from_x < 0 || from_x >= in.width) continue;
      sum += image[from_y * in.width + from_x] * weights[y * filter.width + x];
    }
  }
  return sum;
}

/* Adds the contribution of one input channel to an output channel. */
static void ConvPlane(const NpuOp* op, Plane in, Plane filter, Plane out, const float* image,
                      const float* weights, float* result) {
  for (int64_t y = 0; y < out.height; ++y) {
    const int64_t top = y * op->attributes[kNpuConvStrideH] - op->attributes[kNpuConvPadTop];
    for (int64_t x = 0; x < out.width; ++x) {
      const int64_t left = x * op->attributes[kNpuConvStrideW] - op->attributes[kNpuConvPadLeft];
      result[y * out.width + x] += ConvTaps(op, in, filter, image, weights, top, left);
    }
  }
}

/* Fills an output channel with the bias, or with 0. */
static void FillBias(const NpuWork* work, int64_t channel, int64_t size, float* result) {
  const float* bias = work->op->input_count > 2 ? NpuInData(work, 2) : NULL;
  const float value = bias == NULL ? 0.0f : bias[channel];
  for (int64_t i = 0; i < size; ++i) result[i] = value;
}

void NpuComputeConv(const NpuWork* work) {
  const NpuTensor *x = NpuIn(work, 0), *w = NpuIn(work, 1), *y = NpuOut(work);
  const Plane in = PlaneOf(x), filter = PlaneOf(w), out = PlaneOf(y);
  const int64_t in_size = in.height * in.width, out_size = out.height * out.width;
  const int64_t taps = filter.height * filter.width;
  const int64_t per_group = y->dims[1] / work->op->attributes[kNpuConvGroups];
  const float* weights = NpuInData(work, 1);
  float* result = NpuOutData(work);
  for (int64_t n = 0; n < y->dims[0]; ++n) {
    for (int64_t c = 0; c < y->dims[1]; ++c, result += out_size) {
      const int64_t first = c / per_group * w->dims[1];
      const float* image = (const float*)NpuInData(work, 0) + (n * x->dims[1] + first) * in_size;
      FillBias(work, c, out_size, result);
      for (int64_t i = 0; i < w->dims[1]; ++i) {
        ConvPlane(work->op, in, filter, out, image + i * in_size,
                  weights + (c * w->dims[1] + i) * taps, result);
      }
    }
  }
}

/* Adds the contribution of one input channel to an output channel of a transposed convolution. */
static void ScatterPlane(const NpuOp* op, Plane in, Plane filter, Plane out, const float* image,
                         const float* weights, float* result) {
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) {
      const int64_t top = y * op->attributes[kNpuConvStrideH] - op->attributes[kNpuConvPadTop];
      const int64_t left = x * op->attributes[kNpuConvStrideW] - op->attributes[kNpuConvPadLeft];
      for (int64_t i = 0; i < filter.height; ++i) {
        if (top + i < 0 || top + i >= out.height) continue;
        for (int64_t j = 0; j < filter.width; ++j) {
          if (left + j < 0 || left + j >= out.width) continue;
          result[(top + i) * out.width + left + j] +=
              image[y * in.width + x] * weights[i * filter.width + j];
        }
      }
    }
  }
}

void NpuComputeConvTranspose(const NpuWork* work) {
  const NpuTensor *x = NpuIn(work, 0), *w = NpuIn(work, 1), *y = NpuOut(work);
  const Plane in = PlaneOf(x), filter = PlaneOf(w), out = PlaneOf(y);
  const int64_t in_size = in.height * in.width, out_size = out.height * out.width;
  const int64_t taps = filter.height * filter.width;
  const float* weights = NpuInData(work, 1);
  float* result = NpuOutData(work);
  for (int64_t n = 0; n < y->dims[0]; ++n) {
    const float* image = (const float*)NpuInData(work, 0) + n * x->dims[1] * in_size;
    for (int64_t c = 0; c < y->dims[1]; ++c, result += out_size) {
      FillBias(work, c, out_size, result);
      for (int64_t i = 0; i < w->dims[1]; ++i) {
        ScatterPlane(work->op, in, filter, out, image + i * in_size,
                     weights + (c * w->dims[1] + i) * taps, result);
      }
    }
  }
}

/* ---- Pooling --------------------------------------------------------------------------------- */

static float PoolWindow(const NpuOp* op, Plane in, const float* image, int64_t top, int64_t left) {
  const int64_t bottom = top + op->attributes[kNpuPoolFilterH];
  const int64_t right = left + op->attributes[kNpuPoolFilterW];
  float max = -FLT_MAX, sum = 0.0f;
  int64_t count = 0;
  for (int64_t y = top < 0 ? 0 : top; y < bottom && y < in.height; ++y) {
    for (int64_t x = left < 0 ? 0 : left; x < right && x < in.width; ++x, ++count) {
      const float value = image[y * in.width + x];
      max = max < value ? value : max;
      sum += value;
    }
  }
  if (op->function == kNpuPoolMax) return max;
  return count == 0 ? 0.0f : sum / (float)count;
}

void NpuComputePool(const NpuWork* work) {
  const NpuOp* op = work->op;
  const Plane in = PlaneOf(NpuIn(work, 0)), out = PlaneOf(NpuOut(work));
  const int64_t planes = (int64_t)NpuOut(work)->dims[0] * NpuOut(work)->dims[1];
  const float* image = NpuInData(work, 0);
  float* result = NpuOutData(work);
  for (int64_t plane = 0; plane < planes; ++plane, image += in.height * in.width) {
    for (int64_t y = 0; y < out.height; ++y) {
      const int64_t top = y * op->attributes[kNpuPoolStrideH] - op->attributes[kNpuPoolPadTop];
      for (int64_t x = 0; x < out.width; ++x) {
        const int64_t left = x * op->attributes[kNpuPoolStrideW] - op->attributes[kNpuPoolPadLeft];
        *result++ = PoolWindow(op, in, image, top, left);
      }
    }
  }
}

/* ---- Resizing -------------------------------------------------------------------------------- */

/* Mapping of output positions to input positions along one axis. */
typedef struct Scale {
  float factor;
  int64_t in;
  int32_t align_corners, half_pixel;
} Scale;

static Scale ScaleOf(const NpuOp* op, int64_t in, int64_t out) {
  Scale scale = {(float)in / (float)out, in, op->attributes[kNpuResizeAlignCorners],
                 op->attributes[kNpuResizeHalfPixel]};
  if (scale.align_corners != 0 && out > 1) scale.factor = (float)(in - 1) / (float)(out - 1);
  return scale;
}

static float Position(const Scale* scale, int64_t i) {
  if (scale->half_pixel != 0) return ((float)i + 0.5f) * scale->factor - 0.5f;
  return (float)i * scale->factor;
}

static int64_t Inside(float position, int64_t size) {
  if (!(position > 0.0f)) return 0;
  return position >= (float)size ? size - 1 : (int64_t)position;
}

static int64_t Nearest(const Scale* scale, int64_t i) {
  const float middle = scale->half_pixel != 0 ? (float)i + 0.5f : (float)i;
  const float at = middle * scale->factor;
  return Inside(scale->align_corners != 0 ? roundf(at) : floorf(at), scale->in);
}

static float Bilinear(const Scale* vertical, const Scale* horizontal, const float* image,
                      int64_t out_y, int64_t out_x) {
  const float y = Position(vertical, out_y), x = Position(horizontal, out_x);
  const int64_t y0 = Inside(floorf(y), vertical->in), y1 = Inside(ceilf(y), vertical->in);
  const int64_t x0 = Inside(floorf(x), horizontal->in), x1 = Inside(ceilf(x), horizontal->in);
  const float below = y - (float)y0, after = x - (float)x0;
  const float* upper = image + y0 * horizontal->in;
  const float* lower = image + y1 * horizontal->in;
  return upper[x0] * (1.0f - below) * (1.0f - after) + lower[x0] * below * (1.0f - after) +
         upper[x1] * (1.0f - below) * after + lower[x1] * below * after;
}

void NpuComputeResize(const NpuWork* work) {
  const Plane in = PlaneOf(NpuIn(work, 0)), out = PlaneOf(NpuOut(work));
  const int64_t planes = (int64_t)NpuOut(work)->dims[0] * NpuOut(work)->dims[1];
  const Scale vertical = ScaleOf(work->op, in.height, out.height);
  const Scale horizontal = ScaleOf(work->op, in.width, out.width);
  const float* image = NpuInData(work, 0);
  float* result = NpuOutData(work);
  for (int64_t plane = 0; plane < planes; ++plane, image += in.height * in.width) {
    for (int64_t y = 0; y < out.height; ++y) {
      for (int64_t x = 0; x < out.width; ++x) {
        if (work->op->function == kNpuResizeBilinear) {
          *result++ = Bilinear(&vertical, &horizontal, image, y, x);
        } else {
          *result++ = image[Nearest(&vertical, y) * in.width + Nearest(&horizontal, x)];
        }
      }
    }
  }
}
