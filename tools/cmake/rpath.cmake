# SPDX-License-Identifier: Apache-2.0
#
# Search paths of installed programs and libraries for libdeputy.

# deputy_find_libraries_from(<target> <folder>): `target`, installed in `folder`, finds our
# libraries by a relative path, so that an installation works under any prefix, also after being
# moved, and without ldconfig. Disable it with -DCMAKE_SKIP_INSTALL_RPATH=ON, as Debian's packages
# do.
function(deputy_find_libraries_from target folder)
  file(RELATIVE_PATH relative_path ${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
  string(REGEX REPLACE "/$" "" path "$ORIGIN/${relative_path}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}")
endfunction()
