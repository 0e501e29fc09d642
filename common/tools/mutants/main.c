// mutants list [--reasons FILE] SOURCE...
//   A line for each mutant of the sources (mutant.h), with tabs between: number in its source, FILE:LINE:COLUMN,
//   operator, "`original` -> `mutated`", key, and the reason why it is no fault, from FILE, if that has one.
//   Exit status 2 when FILE has a reason for a mutant that none of the sources has.
// mutants write SOURCE NUMBER OUT
//   Writes the source with that fault. OUT appears whole or not at all.
// mutants operators
//   Their names, a line for each.
#include "file/file.h"
#include "finish/finish.h"
#include "mutants/mutant.h"
#include "mutants/reasons.h"
#include "options/number.h"

#include <string.h>

typedef struct {
  text_buffer text;
  source file;
  mutant_list mutants;
} mutated_source;

static bool open_source(mutated_source *it, const char *path, error_text *error) {
  *it = (mutated_source){0};
  if (!text_buffer_read(&it->text, path, error)) return false;
  it->file = source_open(path, it->text.data, it->text.length);
  mutants_find(&it->file, &it->mutants);
  return true;
}

static void close_source(mutated_source *it) {
  mutants_free(&it->mutants);
  if (it->file.path != NULL) source_close(&it->file);
  text_buffer_free(&it->text);
}

static void print_mutant(const mutated_source *it, size_t index, reason_list *reasons) {
  const mutant *mutant = &it->mutants.items[index];
  text_buffer change = {0}, key = {0};
  mutant_append_change(&it->file, mutant, &change);
  mutant_append_key(&it->file, &it->mutants, index, &key);
  text_buffer_append(&key, "", 1);
  const char *reason = reasons_find(reasons, key.data);
  printf("%zu\t%s:%zu:%zu\t%s\t%.*s\t%s\t%s\n", index + 1, it->file.path, mutant->line,
         mutant->column, mutant->kind, (int)change.length, change.data, key.data,
         reason != NULL ? reason : "");
  text_buffer_free(&change);
  text_buffer_free(&key);
}

static bool list(int count, char **paths, const char *reasons_path, error_text *error) {
  text_buffer text = {0};
  reason_list reasons = {0};
  bool done =
      reasons_path == NULL || (text_buffer_read(&text, reasons_path, error) &&
                               reasons_read(&reasons, reasons_path, text.data, text.length, error));
  for (int i = 0; i < count && done; i++) {
    mutated_source it;
    done = open_source(&it, paths[i], error);
    for (size_t m = 0; m < it.mutants.count; m++) print_mutant(&it, m, &reasons);
    close_source(&it);
  }
  done = done && reasons_all_used(&reasons, error);
  reasons_free(&reasons);
  text_buffer_free(&text);
  return done;
}

static bool write_mutant(const char *path, const char *number, const char *to, error_text *error) {
  mutated_source it;
  text_buffer out = {0};
  bool done = open_source(&it, path, error);
  int64_t wanted = 0;
  done = done && number_parse_integer("the mutant's number", number, 1, (int64_t)it.mutants.count,
                                      &wanted, error);
  if (done) {
    mutant_write(&it.file, &it.mutants.items[wanted - 1], &out);
    done = file_write(to, out.data, out.length, error);
  }
  text_buffer_free(&out);
  close_source(&it);
  return done;
}

static int run(int count, char **arguments) {
  error_text error = {
      "the command is list [--reasons FILE] SOURCE..., write SOURCE NUMBER OUT, or operators"};
  bool done = false;
  const char *command = count > 1 ? arguments[1] : "";
  if (strcmp(command, "operators") == 0 && count == 2) {
    for (const char *const *name = mutant_operators; *name != NULL; name++) puts(*name);
    done = true;
  } else if (strcmp(command, "list") == 0 && count > 4 && strcmp(arguments[2], "--reasons") == 0) {
    done = list(count - 4, arguments + 4, arguments[3], &error);
  } else if (strcmp(command, "list") == 0 && count > 2) {
    done = list(count - 2, arguments + 2, NULL, &error);
  } else if (strcmp(command, "write") == 0 && count == 5) {
    done = write_mutant(arguments[2], arguments[3], arguments[4], &error);
  }
  if (!done) fprintf(stderr, "error: %s\n", error.text);
  return done ? EXIT_OK : EXIT_BAD_INPUT;
}

int main(int argc, char **argv) { return finish_run(run, argc, argv); }
