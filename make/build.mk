# How files are made from files: called by the Makefile as `make -f make/build.mk <files>`.
include make/config.mk

$(foreach compiler,$(CC) $(CXX),$(if $(filter gcc g++,$(compiler)),$(if $(shell command -v $(compiler)),,\
  $(error there is no $(compiler) to compile with: make doctor says how to get it))))

.SUFFIXES:
comma := ,
.SECONDARY:
.DELETE_ON_ERROR:

# --- flags ---------------------------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wpedantic $(if $(WERROR),-Werror)
# Reports and profilers need lines, -g1; a debugger, which needs variables as well, has a build of its own, DEBUG=1.
OPTIMISE := $(if $(DEBUG),-O0 -g3,-O2 -g1 -DNDEBUG) $(SANITIZE:%=-fsanitize=% -fno-sanitize-recover=all -fno-omit-frame-pointer)
# No part looks at errno after a function of math.h, and loops with a square root can do several at a time without it.
CFLAGS   := -std=c17 $(OPTIMISE) -fno-math-errno -march=native -pthread -fopenmp -fPIC $(WARNINGS)
# Where binutils' other linker works it takes a third of the time, and make check links about 800 programs. It puts
# __shared__ arrays in another order. The sanitizer says behind which of them an address lies, so it is left out there,
# but for a quick look, whose report is for the scripts.
LINKER   := build/cpu/linker.$(lastword $(notdir $(CXX)))
GOLD     := $(if $(filter cpu,$(DEVICE)$(if $(FIRST_CONFIGURATION),,$(MODE))),$(filter-out none,$(or $(file <$(LINKER)),$(shell scripts/linker.sh $(LINKER) $(CXX)))))
LDFLAGS  := -fopenmp $(GOLD) $(SANITIZE:%=-fsanitize=%)
RPATH    := -Wl,-rpath,'$$ORIGIN:$$ORIGIN/..:$$ORIGIN/../..'

ifeq ($(DEVICE),cpu)
  CPPFLAGS := -Icommon -Icommon/kernel -Icommon/tools -Icommon/emulator/include -Icommon/emulator
  DEVICE_LIBS := -L$(BUILD) -lemulator -ldl -lm
  RUNTIME  := $(BUILD)/libemulator.so
  # A watching emulator is called at each load and store, as the source has them, before the compiler changes them. It has
  # its own memcpy, memmove and memset, and so has the C library with _FORTIFY_SOURCE, which Ubuntu's compilers set.
  # g++ tells of no load of a struct that is passed by value, and of no store of one that is returned, so functions become
  # part of their callers before, if g++ counts no more than 200 instructions of them. A half is such a struct.
  WATCHED           := $(if $(MODE),-fsanitize=thread -Wno-tsan -U_FORTIFY_SOURCE -fno-semantic-interposition \
                         -finline-small-functions --param=early-inlining-insns=200)
  # Each variable has a place of its own on the stack, so that no two variables share an address. The arrays of kernels lie in
  # the same order on each processor, because reports say behind which array an address lies.
  WATCHED_sanitize  := -fsanitize=bounds -fstack-reuse=none -fno-section-anchors -ULAB_MAX_GRID_YZ -DLAB_MAX_GRID_YZ=2
  # Counting goes through the lanes of a warp by basic block, lowest address first. So the code must lie in the
  # order in which branches join, and a branch of the source must stay a branch.
  WATCHED_count     := -O1 -fsanitize-coverage=trace-pc -fno-reorder-blocks -fno-guess-branch-probability \
                       -fno-thread-jumps
  KERNEL_IS := $(if $(MODE)$(DEBUG),g++,$(or $(CLANG),g++))
  # Kernels: `__shared__` arrays are thread-local, and no two steps may share one by name. addr2line, which
  # reports ask for lines, reads files behind a #line wrongly from DWARF 5 as g++ 12 writes it. -Wno-attributes is
  # needed because the emulator's __global__ sets a visibility, which a static kernel cannot have. -fvar-tracking
  # records where variables are at each instruction. It takes a quarter of g++'s time, and only a debugger needs it,
  # which has a build of its own, DEBUG=1. STEP_FLAGS are options for the steps' kernels alone: bugs.sh gives -O0, and what
  # is shared stays optimised. nvcc takes the macros among them.
  # -Og takes three fifths of the time to compile that -O1 takes, and the code is as fast, but for that of steps 02 to 04,
  # which is a quarter slower. Functions that are called once still become part of their caller: this takes less time
  # than to compile them on their own.
  KERNEL_FLAGS  = -std=c++17 $(subst -O2,-Og,$(OPTIMISE)) -gdwarf-4 $1 -march=native -fPIC -Wall -Wextra $(if $(WERROR),-Werror) \
                  -Wno-unknown-pragmas -Wno-attributes -Wno-psabi -fno-strict-aliasing $(if $(filter g++,$(KERNEL_IS)),-fno-extern-tls-init -fno-gnu-unique -fno-var-tracking -finline-functions-called-once,-fno-finite-loops -Wno-unused-const-variable) \
                  $(CPPFLAGS) '-DLAB_MAX_GRID_YZ=emulator_grid_limit()' $(WATCHED) $(WATCHED_$(MODE))
