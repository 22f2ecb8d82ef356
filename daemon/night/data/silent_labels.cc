#include "daemon/night/data/silent_labels.h"

#include <map>

#include "base/json/json.h"

namespace moil::night {

std::vector<SilentLabel> silent_labels(const data::Mix& mix) {
  std::map<std::string, SilentLabel> labels;
  for (const auto* list : {&mix.train, &mix.local_validation}) {
    for (const data::MixedSample& sample : *list) {
      if (sample.is_global()) continue;
      for (const data::ClassId k : sample.labels) {
        SilentLabel& label = labels[mix.classes.at(k)];
        ++label.samples;
        label.mostly_silent += 2 * sample.silent.size() > sample.parts ? 1 : 0;
        label.silent += sample.silent.size() >= sample.parts ? 1 : 0;
      }
    }
  }
  std::vector<SilentLabel> found;
  for (auto& [name, label] : labels) {
    if (2 * label.mostly_silent <= label.samples && label.silent == 0) continue;
    label.label = name;
    found.push_back(std::move(label));
  }
  return found;
}

nlohmann::json to_json(const std::vector<SilentLabel>& labels) {
  nlohmann::json list = nlohmann::json::array();
  for (const SilentLabel& each : labels)
    list.push_back({{"label", each.label},
                    {"samples", each.samples},
                    {"mostly_silent", each.mostly_silent},
                    {"silent", each.silent}});
  return list;
}

std::string silence_remark(const SilentLabel& label) {
  std::string text =
      std::to_string(label.mostly_silent) + " of " + std::to_string(label.samples) +
      " recordings of \"" + label.label +
      "\" are mostly silent; only what is louder than the model's floor_db teaches it";
  if (label.silent > 0)
    text += ", and " + std::to_string(label.silent) + " of them hold no sound that does";
  return text;
}

}  // namespace moil::night
