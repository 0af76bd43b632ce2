# SPDX-License-Identifier: Apache-2.0
#
# The OpenCL delegate: an archive for its tests, and the library. OpenCL's headers are needed for
# types only; its library is opened when a delegate is created, so that there is no link-time
# dependency.
find_path(DEPUTY_OPENCL_INCLUDE CL/cl.h)
mark_as_advanced(DEPUTY_OPENCL_INCLUDE)
file(GLOB gpu_sources CONFIGURE_DEPENDS gpu_cl/*.cc gpu_cl/*/*.cc)
list(FILTER gpu_sources EXCLUDE REGEX "/plugin.cc$")
if(DEPUTY_OPENCL_INCLUDE AND gpu_sources)
  add_library(deputy_gpu_objects STATIC ${gpu_sources})
  target_include_directories(deputy_gpu_objects PUBLIC ${PROJECT_SOURCE_DIR} ${client_include_dir})
  target_include_directories(deputy_gpu_objects SYSTEM PUBLIC ${DEPUTY_OPENCL_INCLUDE})
  target_compile_definitions(deputy_gpu_objects PUBLIC CL_TARGET_OPENCL_VERSION=120
                             PRIVATE DEPUTY_GPU_VERSION="${PROJECT_VERSION}")
  target_link_libraries(deputy_gpu_objects PUBLIC deputy_compiler ${CMAKE_DL_LIBS} Threads::Threads)
  target_compile_options(deputy_gpu_objects PRIVATE ${host_flags})
  target_precompile_headers(deputy_gpu_objects REUSE_FROM ${host_headers})
  deputy_compile_together(deputy_gpu_objects)

  deputy_add_delegate(deputy_gpu SOURCES gpu_cl/plugin.cc LINKS deputy_gpu_objects
                      EXPORTS TfLiteGpuDelegateV2Create TfLiteGpuDelegateV2Delete
                              TfLiteGpuDelegateOptionsV2Default DeputyGpu*)
  # The name under which upstream's programs link the delegate, see install.cmake. It works because
  # the library has no SONAME.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/drop-in)
  file(CREATE_LINK ../libdeputy_gpu.so
       ${PROJECT_BINARY_DIR}/drop-in/libtensorflowlite_gpu_delegate.so SYMBOLIC)
  add_dependencies(command deputy_gpu)
else()
  message(STATUS "CL/cl.h not found: the OpenCL delegate is not built")
endif()
