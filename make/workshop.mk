# The verbs of the workshop, for exercises, planted bugs to hunt, and recipes. The Makefile includes this file.
SANITIZER_TOOLS := memcheck racecheck initcheck synccheck
.PHONY: exercise check-work hint fill solution reset progress room next watch hunt reveal new ncu gdb trace gdb-now trace-now $(SANITIZER_TOOLS)

# The step that was named; without a name this is empty, not all steps.
named_step = $(if $(STEP_GOALS),$(STEPS))

exercise: ## a step's file with holes to fill, in work/: make step04 exercise [FROM=03] [FORCE=1]
	@FROM=$(FROM) FORCE=$(FORCE) scripts/workshop/exercise.sh start $(named_step)

# `make step04 check` where there is a file of the reader's own, QUICK=1 for watch, PART=2 for one of its parts. Without
# WORK it is a bug to hunt.
check-work: say-device
	@$(if $(WORK),,HUNT=$(BUG) LAB_WORK=$(call quoted,$(STEPS_FOLDER))) QUICK=$(QUICK) PART=$(PART) LAB_CONFIG=$(CONFIG) scripts/workshop/check.sh $(DEVICE) $(STEP_BUILD) $(BUILDABLE) -- \
	  $(BUILD_FILES) $(step_checks)

hint: ## the next of three hints for a part of a step's exercise: make step04 hint PART=2
	@PART=$(PART) scripts/workshop/hint.sh $(named_step)

fill: ## put the lab's solution of a part into your file: make step04 fill PART=2
	@PART=$(PART) scripts/workshop/exercise.sh fill $(named_step)

solution: ## your file of a step beside the lab's; PART=2 shows that part alone
	@PART=$(PART) scripts/workshop/exercise.sh solution $(named_step)

reset: ## start a step's exercise anew; your file is kept as .bak
	$(if $(PART),@echo "error: PART is \"$(PART)\"$(comma) and reset starts the whole file anew: leave out PART=$(PART)" >&2; exit 2)
	@FROM=$(FROM) scripts/workshop/exercise.sh reset $(named_step)

progress: ## which exercises are begun, and which pass; NAME=anna also writes a file for the leader of a workshop
	@NAME=$(NAME) scripts/workshop/progress.sh $(notdir $(patsubst %/attention.cu,%,$(sort $(wildcard steps/*/attention.cu))))

room: ## for the leader of a workshop: how far each participant is, of whom a folder has a file: make room WITH=folder
	@scripts/workshop/room.sh

next: ## what to do next
	@scripts/workshop/next.sh

watch: ## check your file of a step at every save
	@DEVICE=$(DEVICE) ROUNDS=$(ROUNDS) PART=$(PART) scripts/workshop/watch.sh $(named_step)

hunt: ## a planted bug to be found: make hunt BUG=1, or make step12 hunt; then make hunt BUG=1 check|sanitize|count|run|timeline|reveal
	@$(if $(filter-out hunt step%,$(MAKECMDGOALS)),:,scripts/workshop/hunt.sh $(if $(BUG),describe "$(BUG)",$(if $(filter step%,$(MAKECMDGOALS)),of $(STEPS),list)))

reveal: hunt
	@scripts/workshop/hunt.sh reveal "$(BUG)"

new: ## a new step, which is all of one folder: make new STEP=30_name [FROM=06]
	@scripts/workshop/new.sh $(call quoted,$(STEPS_NAME)) "$(STEP)" $(FROM)

# --- recipes -------------------------------------------------------------------------------------

# The step that the first one named comes after, unless that is a copy from elsewhere.
before = $(if $(ELSEWHERE),,$(shell steps=$(STEPS_FOLDER); . scripts/parent.sh; parent $(firstword $(BUILDABLE))))

# ncu repeats each launch dozens of times, and saves and restores what it writes. A score matrix of the ladder's problem
# would take minutes.
stores_scores = $(strip $(foreach step,$(before) $(firstword $(BUILDABLE)),$(shell grep -l score_matrix_bytes $(STEPS_FOLDER)/$(step)/attention.cu)))
small_problem = This is a small problem, which fills a large GPU only in part, because a step here stores its scores: ARGS takes another one.

ncu: say-device ## the five metrics of a step, beside those of its parent (GPU, ncu)
ifeq ($(DEVICE),cpu)
	@echo "error: ncu reads a GPU's counters, and DEVICE is cpu: make $(firstword $(STEP_GOALS) step05) count" \
	  "counts here what the step asks of memory" >&2
	@exit 2
else
	@$(BUILDER) $(call programs,$(before) $(firstword $(BUILDABLE))) $(BUILD)/ladder
	@$(with_args) scripts/workshop/ncu.sh $(call programs,$(firstword $(BUILDABLE)) $(before)) -- \
	  $(if $(ARGS),,$(if $(stores_scores),--batch 4 --heads 8 --seq 512 --dim 64,$$($(BUILD)/ladder --options)))
	$(if $(ARGS)$(stores_scores),,@echo "This is the problem of make ladder; ARGS takes another one.")
	$(if $(ARGS),,$(if $(stores_scores),@echo "$(small_problem)"))
endif

$(SANITIZER_TOOLS): say-device
ifeq ($(DEVICE),cpu)
	@echo "error: $@ is a tool of NVIDIA's compute-sanitizer and needs a GPU: make" \
	  "$(firstword $(STEP_GOALS) step05) sanitize looks for the same on the emulator" >&2
	@exit 2
else
	@$(BUILDER) $(call programs,$(BUILDABLE))
	@TOOLS=$@ JOBS=$(JOBS) scripts/sanitize_gpu.sh $(STEP_BUILD) $(BUILDABLE)
endif

gdb: ## step through a kernel in gdb: make step05 gdb BLOCK=1,0,0 THREAD=5 [KERNEL=name]
	@$(MAKE) --no-print-directory DEBUG=1 $(STEP_GOALS) gdb-now

trace: ## the source lines of one thread, with its values (emulator): make step04 trace BLOCK=1 THREAD=5 COUNT=100
	@$(MAKE) --no-print-directory DEBUG=1 $(STEP_GOALS) trace-now

gdb-now trace-now: say-device
	@$(BUILDER) $(call programs,$(firstword $(BUILDABLE)))
	@BLOCK=$(BLOCK) THREAD=$(THREAD) KERNEL=$(KERNEL) TRACE=$(filter trace-now,$@) COUNT=$(COUNT) \
	  $(with_args) scripts/workshop/gdb.sh $(DEVICE) \
	  $(call programs,$(firstword $(BUILDABLE))) $(STEPS_FOLDER)/$(firstword $(BUILDABLE))/attention.cu
