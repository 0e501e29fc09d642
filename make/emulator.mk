# How the emulator and its rewriter are made. make/build.mk includes this file.

EMULATOR_PARTS   := runtime driver nccl $(if $(MODE),observed $(MODE)) $(if $(filter count,$(MODE)),requests)
EMULATOR_SOURCES := $(foreach part,$(EMULATOR_PARTS),$(wildcard common/emulator/$(part)/*.c)) \
                    $(wildcard common/emulator/runtime/*.S)
EMULATOR_FLAGS   := -fvisibility=hidden -Icommon/emulator/runtime $(if $(MODE),-DEMULATOR_OBSERVED -Icommon/emulator/observed) \
                    $(if $(filter count,$(MODE)),-DEMULATOR_LOCKSTEP)

define emulator_rule
$(BUILD)/common/emulator/$1/%.o: common/emulator/$1/%.c
	$$(prepare)
	$$(CC) $$(CFLAGS) $$(EMULATOR_FLAGS) $$(CPPFLAGS) $$(headers) -c $$< -o $$(part) $$(object)
endef
$(foreach part,$(EMULATOR_PARTS),$(eval $(call emulator_rule,$(part))))

$(BUILD)/common/emulator/runtime/%.o: common/emulator/runtime/%.S
	$(prepare)
	$(CC) $(CPPFLAGS) -c $< -o $(part) $(whole)

$(BUILD)/libemulator.so: $(patsubst %,$(BUILD)/%.o,$(basename $(EMULATOR_SOURCES))) $(PLAIN)/common/error/error.o
	$(CC) -shared $(LDFLAGS) $^ -lpthread -ldl -lm -o $(part) $(whole)

# What scripts/nvcc-cpu links into each program.
$(BUILD)/program.o: $(BUILD)/common/emulator/program/program.o $(if $(filter count,$(MODE)),$(PLAIN)/common/tools/count/listing.o $(LIBRARY))
	$(CC) -r -nostdlib $(filter %.o %.a,$^) -o $(part) $(whole)

$(BUILD)/common/emulator/program/%.o: common/emulator/program/%.c
	$(prepare)
	$(CC) $(CFLAGS) $(if $(filter count,$(MODE)),-DEMULATOR_COUNTED) $(CPPFLAGS) $(headers) -c $< -o $(part) $(object)

$(PLAIN)/rewrite: $(PLAIN)/common/emulator/rewrite/main.o $(LIBRARY)
	$(CC) $(LDFLAGS) $^ -lm -o $(part) $(whole)
