// Names that a CSV file lists, a line each: of a model's classes, as people keep them.
//
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

// In their order, without quotes. The first line is a head if the file has a line more than
// names are expected, or if a field of it says so: "display_name", "label", "name" or "class",
// in any case; that column has the names then. Else they are in the only column, or in the only one
// that is not all numbers. kBadData, with `where` before it, if there are several such columns,
// or a line has no name.
[[nodiscard]] std::vector<std::string> names_of_csv(std::string_view text, std::size_t expected,
                                                    const std::string& where);

}  // namespace moil::data
