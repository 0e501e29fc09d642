# The attention lab. `make help` lists the verbs; make/build.mk holds the rules behind them.
include make/config.mk
# -p keeps out what a reader's shell has set up for itself, as the first line of each script does: with an exported CDPATH,
# cd prints a folder, or enters another one, and a file that BASH_ENV names may print, too.
SHELL       := /bin/bash
.SHELLFLAGS := -pc

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help deps deps-sass deps-nccl doctor build ladder check run diff ptxas format format-check clean plots sweep budget \
        bench ceilings bugs fuzz fuzz-readers $(STEP_GOALS) ladder-now check-now
# The source of a step that is named, as the reader knows it.
named_sources = $(if $(VERBOSE),,$(if $(STEP_GOALS),$(BUILDABLE:%=$(READ_NAME)/%/attention.cu)))
BUILD_FILES   = $(MAKE) --no-print-directory -f make/build.mk -j$(JOBS) DEVICE=$(DEVICE) $(if $(FIRST_CONFIGURATION),FIRST_CONFIGURATION=1) $(if $(VERBOSE),,--silent)
BUILDER       = scripts/build.sh $(call quoted,$(named_sources)) $(BUILD_FILES)
# A step's code must not end its program unnoticed.
RUN = scripts/run.sh

ifneq ($(VARIANT),)
  ifeq ($(STEP_GOALS),)
    $(error VARIANT is one of a step: name the step as well, as in make step04 count VARIANT=$(VARIANT))
  endif
endif
ifneq ($(SUBSTEP),)
  ifeq ($(STEP_GOALS),)
    $(error SUBSTEP is one of a step: name the step as well, as in make step15 diff SUBSTEP=$(SUBSTEP))
  endif
  ifneq ($(VARIANT),)
    $(error SUBSTEP=$(SUBSTEP) and VARIANT=$(VARIANT) are two different sources: give one of them)
  endif
endif

help: ## this list
	@echo "Forward attention, step by step. Verbs:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | sort | \
	  awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'
	@echo
	@echo "One step alone: make step03 check|sanitize|count|timeline|bugs|variants|substeps|fuzz|run|diff|build|ptxas|sass|ptx|sweep|budget,"
	@echo "          exercise|hint|fill|solution|reset|watch|hunt, examples, ncu|gdb|trace|$(subst $() ,|,$(SANITIZER_TOOLS))."
	@echo "Steps: $(ALL_STEPS)."
	$(if $(SKIPPED),@echo "Skipped with DEVICE=$(DEVICE) that lacks what they need: $(SKIPPED).")
	@echo "Settings: DEVICE=gpu|cpu (now $(DEVICE)), ARCH=sm_90a, DEBUG=1, SANITIZE=address,undefined,"
	@echo "          JOBS=$(JOBS), VERBOSE=1, ARGS=\"--seq 100\" for run, sanitize, count, ladder and sweep,"
	@echo "          CONFIG=64x64x4x2 for check, run and count,"
	@echo "          VARIANT=no_pad for a step changed by steps/NN/variants/no_pad.patch,"
	@echo "          SUBSTEP=2 for its parent changed by the first two of steps/NN/substeps/*.patch,"
	@echo "          WORK=1 for your own files of the exercises, LAB=1 for the lab's where you have one,"
	@echo "          EMU_GPU=t4|a100|l4|h200 for the GPU that the emulator imitates, EMU_GPUS=4 for how many of them,"
	@echo "          GPUS=2 for how many GPUs a step for several runs on,"
	@echo "          LAB_LIMIT=600 for kernels that take more than a minute and are not endless,"
	@echo "          CC=clang CXX=clang++ in place of gcc and g++."

# --- set-up --------------------------------------------------------------------------------------

deps: ## install what is missing; without root: make deps PREFIX=.deps
	@scripts/deps.sh $${PREFIX:+"$$PREFIX"}

