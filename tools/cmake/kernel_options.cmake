# SPDX-License-Identifier: Apache-2.0
#
# With which options each source of kernels/ is compiled: fast where an inference waits for it, small
# everywhere else. What a list says of speed and size was measured with g++ 12
# (docs/benchmarks.md, Size); other compilers get the options that they know, too.
#
# Takes kernel_sources, host_flags, without_gaps and is_x86_64. Makes kernel_flags (for all of them),
# small_kernel_sources (for which host_flags come behind), and takes out of kernel_sources what another
# processor's instructions are needed for.

# Vector code for x86-64 above this is left out: which of it a machine runs is chosen when a program starts,
# among what DEPUTY_CPU can name. A library for known processors can do without 0.7 MB for AVX-512.
set(cpu_levels generic avx2 avx512 amx)
set(DEPUTY_MAX_CPU amx CACHE STRING "Vector code up to: generic, avx2, avx512 or amx, which is all")
set_property(CACHE DEPUTY_MAX_CPU PROPERTY STRINGS ${cpu_levels})
list(FIND cpu_levels "${DEPUTY_MAX_CPU}" max_cpu_level)
if(max_cpu_level LESS 0)
  message(FATAL_ERROR "DEPUTY_MAX_CPU: expected generic, avx2, avx512 or amx, found '${DEPUTY_MAX_CPU}'")
endif()
set_property(SOURCE kernels/cpu/cpu.cc APPEND PROPERTY COMPILE_DEFINITIONS
             DEPUTY_MAX_CPU_LEVEL=${max_cpu_level})

