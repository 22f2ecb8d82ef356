// Built programs on disk, so that a driver compiles each once.
//
// A file is what the driver gave, and a checksum before it. Whatever is wrong with one (cut short,
// damaged, refused by the driver) only means that the program is built again. So does one that was
// removed: the newest 64 of a folder are kept.
#pragma once

#include <filesystem>

#include "engine/opencl/handles.h"

namespace moil::opencl {

// Null if there is none that fits. An empty path is no cache.
[[nodiscard]] Program load_program(cl_context context, cl_device_id device,
                                   const std::filesystem::path& file, const char* options);
// A disk that is full or read-only costs the cache, no more.
void store_program(cl_program program, const std::filesystem::path& file);

}  // namespace moil::opencl
