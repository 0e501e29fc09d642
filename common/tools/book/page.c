#define _GNU_SOURCE
#include "book/page.h"

#include "book/changes.h"
#include "book/json.h"
#include "book/manifest.h"
#include "book/markdown.h"
#include <stdlib.h>
#include <string.h>

// Writes the value that belongs to an entry behind its name; returns false with a sentence.
typedef bool write_entry(FILE *out, const manifest_entry *entry, error_text *error);

static void put_text(FILE *out, const char *text) { json_string(out, text, strlen(text)); }

static bool put_file(FILE *out, const char *path, error_text *error) {
  text_buffer text = {0};
  const bool good = text_buffer_read(&text, path, error);
  if (good) json_string(out, text.data ? text.data : "", text.length);
  text_buffer_free(&text);
  return good;
}

static bool put_fact(FILE *out, const manifest_entry *entry, error_text *error) {
  (void)error;
  put_text(out, entry->word[1]);
  return true;
}

static bool put_document(FILE *out, const manifest_entry *entry, error_text *error) {
  text_buffer text = {0}, html = {0};
  const bool good = text_buffer_read(&text, entry->word[0], error) &&
                    markdown_to_html(entry->word[0], &text, &html, error);
  if (good) json_string(out, html.data ? html.data : "", html.length);
  text_buffer_free(&text);
  text_buffer_free(&html);
  return good;
}

static bool put_raw(FILE *out, const manifest_entry *entry, error_text *error) {
  return put_file(out, entry->word[0], error);
}

static bool put_shown(FILE *out, const manifest_entry *entry, error_text *error) {
  return put_file(out, *entry->word[1] ? entry->word[1] : entry->word[0], error);
}

static bool put_library(FILE *out, const manifest_entry *entry, error_text *error) {
  return put_file(out, entry->word[2],
                  error); // its licence; the code stands in a script of its own
}

static size_t line_length(const text_buffer *text, size_t at) {
  const char *end = memchr(text->data + at, '\n', text->length - at);
  return end ? (size_t)(end - text->data) - at + 1 : text->length - at;
}

// Writes the numbers of those lines of `whole` that `shown` lacks, so that the page can number lines as in the file.
static void put_left_out(FILE *out, const text_buffer *whole, const text_buffer *shown) {
  bool first = true;
  size_t at = 0, behind = 0;
  fputc('[', out);
  for (int number = 1; at < whole->length; number++) {
    const size_t length = line_length(whole, at);
    if (behind < shown->length && line_length(shown, behind) == length &&
        memcmp(whole->data + at, shown->data + behind, length) == 0) {
      behind += length;
    } else {
      json_next(out, &first);
      fprintf(out, "%d", number);
    }
    at += length;
  }
  fputc(']', out);
}

static bool put_step(FILE *out, const manifest_entry *entry, error_text *error) {
  fputs("{\"parent\":", out);
  put_text(out, entry->word[1]);
  fputs(",\"path\":", out);
  put_text(out, entry->word[2]);
  fputs(",\"left_out\":", out);
  text_buffer whole = {0}, shown = {0};
  const bool good = text_buffer_read(&whole, entry->word[2], error) &&
                    text_buffer_read(&shown, entry->word[3], error);
  if (good) {
    put_left_out(out, &whole, &shown);
    fputs(",\"text\":", out);
    json_string(out, shown.data ? shown.data : "", shown.length);
    fputc('}', out);
  }
  text_buffer_free(&whole);
  text_buffer_free(&shown);
  return good;
}

static bool put_size(FILE *out, const manifest_entry *entry, error_text *error) {
  (void)error;
  fprintf(out, "%ld", strtol(entry->word[2], NULL, 10));
  return true;
}

// An object of all entries of that kind. The name of a value is that of the entry: its first words, with "|" between.
static bool put_section(FILE *out, const manifest *list, const char *kind, int name_words,
                        write_entry *write, error_text *error) {
  bool first = true;
  fprintf(out, ",\n\"%s\":{", kind);
  for (size_t i = 0; i < list->count; i++) {
    const manifest_entry *entry = &list->entries[i];
    if (strcmp(entry->kind, kind) != 0) continue;
    char name[1024];
    snprintf(name, sizeof name, "%s%s%s", entry->word[0], name_words > 1 ? "|" : "",
             name_words > 1 ? entry->word[1] : "");
    json_next(out, &first);
    put_text(out, name);
    fputc(':', out);
    if (!write(out, entry, error)) return false;
  }
  fputc('}', out);
  return true;
}

static const manifest_entry *find_step(const manifest *list, const char *name) {
  for (size_t i = 0; i < list->count; i++) {
    const manifest_entry *entry = &list->entries[i];
    if (strcmp(entry->kind, "step") == 0 && strcmp(entry->word[0], name) == 0) return entry;
  }
  return NULL;
}

// Returns the source that an entry changes: that of its step, or where entries build on each other that of the entry before.
static const char *source_before(const manifest *list, size_t i, const manifest_entry *step) {
  const manifest_entry *entry = &list->entries[i];
  if (strcmp(entry->kind, "substep") != 0) return step->word[3];
  const manifest_entry *before = i > 0 ? &list->entries[i - 1] : NULL;
  if (before && strcmp(before->kind, entry->kind) == 0 &&
      strcmp(before->word[0], entry->word[0]) == 0)
    return before->word[3];
  const manifest_entry *parent = find_step(list, step->word[1]);
  return parent ? parent->word[3] : step->word[3];
}

