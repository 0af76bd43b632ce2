# SPDX-License-Identifier: Apache-2.0
#
# With -DDEPUTY_GLIBC_STUBS=DIR (tools/glibc_stubs.sh) everything is linked for GNU's C library 2.28 and contains
# libstdc++, so that the wheel also runs on older systems. The compiler and its options stay the same. libgcc stays
# shared: its archive needs a function of the C library 2.35, as this machine's shared one does, which the linker
# would report for programs.
set(DEPUTY_GLIBC_STUBS "" CACHE PATH "Stub libraries of an older C library to link, see tools/glibc_stubs.sh")
mark_as_advanced(DEPUTY_GLIBC_STUBS)
if(DEPUTY_GLIBC_STUBS)
  add_link_options(-B${DEPUTY_GLIBC_STUBS} -L${DEPUTY_GLIBC_STUBS}
                   $<$<LINK_LANGUAGE:CXX>:-static-libstdc++> -Wl,--as-needed -Wl,--gc-sections
                   -Wl,--exclude-libs,ALL -Wl,--allow-shlib-undefined)
  set(CMAKE_C_STANDARD_LIBRARIES "-lpthread -ldl")
  set(CMAKE_CXX_STANDARD_LIBRARIES "-lpthread -ldl")
endif()
