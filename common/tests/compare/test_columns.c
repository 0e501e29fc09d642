// Columns that not every record has: the kind of the scores, of make spread, and the floor of every time.
#define _GNU_SOURCE
#include "recordings.h"

static void enter(void) { program_find("LAB_COMPARE"); }
TestSuite(columns, .init = enter, .fini = temporary_folder_leave);

#define SHAPE "05_wmma,,NVIDIA H200,bf16,4,32,32,4096,4096,64,0"

// Begins a record whose rows and samples have further columns of these names in front of all others.
static writer begin_with(const char *name, const char *columns, const char *sample_columns) {
  const writer writer = begin(name);
  rewind(writer.rows);
  fprintf(writer.rows, "# a comment\n%s," HEADER, columns);
  rewind(writer.samples);
  fprintf(writer.samples, "%s%s" SAMPLES_HEADER, sample_columns, *sample_columns ? "," : "");
  return writer;
}

static void record_later(const char *name) {
  char command[256];
  snprintf(command, sizeof command, "sed -i s/T14:38:37Z/T15:00:00Z/ %s.csv %s-samples.csv", name,
           name);
  cr_assert_eq(system(command), 0);
}

// Rows of one shape, whose scores are spread otherwise, are three problems, and each is compared with its own. The samples
// may write the numbers in another way.
static void record_spread(const char *name, const double microseconds[3]) {
  static const char *const kinds[3][2] = {{"1,0", "1.0,0"}, {"8,0", "8.0,0"}, {"8,1", "8,1"}};
  const writer writer = begin_with(name, "score_deviation,rising", "score_deviation,rising");
  for (size_t i = 0; i < 3; i++) {
    char key[128], samples_key[128];
    snprintf(key, sizeof key, "%s,%s", kinds[i][0], SHAPE);
    snprintf(samples_key, sizeof samples_key, "%s,%s", kinds[i][1], SHAPE);
    add_keys(&writer, key, samples_key, 20, microseconds[i]);
  }
  end(&writer);
}

Test(columns, of_the_kind_of_scores) {
  record_spread("a", (double[]){100, 200, 400});
  record_spread("b", (double[]){100, 200, 440});
  record_later("b");
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 1, "1 slower, 0 faster, 2 no difference", "0 timed on one side only",
         "4x32x4096x64 bf16, rising, deviation 8 ", "4x32x4096x64 bf16, deviation 8 ");
  const char *slower = strstr(result.out, "    1.100  ");
  cr_expect(slower && strstr(slower, "slower\n"), "%s", result.out);
}

// Without these columns the scores are those that are usual: deviation 1, and not rising.
Test(columns, that_a_record_lacks) {
  const writer b = begin("b");
  add_key(&b, SHAPE, 20, 100);
  end(&b);
  record_spread("a", (double[]){100, 200, 400});
  record_later("b");
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "0 slower, 0 faster, 1 no difference", "2 timed on one side only");
}

// The record has milliseconds. An empty kernel takes a microsecond more on the second machine, and so does every launch.
Test(columns, of_the_floor) {
  for (int file = 0; file < 2; file++) {
    const writer writer = begin_with(file ? "b" : "a", "floor_ms", "");
    for (int i = 0; i < 4; i++) {
      char key[192], samples_key[128];
      snprintf(samples_key, sizeof samples_key, "05_wmma,,NVIDIA H200,fp16,1,32,32,%d,%d,64,1",
               512 + i, 512 + i);
      snprintf(key, sizeof key, "%s,%s", file ? "0.0039" : "0.0029", samples_key);
      add_keys(&writer, key, samples_key, 20, 20 + i + (file ? 1 : 0));
    }
    end(&writer);
  }
  record_later("b");
  const program_result result = program_run("a.csv b.csv");
  EXPECT(result, 0, "0 slower, 0 faster, 4 no difference");
}
