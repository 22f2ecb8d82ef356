// What a model calls the classes of data that has other names for them: WordNet's ids, say.
//
// Pure functions; safe from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moil::data {

// A text of lines with columns, or a JSON object.
//
//   n01440764<TAB>tench     columns apart by tabs; without any, by the first space or comma
//   {"n01440764": "tench"}  or {"0": ["n01440764", "tench"]}
//
// Any other text is a table as well; it will match nothing.
using NameTable = std::vector<std::vector<std::string>>;
[[nodiscard]] NameTable parse_name_table(std::string_view text);

// The model's label for each class of the data that is not one itself: one column of the table
// holds the classes, another the labels (or their numbers, from 0); which ones shows. Letters'
// case, '_',
// '-' and what stands behind a label's first comma do not count. A name that the table has several
// times is, in order, each label that has it with a number behind ("crane (134)"). Nothing unless
// all classes are found, each with another label.
using ClassNames = std::map<std::string, std::string>;
[[nodiscard]] std::optional<ClassNames> match_by_table(const std::vector<std::string>& classes,
                                                       const std::vector<std::string>& labels,
                                                       const NameTable& table);
// The same without a table: by spelling alone.
[[nodiscard]] std::optional<ClassNames> match_by_spelling(const std::vector<std::string>& classes,
                                                          const std::vector<std::string>& labels);

// Classes that are no label as they stand.
[[nodiscard]] std::vector<std::string> unknown_classes(const std::vector<std::string>& classes,
                                                       const std::vector<std::string>& labels);

}  // namespace moil::data
