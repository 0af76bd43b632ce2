// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL library that counts some calls and passes all to the ICD loader, which it is linked to:
// a search for a function that this library does not have continues there.
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int transfers, contexts, builds;

// ISO C forbids the conversion of an address to a function.
#define NEXT(function) (__extension__(__typeof__(&function)) dlsym(RTLD_NEXT, #function))

// Numbers of reads, writes and maps of buffers, of contexts and of builds of programs so far.
int opencl_counter_transfers(void);
int opencl_counter_contexts(void);
int opencl_counter_builds(void);
int opencl_counter_transfers(void) { return transfers; }
int opencl_counter_contexts(void) { return contexts; }
int opencl_counter_builds(void) { return builds; }

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       size_t offset, size_t size, void* data, cl_uint waits,
                                       const cl_event* list, cl_event* event) {
  ++transfers;
  return NEXT(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, data, waits, list, event);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        size_t offset, size_t size, const void* data, cl_uint waits,
                                        const cl_event* list, cl_event* event) {
  ++transfers;
  return NEXT(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, data, waits, list,
                                    event);
}

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                     const cl_event* list, cl_event* event, cl_int* error) {
  ++transfers;
  return NEXT(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, waits, list, event,
                                  error);
}

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices,
                                       void(CL_CALLBACK* notify)(const char*, const void*, size_t,
                                                                 void*),
                                       void* user_data, cl_int* error) {
  ++contexts;
  return NEXT(clCreateContext)(properties, count, devices, notify, user_data, error);
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                  const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                                  void* user_data) {
  ++builds;
  return NEXT(clBuildProgram)(program, count, devices, options, notify, user_data);
}
