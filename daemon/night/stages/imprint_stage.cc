#include "daemon/night/stages/imprint_stage.h"

#include <algorithm>

namespace moil::night {

using daemon::Stage;

void ImprintStage::run() {
  NightModel& model = plan_.model();
  if (!model.imprint) return;
  night_.begin(Stage::kImprint, static_cast<std::int64_t>(model.imprint->feature_rows));
  made_ = imprint_rows(
      {*model.imprint, night_.base, night_.mix, reader_, *model.trainer_kernels, model.head},
      model.bundle, [this](std::int64_t done, std::int64_t total) {
        night_.progress(Stage::kImprint, done, total);
      });
}

namespace {

// Not if several new labels look like one known name, which then tells them apart no more, nor
// if the user's samples have that name, too.
nlohmann::json alike(const data::Mix& mix, const std::vector<LooksLike>& found) {
  nlohmann::json list = nlohmann::json::array();
  for (const LooksLike& one : found) {
    const auto shares = std::ranges::count(found, one.known, &LooksLike::known);
    const bool is_used = std::ranges::any_of(mix.train, [&](const data::MixedSample& sample) {
      return !sample.is_global() &&
             std::ranges::find(sample.labels, one.known) != sample.labels.end();
    });
    if (shares > 1 || is_used) continue;
    list.push_back({{"label", mix.classes.at(one.label)},
                    {"known", mix.classes.at(one.known)},
                    {"said", one.said},
                    {"samples", one.samples}});
  }
  return list;
}

nlohmann::json right_of(const RightOf& count) {
  if (count.samples == 0) return nullptr;
  return {{"right", count.right}, {"samples", count.samples}};
}

}  // namespace

nlohmann::json ImprintStage::details() const {
  if (made_.kind == Imprinted::Kind::kNone) return nullptr;
  const ImprintPlan& plan = *plan_.model().imprint;
  nlohmann::json labels = nlohmann::json::array();
  for (const data::ClassId row : plan.rows) labels.push_back(night_.mix.classes.at(row));
  const auto fresh = std::ranges::count_if(plan.samples, [&](std::size_t i) {
    const auto& own = night_.mix.train[i].labels;
    return !own.empty() && std::ranges::binary_search(plan.rows, own[0]);
  });
  const auto denied = std::ranges::count_if(
      plan.samples, [&](std::size_t i) { return night_.mix.train[i].is_denied_alone(); });
  return {{"labels", std::move(labels)},
          {"samples", fresh},
          {"known_samples", static_cast<std::int64_t>(plan.samples.size()) - fresh - denied},
          {"denied_samples", denied},
          {"fitted", made_.kind == Imprinted::Kind::kFitted},
          {"left_out", right_of(made_.left_out)},
          {"looks_like", alike(night_.mix, made_.looks_like)}};
}

}  // namespace moil::night
