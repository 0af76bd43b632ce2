// SPDX-License-Identifier: Apache-2.0
//
// Kernels of TensorFlow Lite's custom operators that the library has.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_CUSTOM_OPS_REGISTER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_CUSTOM_OPS_REGISTER_H_

#include "deputy/deputy_graph.h"
#include "tensorflow/lite/core/c/common.h"

namespace tflite {
namespace ops {
namespace custom {

// The kernels are static and must not be changed.
inline TfLiteRegistration* Register_AUDIO_SPECTROGRAM() {
  return const_cast<TfLiteRegistration*>(DeputyFindCustomKernel("AudioSpectrogram", 1));
}
inline TfLiteRegistration* Register_DETECTION_POSTPROCESS() {
  return const_cast<TfLiteRegistration*>(DeputyFindCustomKernel("TFLite_Detection_PostProcess", 1));
}
inline TfLiteRegistration* Register_MFCC() {
  return const_cast<TfLiteRegistration*>(DeputyFindCustomKernel("Mfcc", 1));
}

}  // namespace custom
}  // namespace ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_CUSTOM_OPS_REGISTER_H_
