# Checks the values that a user gives as NAME=value before they are used. A value may come from anywhere, and both
# make and the shell run parts of the text that they are given, such as $(shell ...), $(...), `...` and ;. So a
# setting that is a word holds nothing but letters, digits and a few signs; text and paths are taken as they are
# given, and reach the programs through the environment, where no program interprets them.

words_given := A AXIS B BASE BLOCK BUG CONFIG COUNT DEBUG DECODE DEVICE DEVICE_FOLDER EMU_GPU EMU_GPUS FORCE FRESH FROM GPUS JOBS KERNEL LAB MODE NAME PART QUICK \
               RECORD RESULTS ROUNDS SANITIZE SECONDS SEED SEEDS SHORT STAT STEP SUBSTEP TENTH THREAD THRESHOLD UNTRIED VARIANT VERBOSE WERROR WORK
lists_given := ARCH CHART OPERATORS PARTS STEPS
texts_given := ARGS FA3 FA3_DECODE FILE FILES LAB_WORK NEW OLD PREFIX STEPS_FOLDER WITH

in_words := a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W X Y Z \
            0 1 2 3 4 5 6 7 8 9 . _ - + , :
in_paths := $(filter-out :,$(in_words)) /
define newline


endef
blank := $() $()
comma := ,

# $(call beyond,SIGNS,TEXT) gives the rest of the text without these signs. A rest that is not empty ends in a dot,
# so that a single blank counts, too.
less   = $(if $1,$(call less,$(wordlist 2,100,$1),$(subst $(firstword $1),,$2)),$2)
beyond = $(if $(subst x,,x$(call less,$1,$2)x),$(call less,$1,$2).)

# $(call quoted,TEXT) makes one word for the shell of any text.
quoted = '$(subst ','\'',$1)'

# Clusters have WORK in the environment of each shell, as the name of a folder, which the lab's switch never is.
ifneq ($(and $(filter environment,$(origin WORK)),$(findstring /,$(value WORK))),)
  override WORK :=
  unexport WORK
endif

refuse_word = $(error $1 is "$(value $1)": give it letters, digits$(comma) and the signs . _ - + $(comma) : \
  only$2$(if $(filter environment,$(origin $1)),. It comes from the environment: unset $1 takes it out))
$(foreach setting,$(words_given),$(if $(call beyond,$(in_words),$(value $(setting))),\
  $(call refuse_word,$(setting))))
$(foreach setting,$(lists_given),$(if $(call beyond,$(in_words),$(subst $(blank),,$(value $(setting)))),\
  $(call refuse_word,$(setting),$(comma) and blanks between words)))
$(foreach setting,$(texts_given),$(if $(findstring $(newline),$(value $(setting))),\
  $(error $(setting) holds a line break: give it one line)))
$(foreach setting,$(texts_given),$(if $(filter-out undefined,$(origin $(setting))),\
  $(eval override $(setting) := $$(value $(setting)))$(eval export $(setting))))

# Windows' Linux has NAME in the environment of each shell, as the name of the machine: all would be recorded under it. So
# only a NAME of the command line counts.
ifeq ($(origin NAME),environment)
  override NAME :=
  unexport NAME
endif

# A switch is on with any value but 0: FORCE=0 is as good as none.
switches     := DEBUG DECODE FORCE FRESH LAB QUICK RECORD SHORT STAT UNTRIED VERBOSE WERROR WORK
switched_off := $(foreach setting,$(switches),$(if $(filter 0,$(value $(setting))),$(setting)))
$(foreach setting,$(switched_off),$(eval override $(setting) :=)$(eval unexport $(setting)))

# make takes any NAME=value. A name in small letters, and one of an option of the programs, would change nothing without a
# word.
small_letters   := a b c d e f g h i j k l m n o p q r s t u v w x y z
capital_letters := A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
in_letters = $(if $1,$(call in_letters,$(wordlist 2,100,$1),$(wordlist 2,100,$2),$(subst $(firstword $1),$(firstword $2),$3)),$3)
given_names := $(foreach name,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $(name)))),$(name)))
$(foreach name,$(filter-out $(words_given) $(lists_given) $(texts_given),$(given_names)),\
  $(foreach meant,$(filter $(call in_letters,$(small_letters),$(capital_letters),$(name)),$(words_given) $(lists_given) $(texts_given)),\
    $(error there is no setting "$(name)": write $(meant)=... in capital letters)))
$(foreach name,$(filter BATCH HEADS SEQ DIM DTYPE CAUSAL batch heads seq dim dtype causal,$(given_names)),\
  $(error there is no setting "$(name)": it is an option$(comma) as in ARGS="--$(call in_letters,$(capital_letters),$(small_letters),$(name)) $(value $(name))"))

# Without quotes the shell gives make the number alone: make step01 run ARGS=--seq 100.
goals_of_digits := $(strip $(foreach goal,$(MAKECMDGOALS),$(if $(call less,0 1 2 3 4 5 6 7 8 9,$(goal)),,$(goal))))
$(if $(and $(value ARGS),$(goals_of_digits)),\
  $(error ARGS is "$(ARGS)"$(comma) and $(firstword $(goals_of_digits)) is not part of it: put quotes around all options$(comma) as in ARGS="$(ARGS) $(firstword $(goals_of_digits))"))
