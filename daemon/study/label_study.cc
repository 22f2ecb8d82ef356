#include "daemon/study/label_study.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "daemon/night/imprint/whitened_rows.h"
#include "daemon/study/label_doubts.h"
#include "daemon/study/labelled_features.h"
#include "daemon/study/name_likeness.h"
#include "daemon/study/useful_order.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/something_else.h"
#include "datasets/labels/text.h"
#include "datasets/readers/unlabelled_dataset.h"
#include "datasets/sampling/scenes.h"

namespace moil::night {
namespace {

// Which samples are in which fold: the same for the same samples.
constexpr std::uint64_t kFoldSeed = 1;

// As the user gave it; empty if it is not known.
std::string name_of(const data::LabelStore& store, const data::Digest& digest) {
  const auto sample = store.find(digest);
  return sample ? sample->name : "";
}

class Audit {
 public:
  explicit Audit(const StudiedModel& model)
      : width_(static_cast<std::size_t>(model.input.width)),
        store_(model.store),
        samples_(model.store, *model.model.kind),
        f_(model.features(samples_)) {}

  Json run(std::size_t limit) {
    Json unreadable = Json::array();
    for (const UnreadSample& sample : f_.unreadable) {
      Json entry = told(sample.sample);
      entry["why"] = sample.why;
      unreadable.push_back(std::move(entry));
    }
    Json reply = {{"samples", samples_.size()},
                  {"labels", samples_.classes().size()},
                  {"unreadable", std::move(unreadable)},
                  {"single", single()}};
    add_scenes(reply);
    add_wrong(reply, limit);
    return reply;
  }

 private:
  Json told(std::size_t sample) const {
    Json labels = Json::array();
    for (const data::ClassId k : samples_.labels(sample)) labels.push_back(samples_.classes()[k]);
    for (const data::ClassId k : samples_.denied(sample))
      labels.push_back(data::denial_of(samples_.denials()[k]));
    return {{"digest", samples_.digest(sample).hex()},
            {"name", name_of(store_, samples_.digest(sample))},
            {"labels", std::move(labels)},
            {"split", samples_.split(sample) == data::Split::kTrain ? "train" : "val"}};
  }

  Json single() const {
    std::vector<std::vector<std::size_t>> of(samples_.classes().size());
    for (std::size_t i = 0; i < samples_.size(); ++i)
      for (const data::ClassId k : samples_.labels(i)) of[k].push_back(i);
    Json found = Json::array();
    for (const auto& samples : of)
      if (samples.size() == 1) found.push_back(told(samples[0]));
    return found;
  }

  // Scenes of several samples that do not agree.
  void add_scenes(Json& reply) const {
    const auto groups = data::scene_groups(f_.mixed);
    std::map<std::size_t, std::vector<std::size_t>> scenes;
    for (std::size_t i = 0; i < groups.size(); ++i) scenes[groups[i]].push_back(i);
    reply["alike"] = Json::array();
    reply["both_sides"] = Json::array();
    for (const auto& [scene, samples] : scenes) {
      std::set<std::vector<data::ClassId>> labels;
      std::set<data::Split> sides;
      for (const std::size_t i : samples) {
        if (!samples_.labels(i).empty()) labels.insert(f_.mixed[i].labels);
        sides.insert(samples_.split(i));
      }
      if (labels.size() < 2 && sides.size() < 2) continue;
      Json list = Json::array();
      for (const std::size_t i : samples) list.push_back(told(i));
      if (labels.size() > 1) reply["alike"].push_back({{"samples", list}});
      if (sides.size() > 1) reply["both_sides"].push_back({{"samples", std::move(list)}});
    }
  }

