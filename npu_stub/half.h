/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of float16 data of the model, since the device has float32 only.
 */
#ifndef DEPUTY_NPU_STUB_HALF_H_
#define DEPUTY_NPU_STUB_HALF_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void NpuFromHalf(const uint16_t* from, float* to, size_t count);
/* Converts float32 to float16. Rounds to the nearest value, ties to even. */
void NpuToHalf(const float* from, uint16_t* to, size_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_HALF_H_ */
