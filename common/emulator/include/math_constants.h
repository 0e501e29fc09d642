// Stand-in for CUDA's <math_constants.h>.
#ifndef MATH_CONSTANTS_H
#define MATH_CONSTANTS_H

#define CUDART_INF_F        __builtin_inff()
#define CUDART_NAN_F        __builtin_nanf("")
#define CUDART_MIN_DENORM_F 0x1p-149f
#define CUDART_MAX_NORMAL_F 0x1.fffffep127f
#define CUDART_NEG_ZERO_F   (-0.0f)
#define CUDART_ZERO_F       0.0f
#define CUDART_ONE_F        1.0f
#define CUDART_SQRT_TWO_F   1.41421356237309504880f
#define CUDART_PI_F         3.14159265358979323846f
#define CUDART_PIO2_F       1.57079632679489661923f
#define CUDART_L2E_F        1.44269504088896340736f
#define CUDART_LN2_F        0.69314718055994530942f
#define CUDART_LNT_F        2.30258509299404568402f
#define CUDART_L2T_F        3.32192809488736234787f
#define CUDART_INF          __builtin_inf()
#define CUDART_NAN          __builtin_nan("")
#define CUDART_PI           3.14159265358979323846
#define CUDART_SQRT_TWO     1.41421356237309504880
#define CUDART_L2E          1.44269504088896340736
#define CUDART_LN2          0.69314718055994530942

#endif
