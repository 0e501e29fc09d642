// Stand-in for Thrust's <thrust/complex.h>: the host's complex numbers.
#ifndef THRUST_COMPLEX_H
#define THRUST_COMPLEX_H

#include <complex>

namespace thrust {
using std::complex;
}

#endif
