// D_M = D_L + SamplePerClass(D_G, alpha): the samples of one night, in one class space.
//
// Classes: the global ones in their order, then the local labels that are new, sorted by name (the
// classifier grows by rows at its end). A local label becomes the global labels that the
// reconciliation map gives for it; without an entry, the global class of the same name; else a new
// class. What an entry names is a global class or a label that the model knows (which then is new
// to the mix); else kInvalidArgument.
//
// What a local sample is said not to be (Dataset::denied) becomes classes in the same way, but none
// that is new: what is no class and no label of the model is passed over, and so is a denial that
// the sample's labels contradict. A sample that is left with neither is no sample of the mix.
//
// Names are the same if their normal forms are equal (labels/text.h).
//
// No sample that is held out, on either side, is trained on: a training sample whose content is
// also held out is passed over and counted. No local scene lies on both sides: a sample held out of
// which the like is trained on is passed over and counted. Samples that cannot be read are named to
// the function and are not in the mix; the others are those that would be there with them. A new
// label all of whose samples they are is no class. The mix depends on nothing but its arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "datasets/labels/label_types.h"
#include "datasets/samples/dataset.h"

namespace moil::data {

enum class Source : std::uint8_t { kGlobal = 0, kLocal = 1 };

// Where a sample of the mix is to be read from.
struct SampleRef {
  Source source = Source::kGlobal;
  std::size_t index = 0;  // in that dataset
  bool operator==(const SampleRef&) const = default;
};

struct MixedSample {
  SampleRef ref;
  Digest digest;
  std::vector<ClassId> labels;     // in the classes of the mix, sorted; none if it has denied alone
  std::uint32_t parts = 1;         // that a network sees one after the other (kinds/kind.h)
  std::int64_t scene = kOwnScene;  // samples of one source that share it look alike (scenes.h)
  // Parts without a signal (Kind::signal), in order; empty if it was not asked.
  std::vector<std::uint32_t> silent = {};
  bool described = false;            // Dataset::is_described()
  std::vector<ClassId> denied = {};  // what it is not, sorted; none of its labels

  // Nothing else is known of it.
  [[nodiscard]] bool is_denied_alone() const { return labels.empty() && !denied.empty(); }
  [[nodiscard]] bool is_global() const { return ref.source == Source::kGlobal; }
  [[nodiscard]] bool is_silent(std::uint32_t part) const {
    return part >= parts || std::ranges::binary_search(silent, part);
  }
  [[nodiscard]] bool has_signal() const { return silent.size() < parts; }
  // Parts that are shown and asked: those with a signal; if none has one, all.
  [[nodiscard]] std::uint32_t shown_parts() const {
    const auto quiet = static_cast<std::uint32_t>(silent.size());
    return quiet < parts ? parts - quiet : parts;
  }
  // The part that is the n-th of them.
  [[nodiscard]] std::uint32_t shown_part(std::uint32_t n) const {
    if (silent.size() >= parts) return n;
    for (const std::uint32_t quiet : silent)
      if (quiet <= n) ++n;
    return n;
  }
};

struct Mix {
  std::vector<std::string> classes;
  std::size_t global_classes = 0;  // the first of them; global samples lack the others
  std::vector<MixedSample> train;  // global samples, then local ones
  std::vector<MixedSample> global_validation;
  std::vector<MixedSample> local_validation;
  bool global_is_answered = false;  // global labels are a model's own answers (PackTargets)
  std::size_t also_held_out = 0;    // training samples that were passed over for it
  std::size_t also_trained = 0;     // samples held out that were passed over for their scene
  // What samples are said not to be, and no class is: by local name, sorted.
  std::vector<std::string> denied_in_vain = {};
};

// The labels that some sample of the source has.
[[nodiscard]] std::set<ClassId> labels_of(const Mix& mix, Source source);

struct MixOptions {
  std::optional<std::size_t> limit = {};       // of the global samples that are trained on
  std::vector<std::string> known_labels = {};  // of the model
  bool labels_are_numbers = false;             // and no classes: global samples are drawn over all
};

[[nodiscard]] Mix mix(const Dataset& global, const Dataset& local,
                      const Reconciliation& reconciliation, double alpha, std::uint64_t seed,
                      const std::unordered_set<Digest>& unreadable = {},
                      const MixOptions& options = {});

}  // namespace moil::data
