#include "daemon/ctl/setup/folder_content.h"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/unique_fd.h"
#include "daemon/ctl/labels/sample_files.h"
#include "daemon/ctl/text.h"
#include "datasets/labels/csv_line.h"
#include "datasets/labels/media_type.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostFolders = 4;
constexpr std::uint64_t kMostTableBytes = 1 << 30;

template <class Names>
std::string some_of(const Names& names, std::size_t most) {
  std::string text;
  std::size_t n = 0;
  for (const std::string& name : names) {
    if (n++ == most) return text + ", ...";
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
  if (is_table())
    return "a table of " + counted(static_cast<std::int64_t>(numbers), "record") +
           "; the column \"" + label_column + "\" says what they are";
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
            some_of(labels, kMostFolders) + ")";
  if (!labels.empty() && unlabelled > 0)
    text += ", " + std::to_string(unlabelled) + " of them beside these";
  return text;
}

FolderContent look_into(const fs::path& folder, const std::string& wanted) {
  if (!fs::is_directory(folder))
    throw Error(ErrorCode::kNotFound, folder.string() + ": there is no such folder");
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
  if (content.samples() == 0)
    throw Error(ErrorCode::kNotFound,
                folder.string() + ": it holds " + content.in_words() + "; " + wanted);
  return content;
}

FolderContent look_into_table(const fs::path& file, const std::string& label_column) {
  const std::string text = read_text(file, kMostTableBytes);
  std::string_view rest = data::without_mark(text), line;
  (void)data::next_line(rest, line);
  const std::vector<std::string> names = data::fields_of(line, data::separator_of(line));
  FolderContent content;
  while (data::next_line(rest, line)) content.numbers += line.empty() ? 0 : 1;
  if (names.size() < 2 || content.numbers == 0)
    throw Error(ErrorCode::kBadData, file.string() +
                                         ": a table has a line of names, two columns or more, and "
                                         "a record a line");
  content.label_column = label_column.empty() ? names.back() : label_column;
  if (std::ranges::find(names, content.label_column) == names.end())
    throw Error(ErrorCode::kInvalidArgument, file.string() + " has no column \"" + label_column +
                                                 "\"; its columns are " + some_of(names, 40));
  return content;
}

}  // namespace moil::daemon::ctl
