#include "semantics.h"

#include <criterion/criterion.h>

Test(exact_functions, roundings) { EXPECT(functions_roundings); }
Test(exact_functions, complex) { EXPECT(functions_complex); }
