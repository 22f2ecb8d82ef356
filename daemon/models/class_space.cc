#include "daemon/models/class_space.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "datasets/labels/text.h"

namespace moil::night {

void renumber_classes(data::Mix& mix, const std::vector<std::string>& model_labels) {
  std::vector<std::string> classes = model_labels;
  std::map<std::string, data::ClassId> rows;
  for (std::size_t i = 0; i < classes.size(); ++i)
    rows[data::normal(classes[i])] = static_cast<data::ClassId>(i);
  std::vector<data::ClassId> row_of(mix.classes.size());
  for (std::size_t i = 0; i < mix.classes.size(); ++i) {
    const auto [it, fresh] =
        rows.try_emplace(data::normal(mix.classes[i]), static_cast<data::ClassId>(classes.size()));
    if (fresh && i < mix.global_classes) {
      throw Error(ErrorCode::kInvalidArgument, "the global pack's class \"" + mix.classes[i] +
                                                   "\" is not one of the model's labels");
    }
    if (fresh) classes.push_back(mix.classes[i]);
    row_of[i] = it->second;
  }
  for (auto* list : {&mix.train, &mix.global_validation, &mix.local_validation}) {
    for (auto& sample : *list) {
      for (auto* ids : {&sample.labels, &sample.denied}) {
        for (auto& id : *ids) id = row_of[id];
        std::sort(ids->begin(), ids->end());
      }
    }
  }
  mix.global_classes = model_labels.size();
  mix.classes = std::move(classes);
}

}  // namespace moil::night
