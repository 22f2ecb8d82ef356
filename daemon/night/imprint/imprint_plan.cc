#include "daemon/night/imprint/imprint_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "daemon/night/imprint/imprint.h"
#include "daemon/night/maps/classifier_features.h"
#include "datasets/labels/text.h"
#include "datasets/sampling/scenes.h"

namespace moil::night {
namespace {

constexpr std::size_t kMostRows = 4096, kMostSilences = 16;

std::vector<data::ClassId> rows_of(const StoredModel& base, const data::Mix& mix,
                                   const daemon::JobSpec& spec, bool anew) {
  const auto is_in = [&](const std::vector<std::string>& labels, data::ClassId label) {
    return std::ranges::find(labels, base.labels[label]) != labels.end();
  };
  const auto is_wanted = [&](data::ClassId label) {
    if (label >= base.labels.size()) return true;
    return (spec.train.epochs == 0 && is_in(base.imprinted, label)) ||
           (anew && is_in(base.imprintable, label));
  };
  std::vector<data::ClassId> rows;
  for (const data::MixedSample& s : mix.train)
    if (!s.is_global() && s.labels.size() == 1 && s.has_signal() && is_wanted(s.labels[0]))
      rows.push_back(s.labels[0]);
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Behind all classes: samples that are said not to be of some new one.
constexpr data::ClassId kDenied = std::numeric_limits<data::ClassId>::max();

bool denies_one(const data::MixedSample& sample, const std::vector<data::ClassId>& rows) {
  return sample.is_denied_alone() && sample.has_signal() &&
         std::ranges::any_of(sample.denied, [&](data::ClassId label) {
           return std::ranges::binary_search(rows, label);
         });
}

// Takes at most so many feature rows of both sides, new labels and known ones: of new labels, and
// of what is none of them, in turn, of known samples at even distances.
class Choice {
 public:
  Choice(const data::Mix& mix, const std::vector<data::ClassId>& rows) : mix_(mix) {
    for (const data::ClassId row : rows) fresh_[row];
    for (std::size_t i = 0; i < mix.train.size(); ++i) {
      if (denies_one(mix.train[i], rows)) fresh_[kDenied].push_back(i);
      if (mix.train[i].labels.size() != 1) continue;
      const auto it = fresh_.find(mix.train[i].labels[0]);
      (it == fresh_.end() ? known_ : it->second).push_back(i);
    }
  }

  std::vector<std::size_t> samples(std::size_t most) {
    const std::size_t known = parts_of(known_);
    std::size_t fresh = 0;
    for (const auto& [label, of] : fresh_) fresh += parts_of(of);
    const std::size_t half = most / 2;
    take_fresh(known < half ? most - known : half);
    take_known(fresh < half ? most - fresh : half);
    std::ranges::sort(chosen_);
    return chosen_;
  }

 private:
  std::size_t parts_of(const std::vector<std::size_t>& samples) const {
    std::size_t parts = 0;
    for (const std::size_t i : samples) parts += mix_.train[i].parts;
    return parts;
  }

  void take_fresh(std::size_t room) {
    bool some = true;
    for (std::size_t turn = 0; some; ++turn) {
      some = false;
      for (const auto& [label, of] : fresh_) {
        if (turn >= of.size() || (turn > 0 && mix_.train[of[turn]].parts > room)) continue;
        chosen_.push_back(of[turn]);
        some = true;
        room -= std::min<std::size_t>(room, mix_.train[of[turn]].parts);
      }
    }
  }

  void take_known(std::size_t room) {
    const std::size_t all = parts_of(known_);
    const std::size_t step =
        std::max<std::size_t>(1, (all + room) / std::max<std::size_t>(1, room));
    for (std::size_t i = 0; i < known_.size(); i += all <= room ? 1 : step)
      chosen_.push_back(known_[i]);
  }

  const data::Mix& mix_;
  std::map<data::ClassId, std::vector<std::size_t>> fresh_;
  std::vector<std::size_t> known_, chosen_;
};

void choose_samples(ImprintPlan& plan, const data::Mix& mix, std::uint64_t seed) {
  const std::size_t fit =
      kMostImprintFeatures / (sizeof(float) * static_cast<std::size_t>(plan.input.width));
  plan.samples = Choice(mix, plan.rows).samples(std::clamp<std::size_t>(fit, 2, kMostRows));
  std::vector<data::MixedSample> chosen;
  for (const std::size_t i : plan.samples) chosen.push_back(mix.train[i]);
  const auto folds = data::folds_by_scene(chosen, kFolds, seed);
  std::vector<std::size_t> order(chosen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return folds[i]; });
  const auto before = plan.samples;
  std::vector<std::size_t> rows_of_fold(kFolds);
  for (std::size_t i = 0; i < order.size(); ++i) {
    plan.samples[i] = before[order[i]];
    plan.folds.push_back(folds[order[i]]);
    plan.feature_rows += chosen[order[i]].shown_parts();
    rows_of_fold[folds[order[i]]] += chosen[order[i]].shown_parts();
  }
  plan.largest_fold = std::ranges::max(rows_of_fold);
}

// Samples with a new label are shown as silence, too: their labels are told from it.
void choose_silences(ImprintPlan& plan, const data::Mix& mix) {
  for (const std::size_t i : plan.samples) {
    if (plan.silences.size() == kMostSilences) break;
    if (!mix.train[i].is_global()) plan.silences.push_back(i);
  }
  plan.feature_rows += plan.silences.size();
  plan.largest_fold = std::max(plan.largest_fold, plan.silences.size());
}

bool has_layer(const ModelDescription& model, const std::string& name) {
  return std::ranges::find(model.layers, name, &LayerDescription::name) != model.layers.end();
}

}  // namespace

std::optional<ImprintPlan> plan_imprint(const StoredModel& base, const ModelDescription& head,
                                        const data::Mix& mix, const daemon::JobSpec& spec,
                                        bool anew) {
  if (!base.task->outputs_are_labels()) return std::nullopt;
  ImprintPlan plan;
  plan.rows = rows_of(base, mix, spec, anew);
  if (plan.rows.empty() || !has_layer(head, find_classifier(base.description))) return std::nullopt;
  const auto input = classifier_input(head);
  if (!input) return std::nullopt;
  plan.input = *input;
  plan.front = front_of(head, plan.input);
  choose_samples(plan, mix, spec.seed);
  if (base.kind->has_silence()) choose_silences(plan, mix);
  const auto width = static_cast<std::size_t>(plan.input.width);
  const std::size_t known = mix.classes.size() - plan.rows.size();
  plan.bytes = imprint_bytes(plan.feature_rows, width, known, plan.rows.size(), plan.largest_fold) +
               sizeof(float) * width * (plan.feature_rows + 2 * mix.classes.size());
  return plan;
}

}  // namespace moil::night
