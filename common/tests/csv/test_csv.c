#define _GNU_SOURCE
#include "csv/csv.h"
#include "tests/driver/temporary_folder.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(csv, .init = temporary_folder_enter, .fini = temporary_folder_leave);

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void put(const char *text, size_t length) {
  FILE *file = fopen("a.csv", "wb");
  cr_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
}

static csv_table read_good(const char *text) {
  csv_table table;
  error_text error = {""};
  put(text, strlen(text));
  cr_assert(csv_read("a.csv", &table, &error), "%s\n%s", error.text, text);
  return table;
}

static size_t column(const csv_table *table, const char *name) {
  size_t found = 0;
  error_text error;
  cr_assert(csv_column(table, name, &found, &error), "%s", error.text);
  return found;
}

// The same table, however the lines end and whatever stands between them.
Test(csv, columns_by_name) {
  const char *const texts[] = {
      "step,seq_q,median_ms\n01_naive,512,0.25\n02_tiled,1024,\n",
      "step,seq_q,median_ms\n01_naive,512,0.25\n02_tiled,1024,",
      "step,seq_q,median_ms\r\n01_naive,512,0.25\r\n02_tiled,1024,\r\n",
      "step,seq_q,median_ms\r\n01_naive,512,0.25\r\n02_tiled,1024,",
      ("# before: x\n# y, \"z\nstep,seq_q,median_ms\n01_naive,512,0.25\n#\n\n02_tiled,1024,\n# "
       "after\n"),
      "median_ms,step,seq_q\n0.25,01_naive,512\n,02_tiled,1024\n",
      "median_ms,\"step\",seq_q\n\"0.25\",\"01_naive\",512\n\"\",02_tiled,\"1024\"\n",
  };
  for (size_t i = 0; i < LENGTH(texts); i++) {
    csv_table table = read_good(texts[i]);
    error_text error;
    double median = 0;
    int64_t seq = 0;
    cr_assert(table.rows == 2 && table.columns == 3, "text %zu: %zu rows", i, table.rows);
    const size_t step = column(&table, "step");
    const size_t seq_q = column(&table, "seq_q");
    const size_t median_ms = column(&table, "median_ms");
    cr_expect_str_eq(csv_text(&table, 0, step), "01_naive", "text %zu", i);
    cr_expect_str_eq(csv_text(&table, 1, step), "02_tiled", "text %zu", i);
    cr_expect(csv_integer(&table, 0, seq_q, 1, 512, &seq, &error) && seq == 512, "text %zu", i);
    cr_expect(csv_integer(&table, 1, seq_q, 1, 1024, &seq, &error) && seq == 1024, "text %zu", i);
    cr_expect(csv_number(&table, 0, median_ms, &median, &error) && median == 0.25, "text %zu", i);
    cr_expect(csv_number(&table, 1, median_ms, &median, &error) && isnan(median), "text %zu", i);
    cr_expect_str_eq(csv_text(&table, 1, median_ms), "", "text %zu", i);
    csv_free(&table);
    cr_expect(table.cells == NULL && table.rows == 0);
  }
}

Test(csv, knows_its_lines) {
  csv_table table = read_good("# a\nx\n\n1\n# b\n2\n");
  cr_assert_eq(table.rows, 2);
  cr_expect(table.lines[0] == 4 && table.lines[1] == 6, "%zu, %zu", table.lines[0], table.lines[1]);
  csv_free(&table);
}

Test(csv, a_header_alone) {
  csv_table table = read_good("step,seq_q");
  cr_expect(table.rows == 0 && table.columns == 2);
  csv_free(&table);
}

// A text that csv_write_text writes is read back unchanged.
Test(csv, texts_survive) {
  const char *const texts[] = {"plain", "",        "a,b", "\"",   "\"\"",     "a \"b\", c",
                               "\",\"", " blank ", "# 5", "a\tb", "\302\265s"};
  char *written = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&written, &length);
  fputs("left,text,right\n", file);
  for (size_t i = 0; i < LENGTH(texts); i++) {
    fputs("1,", file);
    csv_write_text(file, texts[i]);
    fputs(",2\n", file);
  }
  fclose(file);
  csv_table table = read_good(written);
  cr_assert_eq(table.rows, LENGTH(texts));
  for (size_t i = 0; i < LENGTH(texts); i++) {
    cr_expect_str_eq(csv_text(&table, i, 1), texts[i]);
    cr_expect_str_eq(csv_text(&table, i, 2), "2");
  }
  csv_free(&table);
  free(written);
}

Test(csv, malformed_files) {
  static const struct {
    const char *text;
    size_t length;
    const char *sentence;
  } cases[] = {
#define CASE(text, sentence) {text, sizeof text - 1, sentence}
      CASE("", "a.csv holds no header line that names its columns"),
      CASE("\n\r\n", "a.csv holds no header line that names its columns"),
      CASE("# a,b\n", "a.csv holds no header line that names its columns"),
      CASE("a,b\n1,2\n3\n", "line 3 of a.csv has 1 fields where the header has 2"),
      CASE("a,b\n1,2,\n", "line 2 of a.csv has 3 fields where the header has 2"),
      CASE("# x\na,b\n\n1,2,3,4", "line 4 of a.csv has 4 fields where the header has 2"),
      CASE("a,b,a\n", "line 1 of a.csv names the column \"a\" twice"),
      CASE("a,a\n", "line 1 of a.csv names the column \"a\" twice"),
      CASE("a,\"b\n1,2\n", "line 1 of a.csv has a quote out of place"),
      CASE("a,b\n1,\"2\n", "line 2 of a.csv has a quote out of place"),
      CASE("a,b\n1,2\"\n", "line 2 of a.csv has a quote out of place"),
      CASE("a,b\n1,\"2\"3\n", "line 2 of a.csv has a quote out of place"),
      CASE("a,b\n1,\"2\"\"\n", "line 2 of a.csv has a quote out of place"),
      CASE("a,b\n1,\0\n", "line 2 of a.csv holds a zero byte: this is no text"),
      CASE("a,b\n1,\t\033[2J\n", "line 2 of a.csv holds the byte 0x1b where a character should be"),
      CASE("a,\377\n", "line 1 of a.csv holds the byte 0xff where a character should be"),
      CASE("\0", "line 1 of a.csv holds a zero byte: this is no text"),
#undef CASE
  };
  for (size_t i = 0; i < LENGTH(cases); i++) {
    csv_table table;
    error_text error = {""};
    put(cases[i].text, cases[i].length);
    cr_expect(!csv_read("a.csv", &table, &error), "case %zu", i);
    cr_expect_str_eq(error.text, cases[i].sentence, "case %zu: %s", i, error.text);
    cr_expect(table.text == NULL && table.cells == NULL && table.path == NULL, "case %zu", i);
  }
}

