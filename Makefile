# The attention lab. `make help` lists the verbs; make/build.mk holds the rules behind them.
include make/config.mk
SHELL := /bin/bash

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help deps deps-sass doctor build ladder check run diff ptxas format format-check clean plots sweep budget \
        bench ceilings bugs fuzz fuzz-readers $(STEP_GOALS) ladder-now check-now
BUILDER = scripts/build.sh $(MAKE) --no-print-directory -f make/build.mk -j$(JOBS) DEVICE=$(DEVICE) $(if $(VERBOSE),,--silent)
# A step's code must not end its program unnoticed.
RUN = scripts/run.sh

ifneq ($(VARIANT),)
  ifeq ($(STEP_GOALS),)
    $(error VARIANT is one of a step: name the step as well, as in make step04 count VARIANT=$(VARIANT))
  endif
endif

help: ## this list
	@echo "Forward attention, step by step. Verbs:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | sort | \
	  awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'
	@echo
	@echo "One step alone: make step03 check|sanitize|count|bugs|variants|fuzz|run|diff|build|ptxas|sass|ptx|sweep|budget,"
	@echo "          exercise|hint|fill|solution|reset|watch, ncu|gdb|$(subst $() ,|,$(SANITIZER_TOOLS))."
	@echo "Steps: $(ALL_STEPS)."
	$(if $(SKIPPED),@echo "Skipped with DEVICE=$(DEVICE) that lacks what they need: $(SKIPPED).")
	@echo "Settings: DEVICE=gpu|cpu (now $(DEVICE)), ARCH=sm_90a, DEBUG=1, SANITIZE=address,undefined,"
	@echo "          JOBS=$(JOBS), VERBOSE=1, ARGS=\"--seq 100\" for run, sanitize, count, ladder and sweep,"
	@echo "          CONFIG=64x64x4x2 for check, VARIANT=no_pad for a step changed by steps/NN/variants/no_pad.patch,"
	@echo "          WORK=1 for your own files of the exercises,"
	@echo "          EMU_GPU=t4|a100|l4|h200 for the GPU that the emulator imitates,"
	@echo "          LAB_LIMIT=600 for kernels that take more than a minute and are not endless,"
	@echo "          CC=clang CXX=clang++ in place of gcc and g++."

# --- set-up --------------------------------------------------------------------------------------

deps: ## install what is missing; without root: make deps PREFIX=.deps
	@scripts/deps.sh $${PREFIX:+"$$PREFIX"}

deps-sass: ## fetch NVIDIA's disassembler for sass, where the CUDA toolkit lacks it (needs pip): PREFIX=.deps
	@scripts/deps.sh --nvdisasm $(PREFIX)

doctor: ## look at compilers, CUDA, GPU, memory and tools
	@scripts/doctor.sh

# --- building and running ------------------------------------------------------------------------

build: say-device ## build the steps' programs
	@$(BUILDER) $(call programs,$(BUILDABLE)) $(shared_steps)
	@echo "built: $(call programs,$(BUILDABLE))"

watched_by_gxx := note: MODE=$(MODE) compiles the kernels with g++, whose calls of the emulator clang++ does not make
say_skipped = scripts/made_for.sh --left-out '$(KNOWN)' $(SKIPPED) | \
  awk -F '\t' '{ sub(/_.*/, "", $$1); print "SKIP " $$1 ": needs " $$2 ", $(THIS_GPU) " $$3 }'
.PHONY: say-device
say-device:
	@echo "DEVICE=$(DEVICE)$(if $(ARCH), ARCH=\"$(ARCH)\")$(if $(DEBUG), DEBUG=1)"$(if $(ELSEWHERE),' STEPS_FOLDER='$(call quoted,$(STEPS_NAME)))
	$(if $(MODE),$(if $(CLANG),@echo "$(watched_by_gxx)"))
	$(if $(WORK),@scripts/workshop/source.sh $(BUILDABLE:%=$(STEPS_FOLDER)/%/attention.cu))
	$(if $(SKIPPED),@$(say_skipped))
	$(if $(BUILDABLE),,@echo "error: nothing was done: none of these steps can run on $(if $(filter gpu,$(DEVICE)),this GPU,the emulated GPU)" >&2; exit 2)

