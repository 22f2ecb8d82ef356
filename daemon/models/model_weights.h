// The weights of a model in the store, read when they are asked for: a night has in memory only
// those that it is at work with.
//
// A value type that shares the open file; one thread at a time changes it, any reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/io/safetensors_file.h"

namespace moil::night {

// The weights that a part of a model owns, as it describes them, from wherever they are.
using WeightsOfPart = std::function<WeightMap(const ModelDescription& part)>;

// Gives a weight so many rows, if it has fewer; those from `known` on become as its first.
void give_rows(NamedTensor& weight, std::int64_t known, std::int64_t rows);

class ModelWeights {
 public:
  ModelWeights() = default;
  // kBadData, kNotFound, kIo (io/safetensors_file.h).
  explicit ModelWeights(const std::filesystem::path& file);

  const TensorShapes& shapes() const { return shapes_; }
  // kNotFound.
  [[nodiscard]] NamedTensor read(const std::string& name) const;
  [[nodiscard]] WeightMap of(const ModelDescription& part) const;
  // To be kept in memory, instead of what the file says or beside it.
  void change(const std::string& name, NamedTensor tensor);
  // As give_rows() does, whenever the weight is read.
  void add_rows(const std::string& name, std::int64_t known, std::int64_t rows);

  // The sizes in memory: bytes() counts all weights, changed_bytes() those that are there.
  std::size_t bytes() const;
  std::size_t changed_bytes() const;

 private:
  NamedTensor stored(const std::string& name) const;

  std::shared_ptr<const SafetensorsFile> file_;
  TensorShapes shapes_;
  std::map<std::string, std::int64_t> known_rows_;  // of weights that were given some
  WeightMap changed_;
};

// Reads one weight after another: "LAYER.WEIGHT" of every layer.
[[nodiscard]] WeightMap weights_by_name(const ModelDescription& part,
                                        const std::function<NamedTensor(const std::string&)>& read);

}  // namespace moil::night
