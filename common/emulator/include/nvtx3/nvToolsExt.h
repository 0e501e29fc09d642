// Stand-in for NVTX's <nvToolsExt.h>: ranges and marks for a profiler, of which there is none here. C and C++.
#ifndef NVTOOLSEXT_H
#define NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum {
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE = 2,
  NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum {
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
  NVTX_PAYLOAD_TYPE_INT32 = 5,
  NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  union {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
  } message;
} nvtxEventAttributes_t;
#define NVTX_VERSION                  3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

// Without a profiler NVTX counts no ranges, and its handles are 0.
static inline int nvtxRangePushA(const char *name) {
  (void)name;
  return NVTX_NO_PUSH_POP_TRACKING;
}
static inline int nvtxRangePushEx(const nvtxEventAttributes_t *event) {
  (void)event;
  return NVTX_NO_PUSH_POP_TRACKING;
}
static inline int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }
static inline nvtxRangeId_t nvtxRangeStartA(const char *name) {
  (void)name;
  return 0;
}
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event) {
  (void)event;
  return 0;
}
static inline void nvtxRangeEnd(nvtxRangeId_t range) { (void)range; }
static inline void nvtxMarkA(const char *name) { (void)name; }
static inline void nvtxMarkEx(const nvtxEventAttributes_t *event) { (void)event; }
static inline void nvtxNameCategoryA(uint32_t category, const char *name) {
  (void)category, (void)name;
}
static inline void nvtxNameOsThreadA(uint32_t thread, const char *name) {
  (void)thread, (void)name;
}
#define nvtxRangePush    nvtxRangePushA
#define nvtxRangeStart   nvtxRangeStartA
#define nvtxMark         nvtxMarkA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA

// Domains, each with ranges of its own.
static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name) {
  (void)name;
  return NULL;
}
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain,
                                                           const char *string) {
  (void)domain, (void)string;
  return NULL;
}
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t *event) {
  (void)domain, (void)event;
  return NVTX_NO_PUSH_POP_TRACKING;
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  (void)domain;
  return NVTX_NO_PUSH_POP_TRACKING;
}
static inline nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain,
                                                   const nvtxEventAttributes_t *event) {
  (void)domain, (void)event;
  return 0;
}
static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  (void)domain, (void)range;
}
static inline void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
  (void)domain, (void)event;
}
#define nvtxDomainCreate nvtxDomainCreateA

// Names for what belongs to CUDA, which are in headers of their own in NVIDIA's NVTX.
#define nvtxNameCudaDeviceA(device, name) ((void)(device), (void)(name))
#define nvtxNameCudaStreamA(stream, name) ((void)(stream), (void)(name))
#define nvtxNameCudaEventA(event, name)   ((void)(event), (void)(name))
#define nvtxNameCuDeviceA(device, name)   ((void)(device), (void)(name))
#define nvtxNameCuContextA(context, name) ((void)(context), (void)(name))
#define nvtxNameCuStreamA(stream, name)   ((void)(stream), (void)(name))
#define nvtxNameCuEventA(event, name)     ((void)(event), (void)(name))

#endif
