# SPDX-License-Identifier: Apache-2.0
#
# Delegates as separate libraries that load into Deputy and into TensorFlow Lite.

# deputy_add_delegate(<target> SOURCES <file>...
#                     [DEFINITIONS <definition>...] [EXPORTS <symbol>...] [LINKS <library>...]
#                     [UNDEFINED_SYMBOLS])
#
# Builds a loadable library with the include path of clients. It links only libm, plus LINKS. It
# exports a plug-in's entry points and the symbols of EXPORTS; patterns such as DeputyGpu* are
# allowed. Undefined symbols are link errors, unless UNDEFINED_SYMBOLS states that the process
# provides them. C sources are C11, C++ sources C++20.
function(deputy_add_delegate target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "UNDEFINED_SYMBOLS" "" "SOURCES;DEFINITIONS;EXPORTS;LINKS")
  add_library(${target} MODULE ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${client_include_dir})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  target_link_libraries(${target} PRIVATE ${arg_LINKS} m)
  if(NOT "${arg_SOURCES}" MATCHES "\\.c(;|$)")
    target_compile_options(${target} PRIVATE ${host_flags})
    target_precompile_headers(${target} REUSE_FROM ${host_headers})
  endif()

  set(exports tflite_plugin_create_delegate tflite_plugin_destroy_delegate deputy_plugin
              TFL_TheStableDelegate ${arg_EXPORTS})
  set(map ${PROJECT_BINARY_DIR}/generated/delegates/${target}.map)
  # CMake separates the items of a list by semicolons, as version scripts separate symbols.
  file(GENERATE OUTPUT ${map} CONTENT "{ global: ${exports}; local: *; };\n")
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  # With clang the executable provides the sanitizer's symbols, so -z defs would fail.
  set(sanitizer_undefined FALSE)
  if(DEPUTY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(sanitizer_undefined TRUE)
  endif()
  if(NOT arg_UNDEFINED_SYMBOLS AND NOT sanitizer_undefined)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
