#include "datasets/labels/scene_division.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace moil::data {
namespace {

// Samples are meant by their places among `samples`, which are sorted by content; scenes by one of
// theirs.
class SceneDivision {
 public:
  explicit SceneDivision(std::vector<SceneMember> samples) : samples_(std::move(samples)) {
    std::ranges::sort(samples_, {}, &SceneMember::digest);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      scene_.push_back(i);
      members_.push_back({i});
    }
  }

  void join_recordings() {
    std::map<Digest, std::size_t> first;  // with it, or of it
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      join(i, first.emplace(samples_[i].digest, i).first->second);
      if (const auto& recording = samples_[i].recording)
        join(i, first.emplace(*recording, i).first->second);
    }
  }

  void join_alike() {
    for (std::size_t i = 0; i < samples_.size(); ++i)
      for (const std::size_t other : nearest_before(i))
        if (scene_[i] != scene_[other] && are_near(scene_[i], scene_[other])) join(i, other);
  }

  std::vector<std::vector<SceneMember>> scenes() const {
    std::vector<std::vector<SceneMember>> found;
    for (const auto& members : members_) {
      if (members.empty()) continue;
      found.emplace_back();
      for (const std::size_t i : members) found.back().push_back(samples_[i]);
    }
    return found;
  }

 private:
  // One sample of each other scene, its nearest, the nearest of all first; among those as near, by
  // what they look like.
  std::vector<std::size_t> nearest_before(std::size_t sample) const {
    if (!samples_[sample].likeness) return {};
    const Likeness own = *samples_[sample].likeness;
    using Rank = std::tuple<int, std::uint64_t, std::uint64_t, std::size_t>;
    std::map<std::size_t, Rank> nearest;  // by scene
    for (std::size_t i = 0; i < sample; ++i) {
      if (scene_[i] == scene_[sample] || !samples_[i].likeness) continue;
      const Likeness& other = *samples_[i].likeness;
      if (!look_alike(other, own)) continue;
      const Rank rank{distance(other, own), other.across, other.down, i};
      const auto [at, is_first] = nearest.emplace(scene_[i], rank);
      if (!is_first) at->second = std::min(at->second, rank);
    }
    std::vector<Rank> ranks;
    for (const auto& [scene, rank] : nearest) ranks.push_back(rank);
    std::ranges::sort(ranks);
    std::vector<std::size_t> found;
    for (const Rank& rank : ranks) found.push_back(std::get<3>(rank));
    return found;
  }

  bool are_near(std::size_t a, std::size_t b) const {
    return std::ranges::all_of(members_[a], [&](std::size_t i) {
      const auto& one = samples_[i].likeness;
      return !one || std::ranges::all_of(members_[b], [&](std::size_t j) {
        const auto& other = samples_[j].likeness;
        return !other || distance(*one, *other) <= kWidestScene;
      });
    });
  }

  void join(std::size_t sample, std::size_t other) {
    std::size_t into = scene_[sample], from = scene_[other];
    if (into == from) return;
    if (members_[into].size() < members_[from].size()) std::swap(into, from);
    for (const std::size_t i : members_[from]) {
      scene_[i] = into;
      members_[into].push_back(i);
    }
    members_[from].clear();
  }

  std::vector<SceneMember> samples_;
  std::vector<std::size_t> scene_;                 // of each sample
  std::vector<std::vector<std::size_t>> members_;  // of each scene
};

}  // namespace

std::vector<std::vector<SceneMember>> divided_into_scenes(std::vector<SceneMember> samples) {
  SceneDivision division(std::move(samples));
  division.join_recordings();
  division.join_alike();
  return division.scenes();
}

}  // namespace moil::data
