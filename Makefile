# SPDX-License-Identifier: Apache-2.0
#
# Shortcuts to CMake; `make help` lists the targets. On a fresh Debian 12, `make run` and `make
# test` are sufficient: both call `setup`, which installs missing packages of tools/packages.txt.

BUILD   ?= build/release
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX  ?= /usr/local
DESTDIR ?=
# Additional arguments for cmake, ctest, the benchmark program and tools/bench/compare.py.
CMAKE_ARGS ?=
CTEST_ARGS ?=
BENCH_ARGS ?=
COMPARE_ARGS ?=

# Warnings are errors in CI.
WERROR := $(if $(CI),ON,OFF)
CMAKE  := cmake -S . -G Ninja -DDEPUTY_WERROR=$(WERROR)
# ctest, with the estimated remaining time after each test.
CTEST  := $(CURDIR)/tools/run_tests.py --durations $(CURDIR)/tests/durations.txt -- \
          --output-on-failure --no-tests=error -j $(JOBS)
# Prints one line per step and writes its output to a log; V=1 shows the output instead.
STEP   := tools/step.sh
DIGITS := examples/digits
COMPARE_DELEGATES = --compare gpu --compare npu_stub \
                    --compare $(BUILD)/examples/libmindspore_plugin.so --compare xnnpack
READ_DIGITS := --image $(DIGITS)/images --labels $(DIGITS)/labels.txt --expect-from-name
# Our C and C++ files; `git ls-files` would miss new ones.
SOURCES = $(shell find c_api core kernels compiler gpu_cl npu_stub mindspore bridges bindings litert tests tools \
            examples \
            \( -name '*.cc' -o -name '*.c' -o -name '*.h' -o -name '*.inc' \) 2>/dev/null)

.DEFAULT_GOAL := all
# Recipes call make again after `setup`, because everything else needs its packages (cmake, ninja).
MAKEFLAGS += --no-print-directory

## all      build the libraries, the command and the tests
.PHONY: all
all: configure
	cmake --build $(BUILD) -j $(JOBS)

## command  build what `make run` needs: the libraries, the command and the delegates it compares
.PHONY: command
command: configure
	cmake --build $(BUILD) -j $(JOBS) --target command

.PHONY: configure
configure:
	@$(CMAKE) -B $(BUILD) $(CMAKE_ARGS)

## help     this list
.PHONY: help
help:
	@sed -n -e 's/^##          /                /p' -e 's/^## /  make /p' Makefile

## setup    install the Debian packages that are missing (as root, or through sudo)
.PHONY: setup setup-check
setup:
	@tools/setup.sh tools/packages.txt
setup-check:
	@tools/setup.sh tools/packages.txt tools/packages-check.txt

## run      classify handwritten digits with the two included models and compare all available
##          delegates in a table
.PHONY: run
run: setup
	@$(STEP) $(BUILD)/configure.log "configure" $(CMAKE) -B $(BUILD) $(CMAKE_ARGS)
	@$(STEP) $(BUILD)/build.log "build the libraries, the command and the delegates" \
	  cmake --build $(BUILD) -j $(JOBS) --target command
	$(BUILD)/deputy run $(DIGITS)/digits_float.tflite $(READ_DIGITS)
	$(BUILD)/deputy run $(DIGITS)/digits_int8.tflite $(READ_DIGITS)
	@# Delegates that are not available (OpenCL without a device) get a row with the reason.
	$(BUILD)/deputy run $(DIGITS)/digits_float.tflite $(READ_DIGITS) $(COMPARE_DELEGATES)

## test     build and run every test
.PHONY: test
test: setup
	@$(STEP) $(BUILD)/configure.log "configure" $(CMAKE) -B $(BUILD) $(CMAKE_ARGS)
	@$(STEP) $(BUILD)/build.log "build everything and the tests" cmake --build $(BUILD) -j $(JOBS)
	cd $(BUILD) && $(CTEST) $(CTEST_ARGS)

## test-all `test`, and everything that it samples: every operator case and golden row on every
##          OpenCL target. Less than an hour on two cores; part of a release
.PHONY: test-all
test-all: setup
	@$(MAKE) all
	cd $(BUILD) && $(CTEST) -C all $(CTEST_ARGS)

