// The configuration in which a step is compared with the step before it. A step may choose another tile than the step
// before; then "x before" shows what the idea and the tile bring together. In one tile it shows the idea alone.
#include "ladder/session.h"

#include <string.h>

// Tells whether the names agree as far as both go: "64x64x4x2" is "64x64x4" with a ring of two stages.
static bool agree(const char *a, const char *b) {
  const size_t lengths[2] = {strlen(a), strlen(b)};
  const size_t both = lengths[0] < lengths[1] ? lengths[0] : lengths[1];
  if (strncmp(a, b, both) != 0) return false;
  return lengths[0] == lengths[1] || (lengths[0] > both ? a : b)[both] == 'x';
}

static const char *own_choice(const attention_step *step, const attention_shape *shape) {
  step->configure(NULL);
  return step->configuration_for(shape);
}

static bool takes(const attention_step *step, const char *name, const attention_shape *shape) {
  const bool taken = step->configure(name) && !step->unsupported(shape);
  step->configure(NULL);
  return taken;
}

// Returns the step's configuration that agrees with `name`, its own choice first; NULL when it has none for the shape.
static const char *like(const attention_step *step, const char *name,
                        const attention_shape *shape) {
  const char *choice = own_choice(step, shape);
  if (agree(choice, name)) return choice;
  for (const char *const *known = step->configurations(); *known; known++) {
    if (agree(*known, name) && takes(step, *known, shape)) return *known;
  }
  return NULL;
}

ladder_pair ladder_find_pair(const attention_step *own, const attention_step *before,
                             const attention_shape *shape) {
  const ladder_pair none = {NULL, NULL};
  if (!own->configuration_for || !before->configuration_for) return none;
  ladder_pair pair = {.before = own_choice(before, shape)};
  if ((pair.own = like(own, pair.before, shape))) return pair;
  pair.own = own_choice(own, shape);
  if ((pair.before = like(before, pair.own, shape))) return pair;
  for (const char *const *known = own->configurations(); *known; known++) {
    pair.own = *known;
    if (takes(own, pair.own, shape) && (pair.before = like(before, pair.own, shape))) return pair;
  }
  return none;
}

// Returns the row of the step in this configuration. It is the step's own row where the step chooses this configuration,
// and else a further one behind those of the table. NULL when there is no room for it.
static const ladder_row *row_in(ladder_session *s, const ladder_row *row, const char *name) {
  if (strcmp(own_choice(row->step, &s->trial.shape), name) == 0) return row;
  const size_t next = s->count + s->beside;
  if (next == LADDER_MOST_ROWS) return NULL;
  s->steps[next] = *row->step;
  s->steps[next].configuration = name;
  s->rows[next] = (ladder_row){.step = &s->steps[next]};
  s->beside++;
  return &s->rows[next];
}

bool ladder_add_pairs(ladder_session *s, error_text *error) {
  const attention_shape *shape = &s->trial.shape;
  const ladder_row *last = NULL; // that takes the shape
  for (size_t i = 0; i < s->count; i++) {
    ladder_row *row = &s->rows[i];
    if (row->step->unsupported(shape)) continue;
    const ladder_row *before = ladder_row_before(s, row, last);
    last = row;
    if (!before || before->step->unsupported(shape)) continue;
    const ladder_pair pair = ladder_find_pair(row->step, before->step, shape);
    if (!pair.own) continue;
    row->same = row_in(s, row, pair.own);
    row->before_in_same = row_in(s, before, pair.before);
    row->same_configuration = pair.own;
    if (!row->same || !row->before_in_same)
      return fail(error, "more than %d steps and configurations", LADDER_MOST_ROWS);
  }
  return true;
}