else
  CPPFLAGS := -Icommon -Icommon/kernel -Icommon/tools -isystem $(CUDA_HOME)/include
  DEVICE_LIBS := -L$(CUDA_HOME)/lib64 -Wl,-rpath,$(CUDA_HOME)/lib64 -lcudart -ldl -lm
  RUNTIME  :=
  KERNEL_FLAGS := -std=c++17 $(if $(DEBUG),-G -g,-O3 -lineinfo -DNDEBUG) -Icommon -Icommon/kernel -Icommon/tools \
                  -Xcompiler -fPIC,-Wall,-Wextra $(if $(WERROR),-Werror all-warnings)
  gencode = $(foreach arch,$1,-gencode arch=$(arch:sm_%=compute_%),code=$(arch))
endif

# Makes a file's folder. On a terminal a line says what is being made; the compiler's own words go over it, and
# scripts/build.sh wipes it at the end. That script may keep the compiler's words, and then LAB_TERMINAL is the file
# descriptor of the terminal.
prepare = @mkdir -p $(@D)$(if $(VERBOSE),,; tty=$${LAB_TERMINAL:-2}; [ ! -t $$tty ] || printf '  building %s\033[K\r' $(notdir $(@D))/$(@F) >&$$tty)

# Each recipe that makes a file writes it under a name of its own, and gives it the target's name in the end:
#   command -o $(part) $(whole)
# So a build that is killed leaves no half of a file that the next build would take for current, and two builds at
# a time do not write into the same file. An object's list of headers is renamed before the object; `rewrite`
# does the same by itself. A command that fails removes its file. The files of a killed build are removed below, by a
# later build.
part    = $@.$$$$.part
whole   = && mv -f $(part) $@ || { status=$$?; rm -f $(@D)/*.$$$$.part; exit $$status; }
headers = -MMD -MP -MF $(@:.o=.d).$$$$.part -MT $@
object  = && mv -f $(@:.o=.d).$$$$.part $(@:.o=.d) $(whole)

# --- the parts of common/ ------------------------------------------------------------------------

MODULES     := check columns csv device emulator/requests emulator/rewrite error file \
               finish inputs measure monitor npy options progress record reference result shape statistics step \
               tensors timeline timing trial $(addprefix tools/,bench ceilings compare driver fuzz ladder mutants)
device_part := common/device/device_$(if $(filter cpu,$(DEVICE)),emulator,gpu).c
not_library := %/main.c common/step/linked.c common/step/source.c common/device/device_emulator.c \
               common/device/device_gpu.c
LIBRARY_C   := $(filter-out $(not_library),$(foreach module,$(MODULES),$(wildcard common/$(module)/*.c))) \
               $(device_part)
LIBRARY_CU  := $(if $(filter gpu,$(DEVICE)),common/device/delay.cu)
LIBRARY     := $(PLAIN)/libcommon.a

$(PLAIN)/%.o: %.c
	$(prepare)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(headers) -c $< -o $(part) $(object)

# The code of a test itself runs in no time, but optimising it would take most of the compiler's time. The suite of the
# steps is compiled once and runs for each step.
$(PLAIN)/common/tests/%.o: common/tests/%.c
	$(prepare)
	$(CC) $(if $(filter steps/%,$*),$(CFLAGS),$(subst -O2,-O0,$(CFLAGS))) $(CPPFLAGS) $(headers) -c $< -o $(part) $(object)

$(LIBRARY): $(LIBRARY_C:%.c=$(PLAIN)/%.o) $(LIBRARY_CU:%=$(PLAIN)/%.o)
	@$(AR) rcs $(part) $^ $(whole)

include make/emulator.mk
include make/criterion.mk
include make/kernels.mk

# --- a step's program, test runner and shared object ---------------------------------------------

DRIVER_MAIN := $(PLAIN)/common/tools/driver/main.o $(PLAIN)/common/step/linked.o
# The objects of every test program.
TESTED      := $(patsubst %,$(PLAIN)/common/tests/%.o,finished timeout together message_socket leaks)
OF_A_STEP   := $(TESTED) $(PLAIN)/common/tests/failing_calls.o $(PLAIN)/common/tests/watched_calls.o $(PLAIN)/common/tests/scores.o \
               $(PLAIN)/common/step/linked.o
SUITE       := $(patsubst %.c,$(PLAIN)/%.o,$(wildcard common/tests/steps/*.c)) $(OF_A_STEP)
GROUP_SUITE := $(patsubst %.c,$(PLAIN)/%.o,$(wildcard common/tests/group/*.c)) $(OF_A_STEP)
FUZZ        := $(PLAIN)/common/tools/fuzz/main.o $(PLAIN)/common/step/linked.o
link         = $(CXX) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $1 $(DEVICE_LIBS) $(RPATH) -o $(part) $(whole)

c_text = "$(subst ",\",$(subst \,\\,$1))"
# A step from another folder contains the path of its source, so that the program can print it.
$(STEP_BUILD)/steps/%/source.o: common/step/source.c $(STEPS_FOLDER)/%/attention.cu
	$(prepare)
	$(CC) $(CFLAGS) $(CPPFLAGS) -DSTEP_SOURCE=$(call quoted,$(call c_text,$(READ_NAME)/$*/attention.cu)) -c $< -o $(part) $(whole)