deps-sass: ## fetch NVIDIA's disassembler for sass, where the CUDA toolkit lacks it (needs pip): PREFIX=.deps
	@scripts/deps.sh --nvdisasm $${PREFIX:+"$$PREFIX"}

deps-nccl: ## fetch NCCL for steps 21 to 23 on GPUs, where the machine has none (needs pip): PREFIX=.deps
	@NVCC=$(NVCC) scripts/deps.sh --nccl $${PREFIX:+"$$PREFIX"}

doctor: ## look at compilers, CUDA, GPU, memory and tools
	@scripts/doctor.sh

# --- building and running ------------------------------------------------------------------------

build: say-device ## build the steps' programs
	@$(BUILDER) $(call programs,$(BUILDABLE)) $(shared_steps)
	@echo "built: $(call programs,$(BUILDABLE))"

watched_by_gxx := note: MODE=$(MODE) compiles the kernels with g++, whose calls of the emulator clang++ does not make
say_skipped = scripts/made_for.sh --left-out '$(KNOWN)' $(SKIPPED) | \
  awk -F '\t' '{ sub(/_.*/, "", $$1); print "SKIP " $$1 ": needs " $$2 ", $(THIS_GPU) " $$3 }'
.PHONY: say-device say-source
# Says whose file it is: with the reader's own always, with the lab's where a step is checked, once a command.
say-source:
	$(if $(SAID),,$(if $(WORK),@PART=$(PART) scripts/workshop/source.sh $(STEPS),$(if $(STEP_GOALS),@echo $(call quoted,source: $(STEPS:%=$(STEPS_NAME)/%/attention.cu)$(if $(ELSEWHERE),,$(comma) the lab's own)))))
# A GPU that is asked for and missing would fail in each test. To build for one none is needed.
built_for = $(filter build ptxas sass ptx say-device,$(MAKECMDGOALS))
.PHONY: have-device
have-device:
	@scripts/writable.sh build
ifeq ($(DEVICE)$(filter command line environment,$(origin DEVICE)),gpu$(origin DEVICE))
	$(if $(built_for)$(HAVE_DEVICE),,@scripts/doctor.sh --gpu)
endif

say-device: have-device $(if $(WORK),say-source)
	@echo "DEVICE=$(DEVICE)$(if $(ARCH), ARCH=\"$(ARCH)\")$(if $(DEBUG), DEBUG=1)"$(if $(ELSEWHERE),' STEPS_FOLDER='$(call quoted,$(STEPS_NAME)))
	$(if $(MODE),$(if $(CLANG),@echo "$(watched_by_gxx)"))
	$(if $(SKIPPED),@$(say_skipped))
	$(if $(WITHOUT_NCCL),@printf 'SKIP %s: needs NCCL$(comma) which was not found: make deps-nccl PREFIX=.deps fetches it$(comma) or install libnccl-dev\n' $(foreach step,$(WITHOUT_NCCL),$(call step_number,$(step))))
	$(if $(BUILDABLE),,@echo "error: nothing was done: none of these steps can run on $(if $(filter gpu,$(DEVICE)),this GPU,the emulated GPU)$(if $(WITHOUT_NCCL),$(comma) without NCCL)" >&2; exit 2)

$(STEP_GOALS): $(if $(filter-out step%,$(MAKECMDGOALS)),,run)
	@:

# Runs a program with the reader's options behind its own. Charts of what the reader has just recorded lie beside it:
# $(call draw_results,"CHART...",NAME of the file).
with_args    = scripts/with_args.sh
draw_results = $(if $(ELSEWHERE),,@scripts/plot.sh --afterwards --data $(DATA) $1 $$($(BUILD)/ladder --slug) $2)

run: build ## run a step's program: make step04 run ARGS="--seq 1000 --causal"
	@for program in $(call programs,$(BUILDABLE)); do $(with_args) $(RUN) $$program $(CONFIG:%=--config %) $(GPUS:%=--gpus %) || exit; done

ladder: ## run every step on the same tensors: table, CSV and chart
	@scripts/deps.sh --without-tests $${PREFIX:+"$$PREFIX"}
	@$(MAKE) --no-print-directory $(STEP_GOALS) ladder-now

ladder-now: say-device
	@$(BUILDER) $(shared_steps) $(BUILD)/ladder
	@set -o pipefail; $(with_args) $(RUN) $(BUILD)/ladder $(call quoted,$(DATA)) $(or $(NAME),ladder) $(shared_steps) -- | scripts/fit.sh
	$(call draw_results,--dumb "speedup ladder_counts",$(or $(NAME),ladder))
	$(call draw_results,"speedup ladder_counts",$(or $(NAME),ladder))

sweep_name = $(or $(NAME),sweep-$(call step_number,$(firstword $(BUILDABLE))))
sweep: say-device ## all configurations of a step, ranked: make step06 sweep
	@$(BUILDER) $(shared_steps) $(BUILD)/ladder
	@set -o pipefail; $(with_args) $(RUN) $(BUILD)/ladder $(call quoted,$(DATA)) $(sweep_name) $(firstword $(shared_steps)):all -- | scripts/fit.sh
	$(call draw_results,sweep,$(sweep_name))

# Without ARGS the problem is that of the step's problems.txt, or one query with many keys.
splits_problem = $(or $(shell sed -n 's/^splits  *//p' $(firstword $(BUILDABLE:%=$(STEPS_FOLDER)/%/problems.txt)) 2>/dev/null), \
                   --batch 1 --heads 32 --kv-heads 8 --seq-q 1 --seq-kv 16384 --dim 128 --dtype bf16)
splits_name = $(or $(NAME),splits-$(call step_number,$(firstword $(BUILDABLE))))
.PHONY: splits
splits: needs-gpu ## time against the number of splits of the keys (GPU): make step18 splits
	@$(BUILDER) $(shared_steps) $(BUILD)/ladder
	@$(with_args) $(RUN) $(BUILD)/ladder $(call quoted,$(DATA)) $(splits_name) $(firstword $(shared_steps)):splits -- \
	  $(if $(ARGS),,$(splits_problem))
	$(call draw_results,splits,$(splits_name))

include make/measure.mk
include make/check.mk
include make/workshop.mk
include make/examples.mk
include make/book.mk

# --- any CUDA file -------------------------------------------------------------------------------

.PHONY: cuda
cuda: ## run any CUDA file on the emulator: make cuda FILE=x.cu MODE=sanitize|count SEEDS=5 ARGS="..."
	@MODE=$(MODE) scripts/cuda.sh

# --- reading -------------------------------------------------------------------------------------

diff_to = $(or $(B),$(if $(STEP_GOALS),$(call step_number,$(firstword $(STEPS)))))
diff: ## what a step changes: make step03 diff, or make diff A=02 B=04; STAT=1: how many lines; SUBSTEP=2, VARIANT=no_pad
	@STEPS_FOLDER=$(STEPS_FOLDER) VARIANT=$(VARIANT) SUBSTEP=$(SUBSTEP) \
	  scripts/diff.sh $(if $(STAT),$(if $(A)$(B),--between "$(A)" "$(diff_to)",--stat $(STEPS)),"$(A)" "$(diff_to)")

# A goal that is no verb; the second rule keeps make from taking a missing file of settings for one, and with make -B each of
# its own files.
.DEFAULT:
	@NAMED=$(filter step%,$(filter-out $@,$(MAKECMDGOALS))) scripts/near.sh $(call quoted,$@) $(or $(filter-out step% $@,$(MAKECMDGOALS)),run) -- $(filter-out .deps/%,$(MAKEFILE_LIST))
$(sort .deps/env.mk $(MAKEFILE_LIST)): ;

clean: ## remove everything that was built
	rm -rf build
