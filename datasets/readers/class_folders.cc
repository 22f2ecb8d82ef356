#include "datasets/readers/class_folders.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace moil::data {
namespace {

using Parts = std::vector<std::string>;

Parts parts_of(const std::string& path) {
  Parts parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void require_within(const Parts& parts, const std::string& path, const std::string& root) {
  for (const std::string& part : parts) {
    if (!part.empty() && part != "." && part != "..") continue;
    throw Error(ErrorCode::kBadData,
                root + ": '" + path +
                    "' is no plain path below it; '.', '..', absolute and empty parts "
                    "are not taken");
  }
}

enum class Ending { kImage, kSound, kOtherSample, kText, kNone };

Ending ending_of(const std::string& file) {
  std::string extension = file.substr(std::min(file.rfind('.'), file.size()));
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* image : {".jpg", ".jpeg", ".png", ".webp"})
    if (extension == image) return Ending::kImage;
  for (const char* sound : {".wav", ".w64", ".rf64", ".flac", ".ogg", ".oga", ".opus", ".mp3"})
    if (extension == sound) return Ending::kSound;
  for (const char* other : {".npy", ".csv", ".tar"})
    if (extension == other) return Ending::kOtherSample;
  if (extension == ".txt") return Ending::kText;
  return Ending::kNone;
}

// A table or an archive beside photos or sounds belongs to the collection, not among its samples,
// and so do a sound beside photos and text beside anything.
Ending samples_among(const std::vector<std::string>& paths) {
  for (const Ending ending : {Ending::kImage, Ending::kSound, Ending::kOtherSample})
    if (std::ranges::find(paths, ending, ending_of) != paths.end()) return ending;
  return Ending::kText;
}

std::string joined(const Parts& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + parts[i];
  return path;
}

// The first part that is a hidden or service folder, or parts.size().
std::size_t first_service(const Parts& parts) {
  return static_cast<std::size_t>(std::ranges::find_if(parts, is_service_name) - parts.begin());
}

// How many folders hold all others, down to those that are known to be classes; 0 if none is.
std::size_t folders_to_enter(const std::vector<Parts>& images,
                             const std::vector<std::string>& known) {
  for (std::size_t depth = 0;; ++depth) {
    std::set<std::string> names;
    bool may_enter = true;
    for (const Parts& parts : images) {
      names.insert(parts[depth]);
      may_enter = may_enter && parts.size() > depth + 2;
    }
    const auto is_known = [&](const std::string& name) { return names.contains(name); };
    if (std::ranges::any_of(known, is_known)) return depth;
    if (!may_enter || names.size() > 1) return 0;
  }
}

}  // namespace

bool can_name_folder(std::string_view name) {
  return !name.empty() && !name.starts_with('.') && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

void PassedOver::add(const FolderWalk& walk) {
  for (const FolderWalk::PassedOver& one : walk.passed_over) {
    if (one.why != FolderWalk::Why::kService)
      ++links;
    else if (one.is_folder)
      services.insert(one.path);
    else
      ++others;
  }
}

std::string PassedOver::said() const {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (others > 0)
    add(std::to_string(others) + (others == 1 ? " file that is" : " files that are") +
        " no sample in a class's folder");
  if (links > 0) add(std::to_string(links) + (links == 1 ? " link" : " links or special files"));
  if (services.empty()) return text;
  constexpr std::size_t kMostNamed = 4;
  std::string names;
  std::size_t named = 0;
  for (const std::string& folder : services) {
    if (named++ == kMostNamed) break;
    names += (names.empty() ? "" : ", ") + folder;
  }
  if (services.size() > kMostNamed) names += ", ...";
  add(std::to_string(services.size()) +
      (services.size() == 1 ? " hidden or service folder (" : " hidden and service folders (") +
      names + ")");
  return text;
}

ClassFolders sort_into_classes(const std::vector<std::string>& paths, const std::string& root,
                               const std::vector<std::string>& known, PassedOver& passed_over,
                               bool any_file) {
  std::vector<Parts> images;
  std::vector<std::size_t> indices;
  const Ending taken = samples_among(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Parts parts = parts_of(paths[i]);
    require_within(parts, paths[i], root);
    const std::size_t service = first_service(parts);
    if (service + 1 < parts.size()) {
      passed_over.services.insert(joined(parts, service + 1));
    } else if (service < parts.size() || parts.size() < 2 ||
               (!any_file && ending_of(parts.back()) != taken)) {
      ++passed_over.others;
    } else {
      images.push_back(std::move(parts));
      indices.push_back(i);
    }
  }
  if (images.empty()) {
    throw Error(
        ErrorCode::kBadData,
        root +
            ": no sample found, expected <class>/<file>.jpg, .png or .webp, or without "
            "photos .wav, .flac, .ogg or .mp3, or without sounds .npy, .csv or .tar, or without "
            "these .txt");
  }
  const std::size_t depth = folders_to_enter(images, known);
  ClassFolders found;
  found.entered = joined(images[0], depth);
  std::set<std::string> classes;
  for (std::size_t k = 0; k < images.size(); ++k) {
    found.samples.push_back({indices[k], images[k][depth]});
    classes.insert(images[k][depth]);
    if (images[k].size() > depth + 2) found.within.insert(images[k][depth + 1]);
  }
  if (classes.size() > 1) found.within.clear();
  std::ranges::sort(found.samples, [&](const ClassedPath& a, const ClassedPath& b) {
    return a.name != b.name ? a.name < b.name : paths[a.index] < paths[b.index];
  });
  return found;
}

}  // namespace moil::data
