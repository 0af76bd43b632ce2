// SPDX-License-Identifier: Apache-2.0
//
// Kinds of models and devices, and the handles of MindSpore Lite's C API. Names and values are
// MindSpore's. Each handle is an opaque pointer; tensor_c.h, context_c.h and model_c.h define its
// ownership.
#ifndef DEPUTY_MINDSPORE_INCLUDE_TYPES_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_TYPES_C_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef MS_API
#if defined(_WIN32)
#define MS_API
#else
#define MS_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void* MSTensorHandle;
typedef void* MSContextHandle;
typedef void* MSDeviceInfoHandle;
typedef void* MSModelHandle;
typedef void* MSTrainCfgHandle;

// Format of a model. MindIR covers all supported file formats.
__extension__ typedef enum MSModelType {
  kMSModelTypeMindIR = 0,
  kMSModelTypeInvalid = 0xFFFFFFFF
} MSModelType;

// Device types for MSDeviceInfoCreate.
typedef enum MSDeviceType {
  kMSDeviceTypeCPU = 0,
  kMSDeviceTypeGPU = 1,
  kMSDeviceTypeKirinNPU = 2,
  kMSDeviceTypeInvalid = 100
} MSDeviceType;

// Optimisation level of training, which is not supported.
__extension__ typedef enum MSOptimizationLevel {
  kMSKO0 = 0,
  kMSKO2 = 2,
  kMSKO3 = 3,
  kMSKAUTO = 4,
  kMSKOPTIMIZATIONTYPE = 0xFFFFFFFF
} MSOptimizationLevel;

// Quantisation of exported trained models. The export is not supported.
__extension__ typedef enum MSQuantizationType {
  kMSNO_QUANT = 0,
  kMSWEIGHT_QUANT = 1,
  kMSFULL_QUANT = 2,
  kMSUNKNOWN_QUANT_TYPE = 0xFFFFFFFF
} MSQuantizationType;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_TYPES_C_H_
