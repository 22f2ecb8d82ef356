#include "daemon/night/settings/search.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/mean.h"

namespace moil::night {
namespace {

constexpr double kGentler = 1.0 / 3;
constexpr int kGentlerRates = 2;

using Results = std::vector<const TrialResult*>;

double local(const TrialResult& r) { return mean(r.local.fine); }
double both(const TrialResult& r) { return local(r) + mean(r.global.fine); }

// Squared, of the difference of the means of what is paired.
double squared_error(const std::vector<double>& a, const std::vector<double>& b) {
  const std::size_t n = std::min(a.size(), b.size());
  if (n < 2) return 0;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += a[i] - b[i];
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  const auto count = static_cast<double>(n);
  return std::max(0.0, squares - sum * sum / count) / (count * (count - 1));
}

bool is_as_good_locally(const TrialResult& r, const TrialResult& best) {
  return local(best) - local(r) <= std::sqrt(squared_error(best.local.fine, r.local.fine));
}

bool is_clearly_better(const TrialResult& r, const TrialResult& other) {
  return local(r) > local(other) && !is_as_good_locally(other, r);
}

bool is_as_good(const TrialResult& r, const TrialResult& best) {
  return both(best) - both(r) <= std::sqrt(squared_error(best.local.fine, r.local.fine) +
                                           squared_error(best.global.fine, r.global.fine));
}

// A longer training makes a classifier surer before it makes it better: their fine figures differ.
bool is_right_as_often(const TrialResult& r, const TrialResult& best) {
  const auto &a = best.local.headline, &b = r.local.headline;
  return mean(a) - mean(b) <= std::sqrt(squared_error(a, b));
}

// With few steps and many views.
bool is_preferred(const TrialResult& r, const TrialResult& best) {
  if (r.candidate.steps < best.candidate.steps) return is_right_as_often(r, best);
  return r.candidate.views > best.candidate.views && is_as_good(r, best);
}

const TrialResult* largest(const Results& results, double (*of)(const TrialResult&)) {
  const TrialResult* best = nullptr;
  for (const TrialResult* r : results)
    if (best == nullptr || of(*r) > of(*best)) best = r;
  return best;
}

int rank(const Depth& depth) { return depth.value_or(std::numeric_limits<int>::max()); }

std::string depth_text(const Depth& depth) {
  if (!depth) return "all layers";
  return *depth == 1 ? "the last layer" : "the last " + std::to_string(*depth) + " layers";
}

}  // namespace

std::string in_words(const Candidate& c) {
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.2g", c.learning_rate);
  std::string text = depth_text(c.layers) + " at a learning rate of " + rate;
  if (c.layers == 1) text += ", " + std::to_string(c.steps) + " steps";
  if (c.views > 1) text += ", " + std::to_string(c.views) + " views of each sample";
  return text;
}

nlohmann::json to_json(const Quality& quality) {
  return {{"headline", quality.headline}, {"fine", quality.fine}};
}

Quality quality_from_json(const nlohmann::json& json) {
  return {json.at("headline"), json.at("fine")};
}

nlohmann::json to_json(const TrialResult& result) {
  return {{"candidate", to_json(result.candidate)},
          {"local", to_json(result.local)},
          {"global", to_json(result.global)},
          {"seconds", result.seconds},
          {"failed", result.failed}};
}

TrialResult trial_result_from_json(const nlohmann::json& json) {
  return {candidate_from_json(json.at("candidate")), quality_from_json(json.at("local")),
          quality_from_json(json.at("global")), json.at("seconds"), json.at("failed")};
}

double Search::seconds_spent() const {
  double spent = 0;
  for (const TrialResult& r : results_) spent += r.seconds;
  return spent;
}

Candidate Search::classifier(int steps) const {
  return {1, space_.classifier_rate, space_.views.front(), steps};
}

Candidate Search::first(const Depth& depth, int views) const {
  if (depth == 1) return classifier(space_.classifier_steps.back());
  return {depth, space_.deep_rate, views, kDeepSteps};
}

Candidate Search::cheapest() const { return first(space_.depths.front(), space_.views.front()); }

void Search::give_up(const Candidate& candidate, const std::string& why) {
  for (TrialResult& r : results_)
    if (r.candidate == candidate) r.failed = why;
}

Results Search::finished() const {
  Results list;
  for (const TrialResult& r : results_)
    if (r.failed.empty()) list.push_back(&r);
  return list;
}

bool Search::is_admissible(const TrialResult& result) const {
  const std::vector<double>&before = space_.before.headline, &after = result.global.headline;
  if (before.empty() || after.empty()) return true;
  const double drop = mean(before) - mean(after);
  return drop + std::sqrt(squared_error(before, after)) <= space_.most_global_drop;
}

// If nothing is, what forgets least.
Results Search::admissible() const {
  const Results all = finished();
  Results list = all;
  std::erase_if(list, [&](const TrialResult* r) { return !is_admissible(*r); });
  if (list.empty() && !all.empty())
    list = {largest(all, [](const TrialResult& r) { return mean(r.global.headline); })};
  return list;
}

const TrialResult* Search::chosen() const {
  const Results all = admissible();
  const TrialResult* top = largest(all, local);
  if (top == nullptr) return nullptr;
  Results list = all;
  std::erase_if(list, [&](const TrialResult* r) { return !is_as_good_locally(*r, *top); });
  int shallowest = rank(top->candidate.layers);
  for (const TrialResult* r : list) shallowest = std::min(shallowest, rank(r->candidate.layers));
  const auto is_deeper = [&](const TrialResult* r) {
    return rank(r->candidate.layers) != shallowest;
  };
  std::erase_if(list, is_deeper);
  const TrialResult* best = largest(list, both);
  Results preferred = all;
  std::erase_if(preferred, is_deeper);
  std::erase_if(preferred, [&](const TrialResult* r) { return !is_preferred(*r, *best); });
  return preferred.empty() ? best : largest(preferred, both);
}

bool Search::is_tried(const Candidate& candidate) const {
  return std::ranges::any_of(results_, [&](const TrialResult& r) {
    const Candidate& c = r.candidate;
    return c.layers == candidate.layers && c.views == candidate.views &&
           c.steps == candidate.steps &&
           std::abs(c.learning_rate / candidate.learning_rate - 1) < 1e-6;
  });
}

double Search::work(const Candidate& candidate) const {
  return space_.work ? space_.work(candidate) : 1;
}

// By the trial that did the most work so far.
double Search::expected_seconds(const Candidate& candidate) const {
  const TrialResult* most = nullptr;
  for (const TrialResult* r : finished())
    if (most == nullptr || work(r->candidate) > work(most->candidate)) most = r;
  return most == nullptr ? 0 : most->seconds * work(candidate) / work(most->candidate);
}

std::optional<Candidate> Search::if_it_fits(const Candidate& candidate, double seconds_left) const {
  if (is_tried(candidate) || expected_seconds(candidate) > seconds_left) return std::nullopt;
  return candidate;
}

bool Search::is_perfect(const TrialResult& result) const {
  const std::vector<double>& headline = result.local.headline;
  return !headline.empty() &&
         std::ranges::all_of(headline, [&](double value) { return value >= space_.perfect; });
}

const TrialResult* Search::best_at(const Depth& depth) const {
  Results list = finished();
  std::erase_if(list, [&](const TrialResult* r) { return r->candidate.layers != depth; });
  return largest(list, local);
}

// A classifier alone sees plain samples.
std::optional<Candidate> Search::untried_classifier(double seconds_left) const {
  for (const int steps : space_.classifier_steps) {
    if (const auto c = if_it_fits(classifier(steps), seconds_left)) return c;
    const TrialResult* best = best_at(1);
    if (best != nullptr && is_perfect(*best)) break;
  }
  return std::nullopt;
}

std::optional<Candidate> Search::untried_at(const Depth& depth, double seconds_left) const {
  if (depth == 1) return untried_classifier(seconds_left);
  if (const auto c = if_it_fits(first(depth, space_.views.back()), seconds_left)) return c;
  const TrialResult *classifier = best_at(1), *here = best_at(depth);
  if (classifier != nullptr && here != nullptr && is_clearly_better(*here, *classifier))
    return std::nullopt;
  return if_it_fits(first(depth, space_.views.front()), seconds_left);
}

std::optional<Candidate> Search::untried(double seconds_left) const {
  const std::vector<Depth>& depths = space_.depths;
  if (const auto c = untried_at(depths.front(), seconds_left)) return c;
  const TrialResult* shallow = best_at(depths.front());
  if (shallow == nullptr || is_perfect(*shallow) || depths.size() == 1) return std::nullopt;
  if (const auto c = untried_at(depths[space_.deep], seconds_left)) return c;
  const TrialResult* deep = best_at(depths[space_.deep]);
  if (deep != nullptr && is_perfect(*deep)) return std::nullopt;
  const bool pays = deep != nullptr && local(*deep) > local(*shallow);
  const std::size_t then = pays ? space_.deep + 1 : 1;
  if (then >= depths.size() || then == space_.deep) return std::nullopt;
  const int views = deep == nullptr ? space_.views.front() : deep->candidate.views;
  return if_it_fits(first(depths[then], views), seconds_left);
}

std::optional<Candidate> Search::gentler(const Candidate& than, double seconds_left) const {
  if (!space_.rates) return std::nullopt;
  Candidate c = than;
  for (int n = 0; n < kGentlerRates; ++n) {
    c.learning_rate *= kGentler;
    if (!is_tried(c)) return if_it_fits(c, seconds_left);
  }
  return std::nullopt;
}

std::optional<Candidate> Search::next(double seconds_left) const {
  if (const auto c = untried(seconds_left)) return c;
  const TrialResult* winner = chosen();
  if (winner == nullptr || is_admissible(*winner)) return std::nullopt;
  Candidate usual = first(winner->candidate.layers, winner->candidate.views);
  usual.steps = winner->candidate.steps;
  return gentler(usual, seconds_left);
}

Search::Choice Search::choice() const {
  const TrialResult* winner = chosen();
  if (winner == nullptr) {
    const std::string why = results_.empty()
                                ? "there was too little to try settings on"
                                : "no trial came to its end (" + results_.back().failed + ")";
    return {cheapest(), why + "; these are the cheapest"};
  }
  const TrialResult* top = largest(admissible(), local);
  const std::size_t trials = finished().size();
  std::string why = in_words(winner->candidate);
  if (rank(winner->candidate.layers) < rank(top->candidate.layers))
    why += " learned as well as " + depth_text(top->candidate.layers) +
           ", as far as the samples tell, and costs less";
  else
    why += " did best";
  if (!is_admissible(*winner)) why += ", though all of them forgot more than the guard allows";
  return {winner->candidate,
          why + " in " + std::to_string(trials) + (trials == 1 ? " trial" : " trials")};
}

}  // namespace moil::night
