// A step that has been given a configuration keeps it for its launches, and one that it does not have is refused in words.
#include "step/step.h"
#include <criterion/criterion.h>
#include <string.h>

static const char *chosen;

static const char *const *two_names(void) {
  static const char *const names[] = {"64x64x4", "128x64x4", NULL};
  return names;
}

static bool choose(const char *name) {
  const bool known = !name || strcmp(name, "64x64x4") == 0 || strcmp(name, "128x64x4") == 0;
  if (known) chosen = name;
  return known;
}

// It takes a number of splits as well, with its own choice of tile.
static bool choose_splits(const char *name) {
  if (!name || name[0] != ':') return choose(name);
  chosen = name;
  return true;
}

static const attention_step plain = {.name = "plain"};
static const attention_step tiled = {
    .name = "tiled", .configurations = two_names, .configure = choose};
static const attention_step split = {
    .name = "split", .configurations = two_names, .configure = choose_splits};

Test(configure, what_is_chosen_is_kept) {
  attention_step step = tiled;
  error_text error;
  cr_expect(step_configure(&step, "128x64x4", &error), "%s", error.text);
  cr_expect_str_eq(step.configuration, "128x64x4");
  cr_expect_str_eq(chosen, "128x64x4");
  cr_expect(step_configure(&step, NULL, &error), "%s", error.text);
  cr_expect_null(step.configuration);
  cr_expect_null(chosen);
  step = split;
  cr_expect(step_configure(&step, ":3", &error), "%s", error.text);
  cr_expect_str_eq(step.configuration, ":3");
  step = plain;
  cr_expect(step_configure(&step, NULL, &error), "%s", error.text);
  cr_expect_null(step.configuration);
}

Test(configure, what_a_step_does_not_have_is_refused) {
  static const struct {
    const attention_step *step;
    const char *configuration, *sentence;
  } cases[] = {
      {&plain, "64x64x4", "step plain has one configuration only: leave --config out"},
      {&plain, ":3", "step plain has one configuration only: leave --splits out"},
      {&tiled, "64x64x8", "step tiled has no configuration \"64x64x8\": it has 64x64x4, 128x64x4"},
      {&tiled, "64x64x4:3",
       "step tiled does not split the keys: leave --splits 3 out, or take step 18"},
      {&split, "64x64x8:3",
       "step split has no configuration \"64x64x8:3\": it has 64x64x4, 128x64x4"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    attention_step step = *cases[i].step;
    error_text error = {""};
    cr_expect(!step_configure(&step, cases[i].configuration, &error), "case %zu", i);
    cr_expect_str_eq(error.text, cases[i].sentence, "case %zu: %s", i, error.text);
  }
  cr_expect_null(chosen, "the question whether it splits the keys has chosen %s", chosen);
}
