// ImageFolder: <class>/.../<file>, from a folder or from a plain tar that is read in place.
//
// The first folder of a path is the class; classes are sorted by name (bytewise), samples by path,
// so a folder and a tar of it give the same dataset. Files are taken by their extension (.jpg,
// .jpeg, .png, in any case); hidden files and others are passed over and counted. A sample's digest
// is that of its file's bytes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "datasets/images/codec.h"
#include "datasets/readers/input_file.h"
#include "datasets/readers/sample_table.h"

namespace moil::data {

struct ImageFolderOptions {
  SplitPolicy split;
  DecodeLimits limits;
  // The class list, where it is known (a label's index is then its index here; an unknown class is
  // kBadData). Empty: the sorted names of the folders.
  std::vector<std::string> classes;
};

class ImageFolder : public TableDataset<ImageDataset> {
 public:
  [[nodiscard]] std::size_t skipped() const { return skipped_; }  // files passed over

  using ImageDataset::read;
  void read(std::size_t i, Image& image) const override;
  [[nodiscard]] Digest digest(std::size_t i) const override;

 protected:
  explicit ImageFolder(const DecodeLimits& limits) : limits_(limits) {}
  // Takes the paths below the root, in any order; returns for each sample the index of its path.
  // kBadData where none is an image.
  std::vector<std::size_t> arrange(const std::vector<std::string>& paths, const std::string& root,
                                   const ImageFolderOptions& options);

 private:
  DecodeLimits limits_;
  std::size_t skipped_ = 0;
};

// Opens a folder or a tar, by what the path is. kNotFound, kBadData (no image; a damaged archive).
[[nodiscard]] std::unique_ptr<ImageFolder> open_image_folder(
    const std::filesystem::path& path, const ImageFolderOptions& options = {});

}  // namespace moil::data
