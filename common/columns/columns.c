#include "columns/columns.h"

const column_name column_names[COUNT_COLUMNS] = {
    [COUNT_GLOBAL_LOAD_REQUESTS] = {"global_load_requests", "gl.loads"},
    [COUNT_GLOBAL_LOAD_SECTORS] = {"global_load_sectors", "sectors"},
    [COUNT_GLOBAL_STORE_REQUESTS] = {"global_store_requests", "gl.stores"},
    [COUNT_GLOBAL_STORE_SECTORS] = {"global_store_sectors", "sectors"},
    [COUNT_SHARED_LOAD_REQUESTS] = {"shared_load_requests", "sh.loads"},
    [COUNT_SHARED_LOAD_WAVEFRONTS] = {"shared_load_wavefronts", "wavefronts"},
    [COUNT_SHARED_STORE_REQUESTS] = {"shared_store_requests", "sh.stores"},
    [COUNT_SHARED_STORE_WAVEFRONTS] = {"shared_store_wavefronts", "wavefronts"},
    [COUNT_TENSOR_CORE_OPERATIONS] = {"tensor_core_operations", "tensor"},
    [COUNT_ASYNC_COPY_BYTES] = {"async_copy_bytes", "async bytes"},
    [COUNT_BLOCK_BARRIERS] = {"block_barriers", "barriers"},
    [COUNT_DIVERGENT_BRANCHES] = {"divergent_branches", "divergent"},
};
