// Which samples are of one scene: pieces of a recording with the recording itself, and those that
// look alike, as a bounded union.
//
// By content, the first digest first, a sample joins the scenes of those before it that it is alike
// to, the nearest first, and so brings them together; but no two samples that come together so
// differ in more than kWidestScene bits, so that a chain of samples, each like the next, does not
// join everything.
//
// What comes of it depends on the samples alone: on no order, and on no ids.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datasets/identity/digest.h"
#include "datasets/identity/likeness.h"

namespace moil::data {

struct SceneMember {
  std::int64_t id = 0;  // of the sample
  Digest digest;
  std::optional<Likeness> likeness;
  std::optional<Digest> recording;  // that it is a piece of
  std::int64_t scene = 0;           // that it has been of
};

// Every sample is in one; most are alone in theirs. Takes as long as comparing each with each.
[[nodiscard]] std::vector<std::vector<SceneMember>> divided_into_scenes(
    std::vector<SceneMember> samples);

}  // namespace moil::data
