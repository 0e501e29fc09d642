# The settings of a build: the device, the compilers, the steps and the folders. Every variable can be given on the
# command line.

# Numbers are written, and letters compared, as in C, whatever language the user's machine speaks.
override export LC_ALL := C
# With POSIXLY_CORRECT bash, gawk, patch and others leave out what the scripts use.
unexport POSIXLY_CORRECT
# What make check tells the make that it calls. A make that a test calls must not hear of it.
unexport SAID HAVE_DEVICE
# Nor of the steps that the command line names: the make that a recipe calls has them in its flags, and a test has steps
# of its own.
ifeq ($(origin STEPS),command line)
  unexport STEPS
endif

include make/settings.mk

# Packages unpacked without root by `make deps PREFIX=.deps`.
-include .deps/env.mk

# $(call looked_up,NAME,COMMAND) sets a variable that the user has not given to what the command prints. The command runs
# once, and not at each use of the variable, as behind ?=.
looked_up = $(if $(filter undefined,$(origin $1)),$(eval $1 := $$(shell LC_ALL=C $2)))

# The device is gpu when nvcc and a working GPU are there, else cpu, which is the emulator.
$(call looked_up,DEVICE,scripts/doctor.sh --device)
ifeq ($(filter $(DEVICE),cpu gpu),)
  $(error DEVICE is "$(DEVICE)": give DEVICE=gpu, or DEVICE=cpu for the emulator)
endif

$(call looked_up,CUDA_HOME,scripts/doctor.sh --cuda-home)
NVCC      ?= $(CUDA_HOME)/bin/nvcc
ifeq ($(DEVICE)$(CUDA_HOME),gpu)
  $(error DEVICE=gpu needs the CUDA toolkit, and nvcc was not found: set CUDA_HOME, or use DEVICE=cpu)
endif

# make's own default is cc, which may be an older compiler than the gcc that comes first in PATH, as on a cluster, or missing.
ifneq ($(filter default undefined,$(origin CC)),)
  CC := gcc
endif
# make -R has no values of its own.
CXX ?= g++
AR  ?= ar
# make CC=clang CXX=clang++: the compilers in place of gcc and g++. Kernels that the emulator watches, MODE=sanitize and
# MODE=count, need the callbacks as g++ makes them, and gdb needs the names of the emulator, which clang does not describe
# in a kernel's object. So these kernels are compiled by g++ all the same.
# One that the user has chosen and that is not there is refused here, in a sentence.
$(foreach compiler,CC CXX,$(if $(filter default file,$(origin $(compiler))),,$(if $(shell command -v $(firstword $($(compiler)))),,\
  $(error $(compiler) is "$($(compiler))", and there is no such program: give a compiler that is installed))))
is_clang   = $(if $(filter cc gcc gcc-% g++ g++-%,$(notdir $1)),,$(findstring clang,$(shell $1 --version 2>/dev/null)))
CLANG     := $(call is_clang,$(CXX))
KERNEL_CXX = $(if $(MODE)$(DEBUG),$(if $(CLANG),g++,$(CXX)),$(CXX))
ifneq ($(CLANG),$(call is_clang,$(CC)))
  $(error CC is $(CC) and CXX is $(CXX), and only one of them is clang: the two kinds of compilers have different OpenMP \
    libraries, so give both, as in make CC=clang CXX=clang++)
endif

# The GPU's own architecture. Without a GPU these are the two architectures that the lab is tested on.
ifeq ($(DEVICE),gpu)
  $(call looked_up,ARCH,scripts/doctor.sh --arch | grep . || echo sm_80 sm_90a)
endif

# An ARCH of the environment may be that of another program, and the emulator has no use for it.
ifneq ($(if $(filter gpu,$(DEVICE))$(filter command,$(origin ARCH)),$(filter-out sm_%,$(ARCH))),)
  $(error ARCH is "$(ARCH)": give names such as sm_90a, which nvcc --list-gpu-code lists)
endif

# A debug build stands beside the release build: kernels with -G, assertions and printf kept.
# So does a build in which the emulator watches the kernels: MODE=sanitize, MODE=count. It has its own
# emulator and kernels; the rest it takes from the plain build.
PLAIN := build/$(DEVICE)$(if $(DEBUG),-debug)$(if $(SANITIZE),-sanitized)
BUILD := $(PLAIN)$(MODE:%=-%)
$(call looked_up,JOBS,nproc)
ifneq ($(call less,0 1 2 3 4 5 6 7 8 9,$(JOBS))$(if $(call less,0,$(JOBS)),,0),)
  $(error JOBS is "$(JOBS)": give the number of compilers and programs to run at a time, from 1 on)
