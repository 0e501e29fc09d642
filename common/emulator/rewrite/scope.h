// Records, while the rewriter walks through a file, whether it is inside a function.
#ifndef SCOPE_H
#define SCOPE_H

#include "emulator/rewrite/source.h"

typedef enum {
  SCOPE_NAMESPACE, // the file itself, namespace { and extern "C" {
  SCOPE_CLASS,
  SCOPE_BODY // functions, blocks and lambdas; initialisers as well, where it makes no difference
} scope_kind;

typedef struct {
  scope_kind kind;
  size_t outer; // index of the enclosing scope
} scope;

// The scope in which an #if began; its other branches start from it as well.
typedef struct {
  size_t scope_before;
  bool has_else;
} conditional;

// Scopes are only ever added, so that an index names one for good. {0} stands at file scope.
typedef struct {
  scope *scopes; // scopes[i - 1] is scope i; scope 0 is the file
  size_t count;
  size_t capacity;
  size_t current;
  conditional *conditionals;
  size_t conditional_depth;
  size_t conditional_capacity;
} scope_tracker;

// Enters the scope whose { is the token at `brace`; `statement` is the first token of the
// declaration or statement it belongs to.
void scope_open(scope_tracker *tracker, const source *file, size_t statement, size_t brace);
void scope_close(scope_tracker *tracker);

// Follows the preprocessor's conditionals; `keyword` is the token behind the #.
void scope_conditional(scope_tracker *tracker, const source *file, size_t keyword);

bool scope_is_body(const scope_tracker *tracker);
void scope_free(scope_tracker *tracker);

#endif
