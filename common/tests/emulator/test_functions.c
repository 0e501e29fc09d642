#include "semantics.h"

#include <criterion/criterion.h>

Test(functions, vector_types) { EXPECT(functions_vector_types); }
Test(functions, math) { EXPECT(functions_math); }
Test(functions, bits) { EXPECT(functions_bits); }
Test(functions, casts) { EXPECT(functions_casts); }
