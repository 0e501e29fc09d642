# The verbs that test the lab, and those that look for faults in its steps. The Makefile includes this file.

# With a bug to hunt: says whether it is fixed, once a tool finds nothing. With a part of its work a tool may have missed it.
# The file may be changed while a tool runs, so its hash is taken before.
hunting = $(and $(BUG),$(filter hunt,$(MAKECMDGOALS)))
ifneq ($(and $(hunting),$(filter check sanitize timeline,$(MAKECMDGOALS))),)
  hunted_hash := $(shell . scripts/workshop/work.sh; file_hash $(call quoted,$(STEPS_FOLDER))/*/attention.cu)
endif
in_part = $(and $(filter-out timeline,$1),$(strip $(ARGS)$(CONFIG)$(QUICK)))
hunted  = $(if $(hunting),$(if $(call in_part,$1),@echo "This was a part of $1 alone: is bug $(BUG) fixed? make hunt BUG=$(BUG) $1 says so.",@scripts/workshop/hunt.sh note "$(BUG)" $1 $(hunted_hash)))

check: have-device say-source deps ## all tests on this device; one step's suite: make step03 check
	@$(MAKE) --no-print-directory $(STEP_GOALS) SAID=1 HAVE_DEVICE=1 $(if $(or $(WORK),$(hunting)),check-work,check-now)
	$(call hunted,check)

ifeq ($(STEP_GOALS),)
  # Kernels at the limits of Hopper's instructions, some of which are beyond them.
  limits   := $(patsubst %,common/tests/emulator/test_%.c,barrier_limits product_limits boxes)
  cpu_only := $(limits) common/tests/rewrite/% common/tests/emulator/test_faults.c common/tests/emulator/test_limit_faults.c \
              $(patsubst %,common/tests/emulator/test_device_%.c,api faults limits order) \
              common/tests/device/test_counts.c common/tests/driver/test_outcome.c \
              common/tests/emulator/test_devices.c common/tests/emulator/test_runtime.c \
              common/tests/emulator/test_nccl.c common/tests/emulator/test_nccl_faults.c common/tests/emulator/test_nccl_values.c common/tests/emulator/test_tensor_map.c \
              common/tests/emulator/test_tensor_faults.c common/tests/emulator/test_hopper_faults.c common/tests/emulator/test_cluster_faults.c \
              common/tests/emulator/test_map_faults.c common/tests/emulator/test_product_faults.c \
              common/tests/scripts/test_bugs.c common/tests/scripts/test_clang.c common/tests/scripts/test_ended.c \
              common/tests/scripts/test_verbs.c common/tests/scripts/test_settings.c common/tests/scripts/test_refusals.c common/tests/scripts/test_machine.c common/tests/scripts/test_statuses.c \
              common/tests/scripts/test_hunt.c common/tests/scripts/test_doctor.c common/tests/scripts/test_tools.c \
              common/tests/scripts/test_passed.c common/tests/scripts/test_checked.c \
              common/tests/scripts/test_variants%.c common/tests/scripts/test_substeps.c common/tests/scripts/test_lacking.c \
              common/tests/scripts/test_exercise%.c common/tests/scripts/test_verdicts.c common/tests/scripts/test_diagnostics.c common/tests/scripts/test_room.c \
              common/tests/scripts/test_workshop.c common/tests/scripts/test_recipes.c \
              common/tests/scripts/test_nvcc_cpu%.c common/tests/scripts/test_own_ptx.c common/tests/driver/test_group_program.c \
              common/tests/groups/test_groups.c common/tests/groups/test_contenders.c \
              common/tests/ladder/test_times.c common/tests/scripts/test_build.c
  gpu_only := common/tests/timing/test_known_duration.c common/tests/timing/test_cold_cache.c
  # Left out under AddressSanitizer: tests that abandon stacks in the middle of a kernel, those of Python's library,
  # builds with clang 14, whose AddressSanitizer does not know the emulator's threads, and tests of what is built
  # otherwise.
  address_less := $(if $(findstring address,$(SANITIZE)),common/tests/emulator/%_faults.c $(limits) common/tests/peers/% common/tests/examples/% $(patsubst %,common/tests/scripts/test_%.c,build checked clang own_ptx))
  # A GPU before sm_80 cannot run these tests of arithmetic in bf16, mma.sync and sums over a warp.
  since_sm_80 := $(patsubst %,common/tests/emulator/test_%.c,number_functions numbers ptx warp wmma wmma_products)
  too_new     := $(if $(filter gpu,$(DEVICE)),$(if $(filter sm_7%,$(ARCH)),$(since_sm_80)))
  PART_TESTS := $(filter-out common/tests/steps/% common/tests/group/% $(if $(filter gpu,$(DEVICE)),$(cpu_only),$(gpu_only)) $(address_less) $(too_new), \
                  $(sort $(wildcard common/tests/*/test_*.c)))
  # Those of a watching emulator need it, and kernels that are compiled for it, which AddressSanitizer
  # excludes.
  every_mode    := common/tests/emulator/test_limit_faults.c
  watched_tests  = $(patsubst common/tests/%.c,$(BUILD)-$1/tests/%,$(filter common/tests/$1/% $(every_mode),$(PART_TESTS)))
  WATCHED_TESTS := $(if $(findstring address,$(SANITIZE))$(filter gpu,$(DEVICE)),, \
                     $(call watched_tests,sanitize) $(call watched_tests,count))
  PART_TESTS    := $(filter-out common/tests/sanitize/% common/tests/count/%,$(PART_TESTS))
  PART_TESTS    := $(PART_TESTS:common/tests/%.c=$(BUILD)/tests/%)
  CHECK_ALL  := format-check tables-check claims-check pages-check
  PLANTED    := $(if $(ELSEWHERE)$(filter gpu,$(DEVICE)),,$(BUILDABLE))
