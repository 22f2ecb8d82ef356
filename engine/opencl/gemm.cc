#include "engine/opencl/gemm.h"

#include <clblast.h>

namespace moil::opencl {
namespace {

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

clblast::Transpose transpose(const Matrix& matrix) {
  return matrix.transposed ? clblast::Transpose::kYes : clblast::Transpose::kNo;
}

void check(clblast::StatusCode code, const char* call) {
  if (code != clblast::StatusCode::kSuccess)
    throw ProcessorError("CLBlast: " + std::string(call) + ": " +
                         error_text(static_cast<cl_int>(code)));
}

}  // namespace

std::size_t gemm_workspace_bytes(Device& device, std::int64_t m, std::int64_t n, std::int64_t k,
                                 const Matrix& a, const Matrix& b, const Matrix& c) {
  std::size_t bytes = 0;
  cl_command_queue queue = device.queue();
  check(clblast::GemmTempBufferSize<float>(clblast::Layout::kRowMajor, transpose(a), transpose(b),
                                           size(m), size(n), size(k), size(a.offset),
                                           size(a.stride), size(b.offset), size(b.stride),
                                           size(c.offset), size(c.stride), &queue, bytes),
        "GemmTempBufferSize");
  return bytes;
}

void gemm(Device& device, std::int64_t m, std::int64_t n, std::int64_t k, const Matrix& a,
          const Matrix& b, const Matrix& c, bool accumulate, cl_mem workspace) {
  cl_command_queue queue = device.queue();
  check(clblast::Gemm(clblast::Layout::kRowMajor, transpose(a), transpose(b), size(m), size(n),
                      size(k), 1.0F, a.buffer, size(a.offset), size(a.stride), b.buffer,
                      size(b.offset), size(b.stride), accumulate ? 1.0F : 0.0F, c.buffer,
                      size(c.offset), size(c.stride), &queue, nullptr, workspace),
        "Gemm");
}

}  // namespace moil::opencl
