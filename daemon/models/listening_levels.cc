#include "daemon/models/listening_levels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/json/json.h"

namespace moil::night {
namespace {

constexpr std::size_t kMostPeaks = 64, kLeastPeaks = 10, kStretchesAPeak = 10;
constexpr std::size_t kMostSpoken = 1000;

// Highest first; those beyond `most` are dropped.
void insert(std::vector<double>& falling, double x, std::size_t most) {
  falling.insert(std::ranges::upper_bound(falling, x, std::greater{}), x);
  if (falling.size() > most) falling.pop_back();
}

// How many of the peaks are the tail.
std::size_t tail_of(const LabelLevels& label) {
  const std::size_t tail = std::clamp(label.stretches / kStretchesAPeak, kLeastPeaks, kMostPeaks);
  return std::min(tail, label.peaks.size());
}

// Nine of ten are higher.
double nearly_lowest(const std::vector<double>& falling) {
  constexpr std::size_t kOf = 10;
  return falling[falling.size() - 1 - falling.size() / kOf];
}

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kBadData, "listening.json: " + what);
}

std::vector<double> numbers(const nlohmann::json& label, const char* name) {
  const auto it = label.find(name);
  if (it == label.end() || !it->is_array())
    fail("\"" + std::string(name) + "\" must be a list of numbers");
  std::vector<double> falling;
  for (const nlohmann::json& x : *it) {
    if (!x.is_number() || !(x >= 0) || !(x <= 1))
      fail("\"" + std::string(name) + "\" holds " + x.dump());
    falling.push_back(x);
  }
  if (!std::ranges::is_sorted(falling, std::greater{}))
    fail("\"" + std::string(name) + "\" must fall");
  return falling;
}

double count(const nlohmann::json& label, const char* name) {
  const auto it = label.find(name);
  if (it == label.end() || !it->is_number() || !(*it >= 0) || !(*it <= 1e12))
    fail("\"" + std::string(name) + "\" must be a number from 0 on");
  return it->get<double>();
}

LabelLevels label_from_json(const nlohmann::json& json) {
  if (!json.is_object()) fail("a label must be an object");
  LabelLevels label;
  label.seconds = count(json, "seconds");
  label.stretches = static_cast<std::size_t>(count(json, "stretches"));
  label.peaks = numbers(json, "peaks");
  label.spoken = numbers(json, "spoken");
  if (label.seconds == 0 || label.peaks.size() < kLeastPeaks) fail("a label tells too little");
  return label;
}

}  // namespace

double level_for(const LabelLevels& label, double false_accepts) {
  const std::size_t tail = tail_of(label);
  const double lowest = label.peaks.at(tail - 1);
  double excess = 0;
  for (std::size_t i = 0; i + 1 < tail; ++i) excess += label.peaks[i] - lowest;
  excess /= static_cast<double>(tail - 1);
  const double allowed = false_accepts * label.seconds / 3600;
  double level = lowest + excess * std::max(0.0, std::log(static_cast<double>(tail) / allowed));
  if (!label.spoken.empty()) level = std::max(level, (level + nearly_lowest(label.spoken)) / 2);
  return std::min(level, (1 + label.peaks.front()) / 2);
}

std::size_t heard_from(const LabelLevels& label, double level) {
  return static_cast<std::size_t>(
      std::ranges::count_if(label.spoken, [&](double peak) { return peak >= level; }));
}

void PeakCollector::add_peaks(const std::vector<float>& probabilities, double seconds) {
  levels_.seconds += seconds;
  levels_.stretches += probabilities.size();
  for (const float p : probabilities) insert(levels_.peaks, double{p}, kMostPeaks);
}

void PeakCollector::add_spoken(float probability) {
  insert(levels_.spoken, double{probability}, kMostSpoken);
}

LabelLevels PeakCollector::take() {
  constexpr double kScale = 1e4;
  for (auto* list : {&levels_.peaks, &levels_.spoken})
    for (double& x : *list) x = std::round(x * kScale) / kScale;
  return std::exchange(levels_, {});
}

nlohmann::json to_json(const ListeningLevels& levels) {
  nlohmann::json labels = nlohmann::json::object();
  for (const auto& [name, label] : levels)
    labels[name] = {{"seconds", label.seconds},
                    {"stretches", label.stretches},
                    {"peaks", label.peaks},
                    {"spoken", label.spoken}};
  return {{"labels", std::move(labels)}};
}

ListeningLevels listening_levels_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("labels") || !json["labels"].is_object())
    fail("\"labels\" must be an object");
  ListeningLevels levels;
  for (const auto& [name, label] : json["labels"].items()) levels[name] = label_from_json(label);
  return levels;
}

}  // namespace moil::night
