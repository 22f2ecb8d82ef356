// What of a file is not supported: all of it is told at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace moil::onnx {

class Problems {
 public:
  void tell(const std::string& what) { all_.push_back(what); }
  // Throws kUnimplemented, a line for each, if there are any. parts: of so many "nodes".
  void refuse_if_any(std::size_t parts, const std::string& name) const;

 private:
  std::vector<std::string> all_;
};

}  // namespace moil::onnx
