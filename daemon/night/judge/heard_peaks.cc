#include "daemon/night/judge/heard_peaks.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "base/random.h"
#include "daemon/models/part_network.h"
#include "daemon/models/smoothed_answers.h"
#include "daemon/night/data/decoding.h"
#include "daemon/night/data/mix_targets.h"
#include "datasets/labels/something_else.h"
#include "datasets/sounds/sound_bytes.h"
#include "datasets/sounds/sound_margins.h"
#include "engine/model/work.h"

namespace moil::night {
namespace {

// Multiply-adds: half a minute of two cores.
constexpr double kMostWork = 4e11;
constexpr double kMostParts = 20'000;

using HeardOrder = std::vector<const data::MixedSample*>;

void append_drawn(HeardOrder& order, const std::vector<data::MixedSample>& samples) {
  HeardOrder some;
  for (const data::MixedSample& s : samples) some.push_back(&s);
  Random random(1);
  random.shuffle(std::span(some));
  order.insert(order.end(), some.begin(), some.end());
}

double parts_allowed(const ModelDescription& model) {
  double work = 0;
  for (const double of_node : multiply_adds(build_graph(model, 1))) work += of_node;
  return std::min(kMostParts, kMostWork / std::max(1.0, work));
}

class Ears {
 public:
  Ears(ModelBundle version, const data::Mix& mix, const Origins& origins)
      : mix_(mix),
        origins_(origins),
        parts_left_(parts_allowed(version.description)),
        targets_(*version.task, mix, version.labels.size()),
        target_(version.labels.size()),
        model_(listening(std::move(version))),
        answers_(model_.labels().size(), model_.kind().endless_places()) {
    for (const data::ClassId label : data::labels_of(mix, data::Source::kLocal))
      if (label < target_.size() && mix.classes.at(label) != data::kSomethingElse)
        labels_[label] = {};
  }

  bool has_time() const { return parts_left_ > 0; }

  void hear(const data::MixedSample& sample) {
    const data::SampleDataset& files = *files_of(origins_, sample.ref.source);
    const std::size_t index = sample.ref.index;
    try {
      std::optional<DecodingRoom::Place> place;
      take_place(model_.kind(), files, index, origins_.room, place);
      look_at(sample, files.encoded(index), files.name(index));
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kBadData && e.code() != ErrorCode::kNotFound) throw;
    }
    model_.maker().release();
  }

  ListeningLevels take() {
    ListeningLevels levels;
    for (auto& [label, peaks] : labels_)
      if (peaks.tells()) levels[mix_.classes.at(label)] = peaks.take();
    return levels;
  }

 private:
  static ModelBundle listening(ModelBundle version) {
    version.kind = as_listened(*version.kind);
    return version;
  }

  // Of each label the highest probability of each stretch as long as a part.
  using Stretches = std::map<data::ClassId, std::vector<float>>;

  data::SampleParts parts_of(const std::vector<std::uint8_t>& bytes,
                             const std::string& name) const {
    return model_.kind().parts_of(std::make_shared<data::SoundBytesInMemory>(bytes), name);
  }

  // What is shorter than a part is heard in passing: parts see it come and go.
  void look_at(const data::MixedSample& sample, std::vector<std::uint8_t> bytes,
               const std::string& name) {
    auto [count, places] = parts_of(bytes, name);
    if (places.hop == 0) {
      bytes = data::with_margins(bytes, name, model_.kind().endless_places().length);
      count = parts_of(bytes, name).count;
    }
    model_.maker().load(bytes, name);
    look_at_parts(sample, count, places);
  }

  void look_at_parts(const data::MixedSample& sample, std::uint32_t count,
                     const data::PartPlaces& places) {
    Stretches found;
    answers_.begin_anew();
    model_.each_part(sample.digest, count, [&](std::uint32_t part) {
      if (!model_.maker().has_signal()) return answers_.add_silence();
      --parts_left_;
      const double begin = part * places.hop;
      note(static_cast<std::size_t>(begin / places.length),
           answers_.add(model_.answer_of(model_.output())), found);
    });
    keep(sample, places.end, found);
  }

  void note(std::size_t stretch, std::span<const float> answer, Stretches& found) const {
    for (const auto& [label, peaks] : labels_) {
      std::vector<float>& of_label = found[label];
      if (of_label.size() <= stretch) of_label.resize(stretch + 1, 0.0F);
      of_label[stretch] = std::max(of_label[stretch], answer[label]);
    }
  }

  void keep(const data::MixedSample& sample, double seconds, const Stretches& found) {
    targets_.write(sample, target_);
    for (auto& [label, peaks] : labels_) {
      const auto at = found.find(label);
      if (at == found.end()) continue;
      if (std::ranges::find(sample.labels, label) != sample.labels.end())
        peaks.add_spoken(*std::ranges::max_element(at->second));
      else if (target_[label] == 0)
        peaks.add_peaks(at->second, seconds);
    }
  }

  const data::Mix& mix_;
  const Origins& origins_;
  double parts_left_;
  const MixTargets targets_;
  std::vector<float> target_;
  PartNetwork model_;
  SmoothedAnswers answers_;
  std::map<data::ClassId, PeakCollector> labels_;
};

}  // namespace

ListeningLevels heard_peaks(
    ModelBundle version, const data::Mix& mix, const Origins& origins,
    const std::function<void(std::int64_t done, std::int64_t total)>& progress) {
  HeardOrder samples;
  append_drawn(samples, mix.local_validation);
  if (origins.global_samples != nullptr) append_drawn(samples, mix.global_validation);
  Ears ears(std::move(version), mix, origins);
  const auto total = static_cast<std::int64_t>(samples.size());
  for (std::int64_t done = 0; done < total && ears.has_time(); ++done) {
    ears.hear(*samples[static_cast<std::size_t>(done)]);
    progress(done + 1, total);
  }
  progress(total, total);
  return ears.take();
}

}  // namespace moil::night
