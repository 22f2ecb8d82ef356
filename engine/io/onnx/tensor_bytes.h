// The numbers of an ONNX tensor, whichever of the format's ways they are stored in.
//
// All throw: kBadData if sizes contradict each other, kUnimplemented for element types that no
// supported network needs (strings, complex numbers, 8-bit floats).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_graph.h"

namespace onnx {
class TensorProto;
}

namespace moil::onnx {

// No tensor of a file has more dimensions.
inline constexpr std::size_t kMaxRank = 64;

// The product; kBadData for a dimension below zero, for too many of them, and if those that are
// not zero make more than 2^31 - 1.
std::int64_t checked_elements(const std::vector<std::int64_t>& dims, const std::string& what);

bool is_float_type(std::int32_t data_type, const std::string& what);

// Whether it has numbers below zero.
bool is_signed_type(std::int32_t data_type);

// What so many elements take in a file.
std::uint64_t raw_bytes(std::int32_t data_type, std::int64_t count);

// Little-endian, as the format has it.
void decode_raw(std::span<const std::uint8_t> bytes, std::int32_t data_type, std::int64_t count,
                const std::string& what, Tensor& result);
// From the typed lists of the message.
void decode_fields(const ::onnx::TensorProto& tensor, std::int64_t count, const std::string& what,
                   Tensor& result);

std::vector<std::uint8_t> read_range(const std::filesystem::path& file, std::uint64_t offset,
                                     std::uint64_t length);

}  // namespace moil::onnx
