# SPDX-License-Identifier: Apache-2.0
#
# The delegate that runs another delegate in a process of its own, and the program of that process.
# The delegate uses public headers only, so that it loads into TensorFlow Lite, too.
set(sandbox_shared ${PROJECT_SOURCE_DIR}/bridges/sandbox/messages.cc
                   ${PROJECT_SOURCE_DIR}/bridges/sandbox/node_options.cc
                   ${PROJECT_SOURCE_DIR}/bridges/sandbox/process.cc ${PROJECT_SOURCE_DIR}/bridges/sandbox/wire.cc)
add_library(deputy_sandbox_messages STATIC ${sandbox_shared})
target_include_directories(deputy_sandbox_messages PUBLIC ${PROJECT_SOURCE_DIR} PRIVATE ${client_include_dir})
target_compile_options(deputy_sandbox_messages PRIVATE ${host_flags})
target_precompile_headers(deputy_sandbox_messages REUSE_FROM ${host_headers})

file(GLOB sandbox_sources CONFIGURE_DEPENDS bridges/sandbox/*.cc)
list(REMOVE_ITEM sandbox_sources ${sandbox_shared})
deputy_add_delegate(deputy_sandbox SOURCES ${sandbox_sources}
                    LINKS deputy_sandbox_messages ${CMAKE_DL_LIBS} Threads::Threads
                    DEFINITIONS DEPUTY_SANDBOX_VERSION="${PROJECT_VERSION}")
target_include_directories(deputy_sandbox PRIVATE ${PROJECT_SOURCE_DIR})

file(GLOB sandbox_host_sources CONFIGURE_DEPENDS bridges/sandbox/host/*.cc)
add_executable(deputy-delegate-host ${sandbox_host_sources})
target_include_directories(deputy-delegate-host PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(deputy-delegate-host PRIVATE deputy_sandbox_messages deputy Threads::Threads)
target_compile_options(deputy-delegate-host PRIVATE ${host_flags})
# Plug-ins are in deputy/plugins, the program is in the folder above. The file in the build directory is copied into
# the wheel, too.
set_target_properties(deputy-delegate-host PROPERTIES INSTALL_RPATH "$ORIGIN/.." BUILD_RPATH "$ORIGIN/.."
                      BUILD_RPATH_USE_ORIGIN ON)
add_dependencies(deputy_sandbox deputy-delegate-host)
add_dependencies(command deputy_sandbox)
install(TARGETS deputy-delegate-host RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/deputy)
