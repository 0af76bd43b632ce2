# SPDX-License-Identifier: Apache-2.0
#
# Runs after files have been installed (install.cmake): prints the steps that are still needed for
# programs to find the library. Prints nothing for a DESTDIR, which packagers use.
find_program(deputy_ldconfig ldconfig PATHS /sbin /usr/sbin NO_CACHE)
if("$ENV{DESTDIR}" STREQUAL "" AND deputy_ldconfig)
  set(folder "${CMAKE_INSTALL_PREFIX}/${deputy_libdir}")
  execute_process(COMMAND "${deputy_ldconfig}" -N -X -v OUTPUT_VARIABLE folders ERROR_QUIET)
  execute_process(COMMAND "${deputy_ldconfig}" -p OUTPUT_VARIABLE known ERROR_QUIET)
  string(FIND "\n${folders}" "\n${folder}:" is_searched)
  string(FIND "${known}" "=> ${folder}/libdeputy.so.1" is_known)
  if(is_searched EQUAL -1)
    message(STATUS "The loader does not search ${folder}: programs need "
                   "LD_LIBRARY_PATH=${folder} or -Wl,-rpath,${folder}")
  elseif(is_known EQUAL -1)
    message(STATUS "Run `ldconfig` as root now, so that programs find ${folder}/libdeputy.so.1")
  endif()
endif()
