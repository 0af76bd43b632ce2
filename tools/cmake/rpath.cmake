# SPDX-License-Identifier: Apache-2.0
#
# Where installed programs and libraries look for libdeputy.

# deputy_find_libraries_from(<target> <folder>): `target`, installed in `folder`, finds our libraries
# by the way from there to them, so that an installation works under any prefix, moved or not, and
# without ldconfig. Who wants none of it (Debian's packages) says -DCMAKE_SKIP_INSTALL_RPATH=ON.
function(deputy_find_libraries_from target folder)
  file(RELATIVE_PATH way ${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
  string(REGEX REPLACE "/$" "" path "$ORIGIN/${way}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}")
endfunction()