OWN_PROCESS = $(patsubst %,%:$(DIGITS)/digits_float.tflite,cpu xnnpack gpu) \
              $(patsubst %,%:$(BUILD)/mobilenet_v2_float32.tflite,xnnpack npu_stub gpu)
## bench    benchmark the kernels, the included models, delegates in their own processes, and TensorFlow Lite
##          if it is installed
.PHONY: bench
bench: setup
	@$(MAKE) all
	$(BUILD)/deputy_bench $(BENCH_ARGS)
	$(BUILD)/deputy bench $(DIGITS)/digits_float.tflite
	$(BUILD)/deputy bench $(DIGITS)/digits_int8.tflite
	cmake --build $(BUILD) -j $(JOBS) --target write_mobilenet_v2
	$(BUILD)/tests/write_mobilenet_v2 float32 $(BUILD)/mobilenet_v2_float32.tflite
	python3 tools/bench/balance.py --build $(BUILD) $(DIGITS)/*.tflite $(BUILD)/mobilenet_v2_float32.tflite
	python3 tools/bench/own_process.py $(BUILD) $(OWN_PROCESS)
	python3 tools/bench/compare.py --build $(BUILD) $(COMPARE_ARGS)

# Directories that check-tidy checks, in three lists; each directory's .clang-tidy lists the checks
# that are disabled there. In the second list (code that reads external files and drivers) the
# analyzer does not follow calls; in the third it is disabled: it would take two fifths of the time,
# for templates of kernels, the command and helpers of the tests, which the sanitizers cover with
# hostile input. The tests take as long as all other directories: make check-tidy TIDY_FOLDERS=tests.
TIDY_FOLDERS ?= core|c_api
TIDY_SHALLOW_FOLDERS ?= compiler|gpu_cl|litert|mindspore|bridges
TIDY_PLAIN_FOLDERS ?= kernels|tools|tests/(cases|conformance|plugins|fuzz)
# Disabled for the headers of bindings/cpp, which check-tidy checks in one file: the generated schema
# breaks the first two; upstream's signatures and macros break the others.
CPP_TIDY_DISABLED := -clang-analyzer-*,-modernize-make-unique,-readability-container-size-empty,$\
  -bugprone-macro-parentheses,-bugprone-signed-char-misuse,-modernize-use-equals-default,$\
  -performance-*,-readability-non-const-parameter
# Size limits of the stripped libdeputy in bytes: the complete one, and one with
# DEPUTY_MAX_CPU=avx2.
SIZE_LIMIT       := 3431264
SMALL_SIZE_LIMIT := 2677600
## check    format, English, Python scripts and types, include rules, memory orders, symbols, ABI, size, clang-tidy, clang warnings
.PHONY: check check-format check-english check-scripts check-types check-includes check-memory-order check-symbols \
        check-size check-site check-tidy check-clang
check: setup-check
	@$(MAKE) check-format check-english check-scripts check-types check-includes check-memory-order check-symbols \
	  check-abi check-size check-site check-tidy check-clang
check-format:
	clang-format --dry-run --Werror $(SOURCES)
check-english:
	tools/check_english.py --self-test
	tools/check_english.py
	@# The commits of a branch; a shallow clone or main itself has none.
	base=$$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD) && \
	  tools/check_english.py --subjects $$base..HEAD
check-scripts: export PYTHONDONTWRITEBYTECODE = 1
check-scripts:
	tools/check_scripts.py --self-test
	tools/check_scripts.py
check-types:
	tools/check_types.py --self-test
	tools/check_types.py
check-includes:
	tools/check_includes.py --self-test
	tools/check_includes.py
check-memory-order:
	tools/check_memory_order.py --self-test
	tools/check_memory_order.py
check-symbols: all
	tools/check_symbols.py $(BUILD)
	tools/check_exports_tested.py --self-test
	tools/check_exports_tested.py
	tools/check_includes.py --objects $(BUILD)
## abi-dump record the ABI of the libraries, with which `make check` compares, in tests/data/abi
.PHONY: check-abi abi-dump
check-abi: all
	tools/check_abi.py --self-test $(BUILD)
	tools/check_abi.py $(BUILD)
abi-dump: all
	tools/check_abi.py --write $(BUILD)
check-size: all
	$(CMAKE) -B build/small -DDEPUTY_MAX_CPU=avx2 -DDEPUTY_BUILD_TESTS=OFF -DDEPUTY_BUILD_TOOLS=OFF
	cmake --build build/small -j $(JOBS) --target deputy
	tools/check_size.py $(BUILD)/libdeputy.so $(SIZE_LIMIT)
	tools/check_size.py build/small/libdeputy.so $(SMALL_SIZE_LIMIT)
## site     build the documentation as a static site with mkdocs, into build/site
.PHONY: site
site:
	@tools/site/make_site.py build/site
check-site: site
	tests/docs/check_site.py --self-test
	tests/docs/check_site.py build/site
# check-tidy uses the compile commands of a build with clang, file by file and without precompiled
# headers.
check-tidy:
	$(CMAKE) -B build/tidy -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
	  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DDEPUTY_UNITY=OFF
	cmake --build build/tidy --target generated/schema_generated.h generated/ms_bfbs_generated.h \
	  generated/objects/objects_generated.h generated/tables/tables_generated.h
	tools/check_tidy.py build/tidy -j $(JOBS) --files '($(TIDY_FOLDERS))/.*\.cc$$'
	tools/check_tidy.py build/tidy -j $(JOBS) --files '($(TIDY_SHALLOW_FOLDERS))/.*\.cc$$' \
	  --analyzer shallow
	tools/check_tidy.py build/tidy -j $(JOBS) --files '($(TIDY_PLAIN_FOLDERS))/.*\.cc$$' --analyzer none
	(cd bindings/cpp && find . -name '*.h' | sort | sed 's|^\./\(.*\)|#include "\1"|') >build/tidy/cpp_headers.cc
	clang-tidy -quiet --header-filter='.*/include/tensorflow/lite/.*' -checks='$(CPP_TIDY_DISABLED)' \
	  build/tidy/cpp_headers.cc -- -std=c++17 -Ibuild/tidy/include
