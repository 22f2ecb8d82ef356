#include "datasets/readers/split_labels.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace moil::data {

std::vector<std::string> split_label(const std::string& text, char separator) {
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    const std::string label = text.substr(begin, end - begin);
    if (label.empty())
      throw Error(ErrorCode::kInvalidArgument,
                  "'" + text + "' is no list of labels with '" + separator + "' between them");
    if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
    begin = end + 1;
  }
  return labels;
}

SampleTable split_table(const Dataset& dataset, char separator) {
  std::map<std::string, ClassId> ids;
  std::vector<std::string> classes;
  std::vector<std::vector<ClassId>> labels_of;
  for (const std::string& name : dataset.classes()) {
    std::vector<ClassId>& labels = labels_of.emplace_back();
    for (const std::string& label : split_label(name, separator)) {
      const auto [id, is_new] = ids.emplace(label, static_cast<ClassId>(classes.size()));
      if (is_new) classes.push_back(label);
      labels.push_back(id->second);
    }
  }
  SampleTable table(std::move(classes));
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    std::vector<ClassId> labels;
    for (const ClassId label : dataset.labels(i))
      labels.insert(labels.end(), labels_of[label].begin(), labels_of[label].end());
    std::ranges::sort(labels);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    table.add(std::move(labels), dataset.split(i));
  }
  return table;
}

}  // namespace moil::data
