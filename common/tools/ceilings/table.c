#include "ceilings/ceiling.h"

const ceiling ceilings[] = {
    {"copy_bandwidth", "GB/s", 1e9, CEILING_RATE, 0, ATTENTION_FP16, copy_prepare, copy_run,
     copy_verify},
    {"read_bandwidth", "GB/s", 1e9, CEILING_RATE, 0, ATTENTION_FP16, read_prepare, read_run,
     read_verify},
    {"l2_read_bandwidth", "GB/s", 1e9, CEILING_RATE, 0, ATTENTION_FP16, l2_read_prepare,
     l2_read_run, l2_read_verify},
    {"l2_latency", "ns", 1e-9, CEILING_LATENCY, 0, ATTENTION_FP16, l2_latency_prepare,
     l2_latency_run, latency_verify},
    {"memory_latency", "ns", 1e-9, CEILING_LATENCY, 0, ATTENTION_FP16, memory_latency_prepare,
     memory_latency_run, latency_verify},
    {"fp32_fma", "TFLOP/s", 1e12, CEILING_RATE, 0, ATTENTION_FP16, fma_prepare, fma_run,
     fma_verify},
    {"exp2", "Gop/s", 1e9, CEILING_RATE, 0, ATTENTION_FP16, exp2_prepare, exp2_run, exp2_verify},
    {"tensor_mma_fp16", "TFLOP/s", 1e12, CEILING_RATE, 0, ATTENTION_FP16, mma_prepare, mma_run,
     mma_verify},
    {"tensor_mma_bf16", "TFLOP/s", 1e12, CEILING_RATE, 0, ATTENTION_BF16, mma_prepare, mma_run,
     mma_verify},
    {"tensor_wgmma_fp16", "TFLOP/s", 1e12, CEILING_RATE, 90, ATTENTION_FP16, wgmma_prepare,
     wgmma_run, wgmma_verify},
    {"tensor_wgmma_bf16", "TFLOP/s", 1e12, CEILING_RATE, 90, ATTENTION_BF16, wgmma_prepare,
     wgmma_run, wgmma_verify},
};

const size_t ceiling_count = sizeof ceilings / sizeof ceilings[0];