  // Judges samples of one label that have a look in common, whose features are put in the order of
  // their folds.
  void add_wrong(Json& reply, std::size_t limit) {
    std::vector<std::size_t> chosen;
    std::vector<data::MixedSample> mixed;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (f_.mixed[i].labels.size() != 1 || !f_.is_readable(i)) continue;
      if (samples_.classes()[f_.mixed[i].labels[0]] == data::kSomethingElse) continue;
      chosen.push_back(i);
      mixed.push_back(f_.mixed[i]);
    }
    reply["judged"] = chosen.size();
    reply["wrong"] = Json::array();
    reply["wrong_count"] = 0;
    if (chosen.empty()) return;
    const auto folds = data::folds_by_scene(mixed, kFolds, kFoldSeed);
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return folds[i]; });
    std::vector<float> rows;
    std::vector<FoldedSample> folded;
    std::vector<std::uint32_t> labels;
    for (const std::size_t i : order) {
      const auto row = f_.rows.begin() + static_cast<std::ptrdiff_t>(chosen[i] * width_);
      rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(width_));
      labels.push_back(mixed[i].labels[0]);
      folded.push_back({labels.back(), folds[i]});
    }
    const std::size_t classes = samples_.classes().size();
    WhitenedRows whitened({width_, 0, classes, folded, rows});
    const auto doubts = label_doubts(whitened.left_out_scores(), labels, classes);
    reply["wrong_count"] = doubts.size();
    for (std::size_t d = 0; d < std::min(limit, doubts.size()); ++d) {
      Json entry = told(chosen[order[doubts[d].sample]]);
      entry["looks_like"] = samples_.classes()[doubts[d].said];
      entry["probability"] = doubts[d].probability;
      entry["own_probability"] = doubts[d].own;
      entry["likely"] = doubts[d].likely;
      reply["wrong"].push_back(std::move(entry));
    }
  }

  const std::size_t width_;
  const data::LabelStore& store_;
  const data::LabelDataset samples_;
  const FeatureRows f_;
};

// What the model says of the samples of each local label.
class Meanings {
 public:
  explicit Meanings(const StudiedModel& model)
      : model_(model), samples_(model.store, *model.model.kind) {
    std::set<std::string> local;
    for (const std::string& name : samples_.classes()) local.insert(data::normal(name));
    for (std::size_t k = 0; k < model.model.labels.size(); ++k)
      if (!local.contains(data::normal(model.model.labels[k]))) others_.push_back(k);
    sums_.assign(samples_.classes().size(), std::vector<double>(others_.size()));
    counts_.assign(sums_.size(), 0);
    std::vector<std::vector<float>> shares(samples_.size());
    SaidOfSamples said(model, [&](std::size_t sample, const std::vector<float>& chances) {
      shares[sample] = share_of_others(chances);
    });
    const FeatureRows read = model.features(
        samples_, [&](const auto& sample, auto part, auto row) { said.add(sample, part, row); });
    for (std::size_t i = 0; i < samples_.size(); ++i)
      if (read.is_readable(i)) add(i, shares[i]);
  }

  Json run() const {
    const data::Reconciliation mapped = model_.store.reconciliation();
    Json labels = Json::array();
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const std::string& name = samples_.classes()[k];
      if (name == data::kSomethingElse) continue;
      const auto entry = mapped.find(name);
      labels.push_back({{"label", name},
                        {"samples", counts_[k]},
                        {"mapped", entry == mapped.end() ? Json::array() : Json(entry->second)},
                        {"candidates", candidates(k)}});
    }
    return {{"labels", std::move(labels)}};
  }

 private:
  static constexpr std::size_t kMostCandidates = 5;
  static constexpr double kLeastChance = 0.1, kLeastLikeness = 0.5;

  // What each of the other labels gets of what they get together.
  std::vector<float> share_of_others(const std::vector<float>& chances) const {
    double all = 0;
    for (const std::size_t k : others_) all += double{chances[k]};
    std::vector<float> shares;
    for (const std::size_t k : others_)
      shares.push_back(all > 0 ? static_cast<float>(double{chances[k]} / all) : 0);
    return shares;
  }

  void add(std::size_t sample, const std::vector<float>& shares) {
    for (const data::ClassId label : samples_.labels(sample)) {
      ++counts_[label];
      for (std::size_t k = 0; k < shares.size(); ++k) sums_[label][k] += double{shares[k]};
    }
  }

  Json candidates(std::size_t label) const {
    struct Candidate {
      std::size_t other;
      double chance, likeness;
    };
    std::vector<Candidate> found;
    for (std::size_t k = 0; k < others_.size(); ++k) {
      const double chance =
          counts_[label] > 0 ? sums_[label][k] / static_cast<double>(counts_[label]) : 0;
      const double likeness =
          name_likeness(samples_.classes()[label], model_.model.labels[others_[k]]);
      if (chance >= kLeastChance || likeness >= kLeastLikeness)
        found.push_back({others_[k], chance, likeness});
    }
    std::ranges::stable_sort(found, std::ranges::greater{},
                             [](const Candidate& c) { return c.chance + c.likeness; });
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(kMostCandidates, found.size()); ++i)
      list.push_back({{"label", model_.model.labels[found[i].other]},
                      {"probability", found[i].chance},
                      {"name_likeness", found[i].likeness}});
    return list;
  }

  const StudiedModel& model_;
  const data::LabelDataset samples_;
  std::vector<std::size_t> others_;  // labels of the model that no local label is called
  std::vector<std::vector<double>> sums_;
  std::vector<std::size_t> counts_;
};

