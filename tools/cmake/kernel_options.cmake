# SPDX-License-Identifier: Apache-2.0
#
# Compiler options of each source of kernels/: optimised for speed if it contributes to the time of
# an inference, for size otherwise. Statements about speed and size were measured with g++ 12
# (docs/benchmarks.md, Size); other compilers get the options that they support.
#
# Reads kernel_sources, host_flags, without_gaps and is_x86_64. Sets kernel_flags (for all of them)
# and small_kernel_sources (compiled with host_flags after those), and removes from kernel_sources
# files for other processors.

# Vector code for x86-64 above this level is omitted. At start-up the program selects a level among
# those that DEPUTY_CPU can name. A library for known processors can save 0.7 MB for AVX-512.
set(cpu_levels generic avx2 avx512 amx)
set(DEPUTY_MAX_CPU amx CACHE STRING "Highest vector code level: generic, avx2, avx512 or amx (all)")
set_property(CACHE DEPUTY_MAX_CPU PROPERTY STRINGS ${cpu_levels})
list(FIND cpu_levels "${DEPUTY_MAX_CPU}" max_cpu_level)
if(max_cpu_level LESS 0)
  message(FATAL_ERROR "DEPUTY_MAX_CPU: expected generic, avx2, avx512 or amx, found '${DEPUTY_MAX_CPU}'")
endif()
set_property(SOURCE kernels/cpu/cpu.cc APPEND PROPERTY COMPILE_DEFINITIONS
             DEPUTY_MAX_CPU_LEVEL=${max_cpu_level})

# Kernels are plain loops that the compiler must vectorise. g++ 12 vectorises from -O3 on; loops
# with conditions only if it may execute both branches, and square roots only without errno
# (-fno-math-errno above). None of these flags changes a result. -fno-ipa-cp-clone: g++ would clone
# functions that recurse over axes for every depth, which takes four times as long to compile and is
# no faster.
set(kernel_flags "")
if(NOT DEPUTY_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(kernel_flags -O3 -fno-trapping-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A loop of a few instructions takes 1.5 times as long if it crosses a cache line.
    list(APPEND kernel_flags -fno-ipa-cp-clone -falign-loops=32)
    list(APPEND kernel_flags ${without_gaps})
  endif()
endif()
# Most of the code of operators contains no loop, or one whose fast variant is in kernels/vector or
# kernels/cpu: preparation, checks, partitioning for threads, the reference. It is compiled with the
# options of host code (-Os: two thirds of the code size), without any slower inference.
set(small_kernel_sources "")
foreach(family activation arithmetic common/elements common/flex_map common/fold common/kernel
               common/refused_options common/rescale common/sparse concat control
               conv/conv conv/conv_reference conv/depthwise conv/depthwise_int8 conv/depthwise_uint8
               conv/strip custom
               linalg/batch_matmul linalg/dense_weights lstm quantize random rearrange registry resource
               rnn rnn/activate rnn/lstm_cell rnn/rnn_layer shape slice softmax space_batch text
               stablehlo)
  list(APPEND small_kernel_sources ${PROJECT_SOURCE_DIR}/kernels/${family}.cc)
endforeach()
list(REMOVE_ITEM kernel_sources ${small_kernel_sources})
# Among the other files, families of many types whose fast paths are in kernels/vector: -O3 would
# double their code and take 1.5 times as long to compile, without any speedup. The second list has
# plain loops that are vectorised. Basic blocks in source order are 2 % less code, and as fast in
# all but three.
if(kernel_flags AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(plain_order -freorder-blocks-algorithm=simple)
  set_property(SOURCE kernels/compare.cc kernels/conv/conv_plain.cc kernels/search.cc
               APPEND PROPERTY COMPILE_OPTIONS -O2)
  # Loops of a few instructions that are 10 to 50 % slower if they cross a cache line.
  set_property(SOURCE kernels/conv/conv_plain.cc kernels/conv/repeat.cc
               APPEND PROPERTY COMPILE_OPTIONS -falign-loops=64)
  foreach(family audio common/broadcast detection mediapipe normalize post_process
                 reduce signal unary window)
    set_property(SOURCE kernels/${family}.cc APPEND PROPERTY COMPILE_OPTIONS -O2 ${plain_order})
  endforeach()
  foreach(family binary cast fake_quant fill linalg/bf16_layer linalg/hybrid linalg/matmul
                 linalg/matrix_layer resize rnn/basic_lstm rnn/lstm_integer rnn/svdf segment)
    set_property(SOURCE kernels/${family}.cc APPEND PROPERTY COMPILE_OPTIONS
                 -O2 ${plain_order} -ftree-vectorize -fvect-cost-model=dynamic)
  endforeach()
  # Families whose vector remainders may stay loops, see below.
  foreach(family conv/conv_transpose gather linalg/gemm)
    set_property(SOURCE kernels/${family}.cc APPEND PROPERTY COMPILE_OPTIONS
                 --param=max-completely-peel-times=4)
  endforeach()
  # Their inner loops are faster with cold code moved out of them.
  set_property(SOURCE kernels/compare.cc kernels/conv/conv_plain.cc APPEND PROPERTY COMPILE_OPTIONS
               -freorder-blocks-and-partition)
endif()
# Vector code contains no callbacks and does not throw, so it needs no unwind tables. (A backtrace
# of a library without debug information ends there.)
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
    list(APPEND flags -O2)  # for machines without AVX2: vectorise whole blocks only
  endif()
  # The remainder after a vector loop, up to 31 elements, stays a loop instead of being fully
  # unrolled.
  if(leaf_flags AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND name MATCHES "^vector_avx")
    list(APPEND flags --param=max-completely-peel-times=4)
  endif()
  # Code made of intrinsics or of small arrays in registers: -O3 makes it larger without speedup,
  # and spills the arrays of the generic table to memory. (-O2 makes the VNNI code slower.)
  set(of_intrinsics "^simd_(avx2(|_int16|_depthwise_int8|_depthwise_lines_int8)|avx512_depthwise)\\.cc$")
  if(leaf_flags AND name MATCHES "${of_intrinsics}")
    list(APPEND flags -O2 -fno-tree-vectorize)
  endif()
  # For machines without AVX-512, or without AVX: layers take 1.05 times as long in the smaller
  # code, networks less than 1.01 times.
  if(leaf_flags AND is_x86_64 AND name MATCHES "^simd_(avx2_depthwise|generic_winograd)\\.cc$")
    list(APPEND flags -Os)
  endif()
  if(leaf_flags AND is_x86_64 AND name STREQUAL simd_generic.cc)
    list(APPEND flags -O2)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND name MATCHES "^vector")
    list(APPEND flags -Wno-psabi)  # wide vectors are passed within one file only
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
  # The precompiled headers were built with other flags.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}"
                              SKIP_PRECOMPILE_HEADERS ON)
  if((max_cpu_level LESS 3 AND name MATCHES "_amx") OR (max_cpu_level LESS 2 AND name MATCHES "_avx512")
     OR (max_cpu_level LESS 1 AND name MATCHES "_avx"))
    list(REMOVE_ITEM kernel_sources ${source})
  endif()
endforeach()
