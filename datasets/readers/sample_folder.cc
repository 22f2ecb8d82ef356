#include "datasets/readers/sample_folder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "datasets/images/codec.h"
#include "datasets/readers/input_file.h"
#include "datasets/readers/tar_index.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxFileBytes = 256 << 20;

constexpr std::uint64_t kMaxTextBytes = 4 << 20;

bool is_text(const std::string& path) {
  return path.ends_with(".txt") || path.ends_with(".tsv") || path.ends_with(".csv") ||
         path.ends_with(".json");
}

class FolderReader : public SampleFolder {
 public:
  FolderReader(const fs::path& root, const SampleFolderOptions& options) : root_(root) {
    const FolderWalk walk = walk_folder(root);
    passed_over_.add(walk);
    const std::vector<std::string>& paths = walk.files;
    for (const std::size_t i : arrange(paths, root.string(), options)) paths_.push_back(paths[i]);
    for (const std::size_t i : texts_among(paths)) texts_.push_back(paths[i]);
  }

  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    table_.check(i);
    return read_file(root_ / paths_[i], kMaxFileBytes);
  }
  std::string name(std::size_t i) const override {
    table_.check(i);
    return (root_ / paths_[i]).string();
  }
  std::vector<std::string> texts() const override {
    std::vector<std::string> texts;
    for (const std::string& path : texts_) {
      if (fs::file_size(root_ / path) <= kMaxTextBytes)
        texts.push_back(read_text(root_ / path, kMaxTextBytes));
    }
    return texts;
  }

 private:
  fs::path root_;
  std::vector<std::string> paths_, texts_;
};

class TarFolder : public SampleFolder {
 public:
  TarFolder(const fs::path& path, const SampleFolderOptions& options) : file_(path) {
    auto members = index_tar(file_, &passed_over_.links);
    std::vector<std::string> paths;
    for (const auto& member : members) paths.push_back(member.name);
    for (const std::size_t i : arrange(paths, path.string(), options)) {
      members_.push_back(std::move(members[i]));
    }
    for (const std::size_t i : texts_among(paths)) texts_.push_back(std::move(members[i]));
  }

  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    table_.check(i);
    if (members_[i].size > kMaxFileBytes) bad_image(name(i), "the file is too large");
    return file_.read(members_[i].offset, members_[i].size);
  }
  std::string name(std::size_t i) const override {
    table_.check(i);
    return file_.path().string() + ": " + members_[i].name;
  }
  std::vector<std::string> texts() const override {
    std::vector<std::string> texts;
    for (const TarMember& member : texts_) {
      if (member.size > kMaxTextBytes) continue;
      const auto bytes = file_.read(member.offset, member.size);
      texts.emplace_back(bytes.begin(), bytes.end());
    }
    return texts;
  }

 private:
  InputFile file_;
  std::vector<TarMember> members_, texts_;
};

}  // namespace

std::vector<std::size_t> SampleFolder::arrange(const std::vector<std::string>& paths,
                                               const std::string& root,
                                               const SampleFolderOptions& options) {
  const ClassFolders found =
      sort_into_classes(paths, root, options.known, passed_over_, options.any_file);
  entered_ = found.entered;
  within_ = found.within;
  std::vector<std::string> classes = options.classes;
  if (classes.empty()) {
    for (const ClassedPath& sample : found.samples) {
      if (classes.empty() || classes.back() != sample.name) classes.push_back(sample.name);
    }
  }
  table_ = SampleTable(classes);
  std::vector<std::size_t> order;
  for (const ClassedPath& sample : found.samples) {
    const auto place = std::ranges::find(classes, sample.name);
    if (place == classes.end()) {
      throw Error(ErrorCode::kBadData,
                  root + ": " + paths[sample.index] + " is of a class that is not listed");
    }
    table_.add({static_cast<ClassId>(place - classes.begin())});
    order.push_back(sample.index);
  }
  table_.apply(options.split);
  return order;
}

std::vector<std::size_t> SampleFolder::texts_among(const std::vector<std::string>& paths) const {
  const std::string beside = entered_.empty() ? "" : entered_ + "/";
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool is_beside =
        paths[i].starts_with(beside) && paths[i].find('/', beside.size()) == std::string::npos;
    const bool is_above = paths[i].find('/') == std::string::npos;
    if (is_text(paths[i]) && (is_beside || is_above)) found.push_back(i);
  }
  return found;
}

Digest SampleFolder::digest(std::size_t i) const { return digest_of(encoded(i)); }

std::unique_ptr<SampleFolder> open_sample_folder(const fs::path& path,
                                                 const SampleFolderOptions& options) {
  if (fs::is_directory(path)) return std::make_unique<FolderReader>(path, options);
  return std::make_unique<TarFolder>(path, options);
}

}  // namespace moil::data
