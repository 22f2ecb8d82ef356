#include "daemon/night/stages/imprint_stage.h"

#include <algorithm>

namespace moil::night {

using daemon::Stage;

void ImprintStage::run() {
  NightModel& model = plan_.model();
  if (!model.imprint) return;
  night_.begin(Stage::kImprint, static_cast<std::int64_t>(model.imprint->feature_rows));
  made_ = imprint_rows(model, night_.base, night_.mix, reader_,
                       [this](std::int64_t done, std::int64_t total) {
                         night_.progress(Stage::kImprint, done, total);
                       });
}

nlohmann::json ImprintStage::details() const {
  if (made_ == Imprinted::kNone) return nullptr;
  const ImprintPlan& plan = *plan_.model().imprint;
  nlohmann::json labels = nlohmann::json::array();
  for (const data::ClassId row : plan.rows) labels.push_back(night_.mix.classes.at(row));
  const auto fresh = std::ranges::count_if(plan.samples, [&](std::size_t i) {
    return std::ranges::binary_search(plan.rows, night_.mix.train[i].labels[0]);
  });
  return {{"labels", std::move(labels)},
          {"samples", fresh},
          {"known_samples", static_cast<std::int64_t>(plan.samples.size()) - fresh},
          {"fitted", made_ == Imprinted::kFitted}};
}

}  // namespace moil::night
