#include "datasets/sampling/mix.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "datasets/labels/text.h"
#include "datasets/sampling/per_class.h"

namespace moil::data {
namespace {

using ClassIndex = std::map<std::string, ClassId>;  // by normal name
using Digests = std::unordered_set<Digest>;

ClassIndex index_of(const std::vector<std::string>& classes) {
  ClassIndex index;
  for (std::size_t k = 0; k < classes.size(); ++k)
    index[normal(classes[k])] = static_cast<ClassId>(k);
  return index;
}

// What a local label is called in the mix; of what the model knows, in its spelling.
std::vector<std::string> names_of(const std::string& local, const Reconciliation& reconciliation,
                                  const ClassIndex& globals,
                                  const std::vector<std::string>& known_labels) {
  const auto entry = reconciliation.find(local);
  if (entry == reconciliation.end()) return {local};
  std::vector<std::string> names = entry->second;
  for (auto& name : names) {
    if (globals.contains(normal(name))) continue;
    const auto known = std::ranges::find(known_labels, normal(name), normal);
    if (known == known_labels.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the label '" + local + "' is mapped to '" + name +
                      "', which is neither a global class nor a label of the model; map it to "
                      "another, or not at all");
    }
    name = *known;
  }
  return names;
}

// For each local class whether a sample could be of it: none of those that have only unreadable
// ones.
std::vector<bool> classes_in_use(const Dataset& local, const Digests& unreadable) {
  std::vector<bool> in_use(local.classes().size(), true);
  if (unreadable.empty()) return in_use;
  std::vector<std::size_t> all(in_use.size()), readable(in_use.size());
  for (std::size_t i = 0; i < local.size(); ++i) {
    const bool fine = !unreadable.contains(local.digest(i));
    for (const ClassId k : local.labels(i)) {
      ++all[k];
      readable[k] += fine ? 1 : 0;
    }
  }
  for (std::size_t k = 0; k < in_use.size(); ++k) in_use[k] = all[k] == 0 || readable[k] > 0;
  return in_use;
}

// For each local class its classes in the mix; appends the new ones to `classes`.
std::vector<std::vector<ClassId>> map_classes(const std::vector<std::string>& local,
                                              const std::vector<bool>& in_use,
                                              const Reconciliation& reconciliation,
                                              const std::vector<std::string>& known_labels,
                                              std::vector<std::string>& classes) {
  ClassIndex index = index_of(classes);
  std::vector<std::vector<std::string>> names(local.size());
  std::set<std::string> fresh;
  for (std::size_t k = 0; k < local.size(); ++k) {
    if (!in_use[k]) continue;
    names[k] = names_of(local[k], reconciliation, index, known_labels);
    for (const auto& name : names[k]) {
      if (!index.contains(normal(name))) fresh.insert(name);
    }
  }
  for (const auto& name : fresh) {
    index[normal(name)] = static_cast<ClassId>(classes.size());
    classes.push_back(name);
  }
  std::vector<std::vector<ClassId>> map(local.size());
  for (std::size_t k = 0; k < local.size(); ++k) {
    for (const auto& name : names[k]) map[k].push_back(index.at(normal(name)));
  }
  return map;
}

// For each of the denials its classes in the mix. What only the model knows is appended to
// `classes`; of what nobody knows the names are appended to `in_vain`.
std::vector<std::vector<ClassId>> map_denials(const std::vector<std::string>& denials,
                                              const Reconciliation& reconciliation,
                                              const std::vector<std::string>& known_labels,
                                              std::vector<std::string>& classes,
                                              std::vector<std::string>& in_vain) {
  ClassIndex index = index_of(classes);
  std::vector<std::vector<ClassId>> map;
  for (const std::string& denied : denials) {
    auto& ids = map.emplace_back();
    for (const auto& name : names_of(denied, reconciliation, index, known_labels)) {
      const bool is_known =
          std::ranges::find(known_labels, normal(name), normal) != known_labels.end();
      const auto [at, is_new] =
          index.try_emplace(normal(name), static_cast<ClassId>(classes.size()));
      if (is_new && !is_known) {
        index.erase(at);
        continue;
      }
      if (is_new) classes.push_back(name);
      ids.push_back(at->second);
    }
    if (ids.empty()) in_vain.push_back(denied);
  }
  return map;
}

// Sorted, each once.
std::vector<ClassId> mapped(std::span<const ClassId> ids,
                            const std::vector<std::vector<ClassId>>& map) {
  std::vector<ClassId> all;
  for (const ClassId id : ids) all.insert(all.end(), map[id].begin(), map[id].end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

MixedSample global_sample(const Dataset& dataset, std::size_t i) {
  const auto labels = dataset.labels(i);
  MixedSample sample{{Source::kGlobal, i}, dataset.digest(i), {labels.begin(), labels.end()}};
  sample.scene = dataset.scene(i);
  sample.described = dataset.is_described(i);
  return sample;
}

// The local samples of a split.
std::vector<MixedSample> local_samples(const Dataset& dataset, Split split,
                                       const std::vector<std::vector<ClassId>>& map,
                                       const std::vector<std::vector<ClassId>>& denials) {
  std::vector<MixedSample> samples;
  for (const std::size_t i : samples_of(dataset, split)) {
    MixedSample sample{{Source::kLocal, i}, dataset.digest(i), mapped(dataset.labels(i), map)};
    sample.scene = dataset.scene(i);
    sample.denied = mapped(dataset.denied(i), denials);
    std::erase_if(sample.denied,
                  [&](ClassId k) { return std::ranges::binary_search(sample.labels, k); });
    if (dataset.labels(i).empty() && sample.denied.empty()) continue;
    samples.push_back(std::move(sample));
  }
  return samples;
}

void pass_over_held_out(Mix& result) {
  std::unordered_set<Digest> held_out;
  for (const auto& sample : result.global_validation) held_out.insert(sample.digest);
  for (const auto& sample : result.local_validation) held_out.insert(sample.digest);
  result.also_held_out = std::erase_if(
      result.train, [&](const MixedSample& sample) { return held_out.contains(sample.digest); });
}

void pass_over_trained_scenes(Mix& result) {
  std::unordered_set<std::int64_t> trained;
  for (const auto& sample : result.train)
    if (!sample.is_global() && sample.scene != kOwnScene) trained.insert(sample.scene);
  result.also_trained = std::erase_if(result.local_validation, [&](const MixedSample& sample) {
    return trained.contains(sample.scene);
  });
}

}  // namespace

std::set<ClassId> labels_of(const Mix& mix, Source source) {
  std::set<ClassId> labels;
  for (const auto* list : {&mix.train, &mix.global_validation, &mix.local_validation})
    for (const MixedSample& s : *list)
      if (s.ref.source == source) labels.insert(s.labels.begin(), s.labels.end());
  return labels;
}

Mix mix(const Dataset& global, const Dataset& local, const Reconciliation& reconciliation,
        double alpha, std::uint64_t seed, const Digests& unreadable, const MixOptions& options) {
  Mix result;
  result.classes = global.classes();
  result.global_classes = result.classes.size();
  const auto map = map_classes(local.classes(), classes_in_use(local, unreadable), reconciliation,
                               options.known_labels, result.classes);
  const auto denials = map_denials(local.denials(), reconciliation, options.known_labels,
                                   result.classes, result.denied_in_vain);
  for (const std::size_t i :
       sample_training(global, alpha, seed, options.limit, options.labels_are_numbers)) {
    result.train.push_back(global_sample(global, i));
  }
  for (MixedSample& sample : local_samples(local, Split::kTrain, map, denials)) {
    result.train.push_back(std::move(sample));
  }
  for (const std::size_t i : samples_of(global, Split::kValidation)) {
    result.global_validation.push_back(global_sample(global, i));
  }
  result.local_validation = local_samples(local, Split::kValidation, map, denials);
  for (auto* list : {&result.train, &result.global_validation, &result.local_validation}) {
    std::erase_if(*list,
                  [&](const MixedSample& sample) { return unreadable.contains(sample.digest); });
  }
  pass_over_held_out(result);
  pass_over_trained_scenes(result);
  return result;
}

}  // namespace moil::data
