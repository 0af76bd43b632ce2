// SPDX-License-Identifier: Apache-2.0
//
// First member of the function tables that the runtime and plug-ins exchange. A table only grows at
// its end, so a consumer checks the size before it uses a member that its own version added.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ABI_HEADER_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ABI_HEADER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Size and version of a table.
typedef struct LiteRtAbiHeader {
  // Size of the whole table in bytes, this header included.
  uint16_t struct_size;
  // Tables with different major versions have different layouts.
  uint16_t major_version;
  // Number of the latest addition.
  uint16_t minor_version;
  // Zero.
  uint16_t reserved;
} LiteRtAbiHeader;

// Not 0 if the table at `instance_ptr` has the major version and at least the minor version.
#define LITERT_ABI_IS_COMPATIBLE(instance_ptr, req_major, req_minor) \
  ((instance_ptr)->abi_header.major_version == (req_major) &&        \
   (instance_ptr)->abi_header.minor_version >= (req_minor))

// Not 0 if the table at `instance_ptr`, which may be NULL, has the major version and contains the
// member `api_member`, which is not NULL.
#define LITERT_ABI_HAS_API(instance_ptr, req_major, api_member)                           \
  ((instance_ptr) != NULL && (instance_ptr)->abi_header.major_version == (req_major) &&   \
   (instance_ptr)->abi_header.struct_size >=                                              \
       ((const char*)(&(instance_ptr)->api_member) + sizeof((instance_ptr)->api_member) - \
        (const char*)(instance_ptr)) &&                                                   \
   (instance_ptr)->api_member != NULL)

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_ABI_HEADER_H_
