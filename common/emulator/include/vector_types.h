// Stand-in for CUDA's <vector_types.h>: the built-in vector types and dim3, with CUDA's sizes and
// alignments (CUDA C++ Programming Guide, "Built-in Vector Types"). C and C++.
#ifndef VECTOR_TYPES_H
#define VECTOR_TYPES_H

#ifdef __cplusplus
// A vector whose size is a power of two is copied whole, by one access of its full width, as
// on a GPU. Otherwise g++ would copy it element by element, and a misaligned vector access
// would not be noticed. may_alias is there because kernels access any memory through a float4.
#define EMULATOR_WHOLE_COPY(Vector, Element, count)                                                \
  Vector() = default;                                                                              \
  Vector(const Vector &other) { *this = other; }                                                   \
  Vector &operator=(const Vector &other) {                                                         \
    typedef Element whole __attribute__((vector_size(sizeof(Element) * count), may_alias));        \
    *reinterpret_cast<whole *>(this) = *reinterpret_cast<const whole *>(&other);                   \
    return *this;                                                                                  \
  }
#define EMULATOR_MEMBERS_2(Vector, Element)                                                        \
  EMULATOR_WHOLE_COPY(Vector, Element, 2)                                                          \
  constexpr Vector(Element x, Element y) : x(x), y(y) {}
#define EMULATOR_MEMBERS_4(Vector, Element)                                                        \
  EMULATOR_WHOLE_COPY(Vector, Element, 4)                                                          \
  constexpr Vector(Element x, Element y, Element z = 0, Element w = 0) : x(x), y(y), z(z), w(w) {}
#else
#define EMULATOR_MEMBERS_2(Vector, Element)
#define EMULATOR_MEMBERS_4(Vector, Element)
#endif

#define EMULATOR_VECTOR_2(Vector, Element)                                                         \
  typedef struct __attribute__((aligned(2 * sizeof(Element)))) Vector {                            \
    Element x, y;                                                                                  \
    EMULATOR_MEMBERS_2(Vector, Element)                                                            \
  } Vector;
#define EMULATOR_VECTOR_4(Vector, Element)                                                         \
  typedef struct __attribute__((aligned(4 * sizeof(Element)))) Vector {                            \
    Element x, y, z, w;                                                                            \
    EMULATOR_MEMBERS_4(Vector, Element)                                                            \
  } Vector;

// 1 and 3 elements: aligned as one element.
#define EMULATOR_VECTORS_1_AND_3(prefix, Element)                                                  \
  typedef struct prefix##1 {                                                                       \
    Element x;                                                                                     \
  }                                                                                                \
  prefix##1;                                                                                       \
  typedef struct prefix##3 {                                                                       \
    Element x, y, z;                                                                               \
  }                                                                                                \
  prefix##3;

// Up to 16 bytes: aligned to the vector's size.
#define EMULATOR_VECTORS(prefix, Element)                                                          \
  EMULATOR_VECTORS_1_AND_3(prefix, Element)                                                        \
  EMULATOR_VECTOR_2(prefix##2, Element)                                                            \
  EMULATOR_VECTOR_4(prefix##4, Element)

// 8-byte elements: no GPU access is wider than 16 bytes, so four elements are two accesses.
#define EMULATOR_VECTORS_OF_8_BYTES(prefix, Element)                                               \
  EMULATOR_VECTORS_1_AND_3(prefix, Element)                                                        \
  EMULATOR_VECTOR_2(prefix##2, Element)                                                            \
  typedef struct __attribute__((aligned(16))) prefix##4 {                                          \
    Element x, y, z, w;                                                                            \
  }                                                                                                \
  prefix##4;

EMULATOR_VECTORS(char, signed char)
EMULATOR_VECTORS(uchar, unsigned char)
EMULATOR_VECTORS(short, short)
EMULATOR_VECTORS(ushort, unsigned short)
EMULATOR_VECTORS(int, int)
EMULATOR_VECTORS(uint, unsigned int)
EMULATOR_VECTORS(float, float)
EMULATOR_VECTORS_OF_8_BYTES(long, long)
EMULATOR_VECTORS_OF_8_BYTES(ulong, unsigned long)
EMULATOR_VECTORS_OF_8_BYTES(longlong, long long)
EMULATOR_VECTORS_OF_8_BYTES(ulonglong, unsigned long long)
EMULATOR_VECTORS_OF_8_BYTES(double, double)

#undef EMULATOR_VECTORS_OF_8_BYTES
#undef EMULATOR_VECTORS
#undef EMULATOR_VECTORS_1_AND_3
#undef EMULATOR_VECTOR_4
#undef EMULATOR_VECTOR_2
#undef EMULATOR_MEMBERS_4
#undef EMULATOR_MEMBERS_2

typedef struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
} dim3;

#endif
