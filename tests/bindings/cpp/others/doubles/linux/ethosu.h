/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations that NXP's Ethos-U delegate uses of the kernel's driver; only for compiling it. The
 * numbers and layouts are not the driver's. */
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_LINUX_ETHOSU_H_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_LINUX_ETHOSU_H_

#include <stdint.h>

#define ETHOSU_FD_MAX 16
#define ETHOSU_PMU_EVENT_MAX 4

enum {
  ETHOSU_IOCTL_VERSION_REQ,
  ETHOSU_IOCTL_CAPABILITIES_REQ,
  ETHOSU_IOCTL_BUFFER_CREATE,
  ETHOSU_IOCTL_BUFFER_SET,
  ETHOSU_IOCTL_BUFFER_GET,
  ETHOSU_IOCTL_NETWORK_CREATE,
  ETHOSU_IOCTL_INFERENCE_CREATE,
  ETHOSU_IOCTL_INFERENCE_STATUS,
};

enum { ETHOSU_UAPI_STATUS_OK, ETHOSU_UAPI_NETWORK_BUFFER, ETHOSU_UAPI_INFERENCE_OP };

struct ethosu_uapi_device_capabilities {
  struct {
    uint32_t version_status, version_minor, version_major, product_major;
    uint32_t arch_patch_rev, arch_minor_rev, arch_major_rev;
  } hw_id;
  struct {
    uint32_t macs_per_cc, cmd_stream_version, custom_dma;
  } hw_cfg;
  uint32_t driver_patch_rev, driver_minor_rev, driver_major_rev;
};

struct ethosu_uapi_buffer_create {
  uint32_t capacity;
};

struct ethosu_uapi_buffer {
  uint32_t offset, size;
};

struct ethosu_uapi_network_create {
  uint32_t type, fd;
};

struct ethosu_uapi_pmu_config {
  uint32_t events[ETHOSU_PMU_EVENT_MAX];
  uint32_t cycle_count;
};

struct ethosu_uapi_pmu_counts {
  uint32_t events[ETHOSU_PMU_EVENT_MAX];
  uint64_t cycle_count;
};

struct ethosu_uapi_inference_create {
  uint32_t ifm_count, ifm_fd[ETHOSU_FD_MAX], ofm_count, ofm_fd[ETHOSU_FD_MAX];
  uint32_t inference_type;
  struct ethosu_uapi_pmu_config pmu_config;
};

struct ethosu_uapi_result_status {
  uint32_t status;
  struct ethosu_uapi_pmu_config pmu_config;
  struct ethosu_uapi_pmu_counts pmu_count;
};

#endif /* DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_LINUX_ETHOSU_H_ */
