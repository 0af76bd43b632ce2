// SPDX-License-Identifier: Apache-2.0
//
// CONV_3D and CONV_3D_TRANSPOSE: no kernels yet; their options are read for a client's kernel or a
// delegate.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillConv3d(const OpOptions& options, TfLiteConv3DParams* params) {
  params->padding = options.Padding(0);
  params->stride_depth = options.Int(1);
  params->stride_width = options.Int(2);
  params->stride_height = options.Int(3);
  params->activation = options.Activation(4);
  params->dilation_depth_factor = options.Int(5, 1);
  params->dilation_width_factor = options.Int(6, 1);
  params->dilation_height_factor = options.Int(7, 1);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("CONV_3D", kTfLiteBuiltinConv3d, {1, 106}, sizeof(TfLiteConv3DParams),
              &ParseOptions<106, TfLiteConv3DParams, &FillConv3d>),
    ParserRow("CONV_3D_TRANSPOSE", kTfLiteBuiltinConv3dTranspose, {1, 106},
              sizeof(TfLiteConv3DTransposeParams),
              &ParseOptions<106, TfLiteConv3DTransposeParams, &FillConv3d>),
};

}  // namespace

constexpr std::span<const OpDef> kConv3dOps = kTable;

}  // namespace deputy
