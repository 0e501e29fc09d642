// Thrust's <thrust/complex.h> where Thrust is installed; otherwise a stand-in, the host's complex numbers.
#if __has_include_next(<thrust/complex.h>)
#include_next <thrust/complex.h>
#else
#ifndef THRUST_COMPLEX_H
#define THRUST_COMPLEX_H

#include <complex>

namespace thrust {
using std::complex;
}

#endif
#endif
