# SPDX-License-Identifier: Apache-2.0
#
# The clients' include tree. Files are rewritten only if their contents change, so that re-running
# CMake rebuilds nothing; headers removed from c_api/include/ are also removed here.
set(client_include_dir ${PROJECT_BINARY_DIR}/include)
set(client_headers "")

function(deputy_write_header path content)
  set(previous "")
  if(EXISTS ${client_include_dir}/${path})
    file(READ ${client_include_dir}/${path} previous)
  endif()
  if(NOT previous STREQUAL content)
    file(WRITE ${client_include_dir}/${path} "${content}")
  endif()
  set(client_headers ${client_headers} ${path} PARENT_SCOPE)
endfunction()

# Returns the text of the header `name` for its copy at `path`: includes are rewritten to name the
# copies in the same directory, otherwise in the same tree. The texts of `inlined` headers replace
# their includes. Include guards are unchanged, so that a program may include a header by several
# paths.
function(deputy_header_at path name inlined out_text)
  file(READ ${public_header_dir}/${name} text)
  foreach(header IN LISTS inlined)
    file(READ ${public_header_dir}/${header} content)
    string(REPLACE "#include \"${header}\"\n" "${content}" text "${text}")
  endforeach()
  string(REGEX MATCH "^[^/]+" tree ${path})
  get_filename_component(folder ${path} DIRECTORY)
  string(REGEX MATCHALL "#include \"[a-z_]+\\.h\"" includes "${text}")
  list(REMOVE_DUPLICATES includes)
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" included ${include})
    set(best "")
    foreach(candidate IN LISTS paths_of_${included})
      if(candidate MATCHES "^${folder}/[^/]+$")
        set(best ${candidate})
        break()
      elseif(candidate MATCHES "^${tree}/" AND best STREQUAL "")
        set(best ${candidate})
      endif()
    endforeach()
    if(best STREQUAL "")
      message(FATAL_ERROR "c_api/header_paths.txt: ${path} needs ${included} below ${tree}/")
    endif()
    file(RELATIVE_PATH relative /${folder} /${best})
    string(REPLACE "${include}" "#include \"${relative}\"" text "${text}")
  endforeach()
  set(${out_text} "${text}" PARENT_SCOPE)
endfunction()

# The only list of public headers: c_api/header_paths.txt, which describes its format, and Deputy's
# own deputy*.h. A header listed as deputy/<flat name> is installed under that path only.
set(public_header_dir ${PROJECT_SOURCE_DIR}/c_api/include)
file(GLOB public_headers RELATIVE ${public_header_dir} CONFIGURE_DEPENDS c_api/include/deputy*.h)
if(EXISTS ${PROJECT_SOURCE_DIR}/c_api/header_paths.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS c_api/header_paths.txt)
  file(STRINGS c_api/header_paths.txt header_lines REGEX "^[^#]")
  foreach(line IN LISTS header_lines)
    if(line MATCHES "^([^ ]+) > ([^ ]+)$")
      set(installed_path ${CMAKE_MATCH_1})
      get_filename_component(folder ${installed_path} DIRECTORY)
      file(RELATIVE_PATH relative /${folder} /${CMAKE_MATCH_2})
      string(CONCAT content
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Forwards to the header that holds these declarations.\n"
        "#include \"${relative}\"  // IWYU pragma: export\n")
      deputy_write_header(${installed_path} "${content}")
      continue()
    endif()
    if(NOT line MATCHES "^([^ ]+) ([^ ]+)( .*)?$")
      message(FATAL_ERROR "c_api/header_paths.txt: cannot read line '${line}'")
    endif()
    set(installed_path ${CMAKE_MATCH_1})
    set(flat_name ${CMAKE_MATCH_2})
    list(APPEND public_headers ${flat_name})
    if(installed_path STREQUAL "deputy/${flat_name}")
      continue()
    endif()
    list(APPEND paths_of_${flat_name} ${installed_path})
    list(APPEND copies "${installed_path} ${flat_name}${CMAKE_MATCH_3}")
  endforeach()
  foreach(copy IN LISTS copies)
    string(REPLACE " " ";" inlined ${copy})
    list(POP_FRONT inlined installed_path flat_name)
    deputy_header_at(${installed_path} ${flat_name} "${inlined}" content)
    deputy_write_header(${installed_path} "${content}")
  endforeach()