# check-clang checks clang's warnings, and that each file compiles on its own.
check-clang:
	$(CMAKE) -B build/clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
	  -DCMAKE_BUILD_TYPE=Debug -DDEPUTY_BUILD_TESTS=OFF -DDEPUTY_WERROR=ON -DDEPUTY_UNITY=OFF
	tools/check_clang.py build/clang -j $(JOBS)

## asan     the tests under the address and undefined-behaviour sanitizers
.PHONY: asan
asan: setup
	@$(MAKE) sanitize BUILD=build/asan SANITIZE=address,undefined

## ubsan    the tests under the undefined-behaviour sanitizer alone
.PHONY: ubsan
ubsan: setup
	@$(MAKE) sanitize BUILD=build/ubsan SANITIZE=undefined

## tsan     the multi-threaded tests under the thread sanitizer
.PHONY: tsan
tsan: setup
	@$(MAKE) sanitize BUILD=build/tsan SANITIZE=thread TARGET=threaded_tests CTEST_ARGS="-L threads $(CTEST_ARGS)"

# allocator_may_return_null: tests provoke failing allocations. intercept_tls_get_addr=0: g++ 12's
# leak check mistakes the memory before some thread-local variables of a loaded library for a header
# of glibc's; if the variables begin 16 bytes into a page, it reads an arbitrary address and
# crashes. The option disables the search for these headers; memory referenced by the variables is
# still found.
ASAN_OPTIONS = allocator_may_return_null=1:intercept_tls_get_addr=0
.PHONY: sanitize
sanitize: TARGET ?= all_tests
sanitize:
	@$(CMAKE) -B $(BUILD) -DDEPUTY_SANITIZE=$(SANITIZE) $(CMAKE_ARGS)
	cmake --build $(BUILD) -j $(JOBS) --target $(TARGET)
	cd $(BUILD) && ASAN_OPTIONS=$(ASAN_OPTIONS) UBSAN_OPTIONS=print_stacktrace=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0 $(CTEST) $(CTEST_ARGS)