// Bugs, variants and substeps: the patch, and what it changes.
static bool put_patched(FILE *out, const manifest *list, const char *kind, error_text *error) {
  bool first = true;
  fprintf(out, ",\n\"%s\":{", kind);
  for (size_t i = 0; i < list->count; i++) {
    const manifest_entry *entry = &list->entries[i];
    if (strcmp(entry->kind, kind) != 0) continue;
    const manifest_entry *step = find_step(list, entry->word[0]);
    if (!step)
      return fail(error, "the manifest has a %s of %s, but not that step", kind, entry->word[0]);
    json_next(out, &first);
    fprintf(out, "\"%s|%s\":{\"patch\":", entry->word[0], entry->word[1]);
    if (!put_file(out, entry->word[2], error)) return false;
    fputs(",\"changes\":", out);
    if (!changes_write(out, source_before(list, i, step), entry->word[3], true, error))
      return false;
    fputc('}', out);
  }
  fputc('}', out);
  return true;
}

// Each step against each later one; the page turns them round for the other direction.
static bool put_differences(FILE *out, const manifest *list, error_text *error) {
  bool first = true;
  fputs(",\n\"difference\":{", out);
  for (size_t i = 0; i < list->count; i++) {
    for (size_t j = i + 1; j < list->count; j++) {
      const manifest_entry *a = &list->entries[i], *b = &list->entries[j];
      if (strcmp(a->kind, "step") != 0 || strcmp(b->kind, "step") != 0) continue;
      json_next(out, &first);
      fprintf(out, "\"%s|%s\":", a->word[0], b->word[0]);
      if (!changes_write(out, a->word[3], b->word[3], false, error)) return false;
    }
  }
  fputc('}', out);
  return true;
}

static bool put_data(FILE *out, const manifest *list, error_text *error) {
  fputs("{\"version\":1", out);
  const bool good = put_section(out, list, "fact", 1, put_fact, error) &&
                    put_section(out, list, "document", 1, put_document, error) &&
                    put_section(out, list, "text", 1, put_shown, error) &&
                    put_section(out, list, "image", 1, put_raw, error) &&
                    put_section(out, list, "step", 1, put_step, error) &&
                    put_section(out, list, "size", 2, put_size, error) &&
                    put_section(out, list, "stale", 2, put_fact, error) &&
                    put_section(out, list, "moved", 2, put_fact, error) &&
                    put_section(out, list, "library", 1, put_library, error) &&
                    put_patched(out, list, "bug", error) &&
                    put_patched(out, list, "variant", error) &&
                    put_patched(out, list, "substep", error) && put_differences(out, list, error);
  fputs("}\n", out);
  return good;
}

// Inlines the files of that kind, each between the tags.
static bool put_parts(FILE *out, const manifest *list, const char *kind, int word, const char *open,
                      const char *close, error_text *error) {
  for (size_t i = 0; i < list->count; i++) {
    const manifest_entry *entry = &list->entries[i];
    if (strcmp(entry->kind, kind) != 0) continue;
    text_buffer text = {0};
    bool good = text_buffer_read(&text, entry->word[word], error);
    if (good && memmem(text.data, text.length, "</script", 8)) {
      good = fail(error, "%s holds the end of a script, and cannot stand inside one",
                  entry->word[word]);
    }
    if (good) {
      fprintf(out, open, entry->word[0]);
      fwrite(text.data, 1, text.length, out);
      fputs(close, out);
    }
    text_buffer_free(&text);
    if (!good) return false;
  }
  return true;
}

// The policy forbids the page any request, so that a forgotten one fails.
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri "
    "'none'\">\n<title>The attention lab book</title>\n";
static const char body[] =
    "</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
    "<header id=\"top\"></header>\n<main id=\"main\" tabindex=\"-1\"><noscript>The lab book shows "
    "its pages with JavaScript, which is off in this browser. The documents are also files of the "
    "repository: begin with README.md.</noscript></main>\n<footer id=\"foot\"></footer>\n";

bool page_write(const text_buffer *manifest_text, text_buffer *page, error_text *error) {
  manifest list = {0};
  char *bytes = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&bytes, &length);
  if (!out) return fail(error, "not enough memory for the page");
  bool good = manifest_read(manifest_text, &list, error);
  if (good) {
    fputs(head, out);
    good = put_parts(out, &list, "style", 0, "<style data-file=\"%s\">\n", "</style>\n", error);
    fputs(body, out);
    fputs("<script type=\"application/json\" id=\"lab\">\n", out);
    good = good && put_data(out, &list, error);
    fputs("</script>\n", out);
    // A library runs when a view first needs it, so that it does not delay the first view.
    good = good &&
           put_parts(out, &list, "library", 1, "<script type=\"text/plain\" data-library=\"%s\">\n",
                     "\n</script>\n", error) &&
           put_parts(out, &list, "script", 0, "<script data-file=\"%s\">\n", "</script>\n", error);
    fputs("</body>\n</html>\n", out);
  }
  if (fclose(out) != 0 && good) good = fail(error, "not enough memory for the page");
  if (good) text_buffer_append(page, bytes, length);
  free(bytes);
  manifest_free(&list);
  return good;
}