endif

ifneq ($(TENTH),)
  $(if $(filter 0 1 2 3 4 5 6 7 8 9,$(TENTH)),,$(error TENTH is "$(TENTH)": give it 0 to 9$(comma) the tenth that is to be tried))
endif

# The folder of the steps' sources. A changed copy of a step is built from another folder, beside the normal build.
# An example is make step06 check STEPS_FOLDER=/tmp/try, where /tmp/try holds 06_cp_async/attention.cu. WORK=1 is
# the folder of the exercises, and `make hunt BUG=3 check` works on the planted bug that it hands out.
#
# The verbs that try a kernel take the reader's own file of the step that is named, if there is one, also without
# WORK=1. LAB=1 is the lab's.
override LAB_WORK := $(or $(value LAB_WORK),work)
export LAB_WORK
own_verbs := check run sanitize count timeline gdb trace
named_one := $(if $(filter 1,$(words $(filter step%,$(MAKECMDGOALS)))),$(patsubst step%,%,$(filter step%,$(MAKECMDGOALS))))
chosen     = $(WORK)$(LAB)$(VARIANT)$(SUBSTEP)$(BUG)$(filter-out steps,$(STEPS_FOLDER))
ifneq ($(and $(named_one),$(filter $(own_verbs),$(MAKECMDGOALS))),)
  ifeq ($(chosen),)
    ifneq ($(shell CDPATH= cd $(call quoted,$(LAB_WORK)) 2>/dev/null && ls -d $(named_one)_*/attention.cu 2>/dev/null),)
      override WORK := 1
      export WORK
    endif
  endif
endif
ifneq ($(and $(PART),$(filter $(own_verbs),$(MAKECMDGOALS)),$(filter 0,$(MAKELEVEL))),)
  ifeq ($(named_one),)
    $(error PART=$(PART) is a part of the exercise of one step: make step04 $(firstword $(filter $(own_verbs),$(MAKECMDGOALS))) PART=$(PART))
  endif
endif
ifneq ($(and $(PART),$(named_one),$(filter $(own_verbs),$(MAKECMDGOALS))),)
  ifeq ($(WORK),)
    $(error PART=$(PART) is a part of your own file of step $(named_one), $(if $(chosen),and $(if $(LAB),LAB=1 takes the lab's: leave out LAB=1. The other parts are the lab's anyway,not of another file: leave out $(or $(firstword $(foreach setting,VARIANT SUBSTEP BUG,$(if $($(setting)),$(setting)=$($(setting))))),STEPS_FOLDER)),and there is none in $(LAB_WORK) yet: make step$(named_one) exercise writes it))
  endif
