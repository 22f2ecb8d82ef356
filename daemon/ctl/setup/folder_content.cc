#include "daemon/ctl/setup/folder_content.h"

#include <fcntl.h>

#include <vector>

#include "base/files/unique_fd.h"
#include "daemon/ctl/labels/sample_files.h"
#include "daemon/ctl/text.h"
#include "datasets/labels/media_type.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostFolders = 4;

std::string some_of(const std::set<std::string>& names) {
  std::string text;
  std::size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == kMostFolders) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

std::string FolderContent::kind() const {
  if (samples() == 0) return "";
  if (images >= sounds && images >= numbers) return "image";
  return sounds >= numbers ? "sound" : "rows";
}

std::string FolderContent::in_words() const {
  std::vector<std::string> parts;
  if (images > 0) parts.push_back(counted(static_cast<std::int64_t>(images), "photo"));
  if (sounds > 0) parts.push_back(counted(static_cast<std::int64_t>(sounds), "sound"));
  if (numbers > 0)
    parts.push_back(counted(static_cast<std::int64_t>(numbers), "file") + " of numbers");
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  if (text.empty()) return "no photo, sound or file of numbers";
  if (!labels.empty())
    text += " in " + counted(static_cast<std::int64_t>(labels.size()), "folder") + " (" +
            some_of(labels) + ")";
  if (!labels.empty() && unlabelled > 0)
    text += ", " + std::to_string(unlabelled) + " of them beside these";
  return text;
}

FolderContent look_into(const fs::path& folder) {
  FolderContent content;
  for (const fs::path& file : gather_samples({folder.string()}).files) {
    const std::string_view type =
        media_type_of(UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
    std::size_t& count = data::is_image(type)     ? content.images
                         : data::is_sound(type)   ? content.sounds
                         : data::is_numbers(type) ? content.numbers
                                                  : content.others;
    ++count;
    if (&count == &content.others) continue;
    const fs::path within = file.lexically_relative(folder);
    if (within.has_parent_path())
      content.labels.insert(within.begin()->string());
    else
      ++content.unlabelled;
  }
  return content;
}

}  // namespace moil::daemon::ctl
