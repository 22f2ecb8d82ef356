#include "datasets/readers/plain_folder.h"

#include <algorithm>

#include "base/error.h"
#include "base/files/file.h"
#include "datasets/labels/folder_walk.h"
#include "datasets/labels/label_types.h"
#include "datasets/labels/media_type.h"
#include "datasets/readers/input_file.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kHeadBytes = 512;

bool is_of_kind(const fs::path& path, const Kind& kind) {
  try {
    const InputFile file(path);
    const auto head = file.read(0, std::min(file.size(), kHeadBytes));
    return kind.takes(media_type_of(head));
  } catch (const Error&) {
    return false;  // nobody may read it
  }
}

}  // namespace

PlainFolder::PlainFolder(fs::path root, const Kind& kind) : root_(std::move(root)) {
  if (!fs::is_directory(root_)) throw Error(ErrorCode::kNotFound, root_.string() + " is no folder");
  FolderWalk walk = walk_folder(root_);
  passed_over_.add(walk);
  for (std::string& file : walk.files) {
    if (is_of_kind(root_ / file, kind))
      paths_.push_back(std::move(file));
    else
      ++passed_over_.others;
  }
  std::ranges::sort(paths_);
}

fs::path PlainFolder::path(std::size_t i) const {
  if (i >= paths_.size())
    throw Error(ErrorCode::kInvalidArgument, "there is no sample " + std::to_string(i));
  return root_ / paths_[i];
}

Digest PlainFolder::digest(std::size_t i) const { return digest_of(encoded(i)); }

std::vector<std::uint8_t> PlainFolder::encoded(std::size_t i) const {
  return read_file(path(i), kMaxSampleBytes);
}

std::string PlainFolder::name(std::size_t i) const { return path(i).string(); }

}  // namespace moil::data
