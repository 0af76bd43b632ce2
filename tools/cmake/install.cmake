# SPDX-License-Identifier: Apache-2.0
#
# Installed files and their locations:
#   <libdir>                  libdeputy, libdeputy_mindspore, libdeputy_delegate_support.a
#   <libdir>/deputy/drop-in   libtensorflowlite_c.so, libLiteRt.so and libtensorflowlite_gpu_delegate.so, outside of
#                             the linker's search path: use them by path
#   <libdir>/deputy/plugins   delegates; libdeputy searches it by default (core/plugin/plugin_folders.h)
#   <libdir>/deputy/triton    folder for tritonserver --backend-directory
#   <libdir>/cmake            packages for find_package(Deputy), (TensorFlowLite) and (tensorflow-lite)
#   <docdir>                  documents and examples
#   and headers, pkg-config files, the command with its manual pages and completion.
# The command and the libraries are stripped; their debug information is in .debug/ in the same
# directory, where gdb and valgrind search. `-DDEPUTY_SPLIT_DEBUG=OFF` installs them unstripped, for
# packagers who strip on their own.
option(DEPUTY_SPLIT_DEBUG "Strip installed files, with debug information in .debug/" ON)

set(plugin_install_dir ${CMAKE_INSTALL_LIBDIR}/deputy/plugins)
set(package_install_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Deputy)