## fuzz     FUZZ_RUNS=1000000 lifecycles of mutated models under the sanitizers, from FUZZ_SEED=1
FUZZ_RUNS ?= 1000000
FUZZ_SEED ?= 1
# Additional arguments of model_fuzz, see tests/fuzz/main.cc.
FUZZ_ARGS ?=
.PHONY: fuzz
fuzz: setup
	@$(CMAKE) -B build/asan -DDEPUTY_SANITIZE=address,undefined $(CMAKE_ARGS)
	cmake --build build/asan -j $(JOBS) --target model_fuzz
	ASAN_OPTIONS=$(ASAN_OPTIONS) UBSAN_OPTIONS=print_stacktrace=1 \
	  build/asan/tests/model_fuzz --runs $(FUZZ_RUNS) --seed $(FUZZ_SEED) --jobs $(JOBS) $(FUZZ_ARGS)

## emulate  short tests of the kernels on an emulated CPU with AVX-512 (tools/emulate.py lists the
##          required packages); EMULATE="'COMMAND' …" runs others, EMULATE_CPU= is the CPU model
EMULATE_CPU ?= tigerlake
EMULATE ?= '$(BUILD)/tests/gemm_test --gtest_filter=CpuTables.*' '$(BUILD)/tests/vector_rows_test' \
           'DEPUTY_RANDOM_GRAPHS=1 $(BUILD)/tests/row_groups_run_test' \
           'DEPUTY_RANDOM_GRAPHS=1 $(BUILD)/tests/strips_run_test'
.PHONY: emulate
emulate: all
	tools/emulate.py --cpu $(EMULATE_CPU) $(EMULATE)

# Configures build/arm-tests, the cross build with the tests for AArch64.
.PHONY: configure-arm
configure-arm: setup
	@tools/setup.sh tools/packages-arm.txt
	tools/arm_root.sh build/arm64
	$(CMAKE) -B build/arm-tests --toolchain tools/cmake/aarch64.cmake \
	  -DDEPUTY_ARM_ROOT=$(CURDIR)/build/arm64

## test-arm all tests for AArch64 but those labelled long: a cross build, whose tests run in an emulated arm64
##          Debian (as root); then those of the kernels as a Cortex-A53, a Cortex-A76 and with I8MM (docs/arm.md)
.PHONY: test-arm
ARM_CPUS  ?= cortex-a53 cortex-a76 max
ARM_TESTS ?= Cpu*:*Gemm*:*Depthwise*:Winograd*:*Vector*:*Requant*:*Half*:Kernels*:QuantizedAccuracy*
# Arguments of ctest in the emulated Debian; empty: also the longest tests.
ARM_CTEST_ARGS ?= -LE long
test-arm: configure-arm
	cmake --build build/arm-tests -j $(JOBS)
	DEPUTY_FRESH_ARCH=arm64 tools/fresh.sh --tests build/arm-tests -j $(JOBS) $(ARM_CTEST_ARGS)
	for cpu in $(ARM_CPUS); do \
	  echo "test-arm: $$cpu" && cd $(CURDIR)/build/arm-tests && \
	  qemu-aarch64 -L $(CURDIR)/build/arm64 -cpu $$cpu tests/unit_tests --gtest_brief=1 \
	    --gtest_filter='$(ARM_TESTS)' || exit 1; \
	done

## check-arm  the part of the tests for AArch64 that CI runs: tests of the kernels, operator cases and golden
##          rows on each table, and limits of executed instructions (tools/check_arm.sh, docs/arm.md)
.PHONY: check-arm
check-arm: configure-arm
	cmake --build build/arm-tests -j $(JOBS) --target deputy kernel_tests write_mobilenet_v2
	tools/check_arm.sh build/arm-tests build/arm64 $(JOBS)

## check-armv7, check-riscv64  kernel tests and operator cases for 32-bit ARM and for RISC-V, cross built and
##          run by QEMU (docs/platforms.md)
.PHONY: check-armv7 check-riscv64
check-armv7: DEBIAN := armhf
check-armv7: EMULATOR := qemu-arm -cpu max
check-riscv64: DEBIAN := riscv64
check-riscv64: EMULATOR := qemu-riscv64
check-armv7 check-riscv64: check-%: setup
	@tools/setup.sh tools/packages-ports.txt
	@# CMake removes the name of the root from each path of the build that begins with it.
	tools/arm_root.sh build/debian-$(DEBIAN) $(DEBIAN)
	$(CMAKE) -B build/$*-tests --toolchain tools/cmake/$*.cmake -DDEPUTY_PORT_ROOT=$(CURDIR)/build/debian-$(DEBIAN)
	cmake --build build/$*-tests -j $(JOBS) --target deputy deputy_tool kernel_tests softmax_delegate
	tools/check_port.sh build/$*-tests build/debian-$(DEBIAN) $(EMULATOR)

