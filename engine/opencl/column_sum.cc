#include "engine/opencl/column_sum.h"

namespace moil::opencl {
namespace {

constexpr const char* kColumnSumSource = R"CL(
kernel void column_parts(global const float* x, global float* out, int rows, int columns,
                         int parts, int at, int places) {
  const int i = get_global_id(0);
  if (i >= places) return;
  const int part = i / columns, c = i % columns;
  const int begin = (int)((long)rows * part / parts);
  const int end = (int)((long)rows * (part + 1) / parts);
  float total = 0;
  for (int r = begin; r < end; ++r) total += x[r * columns + c];
  out[at + i] = total;
}

kernel void column_total(global const float* in, global float* out, int columns, int parts,
                         int at, int accumulate, int places) {
  const int c = get_global_id(0);
  if (c >= places) return;
  float total = 0;
  for (int p = 0; p < parts; ++p) total += in[at + p * columns + c];
  out[c] = accumulate ? out[c] + total : total;
}
)CL";

}  // namespace

ColumnSum::ColumnSum(Device& device)
    : parts_(device, kColumnSumSource, "column_parts"),
      total_(device, kColumnSumSource, "column_total") {}

void ColumnSum::run(std::int64_t rows, std::int64_t columns, cl_mem x, cl_mem out, bool accumulate,
                    cl_mem workspace, std::int64_t at) {
  const std::int64_t parts = sum_parts(rows);
  parts_.run(parts * columns, x, workspace, rows, columns, parts, at);
  total_.run(columns, workspace, out, columns, parts, at, accumulate);
}

}  // namespace moil::opencl
