# How the emulator and its rewriter are made. make/build.mk includes this file.

# A mode adds parts to the emulator, and changes those of its other sources that name the mode, or include a header which
# does (common/tests/scripts/test_build.c looks that these are all). The rest is compiled once, for the plain emulator.
EMULATOR_PARTS   := runtime driver nccl
EMULATOR_SOURCES := $(foreach part,$(EMULATOR_PARTS),$(wildcard common/emulator/$(part)/*.[cS]))
MODE_PARTS       := $(if $(MODE),observed $(MODE)) $(if $(filter count,$(MODE)),requests)
MODE_SOURCES     := $(foreach part,$(MODE_PARTS),$(wildcard common/emulator/$(part)/*.c))
MODE_CHANGES     := $(if $(MODE),$(shell grep -lE 'EMULATOR_(OBSERVED|LOCKSTEP)|"(observer|turns)[.]h"' $(EMULATOR_SOURCES)))
# Each function of CUDA stays on the stack until it returns, because reports name the one that the program has called.
MODE_FLAGS       := -fno-optimize-sibling-calls -DEMULATOR_OBSERVED -Icommon/emulator/observed $(if $(filter count,$(MODE)),-DEMULATOR_LOCKSTEP)
EMULATOR         := $(patsubst %,$(PLAIN)/%.o,$(basename $(filter-out $(MODE_CHANGES),$(EMULATOR_SOURCES)))) \
                    $(patsubst %,$(BUILD)/%.o,$(basename $(MODE_CHANGES) $(MODE_SOURCES)))

# $(call emulator_rule,BUILD,PART,FLAGS)
define emulator_rule
$1/common/emulator/$2/%.o: common/emulator/$2/%.c
	$$(prepare)
	$$(CC) $$(CFLAGS) -fvisibility=hidden -Icommon/emulator/runtime $3 $$(CPPFLAGS) $$(headers) -c $$< -o $$(part) $$(object)
endef
$(foreach part,$(EMULATOR_PARTS),$(eval $(call emulator_rule,$(PLAIN),$(part))))
$(if $(MODE),$(foreach part,$(EMULATOR_PARTS) $(MODE_PARTS),$(eval $(call emulator_rule,$(BUILD),$(part),$(MODE_FLAGS)))))

$(PLAIN)/common/emulator/runtime/%.o: common/emulator/runtime/%.S
	$(prepare)
	$(CC) $(CPPFLAGS) -c $< -o $(part) $(whole)

$(BUILD)/libemulator.so: $(EMULATOR) $(PLAIN)/common/error/error.o
	$(CC) -shared $(LDFLAGS) $^ -lpthread -ldl -lm -o $(part) $(whole)

# What scripts/nvcc-cpu links into each program.
$(BUILD)/program.o: $(BUILD)/common/emulator/program/program.o $(if $(filter count,$(MODE)),$(PLAIN)/common/tools/count/listing.o $(LIBRARY))
	$(CC) -r -nostdlib $(filter %.o %.a,$^) -o $(part) $(whole)

$(BUILD)/common/emulator/program/%.o: common/emulator/program/%.c
	$(prepare)
	$(CC) $(CFLAGS) $(if $(filter count,$(MODE)),-DEMULATOR_COUNTED) $(CPPFLAGS) $(headers) -c $< -o $(part) $(object)

$(PLAIN)/rewrite: $(PLAIN)/common/emulator/rewrite/main.o $(LIBRARY)
	$(CC) $(LDFLAGS) $^ -lm -o $(part) $(whole)
