# SPDX-License-Identifier: Apache-2.0
#
# XNNPACK as a delegate, if Debian's packages libxnnpack-dev and libpthreadpool-dev are installed:
# an archive for its tests, and the library, which links libdeputy_mindspore and XNNPACK.
find_path(DEPUTY_XNNPACK_INCLUDE xnnpack.h)
find_path(DEPUTY_PTHREADPOOL_INCLUDE pthreadpool.h)
find_library(DEPUTY_XNNPACK_LIBRARY XNNPACK)
find_library(DEPUTY_PTHREADPOOL_LIBRARY pthreadpool)
mark_as_advanced(DEPUTY_XNNPACK_INCLUDE DEPUTY_PTHREADPOOL_INCLUDE DEPUTY_XNNPACK_LIBRARY
                 DEPUTY_PTHREADPOOL_LIBRARY)
if(DEPUTY_XNNPACK_INCLUDE AND DEPUTY_PTHREADPOOL_INCLUDE AND DEPUTY_XNNPACK_LIBRARY
   AND DEPUTY_PTHREADPOOL_LIBRARY)
  file(GLOB xnnpack_sources CONFIGURE_DEPENDS bridges/xnnpack/*.cc)
  list(FILTER xnnpack_sources EXCLUDE REGEX "/plugin.cc$")
  add_library(deputy_xnnpack_objects STATIC ${xnnpack_sources})
  target_include_directories(deputy_xnnpack_objects PUBLIC ${PROJECT_SOURCE_DIR}
                             ${client_include_dir})
  target_include_directories(deputy_xnnpack_objects SYSTEM PUBLIC ${DEPUTY_XNNPACK_INCLUDE}
                             ${DEPUTY_PTHREADPOOL_INCLUDE})
  target_link_libraries(deputy_xnnpack_objects PUBLIC deputy_mindspore ${DEPUTY_XNNPACK_LIBRARY}
                        ${DEPUTY_PTHREADPOOL_LIBRARY})
  # XNNPACK of 2024 deprecates a function per operator, but Debian 12's version has no replacement.
  target_compile_options(deputy_xnnpack_objects PRIVATE ${host_flags} -Wno-deprecated-declarations)
  # Debian 12's version cannot store packed weights (packed_weights.h).
  file(STRINGS ${DEPUTY_XNNPACK_INCLUDE}/xnnpack.h xnnpack_cache
       REGEX "^struct xnn_weights_cache_provider {")
  if(xnnpack_cache)
    target_compile_definitions(deputy_xnnpack_objects PUBLIC DEPUTY_XNNPACK_STORES_WEIGHTS)
  endif()
  target_precompile_headers(deputy_xnnpack_objects REUSE_FROM ${host_headers})
  deputy_compile_together(deputy_xnnpack_objects)

  deputy_add_delegate(deputy_xnnpack SOURCES bridges/xnnpack/plugin.cc LINKS deputy_xnnpack_objects)
  target_compile_definitions(deputy_xnnpack PRIVATE DEPUTY_XNNPACK_VERSION="${PROJECT_VERSION}")
  deputy_find_libraries_from(deputy_xnnpack ${CMAKE_INSTALL_FULL_LIBDIR}/deputy/plugins)
  add_dependencies(command deputy_xnnpack)
else()
  message(STATUS "XNNPACK not found (libxnnpack-dev, libpthreadpool-dev): "
                 "its delegate is not built")
endif()
