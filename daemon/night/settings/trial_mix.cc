#include "daemon/night/settings/trial_mix.h"

#include <algorithm>
#include <map>
#include <set>

#include "datasets/sampling/per_class.h"
#include "datasets/sampling/scenes.h"

namespace moil::night {
namespace {

using data::MixedSample;
using Samples = std::vector<MixedSample>;

constexpr double kHeldOut = 0.25;
// What trials look at, at most: a choice needs no more, and a night has little time for it.
constexpr std::size_t kMostLocal = 1000, kMostGlobal = 1000;
constexpr std::size_t kFewestHeldOut = 8;  // of local samples: fewer tell nothing

// At most so many, of all of them alike, in their order.
Samples thinned(const Samples& samples, std::size_t most, std::uint64_t seed) {
  if (samples.size() <= most) return samples;
  const double share = static_cast<double>(most) / static_cast<double>(samples.size());
  Samples kept;
  for (const std::size_t i : data::sample_over_all(samples.size(), share, seed))
    kept.push_back(samples[i]);
  return kept;
}

// The places of the latest scenes of each label, until they hold a quarter of its samples. What is
// less than a sample of one label counts for the next. The scene of a label's first sample stays
// for training.
std::set<std::size_t> latest_scenes(const Samples& local, bool by_label) {
  const std::vector<std::size_t> scene = data::scene_groups(local);
  // By what they are, or, if nobody says, by what they are not.
  std::map<std::pair<bool, data::ClassId>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < local.size(); ++i) {
    const MixedSample& s = local[i];
    const bool is = !s.labels.empty();
    groups[by_label ? std::pair(!is, (is ? s.labels : s.denied).front()) : std::pair(false, 0U)]
        .push_back(i);
  }
  std::set<std::size_t> scenes;
  double owed = 0;
  for (const auto& [label, places] : groups) {
    owed += kHeldOut * static_cast<double>(places.size());
    const std::size_t wanted = std::min(static_cast<std::size_t>(owed), places.size() / 2);
    owed = std::min(1.0, owed - static_cast<double>(wanted));
    for (std::size_t n = 0; n < wanted; ++n) scenes.insert(scene[places[places.size() - 1 - n]]);
  }
  for (const auto& [label, places] : groups) scenes.erase(scene[places.front()]);
  std::set<std::size_t> held_out;
  for (std::size_t i = 0; i < local.size(); ++i)
    if (scenes.contains(scene[i])) held_out.insert(i);
  return held_out;
}

}  // namespace

data::Mix trial_mix(const data::Mix& mix, bool by_label, std::uint64_t seed,
                    const Samples& untrained) {
  Samples global, local;
  for (const MixedSample& s : mix.train) (s.is_global() ? global : local).push_back(s);
  std::ranges::stable_sort(local, {}, [](const MixedSample& s) { return s.ref.index; });
  const std::set<std::size_t> latest = latest_scenes(local, by_label);
  Samples local_train, local_held, global_train, global_held;
  for (std::size_t i = 0; i < local.size(); ++i)
    (latest.contains(i) ? local_held : local_train).push_back(local[i]);
  global_held = untrained;
  const auto drawn = data::sample_over_all(global.size(), kHeldOut, seed);
  const std::set<std::size_t> kept_back(drawn.begin(), drawn.end());
  for (std::size_t i = 0; i < global.size(); ++i)
    (kept_back.contains(i) ? global_held : global_train).push_back(global[i]);
  data::Mix trial;
  trial.classes = mix.classes;
  trial.global_classes = mix.global_classes;
  if (local_held.size() < kFewestHeldOut) return trial;
  trial.train = thinned(global_train, kMostGlobal, seed);
  for (MixedSample& s : thinned(local_train, kMostLocal, seed)) trial.train.push_back(std::move(s));
  trial.global_validation = thinned(global_held, kMostTrialsHoldOut, seed);
  trial.local_validation = thinned(local_held, kMostTrialsHoldOut, seed);
  return trial;
}

}  // namespace moil::night
