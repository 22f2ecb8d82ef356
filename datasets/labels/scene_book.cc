#include "datasets/labels/scene_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace moil::data {

SceneBook::SceneBook(std::vector<SceneMember> known) : members_(std::move(known)) {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].scene != 0) scenes_[members_[i].scene].push_back(i);
}

void SceneBook::add(const SceneMember& sample) {
  // The nearest first; among those as near, by what they look like.
  std::vector<std::tuple<int, std::uint64_t, std::uint64_t, std::size_t>> alike;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Likeness& other = members_[i].likeness;
    if (look_alike(other, sample.likeness))
      alike.emplace_back(distance(other, sample.likeness), other.across, other.down, i);
  }
  std::ranges::sort(alike);
  members_.push_back(sample);
  if (sample.scene != 0) scenes_[sample.scene].push_back(members_.size() - 1);
  for (const auto& [apart, across, down, other] : alike) join(members_.size() - 1, other);
}

std::vector<std::size_t> SceneBook::scene_of(std::size_t member) const {
  const std::int64_t scene = members_[member].scene;
  return scene == 0 ? std::vector{member} : scenes_.at(scene);
}

bool SceneBook::are_near(std::span<const std::size_t> a, std::span<const std::size_t> b) const {
  return std::ranges::all_of(a, [&](std::size_t i) {
    return std::ranges::all_of(b, [&](std::size_t j) {
      return distance(members_[i].likeness, members_[j].likeness) <= kWidestScene;
    });
  });
}

// The older scene keeps its name.
void SceneBook::join(std::size_t member, std::size_t other) {
  std::int64_t ours = members_[member].scene, theirs = members_[other].scene;
  if (ours != 0 && ours == theirs) return;
  const auto ones = scene_of(member), others = scene_of(other);
  if (!are_near(ones, others)) return;
  if (ours == 0 && theirs == 0) {
    theirs = std::min(members_[member].id, members_[other].id);
  } else if (theirs == 0 || (ours != 0 && ours < theirs)) {
    std::swap(ours, theirs);
  }
  if (ours != 0) scenes_.erase(ours);
  move(ones, theirs);
  move(others, theirs);
}

void SceneBook::move(std::span<const std::size_t> members, std::int64_t scene) {
  for (const std::size_t i : members) {
    if (members_[i].scene == scene) continue;
    members_[i].scene = scene;
    scenes_[scene].push_back(i);
    changes_[members_[i].id] = scene;
  }
}

}  // namespace moil::data
