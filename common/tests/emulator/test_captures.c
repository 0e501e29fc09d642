#include "semantics.h"

#include <criterion/criterion.h>

Test(captures, of_one_stream) { EXPECT(capture_of_one_stream); }
Test(captures, of_a_fork) { EXPECT(capture_of_a_fork); }
Test(captures, of_a_symbol) { EXPECT(capture_of_a_symbol); }
Test(captures, refuse) { EXPECT(capture_refuses); }
