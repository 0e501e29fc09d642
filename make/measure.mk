# The verbs that measure and count, and those that draw and publish what was recorded. The Makefile includes this file.

# Verbs that only measure times, and have no result on the emulator.
.PHONY: needs-gpu
needs-gpu: say-device
ifeq ($(DEVICE),cpu)
	@echo "error: $(filter bench ceilings splits peers shapes spread waves decode groups record,$(MAKECMDGOALS)) measures times, which mean nothing on the emulator: run it" \
	  "on a machine with $(if $(filter groups,$(MAKECMDGOALS)),several GPUs,a GPU)" \
	  "($(if $(filter groups,$(MAKECMDGOALS)),make step23 count GPUS=2,make ladder) counts here what the steps do)" >&2
	@exit 2
endif

bench_name = $(or $(NAME),bench$(if $(DECODE),-decode))
bench: needs-gpu ## the steps over a grid of shapes (GPU), DECODE=1 for one query and many keys: QUICK=1, FRESH=1, NAME=, ARGS="--help"
	@$(BUILDER) $(bench_steps) $(BUILD)/bench $(BUILD)/ladder
	@$(with_args) $(RUN) $(BUILD)/bench $(call quoted,$(DATA)) $(bench_name) $(bench_steps) -- $(if $(DECODE),--decode) $(if $(QUICK),--quick) $(if $(FRESH),--fresh)
	$(if $(NAME)$(DECODE),,$(call draw_results,"scaling memory latency"))

ceilings: needs-gpu ## this GPU's bandwidths, latencies and arithmetic rates, measured (GPU)
	@$(BUILDER) $(BUILD)/ceilings $(BUILD)/ladder
	@$(BUILD)/ceilings $(call quoted,$(DATA)) $(or $(NAME),ceilings)
	$(if $(NAME),,$(call draw_results,"roofline scaling"))

budget: say-device ## shared memory of each configuration against the GPUs' limits: make step06 budget
	@$(BUILDER) $(shared_steps) $(BUILD)/budget
	@for step in $(BUILDABLE); do \
	  needs=$$(sed -n 's|^// Needs: \(sm_[0-9a-z]*\).*|\1|p' "$(STEPS_FOLDER)/$$step/attention.cu"); \
	  $(RUN) $(BUILD)/budget "$(STEP_BUILD)/step$${step%%_*}.so" $$needs || exit; done

# Unless steps are named, as in make step05 peers, these verbs take the steps that copy while they multiply, whose
# speed is near that of the peers. make bench measures the slower ones, too. SDPA's two slow backends are left out, too:
# ARGS="--without sdpa_math" takes the other one of them in.
stored     = $(shell grep -l score_matrix_bytes $(BUILDABLE:%=$(STEPS_FOLDER)/%/attention.cu))
PEER_STEPS = $(if $(STEP_GOALS),$(BUILDABLE),$(filter-out 04_% 05_% $(notdir $(patsubst %/attention.cu,%,$(stored))),$(BUILDABLE)))
# Steps for decode, which split the keys, are like their parent, step 09, where there are as many queries as keys, so
# these verbs and make bench leave them out as well, if they are not named.
DECODE_STEPS = $(notdir $(patsubst %/attention.cu,%,$(shell grep -l '"split\(s\|_kv\).cuh"' $(BUILDABLE:%=$(STEPS_FOLDER)/%/attention.cu))))
LONG_STEPS   = $(if $(STEP_GOALS),$(PEER_STEPS),$(filter-out $(DECODE_STEPS) $(MERGE_STEPS),$(PEER_STEPS)))
# A step that only merges in another way than step 24 is like it where there are many tiles.
MERGE_STEPS  = $(notdir $(patsubst %/attention.cu,%,$(shell grep -l '"last_wave.cuh"' $(BUILDABLE:%=$(STEPS_FOLDER)/%/attention.cu))))
# Steps that divide the tiles of the last wave. make waves takes them beside their parent and other steps for few tiles.
WAVE_STEPS  = $(notdir $(patsubst %/attention.cu,%,$(shell grep -l '"\(parts\|last_wave\).cuh"' $(BUILDABLE:%=$(STEPS_FOLDER)/%/attention.cu))))
FEW_WAVES   = $(if $(STEP_GOALS),$(BUILDABLE),$(filter 17_% 18_% 20_% $(WAVE_STEPS),$(BUILDABLE)))
# Beside those for decode their parent, and the fastest step for many queries.
FEW_QUERIES  = $(if $(STEP_GOALS),$(BUILDABLE),$(filter 09_% 17_% $(DECODE_STEPS),$(BUILDABLE)))
bench_steps  = $(addsuffix .so,$(call programs,$(if $(DECODE),$(FEW_QUERIES),$(if $(STEP_GOALS),$(BUILDABLE),$(filter-out $(DECODE_STEPS) $(MERGE_STEPS),$(BUILDABLE))))))
peers_now    = PYTHONPATH=common/tools python3 -m peers
peers_run    = PYTHONPATH=common/tools $(with_args) $(RUN) python3 -m peers

