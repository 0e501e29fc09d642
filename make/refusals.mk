# Refuses in a sentence settings that a verb would leave out without a word. make/config.mk includes this file.

# CONFIG goes to the programs of run, check and count. The others would leave it out without a word.
without_config := $(firstword $(filter sanitize ladder sweep splits budget timeline fuzz trace gdb ncu ptxas sass ptx bench peers shapes spread waves \
                    decode groups calibrate bugs mutants variants substeps,$(MAKECMDGOALS)))
ifneq ($(and $(CONFIG),$(without_config),$(filter 0,$(MAKELEVEL))),)
  $(error CONFIG=$(CONFIG) is for check, run and count, and make $(without_config) does not take it: leave it out$(if $(filter sanitize timeline gdb trace ncu,$(without_config)),$(comma) or write ARGS="--config $(CONFIG)"))
endif
# Verbs that work on one step refuse several.
one_step_verb := $(firstword $(filter sweep splits ncu gdb trace examples $(if $(STAT),,diff),$(MAKECMDGOALS)))
ifneq ($(and $(one_step_verb),$(word 2,$(filter step%,$(MAKECMDGOALS)))),)
  $(error make $(one_step_verb) works on one step: name one of $(filter step%,$(MAKECMDGOALS)))
endif
# The record is of all steps, on problems that scripts/record.sh names: NAME would put one part over the other.
ifneq ($(filter record,$(MAKECMDGOALS)),)
  no_record := $(firstword $(filter step%,$(MAKECMDGOALS)) $(foreach setting,NAME ARGS CONFIG DECODE,$(if $($(setting)),$(setting))) \
                 $(if $(filter file,$(origin STEPS)),,STEPS))
  ifneq ($(no_record),)
    $(error make record records all steps$(comma) each part under its own name and options: leave $(no_record) out$(comma) or write make $(or $(filter step%,$(no_record)),step17) ladder and the like$(comma) which take it)
  endif
endif
# Their patches and mutants are those of steps/, and so are the files that they build.
of_the_lab := $(firstword $(filter bugs mutants variants substeps calibrate,$(MAKECMDGOALS)))
ifneq ($(and $(of_the_lab),$(ELSEWHERE)),)
  $(error make $(of_the_lab) works on the lab's own steps$(comma) in steps/: leave $(firstword $(foreach setting,VARIANT SUBSTEP BUG WORK,$(if $($(setting)),$(setting)=$($(setting)))) STEPS_FOLDER) out)
endif