# The programs of the steps for several GPUs contain these objects as well.
GROUP_PART := $(patsubst %.c,$(PLAIN)/%.o,$(wildcard common/group/*.c))
GROUPS     := $(patsubst %.c,$(PLAIN)/%.o,$(wildcard common/tools/groups/*.c))
$(GROUP_PART) $(GROUPS) $(GROUP_SUITE): CPPFLAGS += $(NCCL_INCLUDE)
$(PLAIN)/common/group/processes.o: CPPFLAGS += $(if $(MPI_LIBS),-DLAB_MPI) $(MPI_FLAGS)
GROUP_MAIN := $(PLAIN)/common/tools/group/main.o $(PLAIN)/common/step/linked.o

step_objects = $(STEP_BUILD)/steps/$1/attention.cu.o $(if $(ELSEWHERE),$(STEP_BUILD)/steps/$1/source.o)

define step_rules
$(STEP_BUILD)/step$(call step_number,$1): $(if $(filter $1,$(GROUP_STEPS)),$(GROUP_MAIN) $(GROUP_PART),$(DRIVER_MAIN)) $(call step_objects,$1) $(LIBRARY) $(RUNTIME)
	$$(call link,$(if $(filter $1,$(GROUP_STEPS)),$(NCCL_LIBS) $(MPI_LIBS)))
$(STEP_BUILD)/step$(call step_number,$1)-check: $(if $(filter $1,$(GROUP_STEPS)),$(GROUP_SUITE) $(GROUP_PART),$(SUITE)) $(call step_objects,$1) $(LIBRARY) $(RUNTIME) $(BUILD)/libgit2.so
	$$(call link,$$(CRITERION) $(if $(filter $1,$(GROUP_STEPS)),$(NCCL_LIBS) $(MPI_LIBS)))
$(STEP_BUILD)/step$(call step_number,$1).so: $(call step_objects,$1) $(RUNTIME)
	$$(call link,-shared $(if $(filter $1,$(GROUP_STEPS)),$(NCCL_LIBS)))
endef
define alone_rules
$(STEP_BUILD)/step$(call step_number,$1)-fuzz: $(FUZZ) $(call step_objects,$1) $(LIBRARY) $(RUNTIME)
	$$(call link)
$(STEP_BUILD)/step$(call step_number,$1)-stamped.so: $(patsubst %.cu.o,%.stamped.o,$(call step_objects,$1)) $(RUNTIME)
	$$(call link,-shared)
endef
$(foreach step,$(ALL_STEPS),$(eval $(call step_rules,$(step))))
$(foreach step,$(filter-out $(GROUP_STEPS),$(ALL_STEPS)),$(eval $(call alone_rules,$(step))))

# Times the steps for several GPUs against a step on one.
$(BUILD)/groups: $(GROUPS) $(GROUP_PART) $(LIBRARY) $(RUNTIME)
	$(call link,$(NCCL_LIBS) $(MPI_LIBS))

# A step that gives a wrong result on demand, to test that the program reports it, and that the ladder does.
SABOTAGED := $(PLAIN)/common/tests/driver/sabotaged_step.o $(BUILD)/common/tests/driver/sabotaged_kernel.cu.o
$(BUILD)/sabotaged: $(DRIVER_MAIN) $(SABOTAGED) $(LIBRARY) $(RUNTIME)
	$(call link)
$(BUILD)/sabotaged.so: $(SABOTAGED) $(LIBRARY) $(RUNTIME)
	$(call link,-shared)
$(BUILD)/sabotaged-fuzz: $(FUZZ) $(SABOTAGED) $(LIBRARY) $(RUNTIME)
	$(call link)

# The same for several GPUs: the program, and the step alone.
$(BUILD)/sabotaged_group: $(GROUP_MAIN) $(GROUP_PART) $(PLAIN)/common/tests/driver/sabotaged_group.o $(LIBRARY) $(RUNTIME)
	$(call link,$(NCCL_LIBS) $(MPI_LIBS))
$(BUILD)/sabotaged_group.so: $(PLAIN)/common/tests/driver/sabotaged_group.o $(LIBRARY) $(RUNTIME)
	$(call link,-shared $(NCCL_LIBS))

# A right one, of which a test spoils a part.
$(BUILD)/spoiled_group.so: $(PLAIN)/common/tests/groups/spoiled.o $(LIBRARY) $(RUNTIME)
	$(call link,-shared)

$(BUILD)/ladder: $(PLAIN)/common/tools/ladder/main.o $(LIBRARY) $(RUNTIME)
	$(call link)

$(BUILD)/bench: $(PLAIN)/common/tools/bench/main.o $(LIBRARY) $(RUNTIME)
	$(call link)

# Instructions of a GPU that no emulator times: for DEVICE=gpu alone.
$(BUILD)/ceilings: $(PLAIN)/common/tools/ceilings/main.o $(patsubst %,$(BUILD)/%.o,common/timing/reading.cu $(wildcard common/tools/ceilings/*.cu)) $(LIBRARY)
	$(call link)

$(BUILD)/timeline: $(PLAIN)/common/tools/timeline/main.o $(LIBRARY) $(RUNTIME)
	$(call link)

$(BUILD)/budget: $(PLAIN)/common/tools/budget/main.o $(LIBRARY) $(RUNTIME)
	$(call link)

# The same C program, linked with the shared object of one step each.
$(BUILD)/examples/from_c-%: $(PLAIN)/examples/from_c.o $(BUILD)/step%.so $(RUNTIME)
	$(prepare)
	$(CC) $(LDFLAGS) $(filter %.o %.so,$^) $(DEVICE_LIBS) $(RPATH) -o $(part) $(whole)

# What common/tools/peers calls from Python.
$(BUILD)/libpeers.so: $(patsubst %,$(PLAIN)/common/%.o,timing/timing timing/figures timing/floor timing/told_clock \
                        statistics/statistics shape/shape error/error) $(BUILD)/common/timing/reading.cu.o $(LIBRARY) $(RUNTIME)
	$(call link,-shared)

$(PLAIN)/mutants: $(PLAIN)/common/tools/mutants/main.o $(LIBRARY)
	$(CC) $(LDFLAGS) $^ -lm -o $(part) $(whole)

# The lab book needs Debian's libmd4c-html0-dev, so its parts are in no library of the lab.
$(PLAIN)/book: $(patsubst %.c,$(PLAIN)/%.o,$(wildcard common/tools/book/*.c)) $(LIBRARY)
	$(CC) $(LDFLAGS) $^ -lmd4c-html -lmd4c -lm -o $(part) $(whole)

$(BUILD)/compare: $(PLAIN)/common/tools/compare/main.o $(LIBRARY) $(RUNTIME)
	$(call link)

# This program counts the operations of a step's .so, and exists with MODE=count only.
COUNT := $(patsubst %.c,$(PLAIN)/%.o,$(wildcard common/tools/count/*.c))
$(BUILD)/count: $(COUNT) $(GROUP_PART) $(LIBRARY) $(RUNTIME)
	$(call link)

# Kernels with known counts. The emulator counts them with MODE=count; else they run under a profiler.
CALIBRATION := $(patsubst %,$(BUILD)/%.o,$(wildcard common/tools/calibration/*.cu))
$(BUILD)/calibrate: $(BUILD)/common/tools/calibration/main.o $(CALIBRATION) $(LIBRARY) $(RUNTIME)
	$(call link)

$(BUILD)/common/tools/calibration/main.o: common/tools/calibration/main.c
	$(prepare)
	$(CC) $(CFLAGS) $(CPPFLAGS) $(if $(filter count,$(MODE)),-DCALIBRATION_COUNTED) $(headers) -c $< -o $(part) $(object)

# --- tests of the parts: test_x.c, with x.cu where the part has kernels of its own ---------------

.SECONDEXPANSION:
$(BUILD)/tests/%: $(PLAIN)/common/tests/%.o $(TESTED) $$(addprefix $(BUILD)/,$$(addsuffix .o,$$(wildcard common/tests/$$(subst test_,,$$*).cu))) $(LIBRARY) $(RUNTIME) $(BUILD)/libgit2.so
	$(prepare)
	$(call link,$(CRITERION))

$(BUILD)/tests/count/test_calibration: $(CALIBRATION)
$(BUILD)/tests/emulator/test_faults: $(BUILD)/common/tests/emulator/runtime.cu.o
$(patsubst %,$(BUILD)/tests/groups/test_%,times row): $(patsubst %,$(PLAIN)/common/tools/groups/%.o,times row)
$(BUILD)/tests/groups/test_contenders: $(PLAIN)/common/tools/groups/contenders.o
$(BUILD)/tests/ceilings/test_memory: $(patsubst %,$(BUILD)/common/tools/ceilings/%.cu.o,chase copy l2_read)
$(BUILD)/tests/ceilings/test_work: $(BUILD)/common/tools/ceilings/copy.cu.o $(BUILD)/common/timing/reading.cu.o
$(BUILD)/tests/timing/test_reading: $(BUILD)/common/timing/reading.cu.o
$(patsubst %,$(BUILD)/tests/emulator/test_%,device_faults nccl nccl_faults): $(BUILD)/common/tests/emulator/devices.cu.o
$(patsubst %,$(BUILD)/tests/emulator/test_%,hopper_faults map_faults product_faults barrier_limits product_limits): $(BUILD)/common/tests/emulator/healthy.cu.o
$(BUILD)/tests/scripts/test_check: $(BUILD)/tests/scripts/test_plots

# In place of NVML, whose name it has. It lies where no other program looks for it. With the older kind of run path it is
# found before the NVML in a folder of LD_LIBRARY_PATH, which the containers for CUDA set.
$(BUILD)/tests/monitor/test_monitor: $(BUILD)/tests/monitor/libnvidia-ml.so.1
$(BUILD)/tests/monitor/test_monitor: CRITERION += $(BUILD)/tests/monitor/libnvidia-ml.so.1 -Wl,--disable-new-dtags
$(BUILD)/tests/monitor/libnvidia-ml.so.1: common/tests/monitor/nvml.c common/tests/monitor/nvml.h
	$(prepare)
	$(CC) $(CFLAGS) -shared -Wl,-soname,libnvidia-ml.so.1 $< -o $(part) $(whole)

# Objects and headers of another compiler are made again, and those for another processor (-march=native) or another GPU,
# such as in a checkout that was copied from another machine, or that several machines share.
made_for := $(CC) $(CXX) $(if $(filter gpu,$(DEVICE)),$(realpath $(NVCC)) $(sort $(ARCH)) )$(shell grep -m 1 -E '^(flags|Features)' /proc/cpuinfo 2>/dev/null | cksum)
$(shell mkdir -p $(PLAIN); echo "$(made_for)" | cmp -s - $(PLAIN)/compilers || echo "$(made_for)" >$(PLAIN)/compilers)
# No command that still runs writes a *.part that is an hour old: a build that was killed has left it.
$(shell find $(sort $(PLAIN) $(BUILD) $(STEP_BUILD)) -path '*/elsewhere' -prune -o -name '*.part' -mmin +60 -exec rm -f '{}' + \
  -o '(' -name '*.o' -o -name '*.gch' ')' -print 2>/dev/null): $(PLAIN)/compilers

-include $(shell find $(sort $(PLAIN) $(BUILD)) -path '*/elsewhere' -prune -o -name '*.d' -print 2>/dev/null)
ifneq ($(STEP_BUILD),$(BUILD))
-include $(shell find $(STEP_BUILD) -name '*.d' 2>/dev/null)
endif