$(STEP_GOALS): $(if $(filter-out step%,$(MAKECMDGOALS)),,run)
	@:

# Runs a program with the reader's options behind its own. Charts of what the reader has just recorded lie beside it:
# $(call draw_results,"CHART...",NAME of the file).
with_args    = scripts/with_args.sh
draw_results = $(if $(ELSEWHERE),,@scripts/plot.sh --data $(DATA) $1 $$($(BUILD)/ladder --slug) $2)

run: build ## run a step's program: make step04 run ARGS="--seq 1000 --causal"
	@for program in $(call programs,$(BUILDABLE)); do $(with_args) $(RUN) $$program || exit; done

ladder: ## run every step on the same tensors: table, CSV and chart
	@scripts/deps.sh --without-tests $${PREFIX:+"$$PREFIX"}
	@$(MAKE) --no-print-directory $(STEP_GOALS) ladder-now

ladder-now: say-device
	@$(BUILDER) $(shared_steps) $(BUILD)/ladder
	@$(with_args) $(RUN) $(BUILD)/ladder $(call quoted,$(DATA)) $(or $(NAME),ladder) $(shared_steps) --
	$(call draw_results,--dumb "speedup ladder_counts",$(or $(NAME),ladder))
	$(call draw_results,"speedup ladder_counts",$(or $(NAME),ladder))

sweep_name = $(or $(NAME),sweep-$(call step_number,$(firstword $(BUILDABLE))))
sweep: say-device ## all configurations of a step, ranked: make step06 sweep
	@$(BUILDER) $(shared_steps) $(BUILD)/ladder
	@$(with_args) $(RUN) $(BUILD)/ladder $(call quoted,$(DATA)) $(sweep_name) $(firstword $(shared_steps)):all --
	$(call draw_results,sweep,$(sweep_name))

# Verbs that only measure times, and have no result on the emulator.
.PHONY: needs-gpu
needs-gpu: say-device
ifeq ($(DEVICE),cpu)
	@echo "error: $(filter bench ceilings peers shapes spread record,$(MAKECMDGOALS)) measures times, which mean nothing on the emulator: run it" \
	  "on a machine with a GPU (make ladder counts here what the steps do)" >&2
	@exit 2
endif

bench: needs-gpu ## every step over a grid of shapes (GPU): QUICK=1, FRESH=1, NAME=, ARGS="--help"
	@$(BUILDER) $(shared_steps) $(BUILD)/bench $(BUILD)/ladder
	@$(with_args) $(RUN) $(BUILD)/bench $(call quoted,$(DATA)) $(or $(NAME),bench) $(shared_steps) -- $(if $(QUICK),--quick) $(if $(FRESH),--fresh)
	$(if $(NAME),,$(call draw_results,"scaling memory latency"))

ceilings: needs-gpu ## this GPU's bandwidth and arithmetic rates, measured (GPU)
	@$(BUILDER) $(BUILD)/ceilings $(BUILD)/ladder
	@$(BUILD)/ceilings $(call quoted,$(DATA)) $(or $(NAME),ceilings)
	$(if $(NAME),,$(call draw_results,"roofline scaling"))

budget: say-device ## shared memory of each configuration against the GPUs' limits: make step06 budget
	@$(BUILDER) $(shared_steps) $(BUILD)/budget
	@for step in $(shared_steps); do $(RUN) $(BUILD)/budget $$step || exit; done

# Unless steps are named, as in make step05 peers, these verbs take the steps that copy while they multiply, whose
# speed is near that of the peers. make bench measures all steps. SDPA's two slow backends are left out, too:
# ARGS="--without sdpa_math" takes the other one of them in.
stored     = $(shell grep -l score_matrix_bytes $(BUILDABLE:%=$(STEPS_FOLDER)/%/attention.cu))
PEER_STEPS = $(if $(STEP_GOALS),$(BUILDABLE),$(filter-out 04_% 05_% $(notdir $(patsubst %/attention.cu,%,$(stored))),$(BUILDABLE)))
peers_now    = PYTHONPATH=common/tools python3 -m peers
peers_run    = PYTHONPATH=common/tools $(with_args) $(RUN) python3 -m peers

