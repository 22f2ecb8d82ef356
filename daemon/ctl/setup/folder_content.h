// What lies in a user's folder: samples of which kind, in how many sub-folders. Files are told by
// their first bytes; none is decoded.
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

  [[nodiscard]] std::size_t samples() const { return images + sounds + numbers; }
  // That most of its samples are of: "image", "sound" or "rows"; empty if there is none.
  [[nodiscard]] std::string kind() const;
  // "150 photos in 10 folders (beans, corn, ...)", for people.
  [[nodiscard]] std::string in_words() const;
};

// Throws moil::Error for a folder that cannot be read.
[[nodiscard]] FolderContent look_into(const std::filesystem::path& folder);

}  // namespace moil::daemon::ctl