endif

# The last program that takes every shape, for the tests of the program itself.
any_shape = $$(for program in $(call programs,$(BUILDABLE)); do \
  $$program --batch 1 --heads 1 --seq 1 --dim 1 --scale 0 --no-time >/dev/null 2>&1 && echo $$program; done | tail -n 1)

# How many test programs run at a time. On a GPU they spend most of their time starting. On a CPU each keeps a core
# busy most of the time, and one more fills the cores where a test waits; the programs that take long on one core begin first.
at_once    = $(shell echo $$(($(if $(filter gpu,$(DEVICE)),($(JOBS) + 3) / 4,$(JOBS) + ($(JOBS) > 1)))))
LONG_TESTS = $(filter $(addprefix %/scripts/test_,workshop verbs nvcc_cpu nvcc_cpu_sanitize bugs recipes clang ended deps),$(PART_TESTS))
CHECKED    = $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(PART_TESTS)) $(WATCHED_TESTS) $(step_checks)

# The suites of the steps for several GPUs use all GPUs that there are.
on_all_gpus = $(if $(filter gpu,$(DEVICE)),$(filter $(addsuffix -check,$(call programs,$(GROUP_STEPS))),$(step_checks)))
on_one_gpu  = $(if $(filter gpu,$(DEVICE)),$(filter-out $(on_all_gpus),$(step_checks)))

# Beside the build, which has times when it keeps one core busy.
checks_of_texts = $(CHECK_ALL:%="$(MAKE) --no-print-directory %")

# The steps are built first, from the last one on, because the compiler takes longest for their kernels.
reversed = $(if $1,$(call reversed,$(wordlist 2,1000,$1)) $(firstword $1))

# A configuration that a step does not have is refused as its program refuses it, before any test runs.
know_configuration = for program in $(call programs,$(BUILDABLE)); do \
    $$program --config $(CONFIG) --batch 1 --heads 1 --seq 64 --dim 64 --no-time >/dev/null || exit; done

say_too_new = SKIP $(patsubst common/tests/%.c,%,$(too_new)): they need sm_80 or newer, this GPU is $(ARCH)
build_tests = $(BUILDER) $(call reversed,$(step_checks)) $(PART_TESTS) $(call programs,$(BUILDABLE)) $(BUILD)/sabotaged $(if $(filter cpu,$(DEVICE)),$(BUILD)/sabotaged_group) \
    $(if $(filter cpu,$(DEVICE)),$(if $(PART_TESTS),$(BUILD)/groups $(BUILD)/step17.so $(BUILD)/step21.so $(BUILD)/sabotaged_group.so $(BUILD)/spoiled_group.so)) \
    $(if $(PART_TESTS),$(BUILD)/compare $(BUILD)/libpeers.so $(BUILD)/ladder $(BUILD)/sabotaged.so $(BUILD)/sabotaged-fuzz $(BUILD)/step01.so $(BUILD)/step04.so $(BUILD)/examples/from_c-04) \
  $(if $(WATCHED_TESTS),&& $(BUILDER) MODE=sanitize $(filter $(BUILD)-sanitize/%,$(WATCHED_TESTS)) \
    && $(BUILDER) MODE=count $(filter $(BUILD)-count/%,$(WATCHED_TESTS)))
