# SPDX-License-Identifier: Apache-2.0
#
# Runs after files have been installed (install.cmake): moves the debug information of the command
# and of the libraries into .debug/<file>.debug in the directory of each, and adds a link to it.
if(deputy_split_debug)
  set(whole_files ${CMAKE_INSTALL_MANIFEST_FILES})
  list(FILTER whole_files INCLUDE REGEX "(/bin/deputy(-certify)?|\\.so[.0-9]*)$")
  foreach(name IN LISTS whole_files)
    set(file "$ENV{DESTDIR}${name}")
    if(IS_SYMLINK "${file}" OR NOT EXISTS "${file}")
      continue()
    endif()
    get_filename_component(folder "${name}" DIRECTORY)
    get_filename_component(base "${name}" NAME)
    set(debug "${folder}/.debug/${base}.debug")
    file(MAKE_DIRECTORY "$ENV{DESTDIR}${folder}/.debug")
    file(REMOVE "$ENV{DESTDIR}${debug}")
    execute_process(
      COMMAND "${deputy_objcopy}" --only-keep-debug --compress-debug-sections
              "${file}" "$ENV{DESTDIR}${debug}"
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(
      COMMAND "${deputy_objcopy}" --strip-unneeded "--add-gnu-debuglink=$ENV{DESTDIR}${debug}"
              "${file}"
      COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD "$ENV{DESTDIR}${debug}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${debug}")
  endforeach()
endif()
