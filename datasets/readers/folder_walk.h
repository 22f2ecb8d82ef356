// The files below a folder, links followed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "datasets/readers/class_folders.h"

namespace moil::data {

// Relative to the folder, as they are found in it: what lies behind a link has the link's name, so
// that a linked photo is of the class whose folder the link lies in. Hidden and service folders are
// not entered; links that lead nowhere are counted. kBadData for a link to a folder that holds it,
// kIo naming a folder that cannot be read.
[[nodiscard]] std::vector<std::string> walk_folder(const std::filesystem::path& folder,
                                                   PassedOver& passed_over);

}  // namespace moil::data
