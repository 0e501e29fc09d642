# The verb that calls a step from programs outside of the lab: examples/. The Makefile includes this file.
.PHONY: examples
example_step = $(call step_number,$(firstword $(if $(STEP_GOALS),$(BUILDABLE),$(filter 04_%,$(BUILDABLE)) $(BUILDABLE))))

examples: say-device ## call a step from C, NumPy and PyTorch, and compare: make step05 examples
	$(if $(ELSEWHERE),@echo "error: the examples call the lab's own steps: leave WORK$(comma) VARIANT$(comma) SUBSTEP and STEPS_FOLDER out" >&2; exit 2)
	@$(BUILDER) $(BUILD)/step$(example_step).so $(BUILD)/examples/from_c-$(example_step)
	@scripts/examples.sh $(BUILD) $(example_step)
