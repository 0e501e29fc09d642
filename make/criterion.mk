# How Criterion is linked into a test program, with what stands in for the libgit2 that it needs: common/tests/libgit2.c says
# why. make/build.mk includes this file.
CRITERION   := -lcriterion -Wl,--push-state,--no-as-needed $(BUILD)/libgit2.so -Wl,--pop-state

# The name by which Criterion needs libgit2.
libgit2_name = objdump -p "$$($(CC) -print-file-name=libcriterion.so)" 2>/dev/null | awk '$$1 == "NEEDED" && $$2 ~ /^libgit2/ { print $$2 }'
$(BUILD)/libgit2.so: common/tests/libgit2.c
	$(prepare)
	@name=$$($(libgit2_name)) && name=$${name:-libgit2.so.0} && \
	  $(CC) $(CFLAGS) -shared "-DLIBGIT2=\"$$name\"" -Wl,-soname,"$$name" $< -ldl -o $(part) && \
	  ln -sf libgit2.so $(@D)/"$$name" $(whole)
