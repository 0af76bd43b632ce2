/* SPDX-License-Identifier: Apache-2.0
 *
 * float16 as it travels between the model and the device, which has float32 alone.
 */
#ifndef DEPUTY_NPU_STUB_HALF_H_
#define DEPUTY_NPU_STUB_HALF_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void NpuFromHalf(const uint16_t* from, float* to, size_t count);
/* To the nearest, halves to even. */
void NpuToHalf(const float* from, uint16_t* to, size_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_HALF_H_ */
