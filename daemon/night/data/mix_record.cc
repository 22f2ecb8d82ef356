#include "daemon/night/data/mix_record.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace moil::night {
namespace {

using data::MixedSample;
using data::Source;

nlohmann::json list_to_json(const std::vector<MixedSample>& samples) {
  nlohmann::json list = nlohmann::json::array();
  for (const MixedSample& s : samples) {
    list.push_back({s.is_global() ? "g" : "l", s.digest.hex(), s.labels});
    const bool has_silence = !s.silent.empty(), has_scene = s.scene != data::kOwnScene;
    const bool denies = !s.denied.empty();
    if (s.parts > 1 || has_scene || has_silence || denies) list.back().push_back(s.parts);
    if (has_scene || has_silence || denies) list.back().push_back(s.scene);
    if (has_silence || denies) list.back().push_back(s.silent);
    if (denies) list.back().push_back(s.denied);
  }
  return list;
}

using DigestIndex = std::unordered_map<data::Digest, std::size_t>;

DigestIndex index_of(const data::Dataset& dataset) {
  DigestIndex index;
  for (std::size_t i = 0; i < dataset.size(); ++i) index.emplace(dataset.digest(i), i);
  return index;
}

struct Side {
  const data::Dataset& samples;
  const DigestIndex index;

  explicit Side(const data::Dataset& dataset) : samples(dataset), index(index_of(dataset)) {}
};

std::vector<MixedSample> list_from_json(const nlohmann::json& json, const Side& global,
                                        const Side& local, std::size_t& lost) {
  std::vector<MixedSample> samples;
  for (const auto& item : json) {
    MixedSample sample;
    sample.ref.source = item.at(0).get<std::string>() == "g" ? Source::kGlobal : Source::kLocal;
    sample.digest = data::Digest::from_hex(item.at(1).get<std::string>());
    sample.labels = item.at(2).get<std::vector<data::ClassId>>();
    if (item.size() > 3) sample.parts = item.at(3).get<std::uint32_t>();
    if (item.size() > 4) sample.scene = item.at(4).get<std::int64_t>();
    if (item.size() > 5) sample.silent = item.at(5).get<std::vector<std::uint32_t>>();
    if (item.size() > 6) sample.denied = item.at(6).get<std::vector<data::ClassId>>();
    const Side& side = sample.is_global() ? global : local;
    const auto it = side.index.find(sample.digest);
    if (it == side.index.end()) {
      ++lost;
      continue;
    }
    sample.ref.index = it->second;
    sample.described = side.samples.is_described(it->second);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

nlohmann::json to_json(const data::Mix& mix) {
  return {{"classes", mix.classes},
          {"global_classes", mix.global_classes},
          {"global_is_answered", mix.global_is_answered},
          {"also_held_out", mix.also_held_out},
          {"also_trained", mix.also_trained},
          {"denied_in_vain", mix.denied_in_vain},
          {"train", list_to_json(mix.train)},
          {"global_validation", list_to_json(mix.global_validation)},
          {"local_validation", list_to_json(mix.local_validation)}};
}

data::Mix mix_from_json(const nlohmann::json& json, const data::Dataset& global,
                        const data::Dataset& local, std::size_t& lost) {
  try {
    const Side of_global(global), of_local(local);
    data::Mix mix;
    mix.classes = json.at("classes").get<std::vector<std::string>>();
    mix.global_classes = json.at("global_classes");
    mix.global_is_answered = json.value("global_is_answered", false);
    mix.also_held_out = json.value("also_held_out", std::size_t{0});
    mix.also_trained = json.value("also_trained", std::size_t{0});
    mix.denied_in_vain = json.value("denied_in_vain", std::vector<std::string>{});
    mix.train = list_from_json(json.at("train"), of_global, of_local, lost);
    mix.global_validation = list_from_json(json.at("global_validation"), of_global, of_local, lost);
    mix.local_validation = list_from_json(json.at("local_validation"), of_global, of_local, lost);
    return mix;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::kBadData,
                std::string("the job's record of its samples is damaged: ") + e.what());
  }
}

std::string denied_in_vain_remark(const data::Mix& mix) {
  std::string names;
  for (const std::string& name : mix.denied_in_vain)
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  return names.empty() ? ""
                       : "that samples are not " + names +
                             " teaches nothing: neither samples nor the model have that label";
}

std::size_t count_global(const data::Mix& mix) {
  return static_cast<std::size_t>(std::count_if(
      mix.train.begin(), mix.train.end(), [](const MixedSample& s) { return s.is_global(); }));
}

}  // namespace moil::night
