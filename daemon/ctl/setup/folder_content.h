// What a user has: a folder of samples, of which kind and in how many sub-folders, or a table of
// records. Files of a folder are told by their first bytes; none is decoded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <string>

namespace moil::daemon::ctl {

struct FolderContent {
  std::size_t images = 0, sounds = 0, numbers = 0, others = 0;
  std::set<std::string> labels;  // sub-folders that hold samples
  std::size_t unlabelled = 0;    // samples beside them
  // Of a table, whose records are `numbers`. Nobody has looked at what is in this column.
  std::string label_column;

  [[nodiscard]] bool is_table() const { return !label_column.empty(); }
  [[nodiscard]] bool is_labelled() const { return is_table() || !labels.empty(); }

  [[nodiscard]] std::size_t samples() const { return images + sounds + numbers; }
  // That most of its samples are of: "image", "sound" or "rows"; empty if there is none.
  [[nodiscard]] std::string kind() const;
  // "150 photos in 10 folders (beans, corn, ...)", for people.
  [[nodiscard]] std::string in_words() const;
};

// kNotFound for one that is not there or holds no sample; kIo for one that cannot be read.
// wanted: what it should hold, said of one that holds nothing.
[[nodiscard]] FolderContent look_into(const std::filesystem::path& folder,
                                      const std::string& wanted);
// label_column: the last one if it is empty. kNotFound, kIo; kBadData for a file without a line of
// names and a record; kInvalidArgument, naming the columns, if there is none of this name.
[[nodiscard]] FolderContent look_into_table(const std::filesystem::path& file,
                                            const std::string& label_column);

}  // namespace moil::daemon::ctl
