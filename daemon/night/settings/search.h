// Which settings to try next, and which of those that were tried win.
//
// The classifier alone is tried first, with few steps and with many; then a head of some depth with
// two views, and with one if two were not clearly better than the classifier. If it learns the
// local samples better, all layers are tried, else a depth between. What tells every held-out
// sample right leaves a dearer one nothing to win, and what would take longer than there is time,
// by its arithmetic, is not begun.
//
// The choice is the shallowest of all that the guard would let pass whose local quality cannot be
// told from the best one's (one standard error): what cannot be told apart is not worth its time.
// At one depth it is the best for both sides, with few steps and many views if they do no harm: a
// trial is shorter than a night, and it is long training that views keep from learning by heart.
// If the guard would let nothing pass, gentler rates are tried.
//
// A function of the results so far, so that a resumed night goes on as it began. One thread.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "daemon/night/settings/candidate.h"

namespace moil::night {

// How good a model was on the held-out samples, the same in every trial; larger is better. Empty:
// it was not judged.
struct Quality {
  std::vector<double> headline;  // the task's (engine/train/task.h), of each of some parts
  std::vector<double> fine;      // Scorer::quality() of each sample
};
[[nodiscard]] nlohmann::json to_json(const Quality& quality);
[[nodiscard]] Quality quality_from_json(const nlohmann::json& json);

struct TrialResult {
  Candidate candidate;
  Quality local, global;
  double seconds = 0;  // feature maps included
  std::string failed;  // why it was not trained to its end, or cannot be had
};
[[nodiscard]] nlohmann::json to_json(const TrialResult& result);
[[nodiscard]] TrialResult trial_result_from_json(const nlohmann::json& json);

// For people: "the last layer at a learning rate of 0.03".
[[nodiscard]] std::string in_words(const Candidate& candidate);

using Depth = std::optional<int>;  // LF(n); empty: all layers

struct SearchSpace {
  std::vector<Depth> depths;  // growing
  std::size_t deep = 0;       // of them: what is tried after the first
  double classifier_rate = 0, deep_rate = 0;
  bool rates = false;                                      // are open
  std::vector<int> views;                                  // growing
  std::vector<int> classifier_steps = {kClassifierSteps};  // growing
  Quality before;                                          // global, of the model before the night
  double most_global_drop = 1;                             // the guard's
  double perfect = std::numeric_limits<double>::infinity();  // no headline is above it
  std::function<double(const Candidate&)> work = {};  // of its trial; null: all take the same
};

class Search {
 public:
  explicit Search(SearchSpace space) : space_(std::move(space)) {}

  const std::vector<TrialResult>& results() const { return results_; }
  void add(TrialResult result) { results_.push_back(std::move(result)); }
  // The first trial finds it out.
  void set_before(Quality before) { space_.before = std::move(before); }
  // It cannot be had after all: as if its trial had failed.
  void give_up(const Candidate& candidate, const std::string& why);
  // What costs least of all that there is.
  [[nodiscard]] Candidate cheapest() const;
  [[nodiscard]] double seconds_spent() const;  // by all of them
  // Nothing: enough is known. seconds_left: for trials.
  [[nodiscard]] std::optional<Candidate> next(double seconds_left) const;

  struct Choice {
    Candidate candidate;
    std::string why;  // a sentence
  };
  // The cheapest candidate if no trial came to its end.
  [[nodiscard]] Choice choice() const;
  // Whether the guard would let it pass: its drop, with one standard error, is what it allows.
  [[nodiscard]] bool is_admissible(const TrialResult& result) const;

 private:
  using Results = std::vector<const TrialResult*>;

  Candidate classifier(int steps) const;
  Candidate first(const Depth& depth, int views) const;
  std::optional<Candidate> untried(double seconds_left) const;
  std::optional<Candidate> untried_classifier(double seconds_left) const;
  std::optional<Candidate> untried_at(const Depth& depth, double seconds_left) const;
  std::optional<Candidate> gentler(const Candidate& than, double seconds_left) const;
  bool is_tried(const Candidate& candidate) const;
  std::optional<Candidate> if_it_fits(const Candidate& candidate, double seconds_left) const;
  double expected_seconds(const Candidate& candidate) const;
  double work(const Candidate& candidate) const;
  bool is_perfect(const TrialResult& result) const;
  Results finished() const;
  const TrialResult* best_at(const Depth& depth) const;
  Results admissible() const;
  const TrialResult* chosen() const;

  SearchSpace space_;
  std::vector<TrialResult> results_;
};

}  // namespace moil::night
