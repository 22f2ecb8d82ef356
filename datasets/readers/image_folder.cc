#include "datasets/readers/image_folder.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "datasets/readers/tar_index.h"

namespace moil::data {
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxFileBytes = 256 << 20;

bool is_image(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  std::string extension = file.substr(std::min(file.rfind('.'), file.size()));
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !file.starts_with('.') && (extension == ".jpg" || extension == ".jpeg" ||
                                    extension == ".png" || extension == ".webp");
}

// Empty for a file that lies in no folder.
std::string class_of(const std::string& path) {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

class FolderReader : public ImageFolder {
 public:
  FolderReader(const fs::path& root, const ImageFolderOptions& options)
      : ImageFolder(options.limits), root_(root) {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file()) paths.push_back(fs::relative(entry, root).string());
    }
    for (const std::size_t i : arrange(paths, root.string(), options)) paths_.push_back(paths[i]);
  }

  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    table_.check(i);
    return read_file(root_ / paths_[i], kMaxFileBytes);
  }
  std::string name(std::size_t i) const override {
    table_.check(i);
    return (root_ / paths_[i]).string();
  }

 private:
  fs::path root_;
  std::vector<std::string> paths_;
};

class TarReader : public ImageFolder {
 public:
  TarReader(const fs::path& path, const ImageFolderOptions& options)
      : ImageFolder(options.limits), file_(path) {
    auto members = index_tar(file_);
    std::vector<std::string> paths;
    for (const auto& member : members) paths.push_back(member.name);
    for (const std::size_t i : arrange(paths, path.string(), options)) {
      members_.push_back(std::move(members[i]));
    }
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

 private:
  InputFile file_;
  std::vector<TarMember> members_;
};

}  // namespace

std::vector<std::size_t> ImageFolder::arrange(const std::vector<std::string>& paths,
                                              const std::string& root,
                                              const ImageFolderOptions& options) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (is_image(paths[i]) && !class_of(paths[i]).empty()) order.push_back(i);
  }
  skipped_ = paths.size() - order.size();
  if (order.empty()) {
    throw Error(ErrorCode::kBadData,
                root + ": no image found, expected <class>/<file>.jpg, .png or .webp");
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t i) { return std::pair(class_of(paths[i]), paths[i]); };
    return key(a) < key(b);
  });
  std::vector<std::string> classes = options.classes;
  if (classes.empty()) {
    for (const std::size_t i : order) {
      if (classes.empty() || classes.back() != class_of(paths[i])) {
        classes.push_back(class_of(paths[i]));
      }
    }
  }
  table_ = SampleTable(classes);
  for (const std::size_t i : order) {
    const auto found = std::ranges::find(classes, class_of(paths[i]));
    if (found == classes.end()) {
      throw Error(ErrorCode::kBadData,
                  root + ": " + paths[i] + " is of a class that is not listed");
    }
    table_.add({static_cast<ClassId>(found - classes.begin())});
  }
  table_.apply(options.split);
  return order;
}

void ImageFolder::read(std::size_t i, Image& image) const {
  decode_image(encoded(i), name(i), image, limits_);
}

Digest ImageFolder::digest(std::size_t i) const { return digest_of(encoded(i)); }

std::unique_ptr<ImageFolder> open_image_folder(const fs::path& path,
                                               const ImageFolderOptions& options) {
  if (fs::is_directory(path)) return std::make_unique<FolderReader>(path, options);
  return std::make_unique<TarReader>(path, options);
}

}  // namespace moil::data
