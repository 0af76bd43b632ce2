# SPDX-License-Identifier: Apache-2.0
#
# model_fuzz (tests/fuzz): lifecycles of mutated models, one executable of all sources there. ctest
# runs a few thousand of them, more under a sanitizer; `make fuzz` runs any number.

# Mutation uses flatc's object API. It is generated from the same schema into a separate namespace,
# because the tests link the library, whose schema header is generated without it. Empty lists are
# written: a subgraph that only forwards its inputs has an empty list of nodes.
file(READ core/model/schema.fbs fuzz_schema)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS core/model/schema.fbs)
string(REPLACE "namespace deputy.schema;" "namespace deputy.objects;" fuzz_schema "${fuzz_schema}")
file(GENERATE OUTPUT ${generated_dir}/objects/objects.fbs CONTENT "${fuzz_schema}")
add_custom_command(
  OUTPUT ${generated_dir}/objects/objects_generated.h
  COMMAND ${DEPUTY_FLATC} --cpp --scoped-enums --gen-object-api --reflect-types --force-empty-vectors
          -o ${generated_dir}/objects ${generated_dir}/objects/objects.fbs
  DEPENDS ${generated_dir}/objects/objects.fbs
  COMMENT "Generating objects_generated.h"
  VERBATIM)

# The generated header is a separate target, so that it can be built without the libraries of
# model_fuzz.
add_custom_target(fuzz_objects_header DEPENDS ${generated_dir}/objects/objects_generated.h)

file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.cc)
add_executable(model_fuzz ${fuzz_sources})
add_dependencies(model_fuzz fuzz_objects_header)
target_compile_options(model_fuzz PRIVATE ${test_flags})
target_include_directories(model_fuzz SYSTEM PRIVATE ${generated_dir}/objects)
target_link_libraries(model_fuzz PRIVATE deputy_test_support deputy_conformance deputy_test_settings)
target_precompile_headers(model_fuzz PRIVATE <objects_generated.h>)
deputy_compile_together(model_fuzz 10)
set_target_properties(model_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_dependencies(model_fuzz plugin_compiled)
add_dependencies(all_tests model_fuzz)

set(fuzz_runs 3000)
set(sweep_rounds 3)
if(DEPUTY_SANITIZE)
  set(fuzz_runs 20000)
  set(sweep_rounds 1)
endif()
add_test(NAME model_fuzz COMMAND model_fuzz --runs ${fuzz_runs})

# operator_sweep runs every choice of the kinds from which mutants draw at random
# (tests/fuzz/hostile.h).
add_test(NAME operator_sweep COMMAND model_fuzz --sweep ${sweep_rounds})
