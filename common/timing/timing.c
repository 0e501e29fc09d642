#define _GNU_SOURCE
#include "timing/timing.h"

#include "device/device.h"
#include "numeric/random.h"
#include "progress/progress.h"
#include "statistics/statistics.h"
#include "timing/event_clock.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ATTEMPTS = 14, GRAPH_LAUNCHES = 10, GRAPH_REPLAYS = 3, MOST_GRAPH = 4096 };
static const double warm_up_ms = 100; // that a warm-up may take; it has at least one launch
static const double dropped_clock =
    0.97; // of the highest clock seen: below it a burst is throttled
static const double shortest_pause = 0.01, longest_pause = 0.06; // seconds

timing_plan timing_default_plan(void) {
  return (timing_plan){.rounds_least = 10,
                       .rounds_most = TIMING_MOST_ROUNDS,
                       .seconds_least = 0.5,
                       .noise = 0.005,
                       .seconds_most = 10,
                       .burst_ms = 15,
                       .graph_below_ms = 0.05,
                       .warm_up = 10,
                       .rotations = 1};
}

size_t timing_rotations(size_t bytes, size_t l2_bytes) {
  if (bytes == 0 || l2_bytes == 0) return 1;
  return 1 + (2 * l2_bytes + bytes - 1) / bytes;
}

// The state of a contender while it is timed.
typedef struct {
  timing_contender *contender;
  double each;         // milliseconds of a launch, as the last burst had it
  double used;         // milliseconds of all its bursts
  size_t narrow;       // rounds in a row in which its interval was narrow enough
  bool out;            // it takes part no longer
  device_graph *graph; // NULL when it has none
  size_t graph_launches;
  const timing_plan *plan;
} entrant;

typedef struct {
  const timing_plan *plan;
  const timing_clock *clock;
  cudaStream_t stream;
  uint64_t random;
  size_t rotation;      // launches so far
  double pause;         // seconds, before the next burst
  double highest_clock; // seen so far
  size_t count;
  entrant *entrants;
  size_t *order;
} session;

// --- one launch, or one replay

static cudaError_t enqueue(session *s, const entrant *e, bool replay) {
  if (replay) return device_graph_replay(e->graph, s->stream);
  const timing_contender *contender = e->contender;
  const size_t set = s->rotation % s->plan->rotations;
  s->rotation += !contender->no_buffers;
  return contender->launch(contender->context, set, s->stream);
}

// Repeats the launch while its time contains a delay by the host. The clock gives the host more time at each
// attempt. If no attempt succeeds, the launch call itself waits for the GPU, and the contender is timed no
// longer.
static bool time_one(session *s, entrant *e, bool replay, double *milliseconds, error_text *error) {
  const char *name = e->contender->name;
  const timing_clock *clock = s->clock;
  for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    float found = 0;
    bool in_time = true;
    if (!device_ok(clock->start(clock->context, s->stream), name, error) ||
        !device_ok(enqueue(s, e, replay), name, error) ||
        !device_ok(clock->stop(clock->context, s->stream, &found, &in_time), name, error)) {
      return false;
    }
    *milliseconds = (double)found;
    if (in_time) return true;
  }
  e->contender->failure = "it waits for the GPU, so that its time cannot be told from the host's";
  e->out = true;
  return true;
}

// --- graphs

static cudaError_t enqueue_all(void *context, cudaStream_t stream) {
  const entrant *e = context;
  const timing_contender *contender = e->contender;
  cudaError_t status = cudaSuccess;
  for (size_t i = 0; i < e->graph_launches && status == cudaSuccess; i++) {
    status = contender->launch(contender->context, i % e->plan->rotations, stream);
  }
  return status;
}

