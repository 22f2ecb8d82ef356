#include "daemon/night/mix.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "datasets/sampling/per_class.h"

namespace moil::night {
namespace {

class ClassTable {
 public:
  explicit ClassTable(std::vector<std::string> names) : names_(std::move(names)) {
    for (std::size_t i = 0; i < names_.size(); ++i) ids_[names_[i]] = static_cast<std::uint32_t>(i);
  }
  void add(const std::string& name) {
    if (ids_.try_emplace(name, static_cast<std::uint32_t>(names_.size())).second)
      names_.push_back(name);
  }
  const std::uint32_t* find(const std::string& name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? nullptr : &it->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::uint32_t> ids_;
};

const std::vector<std::string>& reconciled(const Reconciliation& map, const std::string& label,
                                           std::vector<std::string>& self) {
  const auto it = map.find(label);
  if (it != map.end() && !it->second.empty()) return it->second;
  self = {label};
  return self;
}

std::vector<std::uint32_t> class_ids(const ClassTable& table,
                                     const std::vector<std::string>& names) {
  std::vector<std::uint32_t> ids;
  for (const auto& name : names) ids.push_back(*table.find(name));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

class Drawing {
 public:
  Drawing(const data::Dataset& global, const data::Dataset& local,
          const std::vector<std::string>& model_labels, const Reconciliation& reconciliation,
          const MixRequest& request)
      : global_(global),
        local_(local),
        reconciliation_(reconciliation),
        request_(request),
        table_(model_labels) {}

  Mix run() {
    check_global_classes();
    collect_local_labels();
    draw_global();
    for (std::size_t i = 0; i < local_.size(); ++i) add_local(i);
    mix_.classes = table_.names();
    if (mix_.train.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "there is nothing to train on: no labelled samples and alpha is 0");
    }
    return std::move(mix_);
  }

 private:
  void check_global_classes() const {
    for (const auto& name : global_.classes()) {
      if (!table_.find(name)) {
        throw Error(ErrorCode::kInvalidArgument,
                    "the global pack's class \"" + name + "\" is not one of the model's labels");
      }
    }
  }

  bool wanted(const std::string& label) const {
    if (!request_.local_labels) return true;
    const auto& labels = *request_.local_labels;
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  }

  // Only labels that have samples grow the classifier.
  void collect_local_labels() {
    std::set<std::string> fresh, self_named;
    for (std::size_t i = 0; i < local_.size(); ++i) {
      for (const auto id : local_.labels(i)) self_named.insert(local_.classes()[id]);
    }
    std::vector<std::string> self;
    for (const auto& label : self_named) {
      if (!wanted(label)) continue;
      for (const auto& name : reconciled(reconciliation_, label, self)) fresh.insert(name);
    }
    for (const auto& name : fresh) table_.add(name);
  }

  std::vector<std::uint32_t> global_classes_of(std::size_t i) const {
    std::vector<std::string> names;
    for (const auto id : global_.labels(i)) names.push_back(global_.classes()[id]);
    return class_ids(table_, names);
  }

  void draw_global() {
    const auto train = data::samples_of(global_, data::Split::kTrain);
    for (const std::size_t i : data::draw_global(global_, train, request_.alpha, request_.seed)) {
      if (request_.global_limit && mix_.train.size() >= *request_.global_limit) break;
      mix_.train.push_back({Origin::kGlobal, i, global_.digest(i), global_classes_of(i)});
    }
    mix_.global_count = mix_.train.size();
    for (const std::size_t i : data::samples_of(global_, data::Split::kValidation)) {
      mix_.global_validation.push_back(
          {Origin::kGlobal, i, global_.digest(i), global_classes_of(i)});
    }
  }

  void add_local(std::size_t i) {
    std::vector<std::string> names, self;
    for (const auto id : local_.labels(i)) {
      const std::string& label = local_.classes()[id];
      if (!wanted(label)) continue;
      const auto& mapped = reconciled(reconciliation_, label, self);
      names.insert(names.end(), mapped.begin(), mapped.end());
    }
    if (names.empty()) return;
    auto& list = local_.split(i) == data::Split::kTrain ? mix_.train : mix_.local_validation;
    list.push_back({Origin::kLocal, i, local_.digest(i), class_ids(table_, names)});
  }

  const data::Dataset& global_;
  const data::Dataset& local_;
  const Reconciliation& reconciliation_;
  const MixRequest& request_;
  ClassTable table_;
  Mix mix_;
};

nlohmann::json list_to_json(const std::vector<Sample>& samples) {
  nlohmann::json list = nlohmann::json::array();
  for (const Sample& s : samples) {
    list.push_back({s.origin == Origin::kGlobal ? "g" : "l", s.digest.hex(), s.classes});
  }
  return list;
}

using DigestIndex = std::unordered_map<data::Digest, std::size_t>;

DigestIndex index_of(const data::Dataset& dataset) {
  DigestIndex index;
  for (std::size_t i = 0; i < dataset.size(); ++i) index.emplace(dataset.digest(i), i);
  return index;
}

std::vector<Sample> list_from_json(const nlohmann::json& json, const DigestIndex& global,
                                   const DigestIndex& local, std::size_t& lost) {
  std::vector<Sample> samples;
  for (const auto& item : json) {
    Sample sample;
    sample.origin = item.at(0).get<std::string>() == "g" ? Origin::kGlobal : Origin::kLocal;
    sample.digest = data::Digest::from_hex(item.at(1).get<std::string>());
    sample.classes = item.at(2).get<std::vector<std::uint32_t>>();
    const DigestIndex& index = sample.origin == Origin::kGlobal ? global : local;
    const auto it = index.find(sample.digest);
    if (it == index.end()) {
      ++lost;
      continue;
    }
    sample.index = it->second;
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

Mix draw_mix(const data::Dataset& global, const data::Dataset& local,
             const std::vector<std::string>& model_labels, const Reconciliation& reconciliation,
             const MixRequest& request) {
  return Drawing(global, local, model_labels, reconciliation, request).run();
}

nlohmann::json to_json(const Mix& mix) {
  return {{"classes", mix.classes},
          {"train", list_to_json(mix.train)},
          {"global_validation", list_to_json(mix.global_validation)},
          {"local_validation", list_to_json(mix.local_validation)}};
}

Mix mix_from_json(const nlohmann::json& json, const data::Dataset& global,
                  const data::Dataset& local, std::size_t& lost) {
  try {
    const DigestIndex of_global = index_of(global), of_local = index_of(local);
    Mix mix;
    mix.classes = json.at("classes").get<std::vector<std::string>>();
    mix.train = list_from_json(json.at("train"), of_global, of_local, lost);
    mix.global_validation = list_from_json(json.at("global_validation"), of_global, of_local, lost);
    mix.local_validation = list_from_json(json.at("local_validation"), of_global, of_local, lost);
    mix.global_count = static_cast<std::size_t>(
        std::count_if(mix.train.begin(), mix.train.end(),
                      [](const Sample& s) { return s.origin == Origin::kGlobal; }));
    return mix;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::kBadData,
                std::string("the job's record of its samples is damaged: ") + e.what());
  }
}

}  // namespace moil::night
