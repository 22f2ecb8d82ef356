#include "daemon/night/judge/answers.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/json/json.h"
#include "datasets/labels/denial.h"

namespace moil::night {
namespace {

using nlohmann::json;
using Said = std::vector<std::uint32_t>;

struct Count {
  std::size_t held_out = 0, right = 0;
  std::size_t wrong() const { return held_out - right; }
};

std::string joined(const data::Mix& mix, const Said& labels, const char* between) {
  std::string text;
  for (const std::uint32_t label : labels)
    text += (text.empty() ? "" : between) + mix.classes.at(label);
  return text;
}

bool holds(const Said& labels, std::uint32_t label) {
  return std::ranges::find(labels, label) != labels.end();
}

std::string denials(const data::Mix& mix, const data::MixedSample& sample) {
  std::string text;
  for (const std::uint32_t label : sample.denied)
    text += (text.empty() ? "" : " and ") + data::denial_of(mix.classes.at(label));
  return text;
}

// What the sample is said to be.
std::string called(const data::Mix& mix, const data::MixedSample& sample) {
  return sample.is_denied_alone() ? denials(mix, sample) : joined(mix, sample.labels, " or ");
}

// All of several labels at once have to be said; else one of them has to be. Of what is only said
// not to be something, anything else is right.
bool is_right(const Task& task, const data::MixedSample& sample, const Said& said) {
  if (sample.is_denied_alone())
    return std::ranges::none_of(said, [&](auto label) { return holds(sample.denied, label); });
  if (!task.compares_samples())
    return !said.empty() &&
           std::ranges::all_of(said, [&](auto label) { return holds(sample.labels, label); });
  Said sorted = said;
  std::ranges::sort(sorted);
  return sorted == sample.labels;
}

class Confusion {
 public:
  Confusion(const data::Mix& mix, const Task& task) : mix_(mix), task_(task) {}

  void add(const data::MixedSample& sample, const Said& said) {
    if (sample.is_denied_alone()) {
      for (const std::uint32_t label : sample.denied)
        add(data::denial_of(mix_.classes.at(label)), !holds(said, label), {label});
      return;
    }
    if (!task_.compares_samples())
      return add(joined(mix_, sample.labels, " or "), is_right(task_, sample, said), said);
    Said others = said;
    std::erase_if(others, [&](auto label) { return holds(sample.labels, label); });
    for (const std::uint32_t label : sample.labels)
      add(mix_.classes.at(label), holds(said, label), others);
  }

  json to_json() const {
    std::vector<std::pair<std::string, Count>> labels(labels_.begin(), labels_.end());
    std::ranges::stable_sort(labels, std::ranges::greater{},
                             [](const auto& label) { return label.second.wrong(); });
    std::vector<std::pair<Pair, std::size_t>> pairs(pairs_.begin(), pairs_.end());
    std::ranges::stable_sort(pairs, std::ranges::greater{},
                             [](const auto& pair) { return pair.second; });
    json list = json::array(), mistakes = json::array();
    for (std::size_t i = 0; i < std::min(labels.size(), kMostConfusedLabels); ++i)
      list.push_back({{"label", labels[i].first},
                      {"held_out", labels[i].second.held_out},
                      {"right", labels[i].second.right}});
    for (std::size_t i = 0; i < std::min(pairs.size(), kMostConfusedPairs); ++i)
      mistakes.push_back({{"label", pairs[i].first.first},
                          {"said", said_json(pairs[i].first.second)},
                          {"count", pairs[i].second}});
    return {{"more",
             {{"labels", labels.size() - list.size()}, {"pairs", pairs.size() - mistakes.size()}}},
            {"labels", std::move(list)},
            {"pairs", std::move(mistakes)}};
  }

 private:
  using Pair = std::pair<std::string, std::optional<std::uint32_t>>;

  json said_json(const std::optional<std::uint32_t>& label) const {
    return label ? json(mix_.classes.at(*label)) : json(nullptr);
  }
  void add(const std::string& label, bool right, const Said& instead) {
    Count& count = labels_[label];
    ++count.held_out;
    count.right += right ? 1 : 0;
    if (right) return;
    if (instead.empty()) ++pairs_[{label, std::nullopt}];
    for (const std::uint32_t said : instead) ++pairs_[{label, said}];
  }

  const data::Mix& mix_;
  const Task& task_;
  std::map<std::string, Count> labels_;
  std::map<Pair, std::size_t> pairs_;
};

class Changes {
 public:
  explicit Changes(const data::Mix& mix) : mix_(mix) {}

  void add(const data::MixedSample& sample, const Said& before, const Said& after) {
    const std::string label = called(mix_, sample);
    const std::size_t turn = seen_[label]++;
    const auto said = [&](const Said& labels) {
      return labels.empty() ? json(nullptr) : json(joined(mix_, labels, ", "));
    };
    found_.push_back({turn,
                      {{"digest", sample.digest.hex()},
                       {"label", label},
                       {"before", said(before)},
                       {"after", said(after)}}});
  }
  std::size_t count() const { return found_.size(); }
  json to_json() {
    std::ranges::stable_sort(found_, {}, [](const auto& each) { return each.first; });
    json list = json::array();
    for (auto& [turn, sample] : found_) {
      if (list.size() == kMostChangedAnswers) break;
      list.push_back(std::move(sample));
    }
    return list;
  }

 private:
  const data::Mix& mix_;
  std::map<std::string, std::size_t> seen_;
  std::vector<std::pair<std::size_t, json>> found_;  // with which of its label's it is
};

}  // namespace

json confusion(const data::Mix& mix, const Task& task, const Judgement& after) {
  Confusion found(mix, task);
  for (std::size_t i = 0; i < mix.local_validation.size(); ++i)
    found.add(mix.local_validation[i], after.local_said.at(i));
  return found.to_json();
}

json changed_answers(const data::Mix& mix, const Task& task, const Judgement& before,
                     const Judgement& after) {
  Changes right(mix), wrong(mix);
  for (std::size_t i = 0; i < mix.local_validation.size(); ++i) {
    const data::MixedSample& sample = mix.local_validation[i];
    const Said &was = before.local_said.at(i), &is = after.local_said.at(i);
    const bool was_right = is_right(task, sample, was), now_right = is_right(task, sample, is);
    if (was_right != now_right) (now_right ? right : wrong).add(sample, was, is);
  }
  return {{"right_count", right.count()},
          {"wrong_count", wrong.count()},
          {"right", right.to_json()},
          {"wrong", wrong.to_json()}};
}

}  // namespace moil::night