# ---- libraries, the command, headers -----------------------------------------------------------
install(TARGETS deputy deputy_mindspore EXPORT DeputyTargets
        LIBRARY INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tensorflowlite_c EXPORT DeputyTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/deputy/drop-in
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS deputy_litert deputy_litert_client EXPORT DeputyTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/deputy/drop-in
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/deputy/drop-in
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS deputy_delegate_support EXPORT DeputyTargets
        ARCHIVE INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# MindSpore programs include "include/api/model.h".
target_include_directories(deputy_mindspore INTERFACE
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/mindspore>)
if(TARGET deputy_tool)
  install(TARGETS deputy_tool RUNTIME)
endif()
set(installed_plugins "")
foreach(plugin deputy_cpu deputy_gpu deputy_hexagon deputy_nnapi deputy_layers deputy_npu_stub
               deputy_onnxruntime deputy_replay deputy_sandbox deputy_xnnpack softmax_delegate)
  if(TARGET ${plugin})
    list(APPEND installed_plugins ${plugin})
  endif()
endforeach()
install(TARGETS ${installed_plugins} LIBRARY DESTINATION ${plugin_install_dir})
if(TARGET triton_deputy)
  install(TARGETS triton_deputy LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/deputy/triton/deputy)
  list(APPEND installed_plugins triton_deputy)
endif()
# Upstream's name of the OpenCL delegate, for programs that link it: a link to the plug-in.
if(TARGET deputy_gpu)
  file(CREATE_LINK ../plugins/libdeputy_gpu.so ${generated_dir}/libtensorflowlite_gpu_delegate.so
       SYMBOLIC)
  install(FILES ${generated_dir}/libtensorflowlite_gpu_delegate.so
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/deputy/drop-in)
endif()
# Without the OpenCL delegate no library defines the functions of its headers.
set(headers_left_out "")
if(NOT TARGET deputy_gpu)
  set(headers_left_out REGEX "/(deputy_gpu|gpu_delegate(_options)?)\\.h$" EXCLUDE
                       REGEX "/delegates/gpu$" EXCLUDE)
endif()
install(DIRECTORY litert/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${client_include_dir}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers
        FILES_MATCHING PATTERN "*.h" ${headers_left_out})

# ---- pkg-config and CMake packages -------------------------------------------------------------
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(tensorflow_lite_version 2.19.0)
foreach(package deputy deputy_mindspore tensorflowlite_c tensorflow-lite)
  configure_file(pkgconfig/${package}.pc.in pkgconfig/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${package}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
# Names that other packages of TensorFlow Lite have: its own script generate-pc.sh, and those that
# nnstreamer searches.
foreach(name tensorflowlite tensorflow2-lite)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/tensorflow-lite.pc RENAME ${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

include(CMakePackageConfigHelpers)
configure_file(tools/cmake/DeputyConfig.cmake.in generated/DeputyConfig.cmake @ONLY)
write_basic_package_version_file(${generated_dir}/DeputyConfigVersion.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${generated_dir}/DeputyConfig.cmake ${generated_dir}/DeputyConfigVersion.cmake
        DESTINATION ${package_install_dir})
install(EXPORT DeputyTargets NAMESPACE Deputy:: DESTINATION ${package_install_dir})
# A file name in lower case is found for every spelling of the package: TensorFlowLite, tensorflowlite.
configure_file(tools/cmake/TensorFlowLiteConfig.cmake.in generated/tensorflowlite-config.cmake COPYONLY)
write_basic_package_version_file(${generated_dir}/tensorflowlite-config-version.cmake
                                 VERSION ${tensorflow_lite_version} COMPATIBILITY SameMajorVersion)
foreach(name tensorflowlite tensorflow-lite)
  foreach(part config config-version)
    install(FILES ${generated_dir}/tensorflowlite-${part}.cmake RENAME ${name}-${part}.cmake
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  endforeach()
endforeach()

# ---- manual pages and completion ---------------------------------------------------------------
# help2man runs the command for its help, so that the pages match it. The pages are not part of the
# target `command`.
find_program(DEPUTY_HELP2MAN help2man)
mark_as_advanced(DEPUTY_HELP2MAN)
if(TARGET deputy_tool AND DEPUTY_HELP2MAN AND NOT DEPUTY_SANITIZE)
  set(manual_pages "")
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  foreach(word "" run bench compile precision compare inspect explain plugins devices ops certify replay diverge report)
    set(page deputy)
    if(word)
      set(page deputy-${word})
    endif()
    add_custom_command(
      OUTPUT ${PROJECT_BINARY_DIR}/man/${page}.1
      COMMAND ${CMAKE_COMMAND} -E env "DEPUTY_EMULATOR=${emulator}"
              ${PROJECT_SOURCE_DIR}/tools/man/make_page.sh ${DEPUTY_HELP2MAN}
              $<TARGET_FILE:deputy_tool> ${PROJECT_BINARY_DIR}/man/${page}.1 ${word}
      DEPENDS deputy_tool tools/man/make_page.sh tools/man/deputy.h2m tools/man/subcommand.h2m
      COMMENT "Writing ${page}.1"
      VERBATIM)
    list(APPEND manual_pages ${PROJECT_BINARY_DIR}/man/${page}.1)
  endforeach()
  add_custom_target(manual ALL DEPENDS ${manual_pages})
  install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
  message(STATUS "No manual pages: help2man not found, or a sanitizer build")
endif()
# Target that builds everything that is installed.
add_custom_target(installed DEPENDS command deputy deputy_litert deputy_litert_client deputy_mindspore ${installed_plugins})
foreach(target manual deputy-certify)
  if(TARGET ${target})
    add_dependencies(installed ${target})
  endif()
endforeach()
if(TARGET deputy_tool)
  install(FILES tools/completion/deputy DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

# ---- documents and examples --------------------------------------------------------------------
# The folders keep their places relative to each other, so that links between them work.
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.csv")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN __pycache__ EXCLUDE REGEX "/examples/CMakeLists\\.txt$" EXCLUDE)

# ---- the last steps of an installation ---------------------------------------------------------
# The last steps are separate scripts, because they need the prefix and the list of files of the
# installation.
install(CODE "set(deputy_libdir \"${CMAKE_INSTALL_LIBDIR}\")
set(deputy_split_debug ${DEPUTY_SPLIT_DEBUG})
set(deputy_objcopy \"${CMAKE_OBJCOPY}\")")
install(SCRIPT tools/cmake/installed_debug.cmake)
install(SCRIPT tools/cmake/installed_hint.cmake)
