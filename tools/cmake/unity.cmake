# SPDX-License-Identifier: Apache-2.0
#
# Half of the compile time of host code is parsing headers, so up to six files of a directory are
# compiled together. Equal names in their anonymous namespaces would clash, so helpers have distinct
# names. check-tidy and check-clang disable this, to ensure that every file compiles on its own.
# deputy_compile_together(<target> [<files at a time> [<folder>]]): `folder` limits it to one
# directory. DEPUTY_UNITY=tests enables it only for targets with more than 6 files at a time, which
# are tests: for builds that recompile single files of the libraries (tests/mutate.py). It runs at
# the end of the directory, when all sources and their properties are known. The generated files
# contain no absolute paths, unlike those of UNITY_BUILD, so that checkouts in different directories
# share a compiler cache.
function(deputy_compile_together target)
  set(max_files 6)
  set(only_folder "")
  if(ARGC GREATER 1)
    set(max_files ${ARGV1})
  endif()
  if(ARGC GREATER 2)
    set(only_folder ${ARGV2}/)
  endif()
  if(DEPUTY_UNITY STREQUAL "OFF" OR (DEPUTY_UNITY STREQUAL "tests" AND NOT max_files GREATER 6))
    return()
  endif()
  cmake_language(EVAL CODE
                 "cmake_language(DEFER CALL deputy_join_sources ${target} ${max_files} \"${only_folder}\")")
endfunction()

# Returns true for a source that CMake's UNITY_BUILD would exclude, because it has its own settings.
function(deputy_has_own_settings source out)
  foreach(property SKIP_UNITY_BUILD_INCLUSION COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS
                   INCLUDE_DIRECTORIES)
    get_source_file_property(value ${source} ${property})
    if(value)
      set(${out} TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} FALSE PARENT_SCOPE)
endfunction()

# Replaces the C++ sources of a target by generated files that include them.
function(deputy_join_sources target max_files only_folder)
  get_target_property(all_sources ${target} SOURCES)
  set(joined "")
  foreach(source IN LISTS all_sources)
    if(source MATCHES "^${PROJECT_SOURCE_DIR}/${only_folder}.*\\.cc$")
      deputy_has_own_settings(${source} has_own_settings)
      if(NOT has_own_settings)
        list(APPEND joined ${source})
      endif()
    endif()
  endforeach()
  if(joined STREQUAL "")
    return()
  endif()
  list(REMOVE_ITEM all_sources ${joined})
  list(TRANSFORM joined REPLACE "/[^/]*$" "" OUTPUT_VARIABLE folders)
  list(REMOVE_DUPLICATES folders)
  set(unity_folder ${PROJECT_BINARY_DIR}/unity/${target})
  foreach(folder IN LISTS folders)
    set(members ${joined})
    list(FILTER members INCLUDE REGEX "^${folder}/[^/]*$")
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
    string(REPLACE "/" "_" name ${name})
    list(LENGTH members count)
    math(EXPR groups "(${count} + ${max_files} - 1) / ${max_files}")
    math(EXPR last_group "${groups} - 1")
    foreach(group RANGE ${last_group})
      math(EXPR first "(${group} * ${count} + ${groups} - 1) / ${groups}")
      math(EXPR length "((${group} + 1) * ${count} + ${groups} - 1) / ${groups} - ${first}")
      list(SUBLIST members ${first} ${length} part)
      set(content "")
      foreach(source IN LISTS part)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
        string(APPEND content "#include \"${source}\"\n")
      endforeach()
      file(CONFIGURE OUTPUT ${unity_folder}/${name}_${group}.cc CONTENT "${content}" @ONLY)
      list(APPEND all_sources ${unity_folder}/${name}_${group}.cc)
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${all_sources}")
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
