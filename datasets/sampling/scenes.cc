#include "datasets/sampling/scenes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace moil::data {
namespace {

struct Scene {
  std::size_t samples = 0;
  std::map<ClassId, std::size_t> labels;  // how many samples carry each
};

std::vector<Scene> scenes_of(std::span<const MixedSample> samples,
                             std::span<const std::size_t> groups) {
  std::vector<Scene> scenes;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (groups[i] == scenes.size()) scenes.emplace_back();
    Scene& scene = scenes[groups[i]];
    ++scene.samples;
    for (const ClassId label : samples[i].labels) ++scene.labels[label];
  }
  return scenes;
}

// The largest first, for the small ones even out what these leave; among equals by the seed.
std::vector<std::size_t> placing_order(std::span<const Scene> scenes, std::uint64_t seed) {
  std::vector<std::size_t> order(scenes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(derive_seed(seed, "folds"));
  random.shuffle(std::span(order));
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t s) { return scenes[s].samples; });
  return order;
}

class Folds {
 public:
  Folds(std::size_t count, std::span<const Scene> scenes) : samples_(count), labels_(count) {
    for (const Scene& scene : scenes)
      for (const auto& [label, n] : scene.labels) all_[label] += static_cast<double>(n);
  }

  // Where least of the scene's labels lies, each label by its share; then where least lies at all.
  std::size_t place(const Scene& scene) {
    std::size_t best = 0;
    std::pair best_cost(load(0, scene), samples_[0]);
    for (std::size_t fold = 1; fold < samples_.size(); ++fold) {
      const std::pair cost(load(fold, scene), samples_[fold]);
      if (cost < best_cost) best = fold, best_cost = cost;
    }
    samples_[best] += scene.samples;
    for (const auto& [label, n] : scene.labels) labels_[best][label] += n;
    return best;
  }

 private:
  double load(std::size_t fold, const Scene& scene) const {
    double load = 0;
    for (const auto& [label, n] : scene.labels) {
      const auto there = labels_[fold].find(label);
      if (there == labels_[fold].end()) continue;
      load += static_cast<double>(n) * static_cast<double>(there->second) / all_.at(label);
    }
    return load;
  }

  std::vector<std::size_t> samples_;
  std::vector<std::map<ClassId, std::size_t>> labels_;
  std::map<ClassId, double> all_;
};

}  // namespace

std::vector<std::size_t> scene_groups(std::span<const MixedSample> samples) {
  std::map<std::pair<Source, std::int64_t>, std::size_t> known;
  std::vector<std::size_t> groups;
  std::size_t count = 0;
  for (const MixedSample& sample : samples) {
    if (sample.scene == kOwnScene) {
      groups.push_back(count++);
      continue;
    }
    const auto [at, is_new] = known.emplace(std::pair(sample.ref.source, sample.scene), count);
    count += is_new ? 1 : 0;
    groups.push_back(at->second);
  }
  return groups;
}

std::vector<std::size_t> folds_by_scene(std::span<const MixedSample> samples, std::size_t folds,
                                        std::uint64_t seed) {
  if (folds < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(folds) + " folds hold nothing out, expected 2 or more");
  }
  const auto groups = scene_groups(samples);
  const auto scenes = scenes_of(samples, groups);
  Folds placed(folds, scenes);
  std::vector<std::size_t> of_scene(scenes.size());
  for (const std::size_t s : placing_order(scenes, seed)) of_scene[s] = placed.place(scenes[s]);
  std::vector<std::size_t> of_sample;
  for (const std::size_t group : groups) of_sample.push_back(of_scene[group]);
  return of_sample;
}

}  // namespace moil::data
