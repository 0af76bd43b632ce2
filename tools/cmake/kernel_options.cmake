# SPDX-License-Identifier: Apache-2.0
#
# Compiler options of kernels/: the flags of an instruction set by folder, the optimisation by class
# of file. Statements about speed and size were measured with g++ 12 (docs/benchmarks.md, Size); other
# compilers get the options that they support.
#
# Reads kernel_sources, host_flags and without_gaps. Sets is_x86_64 and is_aarch64, kernel_flags (for
# all kernels) and small_kernel_sources (compiled with host_flags after those), and removes from
# kernel_sources files for other processors.

set(is_x86_64 FALSE)
set(is_aarch64 FALSE)
set(is_armv7 FALSE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(is_x86_64 TRUE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(is_aarch64 TRUE)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^armv[78]l?$")
  set(is_armv7 TRUE)
endif()

# Vector code above this level is omitted. At start-up the program selects a level among those that
# DEPUTY_CPU can name. A library for known x86-64 processors can save 0.7 MB for AVX-512.
set(cpu_levels generic)
if(is_x86_64)
  list(APPEND cpu_levels avx2 avx512 amx)
elseif(is_aarch64)
  list(APPEND cpu_levels neon neon_dot neon_fp16 neon_i8mm neon_bf16)
elseif(is_armv7)
  list(APPEND cpu_levels neon32)
endif()
list(GET cpu_levels -1 highest_level)
list(JOIN cpu_levels ", " level_names)
set(DEPUTY_MAX_CPU ${highest_level} CACHE STRING "Highest vector code level: ${level_names}")
set_property(CACHE DEPUTY_MAX_CPU PROPERTY STRINGS ${cpu_levels})
list(FIND cpu_levels "${DEPUTY_MAX_CPU}" max_cpu_level)
if(max_cpu_level LESS 0)
  message(FATAL_ERROR "DEPUTY_MAX_CPU: expected one of ${level_names}, found '${DEPUTY_MAX_CPU}'")
endif()
set(omitted_levels ${cpu_levels})
foreach(level RANGE ${max_cpu_level})
  list(POP_FRONT omitted_levels)
endforeach()
foreach(level IN LISTS omitted_levels)
  string(TOUPPER ${level} level)
  set_property(SOURCE kernels/cpu/cpu.cc APPEND PROPERTY COMPILE_DEFINITIONS DEPUTY_WITHOUT_${level})
endforeach()

# Kernels are plain loops that the compiler must vectorise. g++ 12 vectorises from -O3 on; loops
# with conditions only if it may execute both branches, and square roots only without errno
# (-fno-math-errno of compiler_settings.cmake). None of these flags changes a result.
# -fno-ipa-cp-clone: g++ would clone functions that recurse over axes for every depth, which takes
# four times as long to compile and is no faster.
set(kernel_flags "")
set(gnu_release FALSE)
if(NOT DEPUTY_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(kernel_flags -O3 -fno-trapping-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(gnu_release TRUE)
    # A loop of a few instructions takes 1.5 times as long if it crosses a cache line.
    list(APPEND kernel_flags -fno-ipa-cp-clone -falign-loops=32)
    list(APPEND kernel_flags ${without_gaps})
  endif()
endif()

# ---------------------------------------------------------------------------------------------
# Operators: classes of files. kernel_flags apply to files of no class.

# deputy_kernel_class(OPTIONS <option>... FILES <name>...): adds options to kernels/<name>.cc.
function(deputy_kernel_class)
  cmake_parse_arguments(PARSE_ARGV 0 class "" "" "OPTIONS;FILES")
  foreach(name IN LISTS class_FILES)
    set_property(SOURCE kernels/${name}.cc APPEND PROPERTY COMPILE_OPTIONS ${class_OPTIONS})
  endforeach()
endfunction()

# Files with plain loops that are vectorised.
set(plain_loops gather pad pool)
# Families of many types whose fast paths are in kernels/vector: -O3 would double their code and take
# 1.5 times as long to compile, without any speedup.
set(many_types audio common/broadcast detection mediapipe normalize post_process reduce signal unary
    window)
# Families of many types with plain loops that are vectorised.
set(many_types_with_loops binary cast fake_quant fill linalg/bf16_layer linalg/hybrid linalg/matmul
    linalg/matrix_layer resize rnn/basic_lstm rnn/lstm_integer rnn/svdf segment)
set(many_types_with_cold_code compare conv/conv_plain search)
if(gnu_release)
  # With basic blocks in source order the code is 2 % smaller, and as fast in all files except
  # many_types_with_cold_code.
  set(plain_order -freorder-blocks-algorithm=simple)
  deputy_kernel_class(OPTIONS -O2 FILES ${many_types_with_cold_code})
  # These files have loops of a few instructions that are 10 to 50 % slower if they cross a cache
  # line.
  deputy_kernel_class(OPTIONS -falign-loops=64 FILES conv/conv_plain conv/repeat)
  deputy_kernel_class(OPTIONS -O2 ${plain_order} FILES ${many_types})
  deputy_kernel_class(OPTIONS -O2 ${plain_order} -ftree-vectorize -fvect-cost-model=dynamic
                      FILES ${many_types_with_loops})
  # In these files the remainder after a vector loop, as in kernels/cpu below, stays a loop instead
  # of being fully unrolled.
  deputy_kernel_class(OPTIONS --param=max-completely-peel-times=4
                      FILES conv/conv_transpose gather linalg/gemm)
  # The inner loops of these files are faster with cold code moved out of them.
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")  # there, a jump between the parts of a function reaches 1 MiB only
    deputy_kernel_class(OPTIONS -freorder-blocks-and-partition FILES compare conv/conv_plain)
  endif()
endif()

# Most of the code of operators contains no loop, or one whose fast variant is in kernels/vector or
# kernels/cpu: preparation, checks, partitioning for threads, the reference. It is compiled with the
# options of host code (-Os: two thirds of the code size), without any slower inference: all files
# of kernels/ itself that are in no other class, and these.
set(small_files common/elements common/flex_map common/fold common/kernel common/refused_options
    common/rescale common/sparse conv/conv conv/conv_reference conv/depthwise conv/depthwise_int8
    conv/depthwise_uint8 conv/strip cpu/cpu cpu/features linalg/batch_matmul linalg/dense_weights
    rnn/activate rnn/lstm_cell rnn/rnn_layer)
set(small_kernel_sources ${kernel_sources})
list(FILTER small_kernel_sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/kernels/[^/]*$")
foreach(name IN LISTS plain_loops many_types many_types_with_loops many_types_with_cold_code)
  list(REMOVE_ITEM small_kernel_sources ${PROJECT_SOURCE_DIR}/kernels/${name}.cc)
endforeach()
list(TRANSFORM small_files REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/kernels/\\1.cc")
list(APPEND small_kernel_sources ${small_files})
list(REMOVE_ITEM kernel_sources ${small_kernel_sources})

# ---------------------------------------------------------------------------------------------
# Instruction sets: a folder of kernels/cpu each.

# The folders of the instruction sets. For each, `level_` is the level of DEPUTY_MAX_CPU below which
# it is omitted, and `flags_` are its compiler flags.
set(instruction_sets common x86_64/avx2 x86_64/avx512 x86_64/avx512_bf16 x86_64/avx512_fp16
    x86_64/avx512_vnni x86_64/amx
    aarch64/neon aarch64/neon_dot aarch64/neon_fp16 aarch64/neon_i8mm aarch64/neon_bf16
    armv7/neon32)
set(level_common 0)
set(flags_common "")
set(level_x86_64/avx2 1)
set(flags_x86_64/avx2 -mavx2 -mfma -mf16c)
set(level_x86_64/avx512 2)
set(flags_x86_64/avx512 ${flags_x86_64/avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl
    -mprefer-vector-width=512)
set(level_x86_64/avx512_bf16 2)
set(flags_x86_64/avx512_bf16 ${flags_x86_64/avx512} -mavx512bf16)
set(level_x86_64/avx512_fp16 2)
set(flags_x86_64/avx512_fp16 ${flags_x86_64/avx512} -mavx512fp16)
set(level_x86_64/avx512_vnni 2)
set(flags_x86_64/avx512_vnni ${flags_x86_64/avx512} -mavx512vnni)
set(level_x86_64/amx 3)
set(flags_x86_64/amx ${flags_x86_64/avx512} -mavx512bf16)
set(level_aarch64/neon 1)
set(flags_aarch64/neon "")
set(level_aarch64/neon_dot 2)
set(flags_aarch64/neon_dot -march=armv8.2-a+dotprod)
set(level_aarch64/neon_fp16 3)
set(flags_aarch64/neon_fp16 -march=armv8.2-a+fp16)
set(level_aarch64/neon_i8mm 4)
set(flags_aarch64/neon_i8mm -march=armv8.2-a+dotprod+i8mm)
set(level_aarch64/neon_bf16 5)
set(flags_aarch64/neon_bf16 -march=armv8.2-a+bf16)
set(level_armv7/neon32 1)
set(flags_armv7/neon32 -mfpu=neon)
# A processor's folders apply to that processor only.
set(processor_folders common)
if(is_x86_64)
  list(APPEND processor_folders x86_64)
elseif(is_aarch64)
  list(APPEND processor_folders aarch64)
elseif(is_armv7)
  list(APPEND processor_folders armv7)
endif()

foreach(folder IN LISTS instruction_sets)
  set(sources ${kernel_sources})
  list(FILTER sources INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/kernels/cpu/${folder}/[^/]*$")
  string(REGEX REPLACE "/.*" "" processor ${folder})
  if(NOT processor IN_LIST processor_folders OR max_cpu_level LESS level_${folder})
    list(REMOVE_ITEM kernel_sources ${sources})
    continue()
  endif()
  # Vector code contains no callbacks and does not throw, so it needs no unwind tables. (A backtrace
  # of a library without debug information ends there.)
  set(flags ${flags_${folder}})
  if(gnu_release)
    list(APPEND flags -fno-exceptions -fno-asynchronous-unwind-tables)
  endif()
  # These files do not use the precompiled headers, which were built with other flags.
  set_property(SOURCE ${sources} PROPERTY COMPILE_OPTIONS ${flags})
  set_property(SOURCE ${sources} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  # The loops of kernels/vector, and those of elements.cc, have equal results on all machines: a*b+c
  # is not contracted to FMA.
  set(vector_loops ${sources})
  list(FILTER vector_loops INCLUDE REGEX "/((generic_)?vector|elements|attention)\\.cc$")
  list(REMOVE_ITEM sources ${vector_loops})
  if(NOT folder STREQUAL common)
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=fast)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ warns that the calling convention of wide vectors depends on flags; here they are passed
    # within one file only.
    set_property(SOURCE ${vector_loops} APPEND PROPERTY COMPILE_OPTIONS -Wno-psabi)
  endif()
endforeach()

if(gnu_release AND is_x86_64)
  # The remainder after a vector loop, up to 31 elements, stays a loop instead of being fully
  # unrolled.
  deputy_kernel_class(OPTIONS --param=max-completely-peel-times=4
                      FILES cpu/x86_64/avx2/vector cpu/x86_64/avx512/vector)
  # These files consist of intrinsics or of small arrays in registers: -O3 makes their code larger
  # without speedup. (-O2 makes the VNNI code slower.)
  deputy_kernel_class(OPTIONS -O2 -fno-tree-vectorize
                      FILES cpu/x86_64/avx2/gemm cpu/x86_64/avx2/int16 cpu/x86_64/avx2/depthwise_int8
                            cpu/x86_64/avx2/depthwise_lines_int8 cpu/x86_64/avx512/depthwise
                            cpu/x86_64/avx512_fp16/gemm)
  # These files are for machines without AVX-512, or without AVX: layers take 1.05 times as long in
  # the smaller code, networks less than 1.01 times.
  deputy_kernel_class(OPTIONS -Os FILES cpu/x86_64/avx2/depthwise cpu/common/generic_winograd)
  # -O3 would spill the arrays of the generic table to memory. Its loops are for machines without
  # AVX2, and only whole blocks are vectorised.
  deputy_kernel_class(OPTIONS -O2 FILES cpu/common/generic cpu/common/generic_vector)
endif()
if(gnu_release AND is_aarch64)
  # These files consist of intrinsics: -O3 makes their code larger without speedup.
  deputy_kernel_class(OPTIONS -O2 -fno-tree-vectorize
                      FILES cpu/aarch64/neon/depthwise cpu/aarch64/neon/depthwise_five_taps
                            cpu/aarch64/neon/depthwise_int8 cpu/aarch64/neon/gemm
                            cpu/aarch64/neon/gemm_int8 cpu/aarch64/neon/vector
                            cpu/aarch64/neon_dot/gemm_int8
                            cpu/aarch64/neon_dot/depthwise_lines_int8
                            cpu/aarch64/neon_i8mm/gemm_int8 cpu/aarch64/neon_bf16/gemm
                            cpu/aarch64/neon_fp16/gemm)
  # The order of instructions in this file suits in-order processors.
  deputy_kernel_class(OPTIONS -fno-tree-ter -fno-schedule-insns -fno-schedule-insns2
                      FILES cpu/aarch64/neon/gemm)
  deputy_kernel_class(OPTIONS -fno-schedule-insns
                      FILES cpu/aarch64/neon/depthwise_five_taps cpu/aarch64/neon_fp16/gemm)
endif()
if(gnu_release AND is_armv7)
  # These files consist of intrinsics: -O3 makes their code larger without speedup.
  deputy_kernel_class(OPTIONS -O2 -fno-tree-vectorize
                      FILES cpu/armv7/neon32/gemm cpu/armv7/neon32/gemm_int8)
endif()
if(is_aarch64)
  # Requantisation rounds a product before it adds a constant.
  deputy_kernel_class(OPTIONS -ffp-contract=off
                      FILES cpu/aarch64/neon/gemm_int8 cpu/aarch64/neon_dot/gemm_int8
                            cpu/aarch64/neon_dot/depthwise_lines_int8 cpu/aarch64/neon_i8mm/gemm_int8)
endif()