// The model's proposals for what nobody has labelled.
Json proposals(const StudiedModel& model, const std::vector<float>& chances) {
  constexpr std::size_t kMost = 3;
  std::vector<std::size_t> order(chances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t k) { return chances[k]; });
  Json list = Json::array();
  for (std::size_t k = 0; k < std::min(kMost, order.size()); ++k)
    list.push_back({{"label", model.model.labels[order[k]]}, {"probability", chances[order[k]]}});
  return list;
}

// 1 less how far the likeliest label is ahead.
double uncertainty_of(const Json& proposals) {
  const double first = proposals[0]["probability"].get<double>();
  return 1 - (proposals.size() > 1 ? first - proposals[1]["probability"].get<double>() : first);
}

class Suggestions {
 public:
  Suggestions(const StudiedModel& model, const StudyPortion& portion)
      : model_(model),
        portion_(portion),
        samples_(model.store, *model.model.kind),
        proposed_(samples_.size()) {
    SaidOfSamples said(model, [&](std::size_t sample, const std::vector<float>& chances) {
      proposed_[sample] = proposals(model, chances);
    });
    f_ = model.features(
        samples_, [&](const auto& sample, auto part, auto row) { said.add(sample, part, row); },
        [&](const UnreadableSamples& bad) { tell(bad); });
  }

  Json run(std::size_t limit) const {
    const auto width = static_cast<std::size_t>(model_.input.width);
    std::vector<std::size_t> chosen;
    std::vector<float> rows;
    std::vector<double> uncertainty;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (!f_.is_readable(i)) continue;
      const auto row = std::span(f_.rows).subspan(i * width, width);
      chosen.push_back(i);
      rows.insert(rows.end(), row.begin(), row.end());
      uncertainty.push_back(uncertainty_of(proposed_[i]));
    }
    Json list = Json::array();
    for (const std::size_t i : useful_order(uncertainty, rows, width, limit)) {
      Json entry = entry_of(chosen[i]);
      entry["name"] = name_of(model_.store, samples_.digest(chosen[i]));
      list.push_back(std::move(entry));
    }
    return {{"unlabelled", samples_.size()},
            {"tags", model_.model.task->name() == "tag"},
            {"suggestions", std::move(list)}};
  }

 private:
  static constexpr std::size_t kMostOfPortion = 32;  // fit into an event's line

  // All but its name, which who asks may know.
  Json entry_of(std::size_t sample) const {
    const Json& said = proposed_[sample];
    Json entry = {{"digest", samples_.digest(sample).hex()},
                  {"uncertainty", uncertainty_of(said)},
                  {"proposals", said}};
    if (const auto& calibration = model_.model.calibration) {
      const bool not_sure = said[0]["probability"].get<double>() < calibration->not_sure_below;
      entry["not_sure"] = not_sure;
      entry["something_else"] = not_sure || said[0]["label"] == data::kSomethingElse;
    }
    return entry;
  }

  void tell(const UnreadableSamples& bad) {
    if (!portion_) return;
    std::set<std::size_t> unreadable;
    for (const UnreadableSample& one : bad) unreadable.insert(one.sample->ref.index);
    Json list = Json::array();
    for (; told_ < proposed_.size() && !proposed_[told_].is_null(); ++told_) {
      if (unreadable.contains(told_)) continue;
      list.push_back(entry_of(told_));
      if (list.size() == kMostOfPortion) portion_(std::exchange(list, Json::array()));
    }
    if (!list.empty()) portion_(list);
  }

  const StudiedModel& model_;
  const StudyPortion& portion_;
  const data::UnlabelledDataset samples_;
  std::vector<Json> proposed_;  // null: not read yet
  std::size_t told_ = 0;        // samples before it
  FeatureRows f_;
};

}  // namespace

Json audit_labels(const daemon::StateLayout& layout, const daemon::JobFile& file, std::size_t limit,
                  const StudyProgress& progress) {
  const StudiedModel model(layout, file, progress);
  return Audit(model).run(limit);
}

Json suggest_labels(const daemon::StateLayout& layout, const daemon::JobFile& file,
                    std::size_t limit, const StudyProgress& progress, const StudyPortion& portion) {
  const StudiedModel model(layout, file, progress);
  return Suggestions(model, portion).run(limit);
}

Json meanings_of_labels(const daemon::StateLayout& layout, const daemon::JobFile& file,
                        const StudyProgress& progress) {
  const StudiedModel model(layout, file, progress);
  return Meanings(model).run();
}

}  // namespace moil::night