.PHONY: peers shapes spread waves decode compare
# $(call beside_peers,NAME of the files,steps,options)
define beside_peers
	@command -v python3 >/dev/null || { echo "error: $1 needs Python 3 with PyTorch, and there is no python3" >&2; exit 2; }
	@$(peers_now) --ready
	@$(BUILDER) $(addsuffix .so,$(call programs,$2)) $(BUILD)/libpeers.so $(BUILD)/ladder
	@$(peers_run) --folder $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) --name $(or $(NAME),$1) \
	  --library $(BUILD)/libpeers.so --steps $(addsuffix .so,$(call programs,$2)) \
	  --without sdpa_math sdpa_efficient $3 $(if $(FA3),--fa3 "$$FA3") $(if $(filter decode waves,$1),$(if $(FA3_DECODE),--fa3-decode "$$FA3_DECODE")) $(if $(QUICK),--quick) $(if $(FRESH),--fresh)
	$(if $(NAME)$(filter shapes waves,$1),,$(call draw_results,$1))
endef

peers: needs-gpu ## steps against PyTorch's attention, and FlashAttention-3 (needs PyTorch); FA3=libfa3.so, QUICK=1, FRESH=1
	$(call beside_peers,peers,$(LONG_STEPS))

shapes: needs-gpu ## steps and peers for one head, ragged lengths, grouped heads, decoding (needs PyTorch); FA3=libfa3.so
	$(call beside_peers,shapes,$(PEER_STEPS),--users)

spread: needs-gpu ## steps and peers for scores that are spread more and more (needs PyTorch); QUICK=1, FRESH=1
	$(call beside_peers,spread,$(LONG_STEPS),--spread)

waves: needs-gpu ## steps and peers for few tiles, and for few waves of tiles (needs PyTorch); FA3_DECODE=lib.so, QUICK=1, FRESH=1
	$(call beside_peers,waves,$(FEW_WAVES),--waves)

decode: needs-gpu ## the steps for decode and others for one query and many keys (needs PyTorch); FA3_DECODE=lib.so, QUICK=1, FRESH=1
	$(call beside_peers,decode,$(FEW_QUERIES),--decode)

.PHONY: groups
groups: needs-gpu ## steps 21 to 23 on 2, 4, ... GPUs, and PyTorch on all, against step 17 on one, over lengths (NCCL): ARGS="65536 131072"
	$(if $(HAVE_NCCL),,@echo "error: make groups needs NCCL, which was not found: make deps-nccl PREFIX=.deps fetches it" >&2; exit 2)
	@$(BUILDER) $(addsuffix .so,$(call programs,$(filter 17_%,$(ALL_STEPS)) $(GROUP_STEPS))) $(BUILD)/groups $(BUILD)/libpeers.so $(BUILD)/ladder
	@$(with_args) $(RUN) $(BUILD)/groups $(call quoted,$(DATA)) $(or $(NAME),groups) \
	  $(addsuffix .so,$(call programs,$(filter 17_%,$(ALL_STEPS)) $(GROUP_STEPS))) --
	@torch=$(call quoted,$(DATA))/$$($(BUILD)/ladder --slug)/$(or $(NAME),groups)-torch; \
	  rm -f "$$torch.csv" "$$torch-samples.csv"; \
	  PYTHONPATH=common/tools $(with_args) $(RUN) python3 -m peers.context_parallel --library $(BUILD)/libpeers.so \
	    "$$torch.csv" || echo "note: of PyTorch there are the times that were written above, or none"
	$(if $(NAME),,$(call draw_results,groups))

