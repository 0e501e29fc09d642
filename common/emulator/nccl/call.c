// The sizes of a call in bytes, and its description in words.
#define _GNU_SOURCE
#include "clique.h"

#include "code_line.h"

#include <stdio.h>

size_t call_type_bytes(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8: return 1;
  case ncclFloat16:
  case ncclBfloat16: return 2;
  case ncclInt32:
  case ncclUint32:
  case ncclFloat32: return 4;
  case ncclInt64:
  case ncclUint64:
  case ncclFloat64: return 8;
  }
  return 0;
}

static const char *type_name(ncclDataType_t type) {
  static const char *const names[] = {"ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",
                                      "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                      "ncclFloat64", "ncclBfloat16"};
  return names[type];
}

size_t call_send_bytes(const call *call) {
  const size_t bytes = call->count * call_type_bytes(call->type);
  switch (call->kind) {
  case CALL_RECEIVE: return 0;
  case CALL_BROADCAST: return call->comm->rank == call->peer ? bytes : 0;
  case CALL_REDUCE_SCATTER: return bytes * (size_t)call->comm->clique->ranks;
  default: return bytes;
  }
}

size_t call_receive_bytes(const call *call) {
  const size_t bytes = call->count * call_type_bytes(call->type);
  switch (call->kind) {
  case CALL_SEND: return 0;
  case CALL_ALL_GATHER: return bytes * (size_t)call->comm->clique->ranks;
  default: return bytes;
  }
}

call_text call_describe(const call *call) {
  call_text out;
  char with[64] = "", place[300] = "";
  if (call->kind == CALL_SEND) snprintf(with, sizeof with, " to rank %d", call->peer);
  if (call->kind == CALL_RECEIVE) snprintf(with, sizeof with, " from rank %d", call->peer);
  if (call->kind == CALL_BROADCAST) snprintf(with, sizeof with, " with root %d", call->peer);
  code_line line;
  code_line_find((const char *)call->site.code - 1, &line);
  if (line.line > 0) snprintf(place, sizeof place, " at %.250s:%d", line.file, line.line);
  snprintf(out.text, sizeof out.text, "%s of %zu %s%s%s", call->site.name, call->count,
           type_name(call->type), with, place);
  return out;
}
