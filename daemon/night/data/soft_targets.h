// Soft targets: what the model before the night says of each global sample of the mix, in each of
// its views.
//
// Learning to say it again keeps what was known better than the samples' labels do (distillation).
// They are a file in the job's folder, written once before training from the feature maps that
// training reads too, so that a resumed job learns from the same numbers; a step reads its rows.
//
//   "MOILSOFT"  views, samples, classes (three u64)
//   views x samples x classes targets (f32, little-endian)
//
// Rows are in the order of the mix's global samples and their parts, of the plain view first, then
// of each other. "samples" counts the parts. What no epoch shows has a row of zeros.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/files/atomic_file.h"
#include "base/files/unique_fd.h"
#include "datasets/sampling/mix.h"

namespace moil::night {

// Writes one: the header, then rows in the file's order. Nothing is there before commit(). kIo.
class SoftTargetsFile {
 public:
  // parts: of the global samples, together.
  SoftTargetsFile(const std::filesystem::path& path, std::uint64_t views, std::uint64_t parts,
                  std::uint64_t classes);
  void add(std::span<const float> row);
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

// read() may be called from any thread.
class SoftTargets {
 public:
  // samples, views: those that the file was written for. kIo, or kBadData for a file of others.
  SoftTargets(const std::filesystem::path& path, const std::vector<data::MixedSample>& samples,
              int views = 1);

  std::size_t classes() const { return classes_; }
  // Whether the sample, by its place among the samples, is a global one.
  bool has(std::int64_t sample) const { return rows_[static_cast<std::size_t>(sample)] >= 0; }
  // row: classes() values; part, view: below the sample's numbers of them. kIo.
  void read(std::int64_t sample, std::uint32_t part, std::uint16_t view,
            std::span<float> row) const;

 private:
  UniqueFd file_;
  std::size_t classes_ = 0;
  std::size_t global_ = 0;          // samples' parts
  std::vector<std::int64_t> rows_;  // of the first part, by sample; -1: a local one
};

}  // namespace moil::night
