#include "daemon/night/stages/listen_stage.h"

#include "daemon/night/judge/heard_peaks.h"

namespace moil::night {

using daemon::Stage;

void ListenStage::run() {
  if (plan_.forecast().listening == 0) return;
  const auto incoming = night_.layout.incoming(night_.spec.model, night_.file.version);
  night_.begin(Stage::kJudge, 1);
  levels_ = heard_peaks(read_model_folder(incoming), night_.mix, night_.data.origins(),
                        [this](std::int64_t done, std::int64_t total) {
                          night_.progress(Stage::kJudge, done, total);
                        });
  if (!levels_.empty()) write_listening(incoming, levels_);
}

nlohmann::json ListenStage::details() const {
  if (levels_.empty()) return nullptr;
  nlohmann::json labels = nlohmann::json::array();
  for (const auto& [name, label] : levels_) {
    const double level = level_for(label, kUsualFalseAccepts);
    labels.push_back({{"label", name},
                      {"told_from", level},
                      {"recordings", label.spoken.size()},
                      {"heard", heard_from(label, level)},
                      {"seconds_without", label.seconds}});
  }
  return {{"false_accepts", kUsualFalseAccepts}, {"labels", std::move(labels)}};
}

}  // namespace moil::night
