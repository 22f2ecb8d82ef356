// Which files below a root are samples, and of which class: the first folder of a path is its
// class.
//
// Paths come from strangers' archives and from disks, so this is the one place that says what is
// refused, what is passed over and what is taken.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/labels/folder_walk.h"
#include "datasets/labels/service_names.h"

namespace moil::data {

// Whether a class of this name can be a folder of its own: not empty, no dot at its beginning (so
// neither "." nor ".."), no slash, no NUL.
[[nodiscard]] bool can_name_folder(std::string_view name);

// What a reader passed over.
struct PassedOver {
  std::size_t others = 0;  // files of other kinds, hidden ones, and those outside any folder
  std::size_t links = 0;   // in archives; on disks, links that are not followed
  std::set<std::string> services;          // hidden and service folders
  void add(const FolderWalk& walk);        // what it passed over
  [[nodiscard]] std::string said() const;  // in a line; empty if nothing was
};

struct ClassedPath {
  std::size_t index = 0;  // of the path given
  std::string name;       // of its class
};

struct ClassFolders {
  std::vector<ClassedPath> samples;  // by class, then by path, bytewise
  std::string entered;               // the folder that holds all classes; empty: the root
  std::set<std::string> within;      // if there is one class alone: the folders in its own
};

// Sorts out the paths below a root, folders separated by '/'. Samples are photos by their names, or
// if there is none, sounds, or if there are none of these either, numbers and archives, or else
// texts; any_file: whatever it is. The first
// folder of a path is its class, however many folders are in it. Only if one folder alone holds all
// samples, and one of the folders in it is among `known`, names that are classes, is it entered.
// kBadData for an absolute
// path and for one with a part that is empty, "." or "..", naming `root` and the path.
[[nodiscard]] ClassFolders sort_into_classes(const std::vector<std::string>& paths,
                                             const std::string& root,
                                             const std::vector<std::string>& known,
                                             PassedOver& passed_over, bool any_file = false);

}  // namespace moil::data
