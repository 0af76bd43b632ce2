/* SPDX-License-Identifier: Apache-2.0 */
#include "npu_stub/texts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The texts of one thread. The destructor of the thread-specific key frees them. */
typedef struct Texts {
  size_t count;
  char* texts[];
} Texts;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key = false;

static void FreeTexts(void* data) {
  Texts* texts = data;
  for (size_t i = 0; texts != NULL && i < texts->count; ++i) free(texts->texts[i]);
  free(texts);
}

static void MakeKey(void) { has_key = pthread_key_create(&key, FreeTexts) == 0; }

bool NpuBeginTexts(size_t count) {
  pthread_once(&once, MakeKey);
  if (!has_key) return false;
  FreeTexts(pthread_getspecific(key));
  Texts* texts = calloc(1, sizeof *texts + count * sizeof texts->texts[0]);
  if (texts != NULL) texts->count = count;
  if (pthread_setspecific(key, texts) == 0 && texts != NULL) return true;
  free(texts);
  return false;
}

const char* NpuCopyText(size_t i, const char* text) {
  Texts* texts = pthread_getspecific(key);
  const size_t bytes = strlen(text) + 1;
  char* copy = malloc(bytes);
  if (copy == NULL) return NULL;
  memcpy(copy, text, bytes);
  texts->texts[i] = copy;
  return copy;
}