.PHONY: peers shapes spread compare
# $(call beside_peers,NAME of the files,steps,options)
define beside_peers
	@command -v python3 >/dev/null || { echo "error: $1 needs Python 3 with PyTorch, and there is no python3" >&2; exit 2; }
	@$(peers_now) --ready
	@$(BUILDER) $(addsuffix .so,$(call programs,$2)) $(BUILD)/libpeers.so $(BUILD)/ladder
	@$(peers_run) --folder $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) --name $(or $(NAME),$1) \
	  --library $(BUILD)/libpeers.so --steps $(addsuffix .so,$(call programs,$2)) \
	  --without sdpa_math sdpa_efficient $3 $(if $(FA3),--fa3 "$$FA3") $(if $(QUICK),--quick) $(if $(FRESH),--fresh)
	$(if $(NAME)$(filter shapes,$1),,$(call draw_results,$1))
endef

peers: needs-gpu ## steps against PyTorch's attention, and FlashAttention-3 (needs PyTorch); FA3=libfa3.so, QUICK=1, FRESH=1
	$(call beside_peers,peers,$(PEER_STEPS))

shapes: needs-gpu ## the same for one head, ragged lengths, grouped heads, decoding (needs PyTorch); FA3=libfa3.so
	$(call beside_peers,shapes,$(PEER_STEPS),--users)

spread: needs-gpu ## steps and peers for scores that are spread more and more (needs PyTorch); QUICK=1, FRESH=1
	$(call beside_peers,spread,$(PEER_STEPS),--spread)

.PHONY: record
record: needs-gpu ## all times that charts and tables are made of (GPU): PARTS="ladder bench", FA3=libfa3.so, FRESH=1
	@MAKE="$(MAKE)" FRESH="$(FRESH)" scripts/record.sh $(PARTS)

compare: ## what is slower: make compare OLD=a.csv NEW=b.csv [THRESHOLD=3], or OLD=a.csv A=05 B=06
	@$(BUILDER) $(BUILD)/compare
	@$(BUILD)/compare $${OLD:+"$$OLD"} $(if $(NEW),"$$NEW",$(if $(A),$${OLD:+"$$OLD"})) $(if $(A),--a $(A)) $(if $(B),--b $(B)) \
	  $(if $(THRESHOLD),--threshold $(THRESHOLD))

.PHONY: count count-now calibrate
count: ## what a step asks of memory and tensor cores, by source line: make step05 count
	@$(MAKE) --no-print-directory $(STEP_GOALS) count-now $(if $(filter cpu,$(DEVICE)),MODE=count)

ifeq ($(DEVICE),cpu)
count-now: say-device
	@$(BUILDER) $(shared_steps) $(BUILD)/count $(BUILD)/ladder
	@mkdir -p build/count
	@for step in $(shared_steps); do \
	  $(with_args) $(RUN) $(BUILD)/count build/count $$step -- && \
	  scripts/record_counts.sh $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) <build/count/$$(basename $$step .so).csv || exit; \
	done
	$(call draw_results,saves)
else
count-now: say-device
	@$(BUILDER) $(call programs,$(BUILDABLE)) $(BUILD)/ladder
	@$(with_args) scripts/count_gpu.sh $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) $(call programs,$(BUILDABLE)) --
	$(call draw_results,"saves roofline")
endif

