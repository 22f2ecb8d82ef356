// The maps of an interval's samples at a cut, on disk, with their targets.
//
// A file without a name in a folder of the caller's: nothing of it outlives the process. Maps are
// of one network and its weights at one time; whoever changes either makes another of these.
//
// read() may be called from a thread of its own while nothing is added. Errors: kIo,
// kResourceExhausted for a full disk, kInvalidArgument for a sample that is not here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files/unique_fd.h"
#include "engine/train/batch_source.h"

namespace moil {

class CachedMaps : public BatchSource {
 public:
  // samples: of the source that the maps are made of. elements: of a sample's map and of its
  // target.
  struct Shape {
    std::int64_t samples = 0;
    std::size_t map_elements = 0, target_elements = 0;
  };
  CachedMaps(const std::filesystem::path& folder, std::string cut, const Shape& shape);

  const std::string& cut() const { return cut_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const override { return shape_.samples; }
  void read(std::span<const std::int64_t> indices, const Batch& batch) override;

  bool has(std::int64_t index) const { return places_.contains(index); }
  // Those of the indices that are not here, ascending, each once.
  [[nodiscard]] std::vector<std::int64_t> missing(std::span<const std::int64_t> indices) const;
  // Room for so many more: a full disk is an error here and not in add().
  void reserve(std::size_t count);
  void add(std::int64_t index, std::span<const float> map, std::span<const float> target);

 private:
  std::size_t record_bytes() const {
    return (shape_.map_elements + shape_.target_elements) * sizeof(float);
  }

  UniqueFd file_;
  const std::filesystem::path folder_;
  const std::string cut_;
  const Shape shape_;
  std::unordered_map<std::int64_t, std::size_t> places_;  // in the file, by index
};

}  // namespace moil
