// SPDX-License-Identifier: Apache-2.0
//
// Test double of NXP's Neutron driver, as far as its delegate uses it. Its only program adds bytes:
// the microcode is the int32_t number of elements, and output 0 is input 0 plus the weights.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_NEUTRON_NEUTRONDRIVER_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_NEUTRON_NEUTRONDRIVER_H_

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ENONE = 0, EFAILED = 1 } NeutronError;

typedef struct {
  const void* microcode;
  const void* weights;
} NeutronModelConfig;

typedef struct {
  const void** inputs;
  void** outputs;
} NeutronDataConfig;

typedef NeutronModelConfig* NeutronModelHandle;

static NeutronError neutronInit(void) { return ENONE; }
static NeutronError neutronDeinit(void) { return ENONE; }

static NeutronError neutronModelPrepare(const NeutronModelConfig* config,
                                        NeutronModelHandle* handle) {
  *handle = (NeutronModelHandle)malloc(sizeof(NeutronModelConfig));
  if (*handle == NULL) return EFAILED;
  **handle = *config;
  return ENONE;
}

static NeutronError neutronModelUnprepare(NeutronModelHandle handle) {
  free(handle);
  return ENONE;
}

static NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* data) {
  int32_t count;
  memcpy(&count, handle->microcode, sizeof(count));
  const int8_t* input = (const int8_t*)data->inputs[0];
  const int8_t* weights = (const int8_t*)handle->weights;
  int8_t* output = (int8_t*)data->outputs[0];
  for (int32_t i = 0; i < count; ++i) output[i] = (int8_t)(input[i] + weights[i]);
  return ENONE;
}

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_NEUTRON_NEUTRONDRIVER_H_