calibrate: say-device ## the emulator's counts against known answers, and on a GPU against its counters
	@$(BUILDER) $(BUILD)/ladder $(if $(filter gpu,$(DEVICE)),$(BUILD)/calibrate $(call programs,$(BUILDABLE)))
	@$(BUILDER) DEVICE=cpu MODE=count build/cpu-count/calibrate build/cpu-count/count \
	  $(foreach step,$(BUILDABLE),build/cpu-count/step$(call step_number,$(step)).so)
	@scripts/calibrate.sh $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) build/cpu-count \
	  $(if $(filter gpu,$(DEVICE)),$(BUILD) $(BUILDABLE))

# TERM is in every shell's environment, so only a TERM of the command line counts. STEPS has a value of its own for
# the other verbs.
plots: ## draw the record's charts, RESULTS=1 your own: CHART=scaling STEPS=07,17 BASE=sdpa_cudnn WITH=results/... AXIS=linear TERM=dumb
	@scripts/plot.sh $(if $(filter command-line/dumb,$(subst $() ,-,$(origin TERM))/$(TERM)),--dumb) $(if $(RESULTS),--data results) \
	  $(if $(filter command-line,$(subst $() ,-,$(origin STEPS))),--steps "$(STEPS)") $(if $(BASE),--base "$(BASE)") \
	  $(if $(WITH),--with "$$WITH") $(if $(AXIS),--axis "$(AXIS)") \
	  "$(or $(CHART),all)" $(if $(DEVICE_FOLDER)$(NAME),"$(or $(DEVICE_FOLDER),*)") $(NAME)

.PHONY: tables tables-check pages-check guide publish
tables: ## write the tables of the documents again from the published record
	@scripts/tables.sh

publish: ## put what you have recorded, results/, into the published record: DEVICE_FOLDER= NAME=
	@scripts/publish.sh "$(DEVICE_FOLDER)" $(NAME)

# --- checking ------------------------------------------------------------------------------------

check: deps ## all tests on this device; one step's suite: make step03 check
	@$(MAKE) --no-print-directory $(STEP_GOALS) $(if $(WORK),check-work,check-now)