// The graph uses each set of buffers equally often, so that replays, too, find their tensors outside the
// cache. A contender has no graph when its launches cannot be recorded, or when the graph would need
// thousands of launches.
static void record_graph(session *s, entrant *e) {
  const size_t sets = s->plan->rotations;
  e->graph_launches = sets * ((GRAPH_LAUNCHES + sets - 1) / sets);
  const bool is_short = e->each > 0 && e->each < s->plan->graph_below_ms; // NaN is not, either
  if (e->out || !is_short || e->graph_launches > MOST_GRAPH) return;
  if (device_graph_record(enqueue_all, e, s->stream, &e->graph) != cudaSuccess) e->graph = NULL;
}

static bool time_graph(session *s, entrant *e, double *milliseconds, error_text *error) {
  double replays[1 + GRAPH_REPLAYS]; // the first brings the graph to the GPU
  for (size_t i = 0; i <= GRAPH_REPLAYS && !e->out; i++) {
    if (!time_one(s, e, true, &replays[i], error)) return false;
  }
  if (!e->out) {
    *milliseconds = statistics_median(replays + 1, GRAPH_REPLAYS) / (double)e->graph_launches;
  }
  return true;
}

// --- bursts

// The first launch is made in any case, because from its time follow the number of launches of a burst, and whether there
// is to be a graph.
static bool warm_up(session *s, entrant *e, error_text *error) {
  double used = 0;
  for (size_t i = 0; !e->out && (i == 0 || (i < s->plan->warm_up && used < warm_up_ms)); i++) {
    if (!time_one(s, e, false, &e->each, error)) return false;
    used += e->each;
  }
  record_graph(s, e);
  return true;
}

static size_t launches_of(const session *s, const entrant *e) {
  const double fit = e->each > 0 ? ceil(s->plan->burst_ms / e->each) : TIMING_MOST_LAUNCHES;
  return fit < 1 ? 1 : fit > TIMING_MOST_LAUNCHES ? TIMING_MOST_LAUNCHES : (size_t)fit;
}

// Reads the state, and decides from it how long the GPU rests before the next burst. The pause grows while
// the clock is low, and shrinks when it is not.
static void watch(session *s, timing_burst *burst) {
  burst->state =
      s->clock->read ? s->clock->read(s->clock->context) : (monitor_reading){NAN, NAN, false};
  if (burst->state.sm_clock_mhz > s->highest_clock) s->highest_clock = burst->state.sm_clock_mhz;
  burst->throttled =
      burst->state.held_back || burst->state.sm_clock_mhz < dropped_clock * s->highest_clock;
  s->pause = burst->throttled ? fmin(longest_pause, fmax(shortest_pause, 2 * s->pause))
             : s->pause > shortest_pause / 4 ? 0.7 * s->pause
                                             : 0;
}

static bool run_burst(session *s, entrant *e, size_t place, error_text *error) {
  timing_contender *contender = e->contender;
  timing_burst burst = {.place = place, .launches = launches_of(s, e), .graph_ms = NAN};
  if (s->pause > 0 && s->clock->pause) s->clock->pause(s->clock->context, s->pause);
  // The first launch finds another kernel's code and constants in the caches. This matters little for a long
  // launch.
  double settling = 0;
  if (burst.launches > 1 && !time_one(s, e, false, &settling, error)) return false;
  for (size_t i = 0; i < burst.launches && !e->out; i++) {
    if (!time_one(s, e, false, &burst.milliseconds[i], error)) return false;
    e->used += burst.milliseconds[i];
  }
  watch(s, &burst);
  if (e->graph && !e->out && !time_graph(s, e, &burst.graph_ms, error)) return false;
  if (e->out) return true;
  burst.median = e->each = statistics_median(burst.milliseconds, burst.launches);
  contender->bursts[contender->rounds++] = burst;
  return true;
}

// --- rounds

static double noise(const timing_contender *contender) {
  double medians[TIMING_MOST_ROUNDS];
  for (size_t i = 0; i < contender->rounds; i++) medians[i] = contender->bursts[i].median;
  const statistics_interval interval = statistics_median_interval(medians, contender->rounds);
  return (interval.high - interval.low) / 2 / statistics_median(medians, contender->rounds);
}