## check-serving, check-serving-all  tests of the back end in Triton's server, which is installed from PyPI into
##          build/serving (docs/serving.md); check-serving-all: all requests and loads, and MLServer
.PHONY: check-serving check-serving-all
check-serving check-serving-all: configure
	cmake --build $(BUILD) -j $(JOBS) --target triton_deputy deputy-delegate-host deputy_npu_stub deputy_sandbox plugin_faulty
	tests/serving/prepare.sh build/serving
	build/serving/venv/bin/python tests/serving/check_triton.py $(BUILD) build/serving $(if $(findstring all,$@),--all)
	if [ $@ = check-serving-all ]; then \
	  tests/serving/prepare.sh build/serving mlserver && \
	  build/serving/mlserver/bin/python tests/serving/check_mlserver.py $(BUILD); \
	fi

## bench-arm  instructions, bytes and estimated cycles of an inference on AArch64, in Deputy and LiteRT,
##          counted under QEMU (docs/arm.md); MODELS="FILE|DIRECTORY …", ARM_BENCH_CPUS="cortex-a76 …"
.PHONY: bench-arm
MODELS ?= examples/digits examples/conv_mean.tflite
ARM_BENCH_CPUS ?= cortex-a53 cortex-a55 cortex-a76 max
# Additional arguments of tools/bench/arm/bench_arm.py.
ARM_BENCH_ARGS ?=
ARM_PIP := --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --only-binary=:all: --python-version 311
bench-arm: setup
	@tools/setup.sh tools/packages-arm.txt
	tools/arm_root.sh build/arm64
	$(CMAKE) -B build/aarch64 --toolchain tools/cmake/aarch64.cmake -DDEPUTY_BUILD_TESTS=OFF
	cmake --build build/aarch64 -j $(JOBS) --target deputy
	test -e build/bench-arm/site/numpy || { python3 -m venv build/bench-arm/venv && \
	  build/bench-arm/venv/bin/pip install -q $(ARM_PIP) --no-deps --target build/bench-arm/site \
	    -r tools/bench/arm/requirements.txt; }
	tools/bench/arm/bench_arm.py --build build/aarch64 --root build/arm64 --litert build/bench-arm/site \
	  --cpus '$(ARM_BENCH_CPUS)' --json build/bench-arm/counts.json $(ARM_BENCH_ARGS) $(MODELS)

