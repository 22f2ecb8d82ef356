#include "daemon/night/judge/accuracy_record.h"

namespace moil::night {
namespace {

constexpr std::size_t kMostSets = 8;

// {"held_out": FINGERPRINT, "global": {"VERSION": ACCURACY}}, the set that was used last first.
Json sets_of(const BuildRecord& file) {
  const auto json = file.load();
  if (!json || !json->contains("sets") || !json->at("sets").is_array()) return Json::array();
  return json->at("sets");
}

Json* find_set(Json& sets, const std::string& held_out) {
  for (Json& set : sets) {
    if (set.is_object() && set.contains("held_out") && set["held_out"] == held_out &&
        set.contains("global") && set["global"].is_object())
      return &set;
  }
  return nullptr;
}

}  // namespace

std::string held_out_fingerprint(const data::Mix& mix) {
  std::string text;
  for (const data::MixedSample& s : mix.global_validation) {
    text += s.digest.hex();
    for (const data::ClassId label : s.labels) text += "\t" + mix.classes.at(label);
    text += "\n";
  }
  return data::digest_of(text).hex();
}

std::optional<double> AccuracyRecord::of(std::int64_t version) const {
  Json sets = sets_of(file_);
  const Json* set = find_set(sets, held_out_);
  if (set == nullptr) return std::nullopt;
  const auto found = set->at("global").find(std::to_string(version));
  if (found == set->at("global").end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

void AccuracyRecord::keep(std::int64_t version, double accuracy) const {
  Json sets = sets_of(file_);
  const Json* known = find_set(sets, held_out_);
  Json own = known ? *known : Json{{"held_out", held_out_}, {"global", Json::object()}};
  own["global"][std::to_string(version)] = accuracy;
  Json kept = Json::array({std::move(own)});
  for (const Json& set : sets)
    if (&set != known && kept.size() < kMostSets) kept.push_back(set);
  file_.save({{"sets", std::move(kept)}});
}

}  // namespace moil::night