// Tells after a round whether the contender needs no more of them. Its interval must be narrow in some rounds in a
// row: an interval that is narrow in one round by luck, and ends the run, would often miss the true time.
static bool is_done(entrant *e) {
  enum { NARROW_ROUNDS = 5 };
  const timing_plan *plan = e->plan;
  e->narrow = noise(e->contender) <= plan->noise ? e->narrow + 1 : 0;
  return e->contender->rounds >= plan->rounds_least &&
         (e->used >= 1e3 * plan->seconds_least || e->narrow >= NARROW_ROUNDS);
}

static bool all_done(const session *s) {
  bool done = true;
  for (size_t i = 0; i < s->count; i++) done = done && s->entrants[i].out;
  return done;
}

// This is the shuffle of Fisher and Yates, in which all orders are equally likely.
static void draw_order(session *s) {
  for (size_t i = s->count; i-- > 0;) {
    const size_t other = (random_next(&s->random) >> 32) * (i + 1) >> 32;
    const size_t kept = s->order[i];
    s->order[i] = s->order[other];
    s->order[other] = kept;
  }
}

static bool run_rounds(session *s, error_text *error) {
  const timing_plan *plan = s->plan;
  const double most = plan->seconds_most > 0 ? 1e3 * plan->seconds_most : HUGE_VAL;
  progress bar = progress_start("timing", plan->rounds_most * s->count);
  bool good = true;
  for (size_t i = 0; i < s->count && good; i++) {
    s->order[i] = i;
    good = warm_up(s, &s->entrants[i], error);
  }
  for (size_t round = 0; round < plan->rounds_most && good && !all_done(s); round++) {
    draw_order(s);
    for (size_t place = 0; place < s->count && good; place++) {
      entrant *e = &s->entrants[s->order[place]];
      if (!plan->quiet) progress_show(&bar, round * s->count + place);
      const double next = e->each * (double)launches_of(s, e);
      if (round > 0 && e->used + next > most) e->out = true;
      if (!e->out) good = run_burst(s, e, place, error);
      e->out = e->out || is_done(e);
    }
  }
  progress_end(&bar);
  return good;
}

static bool run_on(const timing_plan *plan, const timing_clock *clock, timing_contender *contenders,
                   size_t count, cudaStream_t stream, error_text *error) {
  session s = {
      .plan = plan, .clock = clock, .stream = stream, .random = plan->seed, .count = count};
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (s.random == 0) s.random = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  if (count == 0) return true;
  s.entrants = calloc(count, sizeof *s.entrants);
  s.order = calloc(count, sizeof *s.order);
  bool good = (s.entrants && s.order) || fail(error, "not enough memory for timing");
  for (size_t i = 0; i < count && good; i++) {
    contenders[i].rounds = 0;
    contenders[i].failure = NULL;
    s.entrants[i] = (entrant){.contender = &contenders[i], .plan = plan};
  }
  if (clock->read) s.highest_clock = clock->read(clock->context).sm_clock_mhz;
  if (!(s.highest_clock > 0)) s.highest_clock = 0;
  good = good && run_rounds(&s, error);
  for (size_t i = 0; s.entrants && i < count; i++) {
    device_graph_free(s.entrants[i].graph);
    if (contenders[i].failure) contenders[i].rounds = 0;
  }
  free(s.entrants);
  free(s.order);
  return good;
}

bool timing_run(const timing_plan *plan, timing_contender *contenders, size_t count,
                cudaStream_t stream, error_text *error) {
  if (plan->clock) return run_on(plan, plan->clock, contenders, count, stream, error);
  event_pair events;
  timing_clock clock;
  if (!event_clock_open(&events, &clock, error)) return false;
  const bool good = run_on(plan, &clock, contenders, count, stream, error);
  event_clock_close(&events);
  return good;
}