## board-kit  an archive with the library for AArch64, models, and a script that measures Deputy and LiteRT on
##          a board (docs/arm.md); MODELS="FILE …" adds models
.PHONY: board-kit
board-kit: configure-arm
	cmake --build build/arm-tests -j $(JOBS) --target deputy write_mobilenet_v2
	mkdir -p build/board-kit/models
	for type in float32 int8; do \
	  qemu-aarch64 -L build/arm64 build/arm-tests/tests/write_mobilenet_v2 $$type \
	    build/board-kit/models/mobilenet_v2_$$type.tflite || exit 1; \
	done
	cp $(DIGITS)/*.tflite $(filter %.tflite,$(MODELS)) build/board-kit/models
	tools/bench/board/make_kit.sh build/arm-tests build/board-kit/models build/board-kit/deputy-board.tar.gz

## install  into DESTDIR= with PREFIX= (default /usr/local), stripped, debug information in .debug/
.PHONY: install
install:
	@$(MAKE) all CMAKE_ARGS="$(CMAKE_ARGS) '-DCMAKE_INSTALL_PREFIX=$(PREFIX)'"
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD)
	@tools/record_install.sh $(BUILD) "$(PREFIX)" "$(DESTDIR)"

## uninstall  remove the files of `make install` with the same DESTDIR= and PREFIX=
.PHONY: uninstall
uninstall:
	tools/uninstall.sh $(BUILD)/installed_files.txt "$(PREFIX)" "$(DESTDIR)"

## wheel    the Python packages, one of them with the library inside, into build/wheel (docs/python.md)
.PHONY: wheel
wheel: command
	cmake --build $(BUILD) -j $(JOBS) --target deputy_cpu deputy_onnxruntime
	@tools/make_wheel.py $(BUILD) build/wheel

# The program of PyPI's package ziglang.
ZIG ?= $(CURDIR)/build/zig/bin/zig
$(CURDIR)/build/zig/bin/zig:
	python3 -m venv build/zig
	build/zig/bin/pip install -q ziglang==0.17.1
	ln -s "$$(build/zig/bin/python -c 'import ziglang; print(*ziglang.__path__)')/zig" $@

## check-musl  build the library, its plug-ins and the unit tests with Zig's clang and libc++ for musl on x86-64,
##          and run an example and the unit tests but for those that fail there (docs/android.md)
.PHONY: check-musl
MUSL_FAILING := ElfDamage.*:NodeEvents.that_are_invalid*:On/Conformance*:PluginDelegateProxy.creation_and_*:$\
  PluginFiles.each_problem_*:PluginFiles.functions_that_*:$\
  PluginFiles.missing_dependencies_*:PluginFiles.names_without_*:Sandbox.survives_each_fault_*:$\
  Sandbox.the_limit_of_memory_*:SandboxDeaths.*:validation.every_wrong_delegate_*
MUSL_TARGETS := unit_tests test_plugins deputy-delegate-host deputy_cpu deputy_hexagon deputy_layers deputy_nnapi \
  deputy_npu_stub deputy_onnxruntime deputy_replay deputy_sandbox softmax_delegate
check-musl: setup $(ZIG)
	@tools/setup.sh tools/packages-musl.txt
	tools/musl_root.sh $(ZIG) build/musl-root
	$(CMAKE) -B build/musl --toolchain tools/cmake/zig.cmake -DDEPUTY_ZIG=$(ZIG) \
	  -DDEPUTY_ZIG_ROOT=$(CURDIR)/build/musl-root -DDEPUTY_MAX_CPU=generic
	cmake --build build/musl -j $(JOBS) --target $(MUSL_TARGETS)
	$(ZIG) cc -target x86_64-linux-musl -dynamic -O2 -Ibuild/musl/include examples/languages/digits.c \
	  -o build/musl/digits -Lbuild/musl -ldeputy -Wl,-rpath,$(CURDIR)/build/musl
	head -c 784 /dev/zero >build/musl/image.raw
	build/musl/digits $(DIGITS)/digits_float.tflite build/musl/image.raw | grep -x '1 0.9204'
	@# Tests of the sandbox expect that no other test has loaded their library, which musl never unloads.
	cd build/musl && tests/unit_tests --gtest_brief=1 --gtest_filter='Sandbox.*-$(MUSL_FAILING)' && \
	  tests/unit_tests --gtest_brief=1 --gtest_filter='-Sandbox.*:$(MUSL_FAILING)'

## check-engines  the adapters with Apache Beam, Ray and Spark themselves, which pip installs into build/engines
##          (docs/scale.md); ENGINES="beam …" selects engines, ENGINE_IMAGES is the number of images
.PHONY: check-engines
ENGINES ?= beam ray spark
ENGINE_IMAGES ?= 10000
check-engines: wheel
	cmake --build $(BUILD) -j $(JOBS) --target plugin_faulty
	for engine in $(ENGINES); do \
	  tests/engines/run.sh $$engine $(ENGINE_IMAGES) $(BUILD) || exit 1; \
	done

## wheels   wheels for x86-64 and AArch64 that need the C library 2.28 only, into build/wheels (docs/python.md)
## wheels-check  install and use them on a bare Debian 12 and 13, for x86-64 and emulated for arm64 (as root)
.PHONY: wheels wheels-check
WHEEL_TARGETS := deputy deputy_cpu deputy_gpu deputy_layers deputy_npu_stub deputy_onnxruntime deputy_replay \
  deputy_sandbox
WHEEL_CMAKE = $(CMAKE) -DDEPUTY_BUILD_TESTS=OFF -DDEPUTY_BUILD_TOOLS=OFF -DDEPUTY_GLIBC_STUBS=$(CURDIR)/build/glibc-$*
WHEEL_SYSTEMS ?= amd64 arm64
wheels: setup wheel-x86_64 wheel-aarch64
	tests/packaging/check_wheel.py build/wheels/*.whl
wheel-%: WHEEL_CC = $*-linux-gnu-gcc
wheel-aarch64: WHEEL_ARM := --toolchain tools/cmake/aarch64.cmake -DDEPUTY_ARM_ROOT=$(CURDIR)/build/arm64
wheel-%: $(ZIG)
	@if [ $* = aarch64 ]; then tools/setup.sh tools/packages-arm.txt && tools/arm_root.sh build/arm64; fi
	tools/glibc_stubs.sh $(ZIG) $(WHEEL_CC) build/glibc-$*
	$(WHEEL_CMAKE) -B build/wheel-$* $(WHEEL_ARM)
	cmake --build build/wheel-$* -j $(JOBS) --target $(WHEEL_TARGETS)
	tools/make_wheel.py --machine $* --glibc 2.28 build/wheel-$* build/wheels
wheels-check: wheels
	for arch in $(WHEEL_SYSTEMS); do for suite in bookworm trixie; do \
	  DEPUTY_FRESH_ARCH=$$arch DEPUTY_FRESH_SUITE=$$suite tools/fresh.sh --wheels build/wheels || exit 1; \
	done; done

## check-container  build examples/container/Containerfile in a chroot with buildah and use the image (as root)
.PHONY: check-container
check-container:
	@tools/setup.sh tools/packages-container.txt
	tests/packaging/container.sh build/container

## deb      build Debian packages into build/deb (docs/installing.md)
## deb-source  build them from the source package on a bare Debian with its Build-Depends (as root)
## deb-check  install, use and remove them and the wheel on a bare Debian, in a chroot (as root)
.PHONY: deb deb-check deb-source
deb: setup-check configure
	cmake --build $(BUILD) -j $(JOBS) --target installed
	tools/make_debs.sh $(BUILD) build/deb
deb-source: deb
	tools/fresh.sh --source build/deb
deb-check: deb wheel
	tools/fresh.sh --packages build/deb build/wheel

## deb-arm64  cross build Debian packages and the wheel for AArch64 into build/deb-arm64 (docs/arm.md)
## deb-check-arm64  deb-check with them, on an emulated arm64 Debian (as root)
.PHONY: deb-arm64 deb-check-arm64
deb-arm64: setup-check configure-arm
	cmake --build build/arm-tests -j $(JOBS) --target installed softmax_delegate deputy-certify
	tools/make_debs.sh build/arm-tests build/deb-arm64 arm64 build/arm64
	tools/make_wheel.py --machine aarch64 build/arm-tests build/deb-arm64
deb-check-arm64: deb-arm64
	DEPUTY_FRESH_ARCH=arm64 tools/fresh.sh --packages build/deb-arm64

## dist     the source archive deputy-VERSION.tar.gz, which builds without git, into build/dist
.PHONY: dist
dist:
	@tools/make_dist.sh build/dist

## release  Debian packages and wheels for both machines and the source archive, with SHA256SUMS, into
##          build/release-VERSION; half an hour on two cores
.PHONY: release
VERSION = $(shell tools/version.sh)
release:
	rm -rf build/wheel build/wheels build/dist
	@$(MAKE) deb
	@$(MAKE) wheel deb-arm64 wheels dist
	tools/collect_release.sh build/release-$(VERSION) build/deb build/wheel build/deb-arm64 build/wheels build/dist

## format   rewrite our sources with clang-format
.PHONY: format
format:
	clang-format -i $(SOURCES)

## fresh    `make run` and `make test` on a bare Debian of each suite, in a chroot (as root)
FRESH_SUITES ?= bookworm trixie
.PHONY: fresh
fresh:
	@for suite in $(FRESH_SUITES); do DEPUTY_FRESH_SUITE=$$suite tools/fresh.sh || exit 1; done

## clean    remove everything built
.PHONY: clean
clean:
	rm -rf build
