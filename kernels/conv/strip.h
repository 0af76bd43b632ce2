// SPDX-License-Identifier: Apache-2.0
//
// Layers that are computed strip by strip (core/exec/strips.h): float32 convolutions of 1x1 and
// DEPTHWISE_CONV_2D, each with the functions that compute it alone.
#ifndef DEPUTY_KERNELS_CONV_STRIP_H_
#define DEPUTY_KERNELS_CONV_STRIP_H_

#include "kernels/conv/conv.h"

namespace deputy {

// What a node that has chosen its implementation can do.
StripOffer StripOfferOf(const ConvData& data);

// For the head of a step with layers.
TfLiteStatus RunStrips(TfLiteContext* context, const StepRun& step);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_STRIP_H_
