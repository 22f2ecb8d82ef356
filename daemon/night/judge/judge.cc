#include "daemon/night/judge/judge.h"

#include <algorithm>
#include <map>

#include "base/json/json.h"
#include "daemon/models/part_answers.h"
#include "daemon/night/data/mix_record.h"
#include "daemon/night/judge/local_scorer.h"
#include "daemon/night/maps/head_network.h"

namespace moil::night {
namespace {

constexpr const char* kOneOfSeveral = "softmax_cross_entropy";

bool says(const std::vector<std::uint32_t>& said, data::ClassId label) {
  return std::ranges::find(said, label) != said.end();
}

class Judging {
 public:
  Judging(const JudgedHead& judged, const data::Mix& mix, FeatureReader& reader,
          KernelSelector& kernels)
      : task_(judged.task), mix_(mix), reader_(reader), head_(judged.head, kernels) {
    head_.allocate(judged.weights);
    const auto outputs = head_.network().output_info(0).dims.elements_per_sample();
    targets_ = std::make_unique<MixTargets>(task_, mix, static_cast<std::size_t>(outputs));
    calibrates_ = judged.calibrates && task_.outputs_are_labels() &&
                  task_.loss(judged.head).type == kOneOfSeveral;
  }

  Judgement run() {
    Judgement found;
    const auto global = task_.scorer(head_.form());
    LocalScorer local(task_, head_.form(), mix_.local_validation);
    each_of(mix_.global_validation, [&](std::int64_t sample, auto output, auto target) {
      global->add(output, target);
      count(found.global_right, mix_.global_validation, sample, task_.said(output, head_.form()));
      // What it answered once tells nothing of how often it is right.
      if (!mix_.global_is_answered)
        calibrate(Calibrator::Side::kGlobal, mix_.global_validation, sample, output);
      local.add_global(output, target);
    });
    each_of(mix_.local_validation, [&](std::int64_t sample, auto output, auto target) {
      local.add_local(output, target);
      if (task_.teaches_itself()) return;
      found.local_said.push_back(task_.said(output, head_.form()));
      count(found.local_right, mix_.local_validation, sample, found.local_said.back());
      calibrate(Calibrator::Side::kLocal, mix_.local_validation, sample, output);
    });
    if (!mix_.global_validation.empty()) found.global = global->scores();
    if (!mix_.local_validation.empty()) found.local = local.scorer().scores();
    if (calibrates_) found.calibration = calibrator_.result();
    return found;
  }

 private:
  void count(std::map<data::ClassId, Right>& of, const std::vector<data::MixedSample>& samples,
             std::int64_t sample, const std::vector<std::uint32_t>& said) const {
    if (!task_.outputs_are_labels()) return;
    for (const data::ClassId label : samples.at(static_cast<std::size_t>(sample)).labels) {
      Right& right = of[label];
      ++right.held_out;
      right.right += says(said, label) ? 1 : 0;
    }
  }
  void calibrate(Calibrator::Side side, const std::vector<data::MixedSample>& samples,
                 std::int64_t sample, std::span<const float> output) {
    if (!calibrates_) return;
    const auto& labels = samples.at(static_cast<std::size_t>(sample)).labels;
    if (labels.empty()) return;  // it does not say which answer is right
    calibrator_.add(side, output, head_.form(), labels);
  }
  void each_of(const std::vector<data::MixedSample>& samples, const EachSample& each) {
    for_each_sample(samples, *targets_, reader_, {head_.network(), task_, head_.form()}, each);
  }

  const Task& task_;
  const data::Mix& mix_;
  FeatureReader& reader_;
  HeadNetwork head_;
  std::unique_ptr<MixTargets> targets_;
  bool calibrates_ = false;
  Calibrator calibrator_;
};

}  // namespace

nlohmann::json to_json(const std::vector<Score>& scores) {
  nlohmann::json json = nlohmann::json::object();
  for (const Score& score : scores)
    json[score.name] = score.value ? nlohmann::json(*score.value) : nlohmann::json(nullptr);
  return json;
}

namespace {

using Rights = std::map<data::ClassId, Right>;

nlohmann::json side_of(data::ClassId label, const Rights& before, const Rights& after) {
  const auto was = before.find(label), is = after.find(label);
  if (was == before.end() || is == after.end()) return nullptr;
  return {{"held_out", is->second.held_out},
          {"before", was->second.right},
          {"after", is->second.right}};
}

}  // namespace

nlohmann::json label_scores(const data::Mix& mix, const Judgement& before, const Judgement& after) {
  nlohmann::json list = nlohmann::json::array();
  for (data::ClassId label = 0; label < mix.classes.size(); ++label) {
    nlohmann::json global = side_of(label, before.global_right, after.global_right);
    nlohmann::json local = side_of(label, before.local_right, after.local_right);
    if (global.is_null() && local.is_null()) continue;
    list.push_back({{"label", mix.classes[label]},
                    {"global", std::move(global)},
                    {"local", std::move(local)}});
  }
  return list;
}

Measured counted(const data::Mix& mix, const Task& task) {
  Measured m;
  m.metric = task.headline();
  m.global_is_answered = mix.global_is_answered;
  m.global_held_out = mix.global_validation.size();
  m.local_held_out = mix.local_validation.size();
  m.local_trained = mix.train.size() - count_global(mix);
  return m;
}

std::vector<LocalClass> local_classes(const data::Mix& mix, const Judgement& before,
                                      const Judgement& after) {
  std::map<data::ClassId, LocalClass> classes;
  for (const data::MixedSample& s : mix.train) {
    if (s.is_global()) continue;
    for (const data::ClassId label : s.labels) ++classes[label].trained;
  }
  for (std::size_t i = 0; i < mix.local_validation.size(); ++i) {
    for (const data::ClassId label : mix.local_validation[i].labels) {
      LocalClass& c = classes[label];
      ++c.held_out;
      c.right_before += says(before.local_said.at(i), label) ? 1 : 0;
      c.right_after += says(after.local_said.at(i), label) ? 1 : 0;
    }
  }
  std::vector<LocalClass> found;
  for (auto& [label, c] : classes) {
    c.name = mix.classes.at(label);
    found.push_back(std::move(c));
  }
  return found;
}

void for_each_sample(const std::vector<data::MixedSample>& samples, const MixTargets& targets,
                     FeatureReader& reader, const Asked& asked, const EachSample& each) {
  PartSource source(samples, targets, reader);
  PartAnswers answers(reader.kind().part_answer(), asked.task, asked.form);
  std::int64_t sample = 0;
  for_each_answer(asked.network, source, [&](std::int64_t index, auto output, auto target) {
    const bool ends = source.ends_sample(index);
    if (asked.task.teaches_itself()) {
      each(sample, output, target);
    } else {
      answers.add(output);
      if (ends) each(sample, answers.take(), target);
    }
    sample += ends ? 1 : 0;
  });
}

Judgement judge(const JudgedHead& judged, const data::Mix& mix, FeatureReader& reader,
                KernelSelector& kernels) {
  return Judging(judged, mix, reader, kernels).run();
}

}  // namespace moil::night
