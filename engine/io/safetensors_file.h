// A safetensors file whose tensors are read when they are asked for: a model's weights, if not
// all of them are wanted in memory.
//
// The file stays open, so it is read as it was, whatever takes its place. Format, checks and
// conversions are those of io/safetensors.h. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/files/unique_fd.h"
#include "base/safetensors/header.h"
#include "engine/model/model_description.h"

namespace moil {

class SafetensorsFile {
 public:
  // Reads and checks the header. kBadData naming file and tensor; kNotFound, kIo from the system.
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const TensorShapes& shapes() const { return shapes_; }
  // In the order of the data.
  const std::vector<TensorEntry>& entries() const { return entries_; }

  // kNotFound for a tensor that the file lacks; kIo.
  [[nodiscard]] NamedTensor read(const std::string& name) const;
  [[nodiscard]] NamedTensor read(const TensorEntry& entry) const;

 private:
  [[noreturn]] void bad(const std::string& what) const;
  std::string header(std::uint64_t size);
  void read_at(std::uint64_t offset, void* to, std::size_t bytes) const;
  void read_halves(std::uint64_t offset, std::span<float> to, float (*widen)(std::uint16_t)) const;

  std::string name_;  // of the file
  UniqueFd fd_;
  std::uint64_t data_begins_ = 0;
  std::map<std::string, std::string> metadata_;
  std::vector<TensorEntry> entries_;
  TensorShapes shapes_;
  std::map<std::string, std::size_t> places_;  // among the entries
};

}  // namespace moil