ifeq ($(STEP_GOALS),)
  cpu_only := common/tests/rewrite/% common/tests/emulator/test_faults.c common/tests/emulator/test_limit_faults.c \
              common/tests/emulator/test_device_api.c \
              common/tests/emulator/test_tensor_faults.c common/tests/emulator/test_hopper_faults.c \
              common/tests/scripts/test_bugs.c common/tests/scripts/test_clang.c common/tests/scripts/test_ended.c \
              common/tests/scripts/test_verbs.c common/tests/scripts/test_settings.c \
              common/tests/scripts/test_variants.c \
              common/tests/scripts/test_workshop.c common/tests/scripts/test_recipes.c
  gpu_only := common/tests/timing/test_known_duration.c common/tests/timing/test_cold_cache.c
  # Left out under AddressSanitizer: tests that abandon stacks in the middle of a kernel, and those of Python's
  # library.
  address_less := $(if $(findstring address,$(SANITIZE)),common/tests/emulator/%_faults.c common/tests/peers/%)
  # A GPU before sm_80 cannot run these tests of arithmetic in bf16, mma.sync and sums over a warp.
  since_sm_80 := $(patsubst %,common/tests/emulator/test_%.c,number_functions numbers ptx warp wmma wmma_products)
  too_new     := $(if $(filter gpu,$(DEVICE)),$(if $(filter sm_7%,$(ARCH)),$(since_sm_80)))
  PART_TESTS := $(filter-out common/tests/steps/% $(if $(filter gpu,$(DEVICE)),$(cpu_only),$(gpu_only)) $(address_less) $(too_new), \
                  $(sort $(wildcard common/tests/*/test_*.c)))
  # Those of a watching emulator need it, and kernels that are compiled for it, which AddressSanitizer
  # excludes.
  every_mode    := common/tests/emulator/test_limit_faults.c
  watched_tests  = $(patsubst common/tests/%.c,$(BUILD)-$1/tests/%,$(filter common/tests/$1/% $(every_mode),$(PART_TESTS)))
  WATCHED_TESTS := $(if $(findstring address,$(SANITIZE))$(filter gpu,$(DEVICE)),, \
                     $(call watched_tests,sanitize) $(call watched_tests,count))
  PART_TESTS    := $(filter-out common/tests/sanitize/% common/tests/count/%,$(PART_TESTS))
  PART_TESTS    := $(PART_TESTS:common/tests/%.c=$(BUILD)/tests/%)
  CHECK_ALL  := format-check tables-check pages-check
  PLANTED    := $(if $(ELSEWHERE)$(filter gpu,$(DEVICE)),,$(BUILDABLE))
endif

# The last program that takes every shape, for the tests of the program itself.
any_shape = $$(for program in $(call programs,$(BUILDABLE)); do \
  $$program --batch 1 --heads 1 --seq 1 --dim 1 --scale 0 --no-time >/dev/null 2>&1 && echo $$program; done | tail -n 1)

# How many test programs run at a time. On a GPU they spend most of their time starting. On a CPU each keeps a core
# busy, and the programs that take long on one core begin first.
at_once    = $(if $(filter gpu,$(DEVICE)),$(shell echo $$((($(JOBS) + 3) / 4))),$(JOBS))
LONG_TESTS = $(filter $(addprefix %/scripts/test_,workshop verbs bugs recipes clang ended deps),$(PART_TESTS))
CHECKED    = $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(PART_TESTS)) $(WATCHED_TESTS) $(step_checks)

# The steps are built first, from the last one on, because the compiler takes longest for their kernels.
reversed = $(if $1,$(call reversed,$(wordlist 2,1000,$1)) $(firstword $1))

say_too_new = SKIP $(patsubst common/tests/%.c,%,$(too_new)): they need sm_80 or newer, this GPU is $(ARCH)
check-now: say-device $(CHECK_ALL)
	$(if $(too_new),@echo "$(say_too_new)")
	@$(BUILDER) $(call reversed,$(step_checks)) $(PART_TESTS) $(call programs,$(BUILDABLE)) $(BUILD)/sabotaged \
	  $(if $(PART_TESTS),$(BUILD)/compare $(BUILD)/libpeers.so $(BUILD)/step01.so $(BUILD)/step04.so)
	$(if $(WATCHED_TESTS),@$(BUILDER) MODE=sanitize $(filter $(BUILD)-sanitize/%,$(WATCHED_TESTS)))
	$(if $(WATCHED_TESTS),@$(BUILDER) MODE=count $(filter $(BUILD)-count/%,$(WATCHED_TESTS)))
	@LAB_PROGRAM=$(any_shape) LAB_SABOTAGED=$(BUILD)/sabotaged LAB_CONFIG=$(CONFIG) \
	  LAB_COMPARE=$(BUILD)/compare LAB_BUILD=$(BUILD) AT_ONCE=$(at_once) LAB_LARGE=$(if $(STEP_GOALS),1) \
	  scripts/check.sh $(CHECKED)
	$(if $(PLANTED),@JOBS=$(JOBS) scripts/side_by_side.sh "$(bugs_of_steps)" "$(variants_of_steps)" scripts/guide.sh)

bugs_of_steps = if command -v patch >/dev/null; then DEVICE=cpu NAMED=1 RECORD= scripts/bugs.sh $(PLANTED); \
  else echo 'bugs: skipped because planting bugs needs the program patch (make deps installs it)'; fi
variants_of_steps = if command -v patch >/dev/null; then DEVICE=cpu SHORT=1 RECORD= scripts/variants.sh $(PLANTED); \
  else echo 'variants: skipped because making them needs the program patch (make deps installs it)'; fi

.PHONY: sanitize sanitize-now
sanitize: ## look for races, wild accesses, missing waits: make step06 sanitize SEEDS=5
	@$(MAKE) --no-print-directory $(if $(filter cpu,$(DEVICE)),MODE=sanitize) $(STEP_GOALS) sanitize-now

sanitize-now: say-device
	@$(BUILDER) $(call programs,$(BUILDABLE))
ifeq ($(DEVICE),cpu)
	@SEEDS=$(SEEDS) scripts/sanitize.sh $(STEP_BUILD) $(BUILDABLE)
else
	@JOBS=$(JOBS) scripts/sanitize_gpu.sh $(STEP_BUILD) $(BUILDABLE)
endif

bugs: say-device ## plant each steps/NN/bugs/*.patch and see who catches it (of all steps, or with RECORD=1: CSV)
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) RECORD=$(or $(RECORD),$(if $(STEP_GOALS),,1)) scripts/bugs.sh $(BUILDABLE)

.PHONY: mutants
mutants: say-device ## steps with one small fault each, and who catches it: make step17 mutants SECONDS=120 SEED=1
	$(if $(ELSEWHERE),@echo "error: mutants are made of the steps in steps/: leave STEPS_FOLDER out" >&2; exit 2)
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) RECORD=$(RECORD) OPERATORS=$(call quoted,$(OPERATORS)) \
	  FILES=$(call quoted,$(FILES)) scripts/mutants.sh $(SECONDS:%=--seconds %) $(COUNT:%=--count %) $(SEED:%=--seed %) $(BUILDABLE)

.PHONY: variants
variants: say-device ## what each part of a step brings: builds, checks and times steps/NN/variants/*.patch: RECORD=1 NAME=
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) RECORD=$(RECORD) NAME=$(NAME) VARIANT=$(VARIANT) \
	  scripts/variants.sh $(BUILDABLE)

fuzz: say-device ## random problems on a step until one fails: make step06 fuzz SECONDS=60 SEED=1
	@$(BUILDER) $(call programs,$(BUILDABLE)) $(addsuffix -fuzz,$(call programs,$(BUILDABLE)))
	@for step in $(addsuffix -fuzz,$(call programs,$(BUILDABLE))); do \
	  OMP_WAIT_POLICY=passive $(RUN) $$step --seconds $(or $(SECONDS),60) $(COUNT:%=--count %) $(SEED:%=--seed %) || exit; done

fuzz-readers: ## made-up files for the .npy reader and the rewriter, with libFuzzer: SECONDS=60
	@scripts/fuzz_readers.sh $(or $(SECONDS),60) npy rewrite

ptxas: ## registers, shared memory, spills and occupancy of every kernel for all GPUs, or ARCH= (needs nvcc, no GPU)
	@NVCC=$(NVCC) JOBS=$(JOBS) scripts/ptxas.sh "$(ARCH)" $(STEPS)

.PHONY: sass ptx
sass: ## machine code: instructions counted, listing in build/sass (needs nvcc, no GPU)
	@NVCC=$(NVCC) JOBS=$(JOBS) scripts/sass.sh "$(or $(ARCH),sm_80 sm_90a)" $(STEPS)

ptx: ## PTX: instructions counted, listing in build/ptx (needs nvcc, no GPU)
	@NVCC=$(NVCC) JOBS=$(JOBS) scripts/ptx.sh "$(or $(ARCH),sm_80 sm_90a)" $(STEPS)

guide: ## run the commands of the guide, slow ones too, and compare what they say with it
	@JOBS=$(JOBS) scripts/guide.sh --all

SOURCES = $(shell scripts/files.sh '*.c' '*.h' '*.cu' '*.cuh')
format: ## lay out the sources with clang-format 14
	@scripts/format.sh -i $(SOURCES)

format-check:
	@scripts/format.sh --dry-run $(SOURCES)

tables-check:
	@scripts/tables.sh --check

pages-check:
	@scripts/pages.sh


include make/workshop.mk

# --- reading -------------------------------------------------------------------------------------

diff: ## what a step changes: make step03 diff, or make diff A=02 B=04; STAT=1: how many lines; VARIANT=no_pad
	@STEPS_FOLDER=$(STEPS_FOLDER) VARIANT=$(VARIANT) \
	  scripts/diff.sh $(if $(STAT),$(if $(A)$(B),--between "$(A)" "$(B)",--stat $(STEPS)),"$(A)" "$(or $(B),$(call step_number,$(firstword $(STEPS))))")

clean: ## remove everything that was built
	rm -rf build
