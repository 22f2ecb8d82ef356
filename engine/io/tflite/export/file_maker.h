// A TensorFlow Lite file as it grows: tensors, constants and operators, by the description of what
// is read of such files (tflite.fbs). One thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tflite_generated.h"

namespace moil::tflite {

using Ints = std::vector<std::int64_t>;
using Options = flatbuffers::Offset<file::Unread>;  // of any table of options

// An operator by the format's numbers: its own, that of its table of options, and the least
// version that has what is asked of it.
struct OperatorCode {
  int code = 0;
  int options_type = 0;
  int version = 1;
};

// Throws kResourceExhausted for what is more than a file can hold, and for extents beyond 32 bits.
class FileMaker {
 public:
  FileMaker();

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  // Gives its number.
  int add_tensor(const std::string& name, const Ints& dims, file::TensorType type);
  int add_constant(const std::string& name, const Ints& dims, file::TensorType type,
                   std::span<const std::uint8_t> bytes);
  void rename(int tensor, const std::string& name) { at(tensor).name = name; }
  [[nodiscard]] Ints dims_of(int tensor) const { return at(tensor).dims; }

  // options: a table that builder() made, null if the operator has none.
  void add_operator(const OperatorCode& code, const std::vector<int>& inputs,
                    const std::vector<int>& outputs, Options options);
  [[nodiscard]] bool is_computed(int tensor) const { return at(tensor).is_computed; }

  void add_metadata(const std::string& name, const std::string& text);

  // The file's bytes. Once.
  std::string finish(const std::string& name, const std::vector<int>& inputs,
                     const std::vector<int>& outputs);

 private:
  struct TensorEntry {
    std::string name;
    Ints dims;
    file::TensorType type = file::TensorType::FLOAT32;
    std::uint32_t buffer = 0;
    bool is_computed = false;  // by an operator
  };
  [[nodiscard]] TensorEntry& at(int tensor) { return tensors_[static_cast<std::size_t>(tensor)]; }
  [[nodiscard]] const TensorEntry& at(int tensor) const {
    return tensors_[static_cast<std::size_t>(tensor)];
  }
  std::uint32_t add_buffer(std::span<const std::uint8_t> bytes);
  std::uint32_t index_of(const OperatorCode& code);
  flatbuffers::Offset<file::Tensor> written(const TensorEntry& tensor);

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<TensorEntry> tensors_;
  std::vector<flatbuffers::Offset<file::Buffer>> buffers_;
  std::map<std::pair<int, int>, std::uint32_t> codes_;  // number and version
  std::vector<flatbuffers::Offset<file::OperatorCode>> code_tables_;
  std::vector<flatbuffers::Offset<file::Operator>> operators_;
  std::vector<flatbuffers::Offset<file::Metadata>> metadata_;
};

}  // namespace moil::tflite