endif
ifneq ($(and $(WORK),$(LAB)),)
  $(error WORK=1 takes your own file and LAB=1 the lab's: give one of them)
endif
ifneq ($(WORK),)
  # A make that builds files for another one keeps that one's folder.
  ifeq ($(and $(PART),$(findstring /.parts/,$(STEPS_FOLDER)),$(if $(named_one),,build)),)
    override STEPS_FOLDER := $(LAB_WORK)
  endif
  # PART=2 tries one part of the file, between the lab's other parts.
  ifneq ($(and $(PART),$(named_one)),)
    ifeq ($(filter fill hint,$(MAKECMDGOALS)),)
      override STEPS_FOLDER := $(or $(shell LC_ALL=C LAB_WORK=$(call quoted,$(LAB_WORK)) scripts/workshop/part.sh \
                                 $(or $(notdir $(wildcard steps/$(named_one)_*)),$(named_one)) "$(PART)"),$(error nothing was done))
    endif
  endif
endif
ifneq ($(filter hunt reveal,$(MAKECMDGOALS)),)
  of_exercises := $(filter exercise hint fill solution reset watch,$(MAKECMDGOALS))
  ifneq ($(of_exercises),)
    $(error $(firstword $(of_exercises)) is of exercises, and a bug to hunt is none: make hunt BUG=$(or $(BUG),1) check looks for it, and make hunt BUG=$(or $(BUG),1) reveal tells what it is)
  endif
  ifneq ($(filter diff,$(MAKECMDGOALS)),)
    $(error diff would show what the bug is: make hunt BUG=$(or $(BUG),1) reveal does that, when you give up or have found it)
  endif
  ifneq ($(BUG),)
    other_source := $(firstword $(foreach setting,VARIANT SUBSTEP LAB WORK PART,$(if $($(setting)),$(setting)=$($(setting)))))
    ifneq ($(other_source),)
      $(error BUG=$(BUG) and $(other_source) are two different sources: leave out $(other_source))
    endif
    override STEPS_FOLDER := $(or $(shell LC_ALL=C LAB_WORK=$(call quoted,$(LAB_WORK)) scripts/workshop/hunt.sh hand-out \
                               "$(BUG)"),$(error nothing was done))
  else ifneq ($(filter-out hunt step%,$(MAKECMDGOALS)),)
    # It would work on the lab's steps, or on a file of the reader's own.
    $(error BUG says which bug is meant: make hunt BUG=1 $(firstword $(filter-out hunt step%,$(MAKECMDGOALS))). make hunt lists those that you have, and make step12 hunt hands out one of step 12)
  endif
endif
# VARIANT names a changed copy of one step, as in make step04 count VARIANT=no_pad. The verbs that look at the
# patches themselves, and a make that this one calls to build files, leave the folder as it is.
ifneq ($(and $(VARIANT),$(filter step%,$(MAKECMDGOALS))),)
  ifeq ($(filter variants diff,$(MAKECMDGOALS)),)
    override STEPS_FOLDER := $(or $(shell LC_ALL=C scripts/variants.sh --copy \
                               $(notdir $(wildcard steps/$(patsubst step%,%,$(firstword $(filter step%,$(MAKECMDGOALS))))_*)) \
                               $(VARIANT)),$(error nothing was done))
  endif
endif
# SUBSTEP=2 is the source behind the second of the substeps that divide the way from a step's parent to the step.
ifneq ($(and $(SUBSTEP),$(filter step%,$(MAKECMDGOALS))),)
  ifeq ($(filter substeps diff,$(MAKECMDGOALS)),)
    override STEPS_FOLDER := $(or $(shell LC_ALL=C scripts/substeps.sh --copy \
                               $(notdir $(wildcard steps/$(patsubst step%,%,$(firstword $(filter step%,$(MAKECMDGOALS))))_*)) \
                               $(SUBSTEP)),$(error nothing was done))
  endif
endif
override STEPS_FOLDER := $(or $(patsubst %/,%,$(STEPS_FOLDER)),steps)
# make divides its lists at blanks. So a folder whose name has a blank is reached through a link whose name has
# none.
ifneq ($(call beyond,$(in_paths),$(STEPS_FOLDER)),)
  override STEPS_FOLDER := $(or $(shell LC_ALL=C scripts/steps_link.sh $(call quoted,$(STEPS_FOLDER))),$(error the folder is not known))
endif
export STEPS_FOLDER
# The name of the folder that the reader knows.
STEPS_NAME := $(if $(filter build/folders/%,$(STEPS_FOLDER)),$(shell readlink $(STEPS_FOLDER)),$(STEPS_FOLDER))
# One part of the reader's file, between the lab's other parts, has the reader's lines: messages name that file.
READ_NAME  := $(if $(and $(WORK),$(PART)),$(LAB_WORK),$(STEPS_NAME))
ELSEWHERE  := $(filter-out steps,$(STEPS_FOLDER))
# Each folder gets a different name, in which "_" becomes "__" and "/" becomes "_.".
STEP_BUILD := $(BUILD)$(if $(ELSEWHERE),/elsewhere/$(subst /,_.,$(subst _,__,$(ELSEWHERE))))
# A quick check of a file that has just been changed compiles its first configuration alone, or all to find CONFIG.
ifneq ($(and $(WORK),$(QUICK),$(if $(CONFIG),,1),$(filter check check-work,$(MAKECMDGOALS))),)
  FIRST_CONFIGURATION := 1
endif
ifneq ($(FIRST_CONFIGURATION),)
  STEP_BUILD := $(STEP_BUILD).quick
endif

ALL_STEPS   := $(notdir $(patsubst %/attention.cu,%,$(sort $(wildcard $(STEPS_FOLDER)/*/attention.cu))))
ifeq ($(ALL_STEPS),)
  ifneq ($(WORK),)
    $(error WORK=1 is for your own files, and there is none in $(LAB_WORK) yet: make step04 exercise writes one)
  endif
  $(error STEPS_FOLDER is "$(STEPS_NAME)": it holds no step, such as 06_cp_async/attention.cu)
endif
step_number  = $(firstword $(subst _, ,$1))
# `make step03 check` works on step 03 alone, `make check` on all.
STEP_GOALS  := $(or $(filter step%,$(MAKECMDGOALS)), \
                 $(if $(BUG),$(if $(filter hunt reveal,$(MAKECMDGOALS)),$(addprefix step,$(call step_number,$(ALL_STEPS))))))
# A verb would take one of the two and leave the other out.
ifneq ($(and $(filter step%,$(MAKECMDGOALS)),$(filter-out undefined,$(origin STEPS))),)
  $(error $(filter step%,$(MAKECMDGOALS)) and STEPS="$(STEPS)" both say which steps are meant: give one of them$(if $(filter environment,$(origin STEPS)),$(comma) and STEPS is in your environment))
endif
STEPS       ?= $(if $(STEP_GOALS),$(foreach goal,$(STEP_GOALS),$(filter $(goal:step%=%)_%,$(ALL_STEPS))),$(ALL_STEPS))
ifneq ($(STEP_GOALS),)
  ifneq ($(words $(STEP_GOALS)),$(words $(STEPS)))
    ifeq ($(ELSEWHERE),)
      $(shell LC_ALL=C scripts/near.sh $(firstword $(foreach goal,$(STEP_GOALS),$(if $(filter $(goal:step%=%)_%,$(ALL_STEPS)),,$(goal)))) $(or $(filter-out step%,$(MAKECMDGOALS)),run))
      $(error nothing was done)
    endif
    ifneq ($(and $(BUG),$(filter hunt reveal,$(MAKECMDGOALS))),)
      $(error bug $(BUG) is not of $(STEP_GOALS), but in $(STEPS_NAME)/$(ALL_STEPS): write make hunt BUG=$(BUG) without $(STEP_GOALS). make $(firstword $(STEP_GOALS)) hunt hands out a bug of that step)
    endif
    $(error no such step in "$(STEP_GOALS)": in $(STEPS_NAME) there are $(foreach step,$(ALL_STEPS),step$(call step_number,$(step)))$(if $(WORK),; make $(firstword $(STEP_GOALS)) exercise writes one)))
  endif
endif

# The charts take numbers, STEPS=07,17.
unknown_steps := $(if $(filter plots,$(MAKECMDGOALS)),,$(filter-out $(ALL_STEPS),$(STEPS)))
ifneq ($(unknown_steps),)
  $(error there is no step "$(firstword $(unknown_steps))": STEPS takes whole names, as in STEPS="01_naive 02_tiled"; numbers are goals, as in make step01 step02 ladder)
endif

ifneq ($(STEP),)
  ifeq ($(filter new,$(MAKECMDGOALS)),)
    $(error STEP names the step that make new makes: to work on step $(STEP), write make step$(STEP) $(or $(filter-out step%,$(MAKECMDGOALS)),run))
  endif
endif

# The first comment of a step says which GPU it needs. "Needs: sm_80" means this GPU or any newer one, and "Needs:
# sm_90a" means this GPU alone; see scripts/made_for.sh. On a GPU with less the step is skipped, and likewise with
# EMU_GPU=t4, which makes the emulator imitate such a GPU.
ifeq ($(DEVICE),gpu)
  KNOWN     := $(ARCH)
  THIS_GPU  := this GPU is
else
  KNOWN     := $(shell awk -v gpu='$(or $(EMU_GPU),h200)' '/^sm_/ && $$2 == gpu { print $$1 }' scripts/gpus.txt)
  THIS_GPU  := the emulated GPU is
  ifeq ($(KNOWN),)
    $(error EMU_GPU is "$(EMU_GPU)", which the emulator does not know: use one of $(shell awk '/^sm_/ && $$2 != "-" { print $$2 }' scripts/gpus.txt))
  endif
endif
ifeq ($(origin MADE_FOR),undefined) # a caller that asks for names only can leave this out, with MADE_FOR=
  MADE_FOR  := $(if $(KNOWN),$(subst $(blank)sm_,@sm_,$(shell LC_ALL=C STEPS_FOLDER=$(call quoted,$(STEPS_FOLDER)) scripts/made_for.sh '$(KNOWN)' $(ALL_STEPS))))
  ifneq ($(.SHELLSTATUS),0)
    $(error it is not known which steps can be made, see the error above)
  endif
endif
# Steps for several GPUs say "GPUs: several" in their first comment. They need NCCL: on the emulator its stand-in, else
# the header and the library of NCCL_HOME, which `make deps-nccl` unpacks into .deps/nccl, or the system's.
GROUP_STEPS := $(shell CDPATH= cd $(call quoted,$(STEPS_FOLDER)) 2>/dev/null && awk 'FNR == 1 { head = 1 } !/^\/\// { head = 0 } \
                 head && /^\/\/ GPUs: several$$/ { sub(/\/.*/, "", FILENAME); print FILENAME }' */attention.cu 2>/dev/null)
NCCL_HOME ?= $(patsubst %/include/nccl.h,%,$(firstword $(wildcard .deps/nccl/include/nccl.h $(CUDA_HOME)/include/nccl.h \
               /usr/include/nccl.h /usr/local/include/nccl.h)))
ifeq ($(DEVICE),gpu)
  NCCL_INCLUDE := $(if $(filter-out /usr,$(NCCL_HOME)),-isystem $(NCCL_HOME)/include)
  NCCL_LIBS    := $(if $(NCCL_HOME),$(if $(filter /usr,$(NCCL_HOME)),,-L$(NCCL_HOME)/lib -L$(NCCL_HOME)/lib64 -Xlinker -rpath -Xlinker $(abspath $(NCCL_HOME)/lib)) -l:libnccl.so.2)
  HAVE_NCCL    := $(NCCL_HOME)
else
  HAVE_NCCL    := $(wildcard common/emulator/include/nccl.h)
endif
# MPI, for `mpirun -np 2 build/gpu/step23 --mpi`; without it the option says what is missing.
$(call looked_up,MPICC,command -v mpicc)
ifneq ($(and $(MPICC),$(filter gpu,$(DEVICE))),)
  MPI_FLAGS := $(patsubst -I%,-isystem %,$(filter -I%,$(shell $(MPICC) --showme:compile 2>/dev/null || $(MPICC) -compile_info 2>/dev/null)))
  MPI_LIBS  := $(filter -L% -l%,$(shell $(MPICC) --showme:link 2>/dev/null || $(MPICC) -link_info 2>/dev/null))
endif
step_arch  = $(patsubst $1@%,%,$(filter $1@%,$(MADE_FOR)))
SKIPPED   := $(strip $(foreach step,$(STEPS),$(if $(call step_arch,$(step)),,$(step))))
WITHOUT_NCCL := $(if $(HAVE_NCCL),,$(filter $(GROUP_STEPS),$(filter-out $(SKIPPED),$(STEPS))))
BUILDABLE := $(filter-out $(SKIPPED) $(WITHOUT_NCCL),$(STEPS))
# Verbs that work on one GPU leave the steps for several out, and refuse them by name.
one_gpu_verbs := bench budget calibrate $(if $(filter gpu,$(DEVICE)),count count-now mutants) decode examples fuzz gdb ladder ladder-now ncu peers record shapes \
                 splits spread sweep timeline trace waves
ifneq ($(filter $(one_gpu_verbs),$(MAKECMDGOALS)),)
  ifneq ($(and $(STEP_GOALS),$(filter $(GROUP_STEPS),$(STEPS))),)
    $(error make $(firstword $(filter $(one_gpu_verbs),$(MAKECMDGOALS))) works on one GPU, and $(firstword $(filter $(GROUP_STEPS),$(STEPS))) \
      on several: make $(firstword $(STEP_GOALS)) run and check take it, and make groups times it)
  endif
  BUILDABLE := $(filter-out $(GROUP_STEPS),$(BUILDABLE))
  WITHOUT_NCCL :=
endif

programs      = $(foreach step,$1,$(STEP_BUILD)/step$(call step_number,$(step)))
shared_steps := $(addsuffix .so,$(call programs,$(BUILDABLE)))
step_checks  := $(addsuffix -check,$(call programs,$(BUILDABLE)))

# The reader's own times and counts are recorded here, in a folder that git ignores. Those of participants' files
# lie beside the files. The published record, plots/data, is written by make publish alone.
DATA := $(if $(ELSEWHERE),$(LAB_WORK)/.data,results)

include make/refusals.mk
