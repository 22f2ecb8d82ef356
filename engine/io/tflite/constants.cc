#include "engine/io/tflite/constants.h"

#include <cstring>

#include "base/error.h"
#include "base/half_floats.h"

namespace moil::tflite {
namespace {

using file::TensorType;
using Bytes = flatbuffers::Vector<std::uint8_t>;

constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;

[[noreturn]] void fail_at(const file::Tensor& tensor, ErrorCode code, const std::string& what) {
  throw Error(code, label_of(tensor) + " " + what);
}

std::int64_t count_elements(const file::Tensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims_of(tensor)) {
    if (extent < 0 || (extent > 0 && count > kMostElements / extent))
      fail_at(tensor, ErrorCode::kBadData, "has dims that no tensor can have");
    count *= extent;
  }
  return count;
}

template <class T>
std::vector<T> elements_of_type(const file::Tensor& tensor, const Bytes& bytes) {
  const auto count = static_cast<std::size_t>(count_elements(tensor));
  if (bytes.size() != count * sizeof(T))
    fail_at(tensor, ErrorCode::kBadData,
            "has " + std::to_string(bytes.size()) + " bytes; its dims ask for " +
                std::to_string(count * sizeof(T)));
  std::vector<T> elements(count);
  if (count > 0) std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

// Scales and zeros, one for all or one for each index of an axis.
class Steps {
 public:
  explicit Steps(const file::Tensor& tensor) : quantization_(*tensor.quantization()) {
    const std::size_t count = quantization_.scale()->size();
    const auto* zeros = quantization_.zero_point();
    const auto dims = dims_of(tensor);
    if (count > 1) {
      const auto axis = static_cast<std::size_t>(quantization_.quantized_dimension());
      if (axis >= dims.size() || static_cast<std::size_t>(dims[axis]) != count)
        fail_at(tensor, ErrorCode::kBadData, "has scales that do not fit its dims");
      for (std::size_t k = axis + 1; k < dims.size(); ++k)
        inner_ *= static_cast<std::size_t>(dims[k]);
    }
    if (zeros != nullptr && zeros->size() > 0 && zeros->size() != count)
      fail_at(tensor, ErrorCode::kBadData, "has zero points that do not fit its scales");
  }
  double scale(std::size_t element) const { return quantization_.scale()->Get(index(element)); }
  double zero(std::size_t element) const {
    const auto* zeros = quantization_.zero_point();
    return zeros == nullptr || zeros->size() == 0 ? 0.0
                                                  : static_cast<double>(zeros->Get(index(element)));
  }

 private:
  flatbuffers::uoffset_t index(std::size_t element) const {
    const std::size_t count = quantization_.scale()->size();
    return count == 1 ? 0 : static_cast<flatbuffers::uoffset_t>(element / inner_ % count);
  }

  const file::Quantization& quantization_;
  std::size_t inner_ = 1;
};

template <class T>
onnx::Tensor whole_numbers(const file::Tensor& tensor, const Bytes& bytes) {
  const std::vector<T> elements = elements_of_type<T>(tensor, bytes);
  if (!is_quantised(tensor))
    return onnx::Tensor::of_ints(dims_of(tensor), {elements.begin(), elements.end()});
  const Steps steps(tensor);
  std::vector<float> floats(elements.size());
  for (std::size_t i = 0; i < floats.size(); ++i)
    floats[i] =
        static_cast<float>((static_cast<double>(elements[i]) - steps.zero(i)) * steps.scale(i));
  return onnx::Tensor::of(dims_of(tensor), std::move(floats));
}

}  // namespace

std::string label_of(const file::Tensor& tensor) {
  return "tensor \"" + (tensor.name() == nullptr ? std::string() : tensor.name()->str()) + "\"";
}

std::vector<std::int64_t> dims_of(const file::Tensor& tensor) {
  if (tensor.shape() == nullptr) return {};
  return {tensor.shape()->begin(), tensor.shape()->end()};
}

bool is_quantised(const file::Tensor& tensor) {
  const auto* quantization = tensor.quantization();
  return quantization != nullptr && quantization->scale() != nullptr &&
         quantization->scale()->size() > 0;
}

const file::Buffer* numbers_of(const file::Model& model, const file::Tensor& tensor) {
  const auto* buffers = model.buffers();
  if (buffers == nullptr || tensor.buffer() >= buffers->size())
    fail_at(tensor, ErrorCode::kBadData, "names a buffer that is not there");
  const file::Buffer* buffer = buffers->Get(tensor.buffer());
  if (buffer->offset() > 1)
    fail_at(tensor, ErrorCode::kUnimplemented, "has its numbers behind the file's tables");
  const bool has_none = buffer->data() == nullptr || buffer->data()->size() == 0;
  return has_none ? nullptr : buffer;
}

onnx::Tensor constant_of(const file::Tensor& tensor, const file::Buffer& buffer) {
  const Bytes& bytes = *buffer.data();
  if (tensor.sparsity() != nullptr) fail_at(tensor, ErrorCode::kUnimplemented, "is sparse");
  switch (tensor.type()) {
    case TensorType::FLOAT32:
      return onnx::Tensor::of(dims_of(tensor), elements_of_type<float>(tensor, bytes));
    case TensorType::FLOAT16: {
      const auto halves = elements_of_type<std::uint16_t>(tensor, bytes);
      std::vector<float> floats(halves.size());
      for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = from_f16(halves[i]);
      return onnx::Tensor::of(dims_of(tensor), std::move(floats));
    }
    case TensorType::INT64:
      return whole_numbers<std::int64_t>(tensor, bytes);
    case TensorType::INT32:
      return whole_numbers<std::int32_t>(tensor, bytes);
    case TensorType::INT16:
      return whole_numbers<std::int16_t>(tensor, bytes);
    case TensorType::INT8:
      return whole_numbers<std::int8_t>(tensor, bytes);
    case TensorType::UINT8:
    case TensorType::BOOL:
      return whole_numbers<std::uint8_t>(tensor, bytes);
    default:
      fail_at(tensor, ErrorCode::kUnimplemented,
              "is of type " + std::to_string(static_cast<int>(tensor.type())) +
                  ", which is not supported");
  }
}

}  // namespace moil::tflite
