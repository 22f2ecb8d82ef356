// Which samples are of one scene: those that look alike, as a bounded union.
//
// A sample joins the scenes of those that it is alike to, the nearest first, and so brings them
// together; but no two samples of a scene differ in more than kWidestScene bits, so that a chain of
// samples, each like the next, does not join everything.
//
// What comes of it depends on what the samples look like and on their order alone, not on their ids
// (but for the scenes' names). One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "datasets/identity/likeness.h"

namespace moil::data {

struct SceneMember {
  std::int64_t id = 0;  // of the sample
  Likeness likeness;
  std::int64_t scene = 0;  // the id of one of its samples; 0: of its own
};

class SceneBook {
 public:
  explicit SceneBook(std::vector<SceneMember> known);

  // A sample that is not known yet. Takes as long as comparing it with all others.
  void add(const SceneMember& sample);

  // The new scene of each sample whose scene has changed.
  [[nodiscard]] const std::map<std::int64_t, std::int64_t>& changes() const { return changes_; }

 private:
  [[nodiscard]] std::vector<std::size_t> scene_of(std::size_t member) const;
  [[nodiscard]] bool are_near(std::span<const std::size_t> a, std::span<const std::size_t> b) const;
  void join(std::size_t member, std::size_t other);
  void move(std::span<const std::size_t> members, std::int64_t scene);

  std::vector<SceneMember> members_;
  std::map<std::int64_t, std::vector<std::size_t>> scenes_;  // those of several samples
  std::map<std::int64_t, std::int64_t> changes_;
};

}  // namespace moil::data
