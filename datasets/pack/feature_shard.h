// One shard of a global pack of the kind `features`: a safetensors file of four tensors.
//
//   features       F32 or BF16  [n, ...shape]
//   label_offsets  I64          [n + 1]   sample i has labels[label_offsets[i] .. [i + 1])
//   labels         I64          [...]     indices into the pack's classes
//   digests        U8           [n, 16]   of the samples' content
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "datasets/pack/manifest.h"
#include "datasets/readers/input_file.h"
#include "datasets/samples/dataset.h"

namespace moil::data {

// Writes features as they come and the rest at the end, in a constant amount of memory but for
// labels and digests.
class FeatureShardWriter {
 public:
  FeatureShardWriter(std::filesystem::path path, const PackBackbone& backbone);

  void add(std::span<const ClassId> labels, const Digest& digest, std::span<const float> features);
  void close();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return feature_bytes_; }
  [[nodiscard]] std::uint64_t count() const { return digests_.size(); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const void* data, std::size_t bytes);
  void write_header(const std::string& json);
  [[nodiscard]] std::string header() const;

  std::filesystem::path path_;
  PackBackbone backbone_;
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<std::uint16_t> narrow_;  // a sample as bf16
  std::vector<std::int64_t> label_offsets_{0}, labels_;
  std::vector<Digest> digests_;
  std::uint64_t feature_bytes_ = 0;
};

// Reads a shard in place. From any thread.
class FeatureShard {
 public:
  // Checks header, sizes, labels (below `classes`) and the number of samples; kBadData.
  FeatureShard(const std::filesystem::path& path, const PackBackbone& backbone,
               std::uint64_t samples, std::size_t classes);

  [[nodiscard]] std::size_t size() const { return digests_.size(); }
  [[nodiscard]] std::vector<ClassId> labels(std::size_t i) const;
  [[nodiscard]] const Digest& digest(std::size_t i) const { return digests_[i]; }
  // Writes floats() values of the backbone's shape; bf16 is widened.
  void read(std::size_t i, float* out) const;

 private:
  void check_labels(std::size_t classes) const;
  [[noreturn]] void fail(const std::string& what) const;

  InputFile file_;
  FeatureType type_;
  std::size_t floats_;
  std::uint64_t features_at_ = 0;  // byte offset in the file
  std::vector<std::int64_t> label_offsets_, labels_;
  std::vector<Digest> digests_;
};

}  // namespace moil::data