check-now: say-device
	$(if $(too_new),@echo "$(say_too_new)")
	@$(if $(CHECK_ALL),scripts/side_by_side.sh "$(build_tests)" $(checks_of_texts),$(build_tests))
	$(if $(CONFIG),@$(know_configuration))
	@LAB_PROGRAM=$(any_shape) LAB_SABOTAGED=$(BUILD)/sabotaged LAB_SABOTAGED_GROUP=$(BUILD)/sabotaged_group LAB_CONFIG=$(CONFIG) \
	  LAB_COMPARE=$(BUILD)/compare LAB_BUILD=$(BUILD) AT_ONCE=$(at_once) ONE_GPU="$(on_one_gpu)" ALL_GPUS="$(on_all_gpus)" LAB_LARGE=$(if $(STEP_GOALS),1) LAB_TENTH=$(TENTH) \
	  scripts/check.sh $(CHECKED)
	$(if $(PLANTED),@JOBS=$(JOBS) scripts/side_by_side.sh "$(bugs_of_steps)" "$(variants_of_steps)" "scripts/guide.sh")

# With TENTH=0 to 9 a tenth of the planted bugs, the variants and the substeps is tried. Its value is not for the tests,
# which try their own, but for one of them, which gets it as LAB_TENTH. All documents are tried, which takes about a
# minute.
unexport TENTH
bugs_of_steps = if command -v patch >/dev/null; then TENTH=$(TENTH) DEVICE=cpu NAMED=1 RECORD= scripts/bugs.sh $(PLANTED) && scripts/slow.sh $(PLANTED); \
  else echo 'bugs: skipped because planting bugs needs the program patch (make deps installs it)'; fi
variants_of_steps = if command -v patch >/dev/null; then TENTH=$(TENTH) DEVICE=cpu SHORT=1 RECORD= scripts/variants.sh $(PLANTED) && \
    TENTH=$(TENTH) DEVICE=cpu SHORT=1 RECORD= scripts/substeps.sh $(PLANTED); \
  else echo 'variants: skipped because making them needs the program patch (make deps installs it)'; fi

.PHONY: sanitize sanitize-now
sanitize: ## look for races, wild accesses, missing waits: make step06 sanitize SEEDS=5
	@$(MAKE) --no-print-directory $(if $(filter cpu,$(DEVICE)),MODE=sanitize) $(STEP_GOALS) sanitize-now
	$(call hunted,sanitize)

# Of one step alone, because the exit status does not say which of several has the fault.
keep_verdict = $(if $(and $(WORK),$(filter 1,$(words $(BUILDABLE)))),scripts/workshop/sanitized.sh $(BUILDABLE))
sanitize-now: say-device
	@$(BUILDER) $(call programs,$(BUILDABLE))
ifeq ($(DEVICE),cpu)
	@SEEDS=$(SEEDS) $(keep_verdict) scripts/sanitize.sh $(STEP_BUILD) $(BUILDABLE)
else
	@JOBS=$(JOBS) $(keep_verdict) scripts/sanitize_gpu.sh $(STEP_BUILD) $(BUILDABLE)
endif

bugs: say-device ## plant each steps/NN/bugs/*.patch and see who catches it (of all steps, or with RECORD=1: CSV)
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) TENTH=$(TENTH) RECORD=$(or $(RECORD),$(if $(STEP_GOALS)$(filter RECORD,$(switched_off)),,1)) scripts/bugs.sh $(BUILDABLE)

.PHONY: mutants
mutants: say-device ## steps with one small fault each, and who catches it: make step17 mutants SECONDS=120 SEED=1
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) RECORD=$(RECORD) OPERATORS=$(call quoted,$(OPERATORS)) \
	  FILES=$(call quoted,$(FILES)) UNTRIED=$(UNTRIED) scripts/mutants.sh $(SECONDS:%=--seconds %) $(COUNT:%=--count %) $(SEED:%=--seed %) $(BUILDABLE)

