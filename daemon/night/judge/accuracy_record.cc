#include "daemon/night/judge/accuracy_record.h"

namespace moil::night {
namespace {

constexpr std::size_t kMostSets = 8;

}  // namespace

std::string held_out_fingerprint(const data::Mix& mix) {
  std::string text;
  for (const data::MixedSample& s : mix.global_validation) {
    text += s.digest.hex();
    for (const data::ClassId label : s.labels) text += "\t" + mix.classes.at(label);
    text += "\n";
  }
  return data::digest_of(text).hex();
}

std::optional<double> AccuracyRecord::of(std::int64_t version) const {
  const Json accuracy = file_.find(held_out_).value(std::to_string(version), Json());
  return accuracy.is_number() ? std::optional(accuracy.get<double>()) : std::nullopt;
}

void AccuracyRecord::keep(std::int64_t version, double accuracy) const {
  Json versions = file_.find(held_out_);
  versions[std::to_string(version)] = accuracy;
  file_.keep(held_out_, std::move(versions), kMostSets);
}

}  // namespace moil::night
