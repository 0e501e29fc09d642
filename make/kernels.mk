# How kernels are compiled: by the emulator's rewriter and g++, or by nvcc. make/build.mk includes this file.

# An exercise that is not written yet has names that are not used or set yet.
unfinished = $(if $(ELSEWHERE),$(shell grep -q '^ *// TODO [0-9]* of ' $(STEPS_FOLDER)/$1 && echo '$2'))

# An assertion of a reader's own file holds; the lab's steps are built as for a release.
asserting = $(if $(ELSEWHERE),-UNDEBUG)

ifeq ($(DEVICE),cpu)
# nvcc includes cuda_runtime.h ahead of every CUDA file. For most kernels a third of g++'s time would go into its
# stand-in, so g++ compiles that once for each set of options, and includes the result ahead of every kernel. Of two builds
# at a time the second one waits, because all that was compiled would be older than a result that is made again. Where
# the result is another compiler's, g++ reads the header itself.
# $(call runtime_folder,FLAGS)
runtime_folder   = $(BUILD)/runtime$(subst =,.,$(subst $(blank),,$(filter -O% -g% -fsanitize% -U%,$1)))
include_runtime  = $(if $(filter g++,$(KERNEL_IS)),-include $1/runtime.h)
needs_runtime    = $(if $(filter g++,$(KERNEL_IS)),$1/runtime.h.gch)
STEP_RUNTIME    := $(call runtime_folder,$(call KERNEL_FLAGS,$(STEP_FLAGS)) $(asserting))
COMMON_RUNTIME  := $(call runtime_folder,$(call KERNEL_FLAGS))
define runtime_rule
$1/runtime.h.gch: common/emulator/include/cuda_runtime.h
	$$(prepare)
	@echo '#include <cuda_runtime.h>' >$$(part) && mv -f $$(part) $1/runtime.h
	exec 9<$1 && flock 9 && { find $$? -newer $$@ 2>&1 | grep -q . || exit 0; } && \
	  $$(KERNEL_CXX) $2 -MMD -MP -MF $1/runtime.d.$$$$$$$$.part -MT $$@ -x c++-header -c $$< -o $$(part) && \
	  mv -f $1/runtime.d.$$$$$$$$.part $1/runtime.d $$(whole)
endef
$(eval $(call runtime_rule,$(COMMON_RUNTIME),$$(call KERNEL_FLAGS)))
ifneq ($(STEP_RUNTIME),$(COMMON_RUNTIME))
  # g++ takes the result for kernels that define more, but not for those that define less.
  $(eval $(call runtime_rule,$(STEP_RUNTIME),$$(call KERNEL_FLAGS,$$(filter-out -D%,$$(STEP_FLAGS))) $$(asserting)))
endif

$(STEP_BUILD)/steps/%.rewritten.cpp: $(STEPS_FOLDER)/%.cu $(PLAIN)/rewrite
	$(prepare)
	@$(PLAIN)/rewrite $< $@ $(if $(filter-out $(STEPS_FOLDER),$(STEPS_NAME)),$(call quoted,$(STEPS_NAME)/$*.cu))

$(BUILD)/common/%.rewritten.cpp: common/%.cu $(PLAIN)/rewrite
	$(prepare)
	@$(PLAIN)/rewrite $< $@

$(STEP_BUILD)/steps/%.cu.o: $(STEP_BUILD)/steps/%.rewritten.cpp $(call needs_runtime,$(STEP_RUNTIME))
	$(prepare)
	$(KERNEL_CXX) $(call include_runtime,$(STEP_RUNTIME)) $(call KERNEL_FLAGS,$(STEP_FLAGS)) $(asserting) $(FIRST_CONFIGURATION:%=-DLAB_FIRST_CONFIGURATION) $(call unfinished,$*.cu,-Wno-unused -Wno-unused-parameter $(if $(filter g++,$(KERNEL_IS)),-Wno-maybe-uninitialized,-Wno-uninitialized -Wno-unused-but-set-parameter)) -I$(STEPS_FOLDER)/$(dir $*) $(headers) -c $< -o $(part) $(object)

$(BUILD)/common/%.cu.o: $(BUILD)/common/%.rewritten.cpp $(call needs_runtime,$(COMMON_RUNTIME))
	$(prepare)
	$(KERNEL_CXX) $(call include_runtime,$(COMMON_RUNTIME)) $(call KERNEL_FLAGS) -Icommon/$(dir $*) $(headers) -c $< -o $(part) $(object)
else
# A step with many kernels takes nvcc up to minutes. An nvcc that knows the option optimises them in several threads, and
# gives the same code.
in_threads = $(if $(shell $(NVCC) --help 2>/dev/null | grep -e '--split-compile '),--split-compile=4)
compile_step = $(NVCC) $(in_threads) $(if $(findstring .stamped,$@),$(subst -std=c++17,-std=c++20,$(KERNEL_FLAGS)),$(KERNEL_FLAGS)) $(if $(filter $*,$(GROUP_STEPS)),$(NCCL_INCLUDE)) $(asserting) $(filter -D%,$(STEP_FLAGS)) $(FIRST_CONFIGURATION:%=-DLAB_FIRST_CONFIGURATION) $(if $(findstring .stamped,$@),-DLAB_TIMELINE=$(if $(shell grep -q aligned_tiles $< && grep -lE 'wgmma_wait|"(lazy_max|last_wave).cuh"' $<),2,1)) \
	  $(call unfinished,$*/attention.cu,-Xcompiler -Wno-unused -diag-suppress 177$(comma)550) $(call gencode,$(call step_arch,$*)) $(headers) -c $< -o $(part) $(object)

$(STEP_BUILD)/steps/%/attention.cu.o: $(STEPS_FOLDER)/%/attention.cu
	$(prepare)
	$(compile_step)

# The same with stamps, which make step14 timeline reads (common/kernel/timeline.cuh).
$(STEP_BUILD)/steps/%/attention.stamped.o: $(STEPS_FOLDER)/%/attention.cu
	$(prepare)
	$(compile_step)

$(BUILD)/common/%.cu.o: common/%.cu
	$(prepare)
	$(NVCC) $(KERNEL_FLAGS) $(call gencode,$(ARCH)) $(headers) -c $< -o $(part) $(object)
endif

# For scripts/mutant.sh, which compiles the stand-in headers once for hundreds of kernels.
.PHONY: kernel-flags
kernel-flags:
	@echo $(KERNEL_CXX) $(call KERNEL_FLAGS,$(STEP_FLAGS))
