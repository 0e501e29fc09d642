#define _GNU_SOURCE
#include "book/changes.h"

#include "book/json.h"
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// A colour for each kind of line, so that a line's colour says whether it has moved.
#define GONE_MOVED     "35"
#define GONE_MOVED_TOO "34"
#define COME_MOVED     "36"
#define COME_MOVED_TOO "33"

static FILE *run_git(const char *before, const char *after, pid_t *child, error_text *error) {
  const char *const words[] = {"git",
                               "--no-pager",
                               "-c",
                               "color.diff.oldMoved=magenta",
                               "-c",
                               "color.diff.oldMovedAlternative=blue",
                               "-c",
                               "color.diff.newMoved=cyan",
                               "-c",
                               "color.diff.newMovedAlternative=yellow",
                               "-c",
                               "color.diff.old=red",
                               "-c",
                               "color.diff.new=green",
                               "-c",
                               "color.diff.frag=normal",
                               "diff",
                               "--no-index",
                               "--no-ext-diff",
                               "--histogram",
                               "--unified=0",
                               "--color=always",
                               "--color-moved=zebra",
                               "--color-moved-ws=allow-indentation-change",
                               "--ws-error-highlight=none",
                               "--",
                               before,
                               after,
                               NULL};
  int ends[2];
  if (pipe(ends) != 0) {
    fail(error, "cannot run git: %s", strerror(errno));
    return NULL;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  const int failed = posix_spawnp(child, "git", &actions, NULL, (char *const *)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  FILE *answer = failed ? NULL : fdopen(ends[0], "r");
  if (!answer) {
    close(ends[0]);
    fail(error, "cannot run git: %s", strerror(failed ? failed : errno));
  }
  return answer;
}

typedef struct {
  FILE *hunks, *gone, *come, *text; // what stands between the brackets
  char *of_hunks, *of_gone, *of_come, *of_text;
  size_t length;
  bool first_hunk, first_gone, first_come, first_text;
  long before, after; // the next line of each side
  bool inside;        // behind the first hunk's head
} reading;

static void note_moved(FILE *out, bool *first, long line) {
  json_next(out, first);
  fprintf(out, "%ld", line);
}

// "@@ -12,3 +14 @@" ; a count that is left out is 1.
static void take_head(reading *it, const char *head) {
  long from = 0, lines = 1, to = 0, new_lines = 1;
  char *at = strchr(head, '-');
  if (!at) return;
  from = strtol(at + 1, &at, 10);
  if (*at == ',') lines = strtol(at + 1, &at, 10);
  at = strchr(at, '+');
  if (!at) return;
  to = strtol(at + 1, &at, 10);
  if (*at == ',') new_lines = strtol(at + 1, &at, 10);
  json_next(it->hunks, &it->first_hunk);
  fprintf(it->hunks, "[%ld,%ld,%ld,%ld]", from, lines, to, new_lines);
  it->before = from;
  it->after = to;
  it->inside = true;
}

// Takes the colours out of the line, and copies the first one's number to `colour`.
static void strip_colours(char *line, char colour[8]) {
  char *to = line;
  colour[0] = '\0';
  for (const char *from = line; *from;) {
    if (from[0] == '\x1b' && from[1] == '[') {
      const size_t length = strcspn(from + 2, "m");
      if (!colour[0] && length > 0 && length < 8) {
        memcpy(colour, from + 2, length);
        colour[length] = '\0';
      }
      from += 2 + length + (from[2 + length] == 'm');
    } else if (*from == '\n' && from[1] == '\0') {
      break;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
}

static void take_line(reading *it, char *line) {
  char colour[8];
  strip_colours(line, colour);
  if (strncmp(line, "@@ ", 3) == 0) {
    take_head(it, line);
  } else if (it->inside && line[0] == '-') {
    if (strcmp(colour, GONE_MOVED) == 0 || strcmp(colour, GONE_MOVED_TOO) == 0) {
      note_moved(it->gone, &it->first_gone, it->before);
    }
    it->before++;
  } else if (it->inside && line[0] == '+') {
    if (strcmp(colour, COME_MOVED) == 0 || strcmp(colour, COME_MOVED_TOO) == 0) {
      note_moved(it->come, &it->first_come, it->after);
    }
    json_next(it->text, &it->first_text);
    json_string(it->text, line + 1, strlen(line + 1));
    it->after++;
  }
}

bool changes_write(FILE *out, const char *before, const char *after, bool with_text,
                   error_text *error) {
  pid_t child;
  FILE *answer = run_git(before, after, &child, error);
  if (!answer) return false;
  reading it = {.first_hunk = true, .first_gone = true, .first_come = true, .first_text = true};
  it.hunks = open_memstream(&it.of_hunks, &it.length);
  it.gone = open_memstream(&it.of_gone, &it.length);
  it.come = open_memstream(&it.of_come, &it.length);
  it.text = open_memstream(&it.of_text, &it.length);
  bool good = it.hunks && it.gone && it.come && it.text;
  if (!good) fail(error, "not enough memory for the changes from %s to %s", before, after);
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, answer) > 0) {
    if (good) take_line(&it, line);
  }
  free(line);
  fclose(answer);
  int status = 0;
  waitpid(child, &status, 0);
  if (good && (!WIFEXITED(status) || WEXITSTATUS(status) > 1)) { // 1 says that they differ
    good = fail(error, "git cannot compare %s with %s", before, after);
  }
  if (it.hunks) fclose(it.hunks);
  if (it.gone) fclose(it.gone);
  if (it.come) fclose(it.come);
  if (it.text) fclose(it.text);
  if (good) {
    fprintf(out, "{\"hunks\":[%s],\"gone\":[%s],\"come\":[%s]", it.of_hunks, it.of_gone,
            it.of_come);
    if (with_text) fprintf(out, ",\"text\":[%s]", it.of_text);
    fputs("}\n", out);
  }
  free(it.of_hunks);
  free(it.of_gone);
  free(it.of_come);
  free(it.of_text);
  return good;
}
