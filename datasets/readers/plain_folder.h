// The samples of a kind below a folder, in whichever folders they lie: without labels or classes.
//
// A file is a sample by its first bytes, not by its name. Hidden and service folders are passed
// over, links are followed (folder_walk.h). Samples are sorted by path, bytewise.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/kinds/kind.h"
#include "datasets/readers/class_folders.h"
#include "datasets/samples/dataset.h"

namespace moil::data {

class PlainFolder : public SampleDataset {
 public:
  // Reads the beginning of every file. kIo naming a folder that cannot be read.
  PlainFolder(std::filesystem::path root, const Kind& kind);

  [[nodiscard]] const PassedOver& passed_over() const { return passed_over_; }

  [[nodiscard]] std::size_t size() const override { return paths_.size(); }
  [[nodiscard]] const std::vector<std::string>& classes() const override { return classes_; }
  [[nodiscard]] std::span<const ClassId> labels(std::size_t /*i*/) const override { return {}; }
  [[nodiscard]] Split split(std::size_t /*i*/) const override { return Split::kTrain; }
  [[nodiscard]] Digest digest(std::size_t i) const override;
  [[nodiscard]] std::vector<std::uint8_t> encoded(std::size_t i) const override;
  [[nodiscard]] std::string name(std::size_t i) const override;

 private:
  [[nodiscard]] std::filesystem::path path(std::size_t i) const;

  std::filesystem::path root_;
  std::vector<std::string> paths_;  // below the root
  const std::vector<std::string> classes_;
  PassedOver passed_over_;
};

}  // namespace moil::data
