#include "semantics.h"

#include <criterion/criterion.h>

Test(launches, errors) { EXPECT(launches_errors); }
Test(launches, static_shared) { EXPECT(launches_static_shared); }
Test(launches, arguments) { EXPECT(launches_arguments); }
Test(launches, symbols) { EXPECT(launches_symbols); }
Test(launches, streams_and_events) { EXPECT(launches_streams_and_events); }
Test(launches, from_host_threads) { EXPECT(launches_from_host_threads); }
Test(launches, copies) { EXPECT(launches_copies); }
