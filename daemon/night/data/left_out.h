// Samples of the mix that cannot be read: the night does without them, and names them in its
// report.
//
// They are kept with the mix, so that a resumed night leaves out the same.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "daemon/json/fields.h"
#include "daemon/night/data/sample_view.h"

namespace moil::night {

struct LeftOutSample {
  data::Digest digest;
  std::string name;  // of the file, as the user gave it, or of the pack's member
  std::vector<std::string> labels;
  data::Source source = data::Source::kLocal;
  bool held_out = false;
  std::string why;
};

using LeftOut = std::vector<LeftOutSample>;

// What was found, in the words that the user knows. Held out are the samples that lie in one of the
// mix's held-out lists.
[[nodiscard]] LeftOut left_out_of(const UnreadableSamples& unreadable, const data::Mix& mix,
                                  const data::Dataset& global, const data::Dataset& local);

[[nodiscard]] std::unordered_set<data::Digest> digests_of(const LeftOut& left_out);

// The first `most` as in the report (docs/protocol.md, job.get).
[[nodiscard]] Json to_json(const LeftOut& left_out, std::size_t most = SIZE_MAX);
[[nodiscard]] LeftOut left_out_from_json(const Json& json);

// kInvalidArgument, with names, if nothing to train on is left of one of the datasets because
// none of its samples can be read. `mix`: without them.
void require_enough(const data::Mix& mix, const LeftOut& left_out);

}  // namespace moil::night
