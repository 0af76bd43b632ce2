/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that get_support returns. They belong to the calling thread and are valid until its next
 * call, so that interpreters on several threads can query one delegate.
 */
#ifndef DEPUTY_NPU_STUB_TEXTS_H_
#define DEPUTY_NPU_STUB_TEXTS_H_

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frees the calling thread's texts and allocates `count` new ones. Returns false if out of
 * memory. */
bool NpuBeginTexts(size_t count);

/* Copies a text to position `i` of the calling thread's texts, i < count. Returns NULL if out of
 * memory. */
const char* NpuCopyText(size_t i, const char* text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_TEXTS_H_ */
