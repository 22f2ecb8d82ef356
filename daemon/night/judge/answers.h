// What the night's report tells of the answers that local held-out samples got: which labels are
// taken for which, and which samples the night changed.
//
// Both are bounded, so that the report of a thousand labels stays small. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/night/judge/judge.h"

namespace moil::night {

inline constexpr std::size_t kMostConfusedLabels = 100, kMostConfusedPairs = 200;
inline constexpr std::size_t kMostChangedAnswers = 24;  // each way

// {"labels": [{"label", "held_out", "right"}], "pairs": [{"label", "said", "count"}], "more":
// {"labels", "pairs"}} of the model after the night: labels with the most wrong answers first, and
// what was said in their place, the most frequent first ("said" null: nothing). `more` counts what
// is left out. If a classifier's sample has several labels, any of which is right, they are one
// ("tabby or persian"); a task that compares samples tells each label by itself.
[[nodiscard]] nlohmann::json confusion(const data::Mix& mix, const Task& task,
                                       const Judgement& after);

// {"right": [{"digest", "label", "before", "after"}], "wrong": [...], "right_count",
// "wrong_count"}: samples whose answer became right, and those whose answer became wrong; of many,
// the first of each label before the second of any.
[[nodiscard]] nlohmann::json changed_answers(const data::Mix& mix, const Task& task,
                                             const Judgement& before, const Judgement& after);

}  // namespace moil::night