# Kernels are plain loops that the compiler must turn into vector code: g++ 12 does so from -O3 on,
# and with conditions in the loop only if it may compute both sides, and square roots only if nobody
# wants errno (-fno-math-errno above). None changes a result. Of functions that recurse over axes it
# would make a variant for every depth, which takes four times as long to compile and is no faster.
set(kernel_flags "")
if(NOT DEPUTY_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(kernel_flags -O3 -fno-trapping-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A loop of a few instructions takes half as long again where it lies across a cache line.
    list(APPEND kernel_flags -fno-ipa-cp-clone -falign-loops=32)
    list(APPEND kernel_flags ${without_gaps})
  endif()
endif()
# Most of what operators are made of is no loop, or one whose fast form is in kernels/vector or
# kernels/cpu: preparation, checks, cuts for threads, the reference. It is compiled with the options of
# host code (-Os: two thirds of the code), and no inference takes longer for it.
set(small_kernel_sources "")
foreach(family activation arithmetic common/elements common/flex_map common/fold common/kernel
               common/rescale common/sparse concat control
               conv/conv conv/conv_reference conv/depthwise conv/depthwise_int8 conv/strip custom
               linalg/batch_matmul linalg/dense_weights lstm quantize rearrange registry resource
               rnn rnn/activate rnn/lstm_cell rnn/rnn_layer shape slice softmax space_batch
               stablehlo)
  list(APPEND small_kernel_sources ${PROJECT_SOURCE_DIR}/kernels/${family}.cc)
endforeach()
list(REMOVE_ITEM kernel_sources ${small_kernel_sources})
# Of the rest, families of many types whose fast paths are in kernels/vector: -O3 would make twice the
# code of them, in half as much time again, and none is faster for it. The second list has plain loops
# that do run as vectors. Blocks in the order of the source are 2 % less code, and as fast but in three.
if(kernel_flags AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(plain_order -freorder-blocks-algorithm=simple)
  set_property(SOURCE kernels/compare.cc kernels/conv/conv_plain.cc kernels/search.cc
               APPEND PROPERTY COMPILE_OPTIONS -O2)
  # Loops of a few instructions that are slower by a tenth to a half across any line of the cache.
  set_property(SOURCE kernels/conv/conv_plain.cc kernels/conv/repeat.cc
               APPEND PROPERTY COMPILE_OPTIONS -falign-loops=64)
  foreach(family audio common/broadcast detection mediapipe normalize post_process random
                 reduce signal text unary window)
    set_property(SOURCE kernels/${family}.cc APPEND PROPERTY COMPILE_OPTIONS -O2 ${plain_order})
  endforeach()
  foreach(family binary cast fake_quant fill linalg/bf16_layer linalg/hybrid linalg/matmul
                 linalg/matrix_layer resize rnn/basic_lstm rnn/lstm_integer rnn/svdf segment)
    set_property(SOURCE kernels/${family}.cc APPEND PROPERTY COMPILE_OPTIONS
                 -O2 ${plain_order} -ftree-vectorize -fvect-cost-model=dynamic)
  endforeach()
  # Families whose rests behind loops of vectors may be loops, see below.
  foreach(family conv/conv_transpose gather linalg/gemm)
    set_property(SOURCE kernels/${family}.cc APPEND PROPERTY COMPILE_OPTIONS
                 --param=max-completely-peel-times=4)
  endforeach()
  # Their inner loops are faster without the code for what is seldom among them.
  set_property(SOURCE kernels/compare.cc kernels/conv/conv_plain.cc APPEND PROPERTY COMPILE_OPTIONS
               -freorder-blocks-and-partition)
endif()
# What vector code is made of calls nobody back and throws nothing: it needs no tables for unwinding.
# (A backtrace of a library without debug information ends there.)
set(leaf_flags "")
if(kernel_flags AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(leaf_flags -fno-exceptions -fno-asynchronous-unwind-tables)
endif()
foreach(source IN LISTS kernel_sources)
  get_filename_component(name ${source} NAME)
  if(NOT name MATCHES "^(simd|vector)_")
    continue()
  endif()
  if(NOT is_x86_64 AND name MATCHES "_avx")
    list(REMOVE_ITEM kernel_sources ${source})
    continue()
  endif()
  set(flags ${leaf_flags})
  if(leaf_flags AND is_x86_64 AND name STREQUAL vector_generic.cc)
    list(APPEND flags -O2)  # for machines without AVX2: vectors for whole blocks alone
  endif()
  # What is left over behind a loop of vectors, up to 31 elements, becomes a loop, not a copy for each.
  if(leaf_flags AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND name MATCHES "^vector_avx")
    list(APPEND flags --param=max-completely-peel-times=4)
  endif()
  # Code that is made of intrinsics or of small arrays in registers: -O3 makes more of it, no faster,
  # and puts the arrays of the generic table into memory. (Of VNNI -O2 makes slower code.)
  set(of_intrinsics "^simd_(avx2(|_int16|_depthwise_int8|_depthwise_lines_int8)|avx512_depthwise)\\.cc$")
  if(leaf_flags AND name MATCHES "${of_intrinsics}")
    list(APPEND flags -O2 -fno-tree-vectorize)
  endif()
  # For machines without AVX-512, or without any: layers take 1.05 times as long in the smaller code,
  # networks less than 1.01.
  if(leaf_flags AND is_x86_64 AND name MATCHES "^simd_(avx2_depthwise|generic_winograd)\\.cc$")
    list(APPEND flags -Os)
  endif()
  if(leaf_flags AND is_x86_64 AND name STREQUAL simd_generic.cc)
    list(APPEND flags -O2)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND name MATCHES "^vector")
    list(APPEND flags -Wno-psabi)  # wide vectors are passed within a file alone
  endif()
  if(name MATCHES "_avx")
    list(APPEND flags -mavx2)
    if(name MATCHES "^simd")
      list(APPEND flags -mfma -mf16c -ffp-contract=fast)
    endif()
  endif()
  if(name MATCHES "avx512")
    list(APPEND flags -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  endif()
  if(name MATCHES "bf16")
    list(APPEND flags -mavx512bf16)
  endif()
  if(name MATCHES "vnni")
    list(APPEND flags -mavx512vnni)
  endif()
  # Precompiled headers are those of other flags.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}"
                              SKIP_PRECOMPILE_HEADERS ON)
  if((max_cpu_level LESS 3 AND name MATCHES "_amx") OR (max_cpu_level LESS 2 AND name MATCHES "_avx512")
     OR (max_cpu_level LESS 1 AND name MATCHES "_avx"))
    list(REMOVE_ITEM kernel_sources ${source})
  endif()
endforeach()
