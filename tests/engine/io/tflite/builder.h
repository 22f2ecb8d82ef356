// Writes TensorFlow Lite files tensor by tensor, by the description of what is read of them.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/io/onnx/onnx_import.h"
#include "engine/io/tflite/tflite_reader.h"
#include "tflite_generated.h"

namespace moil::tflite::test {

using file::TensorType;
using Dims = std::vector<int>;

struct Scales {
  std::vector<float> scales;
  std::vector<std::int64_t> zeros;
  int axis = 0;
};

// The format's numbers of operators.
enum Code {
  kAdd = 0,
  kAveragePool = 1,
  kConcatenation = 2,
  kConvolution = 3,
  kDepthwise = 4,
  kDequantize = 6,
  kFullyConnected = 9,
  kLogistic = 14,
  kMaxPool = 17,
  kMul = 18,
  kRelu = 19,
  kReluN1To1 = 20,
  kRelu6 = 21,
  kReshape = 22,
  kResizeBilinear = 23,
  kSoftmax = 25,
  kTanh = 28,
  kCustom = 32,
  kPad = 34,
  kGather = 36,
  kTranspose = 39,
  kMean = 40,
  kSub = 41,
  kSqueeze = 43,
  kStridedSlice = 45,
  kSplit = 49,
  kCast = 53,
  kPrelu = 54,
  kMaximum = 55,
  kMinimum = 57,
  kSlice = 65,
  kExpandDims = 70,
  kRsqrt = 76,
  kShape = 77,
  kPow = 78,
  kReduceMax = 82,
  kPack = 83,
  kUnpack = 88,
  kFloorDiv = 90,
  kRange = 96,
  kSquaredDifference = 99,
  kSplitV = 102,
  kReverse = 105,
  kHardSwish = 117,
  kRfft2d = 131,
  kComplexAbs = 134
};

class Builder {
 public:
  flatbuffers::FlatBufferBuilder fbb;

  Builder() { buffers_.push_back(file::CreateBuffer(fbb)); }

  template <class T>
  int constant(const std::string& name, const Dims& dims, TensorType type,
               const std::vector<T>& values, const Scales& scales = {}) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    fbb.ForceVectorAlignment(values.size() * sizeof(T), 1, 16);
    const auto data = fbb.CreateVector(bytes, values.size() * sizeof(T));
    buffers_.push_back(file::CreateBuffer(fbb, data));
    return tensor(name, dims, type, static_cast<int>(buffers_.size()) - 1, scales);
  }
  int floats(const std::string& name, const Dims& dims, const std::vector<float>& values) {
    return constant(name, dims, TensorType::FLOAT32, values);
  }
  int ints(const std::string& name, const std::vector<std::int32_t>& values) {
    return constant(name, {static_cast<int>(values.size())}, TensorType::INT32, values);
  }
  int computed(const std::string& name, const Dims& dims, TensorType type = TensorType::FLOAT32,
               const Scales& scales = {}) {
    return tensor(name, dims, type, 0, scales);
  }
  // signature: dims, with -1 for those that are open.
  int open(const std::string& name, const Dims& dims, const Dims& signature) {
    return tensor(name, dims, TensorType::FLOAT32, 0, {}, signature);
  }

  using Options = flatbuffers::Offset<file::Unread>;
  template <class T>
  static Options options(flatbuffers::Offset<T> table) {
    return {table.o};
  }
  int op(int code, const std::vector<int>& inputs, int output, Options options = {}) {
    return op(code, inputs, std::vector<int>{output}, options), output;
  }
  void op(int code, const std::vector<int>& inputs, const std::vector<int>& outputs,
          Options options = {}, const std::string& custom = {}) {
    const auto name =
        custom.empty() ? flatbuffers::Offset<flatbuffers::String>() : fbb.CreateString(custom);
    codes_.push_back(file::CreateOperatorCode(fbb, static_cast<std::int8_t>(std::min(code, 127)),
                                              name, 1, code));
    const auto in = fbb.CreateVector(inputs), out = fbb.CreateVector(outputs);
    operators_.push_back(file::CreateOperator(fbb, static_cast<std::uint32_t>(codes_.size()) - 1,
                                              in, out, options.IsNull() ? 0 : 1, options));
  }

  // With only these ends.
  std::string finish(const std::vector<int>& inputs, const std::vector<int>& outputs) {
    const auto tensors = fbb.CreateVector(tensors_);
    const auto in = fbb.CreateVector(inputs), out = fbb.CreateVector(outputs);
    const auto operators = fbb.CreateVector(operators_);
    const auto name = fbb.CreateString("main");
    const auto graph = file::CreateSubGraph(fbb, tensors, in, out, operators, name);
    const auto graphs = fbb.CreateVector(std::vector{graph});
    const auto codes = fbb.CreateVector(codes_);
    const auto buffers = fbb.CreateVector(buffers_);
    file::FinishModelBuffer(fbb, file::CreateModel(fbb, 3, codes, graphs, 0, buffers));
    return {reinterpret_cast<const char*>(fbb.GetBufferPointer()), fbb.GetSize()};
  }

 private:
  int tensor(const std::string& name, const Dims& dims, TensorType type, int buffer,
             const Scales& scales, const Dims& signature = {}) {
    flatbuffers::Offset<file::Quantization> quantization;
    if (!scales.scales.empty()) {
      const auto scale = fbb.CreateVector(scales.scales);
      const auto zero = fbb.CreateVector(scales.zeros);
      quantization = file::CreateQuantization(fbb, 0, 0, scale, zero, 0, 0, scales.axis);
    }
    const auto shape = fbb.CreateVector(dims);
    const auto text = fbb.CreateString(name);
    const auto open = signature.empty() ? 0 : fbb.CreateVector(signature);
    tensors_.push_back(file::CreateTensor(fbb, shape, type, static_cast<std::uint32_t>(buffer),
                                          text, quantization, false, 0, open));
    return static_cast<int>(tensors_.size()) - 1;
  }

  std::vector<flatbuffers::Offset<file::Tensor>> tensors_;
  std::vector<flatbuffers::Offset<file::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<file::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<file::Operator>> operators_;
};

inline std::span<const std::uint8_t> bytes_in(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline onnx::ImportedModel imported(const std::string& bytes) {
  return onnx::import_onnx(parse_tflite(bytes_in(bytes)));
}

}  // namespace moil::tflite::test