.PHONY: variants
variants: say-device ## what each part of a step brings: builds, checks and times steps/NN/variants/*.patch: RECORD=1 NAME=
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) TENTH=$(TENTH) RECORD=$(RECORD) NAME=$(NAME) VARIANT=$(VARIANT) \
	  scripts/variants.sh $(BUILDABLE)

.PHONY: substeps
substeps: say-device ## the substeps from a step's parent to the step: builds, checks and times the sources in between: RECORD=1 NAME=
	$(if $(SUBSTEP),@echo "error: SUBSTEP is \"$(SUBSTEP)\"$(comma) and substeps tries all of them: leave it out$(comma) or write make $(or $(firstword $(STEP_GOALS)),step15) check SUBSTEP=$(SUBSTEP)" >&2; exit 2)
	@DATA=$(call quoted,$(DATA)) DEVICE=$(DEVICE) JOBS=$(JOBS) TENTH=$(TENTH) RECORD=$(RECORD) NAME=$(NAME) scripts/substeps.sh $(BUILDABLE)

fuzz: say-device ## random problems on a step until one fails: make step06 fuzz SECONDS=60 SEED=1
	@$(BUILDER) $(call programs,$(BUILDABLE)) $(addsuffix -fuzz,$(call programs,$(BUILDABLE)))
	@for step in $(addsuffix -fuzz,$(call programs,$(BUILDABLE))); do \
	  OMP_WAIT_POLICY=passive $(with_args) $(RUN) $$step --seconds $(or $(SECONDS),60) $(COUNT:%=--count %) $(SEED:%=--seed %) || exit; done

fuzz-readers: ## made-up files for the .npy reader and the rewriter, with libFuzzer: SECONDS=60
	@scripts/fuzz_readers.sh $(or $(SECONDS),60) npy rewrite

# nvcc compiles the steps for several GPUs with NCCL's own header.
compilable = $(if $(NCCL_HOME),$(STEPS),$(filter-out $(GROUP_STEPS),$(STEPS)))
.PHONY: say-compilable
say-compilable:
	$(if $(filter-out $(compilable),$(STEPS)),@echo "SKIP $(filter-out $(compilable),$(STEPS)): nvcc needs NCCL's header for these$(comma) make deps-nccl PREFIX=.deps fetches it")
	$(if $(compilable),,@exit 2)

ptxas: say-compilable ## registers, shared memory, spills and occupancy of every kernel for all GPUs, or ARCH=, SHORT=1 (needs nvcc, no GPU)
	@SHORT=$(SHORT) TENTH=$(TENTH) NVCC=$(NVCC) NCCL_HOME=$(NCCL_HOME) JOBS=$(JOBS) scripts/ptxas.sh "$(ARCH)" $(compilable)

.PHONY: sass ptx
sass: say-compilable ## machine code: instructions counted, listing in build/sass (needs nvcc, no GPU)
	@NVCC=$(NVCC) NCCL_HOME=$(NCCL_HOME) JOBS=$(JOBS) scripts/sass.sh "$(or $(ARCH),sm_80 sm_90a)" $(compilable)

ptx: say-compilable ## PTX: instructions counted, listing in build/ptx (needs nvcc, no GPU)
	@NVCC=$(NVCC) NCCL_HOME=$(NCCL_HOME) JOBS=$(JOBS) scripts/ptx.sh "$(or $(ARCH),sm_80 sm_90a)" $(compilable)

guide: ## run the commands of the guide, slow ones too, and compare what they say with it
	@JOBS=$(JOBS) TENTH=$(TENTH) scripts/guide.sh --all

SOURCES = $(shell LC_ALL=C scripts/files.sh '*.c' '*.h' '*.cu' '*.cuh' '*.js')
format: ## lay out the sources with clang-format 14
	@scripts/format.sh -i $(SOURCES)

format-check:
	@scripts/format.sh --dry-run $(SOURCES)

tables-check:
	@scripts/tables.sh --check

claims-check:
	@scripts/claims.sh

pages-check:
	@scripts/pages.sh
