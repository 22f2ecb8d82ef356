#include "engine/io/tflite/export/file_maker.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/version.h"
#include "engine/io/tflite/tflite_reader.h"

namespace moil::tflite {
namespace {

constexpr std::uint32_t kFormatVersion = 3;
constexpr std::size_t kAlignment = 16;                  // of numbers, which runtimes read in place
constexpr std::size_t kTables = std::size_t{64} << 20;  // more than names and operators take

[[noreturn]] void fail_too_large() {
  throw Error(ErrorCode::kResourceExhausted, "the model is too large for one TensorFlow Lite file");
}

std::vector<int> short_dims(const Ints& dims) {
  std::vector<int> result;
  for (const std::int64_t extent : dims) {
    if (extent > std::numeric_limits<int>::max()) fail_too_large();
    result.push_back(static_cast<int>(extent));
  }
  return result;
}

}  // namespace

// The first buffer is that of tensors without numbers.
FileMaker::FileMaker() { buffers_.push_back(file::CreateBuffer(builder_)); }

std::uint32_t FileMaker::add_buffer(std::span<const std::uint8_t> bytes) {
  if (bytes.size() + builder_.GetSize() + kTables > kMaxFileBytes) fail_too_large();
  builder_.ForceVectorAlignment(bytes.size(), 1, kAlignment);
  const auto data = builder_.CreateVector(bytes.data(), bytes.size());
  buffers_.push_back(file::CreateBuffer(builder_, data));
  return static_cast<std::uint32_t>(buffers_.size()) - 1;
}

int FileMaker::add_tensor(const std::string& name, const Ints& dims, file::TensorType type) {
  tensors_.push_back({name, dims, type});
  return static_cast<int>(tensors_.size()) - 1;
}

int FileMaker::add_constant(const std::string& name, const Ints& dims, file::TensorType type,
                            std::span<const std::uint8_t> bytes) {
  const std::uint32_t buffer = add_buffer(bytes);
  const int tensor = add_tensor(name, dims, type);
  at(tensor).buffer = buffer;
  return tensor;
}

std::uint32_t FileMaker::index_of(const OperatorCode& code) {
  const auto [it, is_new] = codes_.try_emplace({code.code, code.version},
                                               static_cast<std::uint32_t>(code_tables_.size()));
  if (is_new) {
    const auto short_code =
        static_cast<std::int8_t>(std::min<int>(code.code, std::numeric_limits<std::int8_t>::max()));
    code_tables_.push_back(
        file::CreateOperatorCode(builder_, short_code, 0, code.version, code.code));
  }
  return it->second;
}

void FileMaker::add_operator(const OperatorCode& code, const std::vector<int>& inputs,
                             const std::vector<int>& outputs, Options options) {
  const auto in = builder_.CreateVector(inputs), out = builder_.CreateVector(outputs);
  operators_.push_back(file::CreateOperator(builder_, index_of(code), in, out,
                                            static_cast<std::uint8_t>(code.options_type), options));
  for (const int output : outputs) at(output).is_computed = true;
}

void FileMaker::add_metadata(const std::string& name, const std::string& text) {
  const std::uint32_t buffer =
      add_buffer({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  metadata_.push_back(file::CreateMetadata(builder_, builder_.CreateString(name), buffer));
}

flatbuffers::Offset<file::Tensor> FileMaker::written(const TensorEntry& tensor) {
  const auto shape = builder_.CreateVector(short_dims(tensor.dims));
  const auto name = builder_.CreateString(tensor.name);
  return file::CreateTensor(builder_, shape, tensor.type, tensor.buffer, name);
}

std::string FileMaker::finish(const std::string& name, const std::vector<int>& inputs,
                              const std::vector<int>& outputs) {
  std::vector<flatbuffers::Offset<file::Tensor>> tables;
  for (const TensorEntry& tensor : tensors_) tables.push_back(written(tensor));
  const auto tensors = builder_.CreateVector(tables);
  const auto in = builder_.CreateVector(inputs), out = builder_.CreateVector(outputs);
  const auto operators = builder_.CreateVector(operators_);
  const auto graph =
      file::CreateSubGraph(builder_, tensors, in, out, operators, builder_.CreateString(name));
  const auto graphs = builder_.CreateVector(std::vector{graph});
  const auto codes = builder_.CreateVector(code_tables_);
  const auto description = builder_.CreateString(std::string("moild ") + kVersion);
  const auto buffers = builder_.CreateVector(buffers_);
  const auto metadata = builder_.CreateVector(metadata_);
  file::FinishModelBuffer(builder_, file::CreateModel(builder_, kFormatVersion, codes, graphs,
                                                      description, buffers, 0, metadata));
  return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
}

}  // namespace moil::tflite
