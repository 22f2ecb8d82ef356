#include "engine/opencl/program_cache.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/folder_entries.h"
#include "base/hash.h"

namespace fs = std::filesystem;

namespace moil::opencl {
namespace {

constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kLargest = 64 << 20;
// A device takes a dozen; those of a driver or a version that went stay behind.
constexpr std::size_t kMostKept = 64;

std::vector<std::uint8_t> read_checked(const fs::path& file) {
  std::vector<std::uint8_t> bytes;
  try {
    bytes = read_file(file, kLargest);
  } catch (const Error&) {
    return {};
  }
  if (bytes.size() <= kChecksumBytes) return {};
  std::uint64_t stored = 0;
  std::memcpy(&stored, bytes.data(), kChecksumBytes);
  bytes.erase(bytes.begin(), bytes.begin() + kChecksumBytes);
  return stored == hash64(bytes) ? bytes : std::vector<std::uint8_t>{};
}

void remove_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (const fs::path& file : entries_of(folder)) {
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (!error) files.emplace_back(time, file);
  }
  if (files.size() <= kMostKept) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kMostKept);
  for (const auto& [time, file] : files) fs::remove(file, error);
}

}  // namespace

Program load_program(cl_context context, cl_device_id device, const fs::path& file,
                     const char* options) {
  if (file.empty()) return nullptr;
  const std::vector<std::uint8_t> binary = read_checked(file);
  if (binary.empty()) return nullptr;
  const unsigned char* bytes = binary.data();
  const std::size_t size = binary.size();
  cl_int code = CL_SUCCESS, status = CL_SUCCESS;
  Program program(clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code));
  if (code != CL_SUCCESS || status != CL_SUCCESS) return nullptr;
  if (clBuildProgram(program.get(), 1, &device, options, nullptr, nullptr) != CL_SUCCESS)
    return nullptr;
  return program;
}

void store_program(cl_program program, const fs::path& file) {
  if (file.empty()) return;
  std::size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) !=
          CL_SUCCESS ||
      size == 0)
    return;
  std::vector<std::uint8_t> bytes(kChecksumBytes + size);
  unsigned char* binary = bytes.data() + kChecksumBytes;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, nullptr) !=
      CL_SUCCESS)
    return;
  const std::uint64_t checksum = hash64(ByteView(binary, size));
  std::memcpy(bytes.data(), &checksum, kChecksumBytes);
  try {
    make_private_folder(file.parent_path());
    write_file_atomic(file, bytes);
    remove_oldest(file.parent_path());
  } catch (const Error&) {
    // The program is at hand; the next run builds it again.
  }
}

}  // namespace moil::opencl