// More fields than all the rows of the table have room for.
Test(csv, a_row_with_far_too_many_fields) {
  enum { FIELDS = 1 << 18 };
  static char text[FIELDS + 2] = "a\n";
  memset(text + 2, ',', FIELDS - 1);
  csv_table table;
  error_text error = {""};
  put(text, strlen(text));
  cr_expect(!csv_read("a.csv", &table, &error));
  cr_expect_str_eq(error.text, "line 2 of a.csv has 262144 fields where the header has 1", "%s",
                   error.text);
}

Test(csv, files_that_cannot_be_read) {
  csv_table table;
  error_text error = {""};
  cr_expect(!csv_read("none.csv", &table, &error));
  cr_expect_str_eq(error.text, "cannot open none.csv: No such file or directory");
  cr_expect(!csv_read(".", &table, &error));
  cr_expect_str_eq(error.text, ". is a folder: name a file in it");
  cr_assert(mkfifo("pipe.csv", 0600) == 0);
  cr_expect(!csv_read("pipe.csv", &table, &error)); // and does not wait for a writer
  cr_expect(strstr(error.text, "pipe.csv is a pipe or a device"), "%s", error.text);
}

Test(csv, missing_column) {
  csv_table table = read_good("step,seq_q\n");
  size_t found = 7;
  error_text error = {""};
  cr_expect(!csv_column(&table, "seq", &found, &error));
  cr_expect_str_eq(error.text, "a.csv has no column \"seq\": it has step, seq_q");
  csv_free(&table);
}

// A sentence has no room for the names of all of them.
Test(csv, missing_column_of_many) {
  char header[4096] = "";
  for (size_t i = 0; i < 250; i++) snprintf(header + 16 * i, 17, "a_long_name_%03zu,", i);
  strcat(header, "end\n");
  csv_table table = read_good(header);
  size_t found = 7;
  error_text error = {""};
  cr_assert_eq(table.columns, 251);
  cr_expect(!csv_column(&table, "seq", &found, &error));
  cr_expect(strstr(error.text, "has no column \"seq\": it has a_long_name_000, a_long_name_001, "),
            "%s", error.text);
  cr_expect(csv_column(&table, "end", &found, &error) && found == 250);
  csv_free(&table);
}

// A line break in a text is no end of the line to other readers.
Test(csv, texts_with_line_breaks_are_quoted) {
  char written[64];
  FILE *file = fmemopen(written, sizeof written, "w");
  csv_write_text(file, "a\nb");
  csv_write_text(file, "c\r");
  fclose(file);
  cr_expect_str_eq(written, "\"a\nb\"\"c\r\"");
}

Test(csv, cells_that_are_no_numbers) {
  csv_table table = read_good("# x\nn\nten\n1.5x\n 1\n\"\"\n-1\n1e3\n");
  const char *const bad[] = {"ten", "1.5x", " 1"};
  error_text error = {""};
  char sentence[128];
  int64_t integer = 0;
  double number = 0;
  for (size_t row = 0; row < LENGTH(bad); row++) {
    cr_expect(!csv_number(&table, row, 0, &number, &error), "%s", bad[row]);
    snprintf(sentence, sizeof sentence,
             "n in line %zu of a.csv is \"%s\": give a number, or nothing", row + 3, bad[row]);
    cr_expect_str_eq(error.text, sentence);
    cr_expect(!csv_integer(&table, row, 0, 0, 10, &integer, &error), "%s", bad[row]);
  }
  cr_expect(!csv_integer(&table, 3, 0, 0, 10, &integer, &error));
  cr_expect_str_eq(error.text, "n in line 6 of a.csv is \"\": give a whole number");
  cr_expect(!csv_integer(&table, 4, 0, 0, 10, &integer, &error));
  cr_expect_str_eq(error.text, "n in line 7 of a.csv is -1: the smallest it can be is 0");
  cr_expect(csv_integer(&table, 4, 0, -1, 10, &integer, &error) && integer == -1);
  cr_expect(csv_number(&table, 4, 0, &number, &error) && number == -1);
  cr_expect(csv_number(&table, 5, 0, &number, &error) && number == 1000);
  csv_free(&table);
}

Test(csv, numbers_that_are_not_finite) {
  csv_table table = read_good("n\nnan\n-nan\ninf\n-inf\n");
  error_text error;
  double number[4];
  for (size_t i = 0; i < 4; i++) cr_assert(csv_number(&table, i, 0, &number[i], &error));
  cr_expect(isnan(number[0]) && isnan(number[1]));
  cr_expect(number[2] == HUGE_VAL && number[3] == -HUGE_VAL);
  csv_free(&table);
}
