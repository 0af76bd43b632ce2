# SPDX-License-Identifier: Apache-2.0
#
# Delegates as libraries of their own, which load into Deputy and into TensorFlow Lite alike.

# deputy_add_delegate(<target> SOURCES <file>...
#                     [DEFINITIONS <definition>...] [EXPORTS <symbol>...] [LINKS <library>...]
#                     [UNDEFINED_SYMBOLS])
#
# A loadable library that sees the headers that clients see and links libm alone, unless LINKS names
# more. It exports a plug-in's entry points and what EXPORTS names; patterns such as DeputyGpu* are
# fine. A symbol that nobody defines is an error when it is linked, unless UNDEFINED_SYMBOLS says
# that the process has it. C sources are C11, C++ sources C++20.
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
  file(GENERATE OUTPUT ${map} CONTENT "{ global: ${exports}; local: *; };\n")  # a list is a text with ;
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  # clang leaves the sanitizer's symbols to the executable.
  set(sanitizer_undefined FALSE)
  if(DEPUTY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(sanitizer_undefined TRUE)
  endif()
  if(NOT arg_UNDEFINED_SYMBOLS AND NOT sanitizer_undefined)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