.PHONY: record
record: needs-gpu ## all times of one GPU that charts and tables are made of (GPU): PARTS="ladder bench", FA3=libfa3.so, FRESH=1
	@MAKE="$(MAKE)" FRESH="$(FRESH)" scripts/record.sh $(PARTS)

compare: ## what is slower: make compare OLD=a.csv NEW=b.csv [THRESHOLD=3], or OLD=a.csv A=05 B=06
	@$(BUILDER) $(BUILD)/compare
	@$(BUILD)/compare $${OLD:+"$$OLD"} $(if $(NEW),"$$NEW",$(if $(A),$${OLD:+"$$OLD"})) $(if $(A),--a $(A)) $(if $(B),--b $(B)) \
	  $(if $(THRESHOLD),--threshold $(THRESHOLD))

.PHONY: timeline
timeline: say-device ## what each warp does, over time: make step14 timeline (GPU); on the emulator in its order, without times [BLOCK=1 KERNEL=name COUNT=100|all]
	$(if $(STEP_GOALS),,@echo "error: timeline shows one step: name it, as in make step14 timeline" >&2; exit 2)
ifeq ($(DEVICE),cpu)
	@$(BUILDER) $(call programs,$(BUILDABLE))
	@for program in $(call programs,$(BUILDABLE)); do \
	  BLOCK=$(BLOCK) KERNEL=$(KERNEL) COUNT=$(COUNT) $(with_args) scripts/timeline.sh cpu $$program || exit; done
	$(call hunted,timeline)
else
	@$(BUILDER) $(shared_steps) $(shared_steps:.so=-stamped.so) $(BUILD)/timeline $(BUILD)/ladder
	@set -o pipefail; for step in $(shared_steps); do \
	  record=$$($(with_args) $(RUN) $(BUILD)/timeline $(call quoted,$(DATA)) $$step $${step%.so}-stamped.so -- | \
	    awk '{ print >"/dev/stderr" } sub(/^written: /, "")') && scripts/timeline.sh gpu "$$record" || exit; \
	done
	$(call draw_results,timeline)
	$(call hunted,timeline)
endif

.PHONY: count count-now calibrate
count: ## what a step asks of memory and tensor cores, by source line: make step05 count
	@$(MAKE) --no-print-directory $(STEP_GOALS) count-now $(if $(filter cpu,$(DEVICE)),MODE=count)

ifeq ($(DEVICE),cpu)
# A variant or a substep has listings of its own, beside those of its step.
listings = build/count$(VARIANT:%=/%)$(SUBSTEP:%=/substep_%)
count-now: say-device
	@$(BUILDER) $(shared_steps) $(BUILD)/count $(BUILD)/ladder
	@mkdir -p $(listings)
	@for step in $(shared_steps); do \
	  $(with_args) $(RUN) $(BUILD)/count $(listings) $$step -- $(CONFIG:%=--config %) $(GPUS:%=--gpus %) && \
	  scripts/record_counts.sh $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) <$(listings)/$$(basename $$step .so).csv && \
	  scripts/record_count_lines.sh $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) <$(listings)/$$(basename $$step .so)-lines.csv || exit; \
	done
	$(call draw_results,saves)
else
count-now: say-device
	@$(BUILDER) $(call programs,$(BUILDABLE)) $(BUILD)/ladder
	@$(with_args) scripts/count_gpu.sh $(call quoted,$(DATA))/$$($(BUILD)/ladder --slug) $(call programs,$(BUILDABLE)) -- $(CONFIG:%=--config %)
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

.PHONY: tables tables-check claims-check pages-check guide publish
tables: ## write the tables of the documents again from the published record
	@scripts/tables.sh

publish: ## put what you have recorded, results/, into the published record: DEVICE_FOLDER= NAME=
	@scripts/publish.sh "$(DEVICE_FOLDER)" $(NAME)
