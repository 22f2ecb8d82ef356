#include "engine/io/onnx/tensor_bytes.h"

#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/files/file.h"
#include "base/half_floats.h"

namespace moil::onnx {
namespace {

using Proto = ::onnx::TensorProto;

[[noreturn]] void wrong_size(const std::string& what, std::size_t found, std::int64_t expected) {
  throw Error(ErrorCode::kBadData, what + ": holds " + std::to_string(found) + " of " +
                                       std::to_string(expected) + " elements that its shape has");
}

std::size_t bytes_of_type(std::int32_t type) {
  switch (type) {
    case Proto::BOOL:
    case Proto::INT8:
    case Proto::UINT8:
      return 1;
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
    case Proto::INT16:
    case Proto::UINT16:
      return 2;
    case Proto::DOUBLE:
    case Proto::INT64:
    case Proto::UINT64:
      return 8;
    default:
      return 4;
  }
}

template <typename T>
T load(const std::uint8_t* bytes) {
  static_assert(std::endian::native == std::endian::little, "ONNX stores little-endian");
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename T>
void widen(std::span<const std::uint8_t> bytes, const auto& convert, auto& to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = convert(load<T>(bytes.data() + i * sizeof(T)));
}

void decode_floats(std::span<const std::uint8_t> bytes, std::int32_t type, std::vector<float>& to) {
  if (type == Proto::FLOAT) {
    if (!to.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
  } else if (type == Proto::DOUBLE) {
    widen<double>(
        bytes, [](double v) { return static_cast<float>(v); }, to);
  } else if (type == Proto::FLOAT16) {
    widen<std::uint16_t>(bytes, from_f16, to);
  } else {
    widen<std::uint16_t>(bytes, from_bf16, to);
  }
}

void decode_ints(std::span<const std::uint8_t> bytes, std::int32_t type,
                 std::vector<std::int64_t>& to) {
  const auto as_int = [](auto v) { return static_cast<std::int64_t>(v); };
  switch (type) {
    case Proto::BOOL:
    case Proto::UINT8:
      return widen<std::uint8_t>(bytes, as_int, to);
    case Proto::INT8:
      return widen<std::int8_t>(bytes, as_int, to);
    case Proto::INT16:
      return widen<std::int16_t>(bytes, as_int, to);
    case Proto::UINT16:
      return widen<std::uint16_t>(bytes, as_int, to);
    case Proto::INT32:
      return widen<std::int32_t>(bytes, as_int, to);
    case Proto::UINT32:
      return widen<std::uint32_t>(bytes, as_int, to);
    default:
      return widen<std::int64_t>(bytes, as_int, to);
  }
}

template <typename To>
void copy_field(const auto& field, std::int64_t count, const std::string& what, const auto& convert,
                std::vector<To>& to) {
  if (field.size() != count) wrong_size(what, static_cast<std::size_t>(field.size()), count);
  to.reserve(static_cast<std::size_t>(count));
  for (const auto value : field) to.push_back(static_cast<To>(convert(value)));
}

}  // namespace

std::int64_t checked_elements(const std::vector<std::int64_t>& dims, const std::string& what) {
  if (dims.size() > kMaxRank)
    throw Error(ErrorCode::kBadData, what + ": has " + std::to_string(dims.size()) +
                                         " dimensions, at most " + std::to_string(kMaxRank));
  std::int64_t count = 1;  // without the zeros, so that no order of dims hides a large one
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) throw Error(ErrorCode::kBadData, what + ": a dimension is negative");
    if (dim > 0 && count > std::numeric_limits<std::int32_t>::max() / dim)
      throw Error(ErrorCode::kBadData, what + ": has more elements than a file can hold");
    empty |= dim == 0;
    count *= std::max<std::int64_t>(dim, 1);
  }
  return empty ? 0 : count;
}

std::uint64_t raw_bytes(std::int32_t type, std::int64_t count) {
  return static_cast<std::uint64_t>(count) * bytes_of_type(type);
}

bool is_float_type(std::int32_t type, const std::string& what) {
  switch (type) {
    case Proto::FLOAT:
    case Proto::DOUBLE:
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      return true;
    case Proto::BOOL:
    case Proto::INT8:
    case Proto::UINT8:
    case Proto::INT16:
    case Proto::UINT16:
    case Proto::INT32:
    case Proto::UINT32:
    case Proto::INT64:
    case Proto::UINT64:
      return false;
    default:
      throw Error(ErrorCode::kUnimplemented,
                  what + ": element type " + std::to_string(type) + " is not supported");
  }
}

bool is_signed_type(std::int32_t type) {
  switch (type) {
    case Proto::BOOL:
    case Proto::UINT8:
    case Proto::UINT16:
    case Proto::UINT32:
    case Proto::UINT64:
      return false;
    default:
      return true;
  }
}

void decode_raw(std::span<const std::uint8_t> bytes, std::int32_t type, std::int64_t count,
                const std::string& what, Tensor& result) {
  const auto n = static_cast<std::size_t>(count);
  const std::size_t size = bytes_of_type(type);
  if (bytes.size() != n * size) wrong_size(what, bytes.size() / size, count);
  if (result.is_float) {
    result.floats.resize(n);
    decode_floats(bytes, type, result.floats);
  } else {
    result.ints.resize(n);
    decode_ints(bytes, type, result.ints);
  }
}

void decode_fields(const Proto& tensor, std::int64_t count, const std::string& what,
                   Tensor& result) {
  const auto same = [](auto v) { return v; };
  switch (tensor.data_type()) {
    case Proto::FLOAT:
      return copy_field(tensor.float_data(), count, what, same, result.floats);
    case Proto::DOUBLE:
      return copy_field(tensor.double_data(), count, what, same, result.floats);
    case Proto::FLOAT16:
      return copy_field(
          tensor.int32_data(), count, what,
          [](std::int32_t v) { return from_f16(static_cast<std::uint16_t>(v)); }, result.floats);
    case Proto::BFLOAT16:
      return copy_field(
          tensor.int32_data(), count, what,
          [](std::int32_t v) { return from_bf16(static_cast<std::uint16_t>(v)); }, result.floats);
    case Proto::INT64:
      return copy_field(tensor.int64_data(), count, what, same, result.ints);
    case Proto::UINT32:
    case Proto::UINT64:
      return copy_field(tensor.uint64_data(), count, what, same, result.ints);
    default:
      return copy_field(tensor.int32_data(), count, what, same, result.ints);
  }
}

std::vector<std::uint8_t> read_range(const std::filesystem::path& path, std::uint64_t offset,
                                     std::uint64_t length) {
  const UniqueFd file = open_regular(path);
  std::vector<std::uint8_t> bytes(length);
  for (std::uint64_t done = 0; done < length;) {
    const ssize_t n =
        ::pread(file.get(), bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("cannot read " + path.string(), errno);
    if (n == 0) throw Error(ErrorCode::kIo, "cannot read " + path.string() + " to its end");
    done += static_cast<std::uint64_t>(n);
  }
  return bytes;
}

}  // namespace moil::onnx
