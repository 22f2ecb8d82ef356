// The SampleFolder layout: <class>/.../<file>, from a folder or from a plain tar that is read in
// place.
//
// The first folder of a path is the class; a folder that alone holds all samples is entered only
// for classes that are known (class_folders.h). Classes are sorted by name (bytewise), samples by
// path, so a folder and a tar of it give the same dataset. Files are taken by their extension, in
// any case: .jpg, .jpeg, .png, .webp; if there is none of these, .npy, .csv and .tar; else .txt.
// Hidden and service folders, links in archives and other files are passed over and counted
// (class_folders.h); links on disk are followed, and what they lead to is of the class whose folder
// the link lies in. A sample's digest is that of its file's bytes.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "datasets/readers/class_folders.h"
#include "datasets/samples/sample_table.h"

namespace moil::data {

struct SampleFolderOptions {
  SplitPolicy split;
  // The class list, if it is known (a label's index is then its index here; an unknown class is
  // kBadData). Empty: the sorted names of the folders.
  std::vector<std::string> classes;
  // Names that are classes: folders around such a folder are entered, and it is not.
  std::vector<std::string> known;
  bool any_file = false;  // is a sample, whatever it is called
};

class SampleFolder : public TableDataset<SampleDataset> {
 public:
  [[nodiscard]] const PassedOver& passed_over() const { return passed_over_; }
  // The folder that holds the classes, below the root; empty: the root.
  [[nodiscard]] const std::string& entered() const { return entered_; }
  // Of a class that is alone: the folders in its own.
  [[nodiscard]] const std::set<std::string>& within_lone_class() const { return within_; }
  // Files of text that lie beside the classes' folders and may say what the classes are called.
  [[nodiscard]] virtual std::vector<std::string> texts() const = 0;

  [[nodiscard]] Digest digest(std::size_t i) const override;

 protected:
  // Takes the paths below the root, in any order; returns for each sample the index of its path.
  // kBadData if none is a sample, or one is no plain path.
  std::vector<std::size_t> arrange(const std::vector<std::string>& paths, const std::string& root,
                                   const SampleFolderOptions& options);
  // Finds the ones of texts() among those paths.
  [[nodiscard]] std::vector<std::size_t> texts_among(const std::vector<std::string>& paths) const;

  PassedOver passed_over_;

 private:
  std::string entered_;
  std::set<std::string> within_;
};

// Opens a folder or a tar, by what the path is. kNotFound, kBadData (no image; a damaged archive).
[[nodiscard]] std::unique_ptr<SampleFolder> open_sample_folder(
    const std::filesystem::path& path, const SampleFolderOptions& options = {});

}  // namespace moil::data
