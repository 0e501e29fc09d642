// The emulator's headers name types by single letters, as in `template <typename T>`. A program may have macros of these
// names, as in -DD=64 or `#define T float`. So a header with such names, or one that includes it, puts these macros aside
// at its beginning, and detail/own_letters_end.h brings them back at its end. This file has no guard, because headers that
// include it include each other.
#pragma push_macro("A")
#pragma push_macro("B")
#pragma push_macro("C")
#pragma push_macro("D")
#pragma push_macro("E")
#pragma push_macro("F")
#pragma push_macro("L")
#pragma push_macro("N")
#pragma push_macro("S")
#pragma push_macro("T")
#pragma push_macro("U")
#undef A
#undef B
#undef C
#undef D
#undef E
#undef F
#undef L
#undef N
#undef S
#undef T
#undef U
