// From which probability a label is told while a model listens, so that sounds without it bring no
// more than so many false accepts an hour.
//
// Held-out recordings tell it: of each stretch of sound as long as a part, the highest probability
// is a peak. How often peaks exceed a level falls exponentially, as far as the highest of them show
// (peaks over a threshold: Davison and Smith, J. R. Stat. Soc. B, 1990): answers are means over
// several parts (smoothed_answers.h), for one part that is sure by mistake says little. So minutes
// of sound tell of hours. If nine of ten held-out recordings with the label lie higher than is
// needed for that, the level is halfway between.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace moil::night {

inline constexpr double kUsualFalseAccepts = 1;  // an hour

// Probabilities, highest first.
struct LabelLevels {
  double seconds = 0;          // of held-out sound without the label
  std::size_t stretches = 0;   // in it
  std::vector<double> peaks;   // of the highest of these
  std::vector<double> spoken;  // the highest of each held-out recording with the label
  bool operator==(const LabelLevels&) const = default;
};
using ListeningLevels = std::map<std::string, LabelLevels>;

// A probability. false_accepts: an hour, above 0.
[[nodiscard]] double level_for(const LabelLevels& label, double false_accepts);
// How many of the recordings with the label reach a probability.
[[nodiscard]] std::size_t heard_from(const LabelLevels& label, double level);

// Collects what a model says of one label. One thread.
class PeakCollector {
 public:
  // Fewer stretches tell nothing: about half a minute, if a part is as long as a word.
  static constexpr std::size_t kLeastStretches = 30;

  // A recording without the label: the highest probability of each of its stretches.
  void add_peaks(const std::vector<float>& probabilities, double seconds);
  // One with it: its highest probability.
  void add_spoken(float probability);
  [[nodiscard]] bool tells() const { return levels_.stretches >= kLeastStretches; }
  [[nodiscard]] LabelLevels take();

 private:
  LabelLevels levels_;
};

// listening.json of a model's folder.
[[nodiscard]] nlohmann::json to_json(const ListeningLevels& levels);
// kBadData for what is none.
[[nodiscard]] ListeningLevels listening_levels_from_json(const nlohmann::json& json);

}  // namespace moil::night
