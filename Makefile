# rtl-top: one Makefile for the library, the viewer, the software GPU and all tests. `make help` lists the targets.

O       ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
CLANG   ?= clang
ROCM_PATH ?= /opt/rocm
HIPCC   ?= $(firstword $(wildcard $(ROCM_PATH)/bin/hipcc) hipcc)
# the GPUs for which test programs are compiled: those of the software GPU that the hipcc of Debian 12 knows
GFX     ?= gfx906 gfx90a

WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
        -Wundef -Wvla -Wformat=2 -Wcast-qual $(if $(WERROR),-Werror)
OPT  ?= -O2 -g
# SAN is set by the sanitizer builds (make asan, make tsan)
SAN  ?=
# AMD's ROCm, if installed, has the headers that Debian has in /usr/include
ROCM := $(if $(wildcard $(ROCM_PATH)/include/hsa/hsa.h),-isystem $(ROCM_PATH)/include)
comma := ,
ROCM_LIB := $(if $(wildcard $(ROCM_PATH)/lib/libhsa-runtime64.so),-L$(ROCM_PATH)/lib -Wl$(comma)-rpath$(comma)$(ROCM_PATH)/lib)
BASE := -std=c11 -D_GNU_SOURCE -Isrc $(ROCM) $(WARN) $(OPT) $(SAN) $(CPPFLAGS) $(CFLAGS)

