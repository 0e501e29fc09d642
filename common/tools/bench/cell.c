#include "bench/cell.h"

#include "inputs/inputs.h"
#include "reference/selection.h"
#include "shape/shape.h"
#include <math.h>
#include <stdlib.h>

enum { SEED = 1 }; // of the inputs, and of the choice of rows

static const size_t memory_margin = (size_t)64 << 20; // what allocations round up, and more

// --- what fits into the GPU's memory

static size_t free_memory(void) {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  cudaMemGetInfo(&free_bytes, &total_bytes);
  return free_bytes;
}

static bool fits(size_t bytes, const char *what, error_text *note) {
  const size_t available = free_memory();
  if (bytes <= SIZE_MAX - memory_margin && bytes + memory_margin <= available) return true;
  return fail(note, "%s take %.3g GB of the GPU's memory, and %.3g GB are free", what,
              (double)bytes * 1e-9, (double)available * 1e-9);
}

// --- the parts of a measurement

static bool can_take(const attention_step *step, const attention_shape *shape, error_text *note) {
  if (step->configure) step->configure(step->configuration);
  const char *reason = step->unsupported(shape);
  return !reason || fail(note, "%s", reason);
}

static bool make_problem(const attention_shape *shape, trial *trial, error_text *error) {
  if (!trial_create(trial, shape, error)) return false;
  uint16_t *const tensors[3] = {trial->q, trial->k, trial->v};
  for (int i = 0; i < 3; i++) {
    inputs_fill(shape, INPUTS_NORMAL, (inputs_tensor)i, SEED, tensors[i]);
  }
  return trial_upload(trial, error) &&
         trial_reference_some(trial, selection_quick_rows(shape), SEED, error);
}

// Runs a step once and checks its result. Returns false only when the machine fails, or when nothing can be launched behind
// a launch of the step that failed.
static bool check_step(trial *trial, const attention_step *step, const measure_plan *plan,
                       cell_row *row, error_text *error) {
  guard_free(&trial->workspace); // the workspace of the step before may leave no room
  const size_t workspace = step->workspace_bytes(&trial->shape);
  const size_t copies = measure_copies_bytes(trial, plan->l2_bytes);
  const size_t bytes = workspace > SIZE_MAX - copies ? SIZE_MAX : workspace + copies;
  if (!fits(bytes, "its workspace and the tensors' copies", &row->note)) return true;
  if (!trial_run(trial, step, NULL, error)) {
    row->note = *error;
    row->result.verdict = CHECK_FAILED;
    row->result.check = (check_result){.o_error = NAN, .o_bound = NAN, .lse_error = NAN};
    return trial->launch_failed &&
           (device_works() || fail(error, "%.40s: %.900s", step->name, row->note.text));
  }
  row->result.workspace_bytes = workspace;
  const bool right = trial_check(trial, &row->result.check) &&
                     trial_check_o_alone(trial, step, &row->result.check);
  row->result.verdict = right ? CHECK_PASSED : CHECK_FAILED;
  if (!right) row->note = row->result.check.message;
  return true;
}

// Fills the row with the measurements of contender number `own`, and compares it with the first right one and with the
// right one before it, which were timed in the same rounds. Then it is the one before, and may be the first one.
static void fill_row(cell_row *row, const measured_steps *measured, size_t own,
                     const timing_contender **first, const timing_contender **before) {
  const timing_contender *contender = &measured->contenders[own];
  if (contender->failure) {
    fail(&row->note, "%s", contender->failure);
    return;
  }
  row->bursts = contender;
  row->result.figures = timing_figure(contender);
  row->result.floor = measured_steps_floor(measured);
  if (!*first) *first = contender;
  row->result.first = result_compare(contender, *first, (*first)->name);
  if (*before) row->result.before = result_compare(contender, *before, (*before)->name);
  *before = contender;
}

// Times the steps whose results are right, and gives every row the conditions.
static bool time_steps(const device_info *device, trial *trial, const attention_step *steps,
                       const measure_plan *plan, cell *cell, error_text *error) {
  record_conditions conditions = {.before = record_read_state(device)};
  attention_step *timed = calloc(cell->count, sizeof *timed);
  size_t contenders = 0;
  for (size_t i = 0; timed && i < cell->count; i++) {
    if (cell->rows[i].result.verdict == CHECK_PASSED) timed[contenders++] = steps[i];
  }
  bool good = timed || fail(error, "not enough memory for the samples");
  good = good &&
         (contenders == 0 || measure_steps(trial, timed, contenders, plan, &cell->measured, error));
  conditions.after = record_read_state(device);
  conditions.origin = record_read_origin();
  size_t next = 0;
  const timing_contender *first = NULL, *before = NULL;
  for (size_t i = 0; i < cell->count && good; i++) {
    cell_row *row = &cell->rows[i];
    row->result.conditions = conditions;
    if (row->result.verdict != CHECK_PASSED) continue;
    const size_t own = next++;
    if (measured_steps_check(&cell->measured, own, &row->result.check)) {
      fill_row(row, &cell->measured, own, &first, &before);
    } else {
      row->result.verdict = CHECK_FAILED;
      row->note = row->result.check.message;
    }
  }
  free(timed);
  return good;
}

static bool check_and_time(const device_info *device, const attention_shape *shape,
                           const attention_step *steps, const measure_plan *plan, cell *cell,
                           error_text *error) {
  trial trial = {0};
  bool good = make_problem(shape, &trial, error);
  cell->checked_rows = selection_quick_rows(shape);
  for (size_t i = 0; i < cell->count && good; i++) {
    if (cell->rows[i].note.text[0]) continue; // skipped
    good = check_step(&trial, &steps[i], plan, &cell->rows[i], error);
  }
  cell->launch_failed = !good && trial.launch_failed;
  good = good && time_steps(device, &trial, steps, plan, cell, error);
  cell->launch_failed |= cell->measured.launch_failed;
  trial_free(&trial);
  return good;
}

bool cell_measure(const device_info *device, const attention_shape *shape,
                  const attention_step *steps, size_t count, const measure_plan *plan, cell *cell,
                  error_text *error) {
  *cell = (struct cell){.count = count, .rows = calloc(count, sizeof *cell->rows)};
  if (!cell->rows) return fail(error, "not enough memory for a cell");
  size_t able = 0;
  for (size_t i = 0; i < count; i++) {
    cell_row *row = &cell->rows[i];
    row->result = (result_row){.step = steps[i].name,
                               .configuration = steps[i].configuration,
                               .device = device->name,
                               .shape = *shape,
                               .inputs = inputs_name(INPUTS_NORMAL),
                               .verdict = CHECK_SKIPPED};
    able += can_take(&steps[i], shape, &row->note) &&
            fits(shape_bytes(shape), "its tensors", &row->note);
  }
  if (able > 0) return check_and_time(device, shape, steps, plan, cell, error);
  const record_conditions now = {record_read_state(device), record_read_state(device),
                                 record_read_origin()};
  for (size_t i = 0; i < count; i++) cell->rows[i].result.conditions = now;
  return true;
}

bool cell_is_possible(const device_info *device, const attention_step *step,
                      const attention_shape *shape) {
  error_text ignored;
  if (!can_take(step, shape, &ignored)) return false;
  const size_t tensors = shape_bytes(shape), sets = timing_rotations(tensors, device->l2_bytes);
  const size_t workspace = step->workspace_bytes(shape), all = device->memory_bytes;
  return tensors <= all / sets && workspace <= all - sets * tensors;
}

void cell_free(cell *cell) {
  free(cell->rows);
  measured_steps_free(&cell->measured);
  *cell = (struct cell){0};
}