endif()
list(REMOVE_DUPLICATES public_headers)
foreach(header IN LISTS public_headers)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS c_api/include/${header})
  file(READ ${public_header_dir}/${header} content)
  deputy_write_header(deputy/${header} "${content}")
endforeach()

# TensorFlow Lite's C++ API: bindings/cpp/tensorflow/, installed under the same paths. The headers
# below tflite/ and those of bindings/cpp/header_paths.txt, which describes its format, forward to
# them.
set(cpp_header_dir ${PROJECT_SOURCE_DIR}/bindings/cpp)
file(GLOB_RECURSE cpp_headers RELATIVE ${cpp_header_dir} CONFIGURE_DEPENDS
     bindings/cpp/tensorflow/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS bindings/cpp/header_paths.txt)
file(STRINGS ${cpp_header_dir}/header_paths.txt cpp_forwards REGEX "^[^#]")
foreach(header IN LISTS cpp_headers)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS bindings/cpp/${header})
  file(READ ${cpp_header_dir}/${header} content)
  deputy_write_header(${header} "${content}")
  string(REGEX REPLACE "^tensorflow/lite/" "tflite/" short_path ${header})
  list(APPEND cpp_forwards "${short_path} > ${header}")
endforeach()
include(tools/cmake/client_schema.cmake)
foreach(line IN LISTS cpp_forwards)
  if(NOT line MATCHES "^([^ ]+) > ([^ ]+)$")
    message(FATAL_ERROR "bindings/cpp/header_paths.txt: cannot read line '${line}'")
  endif()
  set(installed_path ${CMAKE_MATCH_1})
  get_filename_component(folder ${installed_path} DIRECTORY)
  file(RELATIVE_PATH relative /${folder} /${CMAKE_MATCH_2})
  string(CONCAT content
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// Forwards to the header that holds these declarations.\n"
    "#include \"${relative}\"  // IWYU pragma: export\n")
  deputy_write_header(${installed_path} "${content}")
endforeach()

# MindSpore's headers: mindspore/<name>, and headers under the names of MindSpore's own tree that
# forward to it: include/api/<name> and api/<name> below mindspore/ (include/c_api and c_api for the
# C headers), and include/<name> or include/registry/<name> for those that are there in MindSpore's
# tree. MindSpore's tree has one header per callback and metric.
set(mindspore_parts_callback callback ckpt_saver loss_monitor lr_scheduler time_monitor
    train_accuracy)
set(mindspore_parts_metrics metrics accuracy)
file(GLOB mindspore_headers RELATIVE ${PROJECT_SOURCE_DIR}/mindspore/include CONFIGURE_DEPENDS
     mindspore/include/*.h)
foreach(header IN LISTS mindspore_headers)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS mindspore/include/${header})
  file(READ ${PROJECT_SOURCE_DIR}/mindspore/include/${header} content)
  deputy_write_header(mindspore/${header} "${content}")
  set(trees include/api api)
  if(header MATCHES "_c\\.h$")
    set(trees include/c_api c_api)
  elseif(header MATCHES "^(errorcode|kernel_interface|lite_types)\\.h$")
    list(APPEND trees include)
  elseif(header MATCHES "^register_kernel")
    list(APPEND trees include/registry)
  endif()
  get_filename_component(name ${header} NAME_WE)
  set(forwarding ${header})
  foreach(part IN LISTS mindspore_parts_${name})
    list(APPEND forwarding ${name}/${part}.h)
  endforeach()
  foreach(tree IN LISTS trees)
    foreach(path IN LISTS forwarding)
      get_filename_component(folder /mindspore/${tree}/${path} DIRECTORY)
      file(RELATIVE_PATH relative ${folder} /mindspore/${header})
      string(CONCAT content
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Forwards to the header of Deputy that holds these declarations.\n"
        "#include \"${relative}\"  // IWYU pragma: export\n")
      deputy_write_header(mindspore/${tree}/${path} "${content}")
    endforeach()
  endforeach()
endforeach()
include(tools/cmake/client_ms_schema.cmake)

file(GLOB_RECURSE stale_headers RELATIVE ${client_include_dir} ${client_include_dir}/*.h)
list(REMOVE_ITEM stale_headers "" ${client_headers})
foreach(header IN LISTS stale_headers)
  file(REMOVE ${client_include_dir}/${header})
endforeach()
