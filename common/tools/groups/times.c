// Times the contenders in the rounds of common/timing. In place of one launch there are several in a row here, on all
// GPUs of the contender, and their time is taken by the group's own events.
#include "groups/session.h"
#include "timing/told_clock.h"
#include <math.h>

typedef struct {
  const groups_gauge *gauge;
  const attention_shape *shape;
  told_time told; // of the last launches
  error_text failure;
  bool failed;
} stopwatch;

typedef struct {
  contender *contender;
  stopwatch *watch;
} timed_work;

void groups_name_work(contender *c, const attention_shape *shape, const char *what) {
  error_text *doing = &c->group.doing;
  fail(doing, "%s%s%s on %d GPU%s, %d rows%s, %s", c->step.name, c->variant ? " " : "",
       c->variant ? c->variant : "", c->gpus, c->gpus == 1 ? "" : "s", shape->seq_q,
       shape->causal ? ", causal" : "", what);
}

static cudaError_t launch(void *context, size_t rotation, cudaStream_t stream) {
  (void)rotation, (void)stream;
  const timed_work *work = context;
  contender *c = work->contender;
  stopwatch *watch = work->watch;
  groups_name_work(c, watch->shape, "timed");
  // The first launch in a row, which is not timed, keeps the GPUs busy while the host enqueues the others.
  watch->failed = !watch->gauge->time(&c->group, &c->step, c->launches, 1,
                                      &watch->told.milliseconds, &watch->failure);
  if (watch->failed) return cudaErrorUnknown;
  watch->told.state = watch->gauge->read(c->gpus);
  return cudaSuccess;
}

// The beginning and the end of a row of launches count with it, so a short row tells too long a time, and the next try
// takes a longer one. A meeting of microseconds comes to thousands.
static bool choose(const session *s, contender *c, error_text *error) {
  enum { FEWEST = 3, MOST = 4000, TRIES = 4 };
  c->launches = s->device.emulated ? 1 : FEWEST;
  for (int i = 0; i < TRIES && !s->device.emulated; i++) {
    double milliseconds;
    if (!s->gauge.time(&c->group, &c->step, c->launches, 1, &milliseconds, error)) return false;
    const bool known = c->launches * milliseconds >= 20 || c->launches == MOST;
    const double launches = 40 / milliseconds;
    c->launches = launches < FEWEST ? FEWEST : launches > MOST ? MOST : (int)launches;
    if (known) break;
  }
  return true;
}

bool groups_choose_launches(session *s, const attention_shape *shape, error_text *error) {
  for (int i = 0; i < s->count; i++) {
    groups_name_work(&s->contenders[i], shape, "timed");
    if (!choose(s, &s->contenders[i], error)) return false;
  }
  return true;
}

timing_plan groups_plan(bool emulated) {
  timing_plan plan = timing_default_plan();
  plan.burst_ms = 0; // one time in each burst
  plan.graph_below_ms = 0;
  plan.warm_up = 1;
  plan.seconds_least = HUGE_VAL; // the noise alone decides how many rounds there are
  if (emulated) plan.rounds_least = plan.rounds_most = 1;
  return plan;
}

bool groups_time(session *s, const attention_shape *shape, const timing_plan *plan,
                 error_text *error) {
  stopwatch watch = {.gauge = &s->gauge,
                     .shape = shape,
                     .told = {.state = s->gauge.read(1), .pause = s->gauge.pause}};
  const timing_clock clock = told_clock(&watch.told);
  timed_work works[MOST_CONTENDERS];
  for (int i = 0; i < s->count; i++) {
    contender *c = &s->contenders[i];
    works[i] = (timed_work){c, &watch};
    s->timed[i] = (timing_contender){
        .name = c->step.name, .launch = launch, .context = &works[i], .bursts = c->bursts};
  }
  timing_plan own = *plan;
  own.clock = &clock;
  const bool good = timing_run(&own, s->timed, (size_t)s->count, NULL, error);
  if (watch.failed) *error = watch.failure; // which says more
  return good;
}