# --- sources: each folder is a part; only this list says which binary contains it ---
INTERCEPT := $(wildcard src/intercept/*.c src/intercept/*/*.c)
HIP_CALLS := $(wildcard src/hip/*.c)
WRITER    := src/shm/segment_writer.c src/stats/recorder.c
READER    := $(filter-out src/shm/segment_writer.c,$(wildcard src/shm/*.c)) \
             $(filter-out src/stats/recorder.c,$(wildcard src/stats/*.c))
RECORD    := $(wildcard src/record/*.c)
VIEWER    := $(wildcard src/observe/*.c src/probe/*.c src/text/*.c src/model/*.c src/options/*.c src/launch/*.c src/watch/*.c src/probing/*.c src/command/*.c src/serve/*.c src/tui/*.c)
PROBE     := $(wildcard src/probe/*.c)
GCN       := $(wildcard tests/vgpu/gcn/*.c)
VGPU      := $(wildcard tests/vgpu/*.c) $(GCN)
UNIT      := $(wildcard tests/unit/test_*.c)
PROGRAM   := $(wildcard tests/programs/*.c)
HIP       := $(wildcard tests/programs/*.hip tests/bench/*.hip)
BENCH     := $(wildcard tests/bench/*.c)
FUZZ      := $(wildcard tests/fuzz/*.c)
MAN       := man/rtl-top.1 man/rtl-top-serve.1 man/rtl-top-db.5 man/librtl.7

obj = $(patsubst %.c,$(O)/obj/$(1)/%.o,$(2))
bin = $(patsubst %.c,$(O)/%,$(patsubst %.hip,$(O)/%,$(1)))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all vgpu units programs benches syntax sanitized fuzzers demo pictures check check-releases check-real check-hardware hardware hardware-hip bench fuzz \
        soak soak-flow stress kills asan tsan install uninstall dist deb wheel check-packages deps clean dist-clean help FORCE

all: $(O)/librtl.so $(O)/librtl-hip.so $(O)/rtl-top ## build librtl.so, librtl-hip.so and rtl-top (the default; PREFIX, O, CC, CFLAGS and WERROR=1 apply)

# The set of tools/deps that compiling needs: `build`; without rtl-top only `hardware`
BASICS  ?= build
# Report missing packages in one line instead of many compiler errors; checked once for each build folder.
$(O)/.has-%: tools/deps
	@mkdir -p $(@D)
	@CC='$(CC)' CPPFLAGS='$(ROCM) $(CPPFLAGS)' LDFLAGS='$(ROCM_LIB) $(LDFLAGS)' HIPCC='$(HIPCC)' tools/deps --check $*
	@touch $@

# Compile again after a change of flags or compiler. -Werror does not count as a change: it makes the same code, and a test
# that calls make must not rebuild files that other tests use.
FLAGS := $(CC) | $(filter-out -Werror,$(BASE)) | $(LDFLAGS)
$(O)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

# librtl.so runs in other programs' processes: it shows only its exported symbols and links only libc and pthreads
$(O)/obj/pic/%.o: %.c $(O)/.flags | $(O)/.has-$(BASICS)
	@mkdir -p $(@D)
	$(CC) $(BASE) -MMD -MP -fPIC -fvisibility=hidden -ftls-model=initial-exec -c -o $@ $<
$(O)/librtl.so: $(call obj,pic,$(INTERCEPT) $(WRITER))
	$(CC) $(SAN) $(LDFLAGS) -shared -Wl,-soname,librtl.so -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro \
	    $(if $(SAN),,-Wl,-z,defs) -o $@ $^ -pthread

# preloaded: records calls of HIP and roctx; separate, because librtl.so must not export their names
$(O)/librtl-hip.so: $(call obj,pic,$(HIP_CALLS))
	$(CC) $(SAN) $(LDFLAGS) -shared -Wl,-soname,librtl-hip.so -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro \
	    $(if $(SAN),,-Wl,-z,defs) -o $@ $^ -pthread -Wl,--as-needed -ldl

$(O)/obj/exe/%.o: %.c $(O)/.flags | $(O)/.has-$(BASICS)
	@mkdir -p $(@D)
	$(CC) $(BASE) -MMD -MP -c -o $@ $<
# where the viewer looks for the library when it isn't beside it
$(O)/obj/exe/src/launch/library.o: private BASE += -DRTL_LIBRARY_FOLDER='"$(LIBDIR)"'
TOP_LIBS = -lncursesw -ltinfo -ljson-c -lsqlite3 -lz -lmicrohttpd -lstdc++ -lm
# the page of `rtl-top html`: web/ as a C array
$(O)/web/page.c: tools/web-page $(wildcard web/page.*)
	@mkdir -p $(@D)
	tools/web-page web >$@
WEB_PAGE := $(O)/obj/exe/web/page.o
$(WEB_PAGE): $(O)/web/page.c $(O)/.flags | $(O)/.has-$(BASICS)
	@mkdir -p $(@D)
	$(CC) $(BASE) -c -o $@ $<
$(O)/rtl-top: $(call obj,exe,src/main.c $(VIEWER) $(RECORD) $(READER)) $(WEB_PAGE)
	$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(TOP_LIBS) -pthread

$(O)/.gfx: FORCE
	@mkdir -p $(@D)
	@echo '$(GFX)' | cmp -s - $@ || echo '$(GFX)' >$@

# --- the software GPU and all that only tests and the demo use ---
vgpu: $(O)/tests/libvgpu.so ## build the software GPU (tests/vgpu/run --help)
$(call obj,pic,$(filter-out $(GCN),$(VGPU))): | $(O)/.has-gpu
# kernels must compute exactly what their instructions say, so no contraction; -O3 except with a sanitizer, which is slow anyway
$(call obj,pic,$(GCN)): private BASE += $(if $(SAN),,-O3) -ffp-contract=off -fno-trapping-math -fno-math-errno
$(O)/tests/libvgpu.so: $(call obj,pic,$(VGPU))
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) -shared -Wl,-soname,libvgpu.so -Wl,-z,now -o $@ $^ -pthread -ldl -lm

units: $(call bin,$(UNIT)) ## build the unit tests
$(call obj,exe,$(UNIT)): | $(O)/.has-unit
# An archive, from which each unit test links what it needs: linking everything into more than a hundred tests would take
# minutes. Objects of the library are compiled once, for both.
$(O)/obj/exe/all.a: $(call obj,pic,$(INTERCEPT) $(WRITER)) $(call obj,exe,$(READER) $(RECORD) $(VIEWER)) $(WEB_PAGE)
	@rm -f $@
	ar rcs $@ $^
$(O)/tests/unit/%: $(O)/obj/exe/tests/unit/%.o $(O)/obj/exe/all.a
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(TOP_LIBS) -pthread

# the interpreter of the software GPU
$(addprefix $(O)/tests/unit/test_,gcn_decode gcn_gfx942 gcn_matrix gcn_run probe_gaps probe_patch probe_waits): $(call obj,pic,$(GCN))

# these tests play a runtime whose functions are looked up by name
$(O)/tests/unit/test_intercept_descriptors $(O)/tests/unit/test_intercept_copy_batches $(O)/tests/unit/test_links \
    $(O)/tests/unit/test_observer $(O)/tests/unit/test_probe_session: LDFLAGS += -rdynamic

# Programs of the tests: X.c is a C program, linked with the HSA runtime and the reader of the segment if it uses them,
# X_preload.c a library for LD_PRELOAD or HSA_TOOLS_LIB, X.hip a HIP program.
programs: $(patsubst %_preload,%_preload.so,$(call bin,$(PROGRAM) $(wildcard tests/programs/*.hip))) ## build the test programs
benches: $(call bin,$(BENCH) $(wildcard tests/bench/*.hip))
$(O)/tests/programs/%_preload.so: $(O)/obj/pic/tests/programs/%_preload.o
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) -shared -o $@ $^ -pthread -ldl
# stand-ins for rocprofiler-register and for a runtime built with it
$(O)/tests/programs/register_library_preload.so: LDFLAGS += -Wl,-soname,librocprofiler-register.so.0
$(O)/tests/programs/librocprofiler-register.so.0: $(O)/tests/programs/register_library_preload.so
	ln -sf $(<F) $@
$(O)/tests/programs/register_runtime_preload.so: $(O)/tests/programs/librocprofiler-register.so.0
$(O)/tests/programs/register_runtime_preload.so: LDFLAGS += -Wl,-rpath,'$$ORIGIN'
# the set of tools/deps that they need: `gpu` for the software GPU, `hardware` on a machine with a GPU
NEEDS ?= gpu
define c_program
$(O)/tests/$(1)/%: $(O)/obj/exe/tests/$(1)/%.o $(call obj,exe,$(WRITER) $(READER)) | $(O)/.has-$(NEEDS)
	@mkdir -p $$(@D)
	$$(CC) $$(SAN) $$(ROCM_LIB) $$(LDFLAGS) -o $$@ $$^ -Wl,--as-needed -lhsa-runtime64 -pthread -ldl -lm
$(O)/tests/$(1)/%: tests/$(1)/%.hip $(wildcard tests/programs/*.h) $(O)/.flags $(O)/.gfx | $(O)/.has-$(NEEDS)
	@mkdir -p $$(@D)
	$$(HIPCC) -std=c++17 -O2 -g -Wall -Wextra $$(addprefix --offload-arch=,$$(GFX)) -Isrc -o $$@ $$< $$(ROCM_LIB) -Wl,--as-needed -lhsa-runtime64 -pthread
endef
$(eval $(call c_program,programs))
$(O)/tests/programs/gcn_names: $(call obj,pic,tests/vgpu/gcn/decode.c)
$(O)/tests/programs/probe_patch: $(call obj,exe,$(PROBE))
$(O)/tests/programs/probe_live $(O)/tests/programs/probe_viewer: $(call obj,exe,$(PROBE) $(wildcard src/observe/*.c))
$(O)/tests/programs/probe_swap_preload.so: $(call obj,pic,$(PROBE))
# a program as a library, which observe_local starts
programs: $(O)/tests/programs/observe_play.so
$(O)/tests/programs/observe_play.so: $(O)/obj/pic/tests/programs/observe_play.o | $(O)/.has-$(NEEDS)
	@mkdir -p $(@D)
	$(CC) $(SAN) $(ROCM_LIB) $(LDFLAGS) -shared -o $@ $^ -lhsa-runtime64 -pthread -ldl
# bare code objects, for programs that load them without HIP
CODE_OBJECTS := $(foreach gfx,$(GFX),$(O)/tests/programs/kernels-$(gfx).co $(O)/tests/programs/spin-$(gfx).co)
programs: $(CODE_OBJECTS)
DEVICE_CC = $(if $(shell command -v $(HIPCC)),$(HIPCC),$(CLANG) -x hip -nogpuinc -nogpulib)
define code_object
$(O)/tests/programs/$(1)-%.co: tests/programs/device/$(1).hip tests/programs/spin_clock.h $(O)/.flags | $(O)/.has-$(NEEDS)
	@mkdir -p $$(@D)
	$$(DEVICE_CC) -std=c++17 -O2 -c --cuda-device-only --no-gpu-bundle-output --offload-arch=$$* -o $$@ $$<
endef
$(eval $(call code_object,kernels))
$(eval $(call code_object,spin))
$(eval $(call c_program,bench))
# this one measures the viewer
$(O)/tests/bench/scale: $(O)/obj/exe/tests/bench/scale.o $(call obj,exe,$(WRITER) $(READER) $(RECORD) $(VIEWER)) $(WEB_PAGE)
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) -o $@ $^ $(TOP_LIBS) -pthread
# for the runtime releases that know gfx942, unlike this hipcc
ifeq ($(filter gfx942,$(GFX)),)
$(O)/tests/programs/%-gfx942: tests/programs/%.hip tests/programs/hipcc-gfx942 $(wildcard tests/programs/*.h) | $(O)/.has-gpu
	@mkdir -p $(@D)
	HIPCC='$(HIPCC)' tests/programs/hipcc-gfx942 $@ $< -std=c++17 -O2 -g -Wall -Wextra -Isrc -pthread
GFX942_CODE := $(O)/tests/programs/kernels-gfx942.co $(O)/tests/programs/spin-gfx942.co
$(GFX942_CODE): $(O)/tests/programs/%-gfx942.co: tests/programs/device/%.hip tests/programs/spin_clock.h tests/programs/hipcc-gfx942 $(O)/.flags | $(O)/.has-gpu
	@mkdir -p $(@D)
	HIPCC='$(HIPCC)' tests/programs/hipcc-gfx942 $@ $< -std=c++17 -O2
programs: $(O)/tests/programs/hip_basic-gfx942 $(O)/tests/programs/hip_compute-gfx942 $(O)/tests/programs/probe_work-gfx942 $(GFX942_CODE)
endif

syntax: ## print warnings for all C of the tests, without making objects (another compiler: CC)
	@printf '%s\n' $(VGPU) $(UNIT) $(PROGRAM) $(BENCH) | \
	    xargs -n 20 -P $$(getconf _NPROCESSORS_ONLN) $(CC) $(BASE) -fsyntax-only

# The build with the address and undefined-behaviour sanitizers, in its own folder: unit tests, and fuzz targets (one file
# each).
SANITIZED = $(MAKE) --no-print-directory CC='$(CLANG)' O='$(O)/asan' OPT='-O1 -g' \
    SAN='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-omit-frame-pointer'
sanitized:
	@$(SANITIZED) $(or $(GOALS),units fuzzers)
fuzzers: $(call bin,$(FUZZ))
$(O)/tests/fuzz/%: $(O)/obj/exe/tests/fuzz/%.o $(O)/obj/exe/all.a
	@mkdir -p $(@D)
	$(CC) $(SAN) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(TOP_LIBS) -pthread

# --- targets for people ---
demo: ## watch four ranks of a serving-like HIP program on software GPUs (installs missing packages); GPUS=8: more ranks; SERVER=llama: llama.cpp's server, EXECUTE=1: its kernels compute; RELEASE=experimental: on ROCm 7.2.4
	@tools/deps build gpu
	@tools/demo

pictures: ## make doc/screen.svg and doc/pictures again: rtl-top's real screens on the software GPU; THEMES=all: also light, mono and 16 colours
	@tools/deps build gpu test
	@$(MAKE) --no-print-directory all vgpu $(O)/tests/programs/serve
	@O='$(O)' tools/pictures

check: ## run all tests on this machine (installs missing packages)
	@tools/deps build gpu unit test
	@tests/run check

check-releases: ## test the same librtl.so with the newer releases of the runtime, fetched as Debian packages
	@tools/deps build gpu unit test
	@tests/run releases

check-real: ## test with real programs, fetched as Debian packages, on the software GPU, such as a model server (REAL=all: more programs)
	@tools/deps build gpu unit test
	@REAL='$(REAL)' tests/run real

# The programs of check-hardware, for the GPUs of GFX; in their own folder, because GFX differs
HARDWARE := hsa_dispatch observe_play intercept_dump hardware_gpus hardware_signals hardware_clocks intercept_noop_preload.so
HARDWARE_HIP := hip_basic hip_compute hip_copies hip_graph hip_launches hardware_elapsed soak
hardware: $(O)/librtl.so $(O)/librtl-hip.so $(addprefix $(O)/tests/programs/,$(HARDWARE)) $(O)/tests/bench/dispatch_hsa $(CODE_OBJECTS)
hardware-hip: $(addprefix $(O)/tests/programs/,$(HARDWARE_HIP))
check-hardware: ## test on this machine's AMD GPU, as any user; writes hardware-report.txt (QUICK=1: in two minutes)
	@CC='$(CC)' HIPCC='$(HIPCC)' CLANG='$(CLANG)' O='$(O)' tests/hardware/run $(if $(QUICK),--quick)

bench: ## measure the cost of rtl-top in one run; asserts nothing
	@tools/deps build gpu
	@$(MAKE) --no-print-directory all vgpu benches programs
	@tests/bench/run

fuzz: ## fuzz all code that reads untrusted input, FUZZ_SECONDS each (default 600)
	@tools/deps build unit test
	@tests/fuzz/run --seconds $(or $(FUZZ_SECONDS),600)

soak: ## run mixed work with librtl.so and rtl-top for SOAK_SECONDS (default 600) in each of SOAK_WAYS (intercept native): exact counts, flat memory, no error
	@tools/deps build gpu unit test
	@$(MAKE) --no-print-directory all vgpu programs
	@for way in $(or $(SOAK_WAYS),intercept native); do \
	    echo "# queues: $$way"; RTL_QUEUES=$$way SOAK_SECONDS=$(or $(SOAK_SECONDS),600) tests/e2e/intercept-soak.t || exit 1; \
	done

soak-flow: ## make SOAK_DISPATCHES (default a billion) dispatches beside viewers, changes of mode, traces, killed recorders and probes: exact counts (RELEASE=... selects the runtime)
	@tools/deps build gpu unit test
	@$(MAKE) --no-print-directory all vgpu programs
	@RTL_RELEASE=$(RELEASE) SOAK_PATIENCE=7200 SOAK_DISPATCHES=$(or $(SOAK_DISPATCHES),1000000000) tests/e2e/soak-flow.t

stress: ## stress queues of every kind, seed by seed, for STRESS_SECONDS (default 600): exact counts and times, no hang
	@tools/deps build gpu unit test
	@$(MAKE) --no-print-directory all vgpu programs
	@STRESS_SECONDS=$(or $(STRESS_SECONDS),600) tests/e2e/native-stress.t

kills: ## kill rtl-top at random moments KILLS times (default 10000), JOBS (4) at once: no output is damaged (SEED chooses the moments)
	@tools/deps build gpu unit test
	@$(MAKE) --no-print-directory all vgpu programs
	@KILLS=$(or $(KILLS),10000) JOBS=$(or $(JOBS),4) SEED=$(or $(SEED),$$$$) tests/e2e/kills.t

asan: ## run unit tests with the address and undefined-behaviour sanitizers, in build/asan
	@tools/deps build unit test
	@tests/run asan

tsan: ## run unit tests with the thread sanitizer, in build/tsan
	@tools/deps build unit test
	@tests/run tsan

# The installed files; uninstall removes exactly these.
DOC = doc/use.md doc/costs.md doc/verified.md doc/serve.md doc/screen.svg
INSTALLED = bin/rtl-top share/man/man1/rtl-top.1 share/man/man1/rtl-top-serve.1 share/man/man5/rtl-top-db.5 \
            share/man/man7/librtl.7 share/doc/rtl-top/LICENSE share/doc/rtl-top/README.md \
            $(addprefix share/doc/rtl-top/,$(DOC))
install: all ## install into PREFIX (default /usr/local), below DESTDIR if set
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,$(sort $(dir $(INSTALLED)))) $(DESTDIR)$(LIBDIR)
	install -m 755 $(O)/rtl-top $(DESTDIR)$(PREFIX)/bin/rtl-top
	install -m 644 $(O)/librtl.so $(DESTDIR)$(LIBDIR)/librtl.so
	install -m 644 $(O)/librtl-hip.so $(DESTDIR)$(LIBDIR)/librtl-hip.so
	install -m 644 man/rtl-top.1 man/rtl-top-serve.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 man/rtl-top-db.5 $(DESTDIR)$(PREFIX)/share/man/man5/rtl-top-db.5
	install -m 644 man/librtl.7 $(DESTDIR)$(PREFIX)/share/man/man7/librtl.7
	install -m 644 LICENSE README.md $(DESTDIR)$(PREFIX)/share/doc/rtl-top
	install -m 644 $(DOC) $(DESTDIR)$(PREFIX)/share/doc/rtl-top/doc
	@# the loader finds HSA_TOOLS_LIB=librtl.so without a path, like any library
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then PATH="$$PATH:/sbin:/usr/sbin" ldconfig; fi

uninstall: ## remove the installed files
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(INSTALLED)) $(addprefix $(DESTDIR)$(LIBDIR)/,librtl.so librtl-hip.so)
	@-rmdir $(DESTDIR)$(PREFIX)/share/doc/rtl-top/doc $(DESTDIR)$(PREFIX)/share/doc/rtl-top 2>/dev/null || true

dist: ## make a tarball of the sources, in build/packages
	@tools/package dist

deb: ## make a package for Debian 12, checked by lintian, in build/packages (installs missing packages)
	@tools/deps build deb
	@tools/package deb

wheel: ## make a Python wheel of the binaries, for virtual environments, in build/packages (installs missing packages)
	@tools/deps build wheel
	@$(MAKE) --no-print-directory all
	@tools/package wheel

check-packages: ## build, install, upgrade and remove the Debian package and the wheel (needs root for a chroot)
	@tools/deps build gpu unit test deb wheel
	@tests/run packages

deps: ## install the packages that the build, the demo and the tests need
	@tools/deps build gpu unit test

clean: ## remove the build folder
	rm -rf $(O)

dist-clean: clean ## remove the build folder and the fetched releases
	rm -rf cache

help: ## print this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
