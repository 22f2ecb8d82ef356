#include "daemon/night/stages/mix_stage.h"

#include <algorithm>

#include "daemon/night/data/mix_record.h"
#include "daemon/night/data/silent_labels.h"
#include "daemon/night/judge/anchor.h"

namespace moil::night {

using daemon::Stage;

void MixStage::run() {
  const bool is_drawn = restore();
  if (!is_drawn) scenes_.run();
  night_.begin(Stage::kMix, 1);
  is_drawn ? night_.learn_symbols() : draw({});
  night_.progress(Stage::kMix, 1, 1);
}

// False if there is no record, or if samples of it were forgotten: these leave no trace in
// what is trained.
bool MixStage::restore() {
  const auto saved = night_.files.load_mix();
  if (!saved) return false;
  std::size_t lost = 0;
  restored([&] {
    night_.mix = mix_from_json(*saved, night_.data.global(), night_.data.local(), lost);
    left_out_ = left_out_from_json(saved->value("unreadable", nlohmann::json::array()));
  });
  std::erase_if(left_out_, [&](const LeftOutSample& sample) {
    return !night_.data.is_remembered({{sample.source, 0}, sample.digest, {}});
  });
  if (lost > 0) night_.files.remove_all();
  return lost == 0;
}

// The symbols of a mix are always the same, so that a resumed night has the same model.
void MixStage::draw(LeftOut left_out) {
  auto without = digests_of(left_out);
  without.merge(scenes_.not_known());
  night_.mix = night_.data.draw_mix(night_.spec, night_.base, without);
  if (const auto anchor = night_.file.anchor_version;
      anchor != 0 && night_.base.task->outputs_are_labels())
    night_.mix.global_classes =
        std::min(night_.mix.global_classes,
                 labels_of_anchor(night_.layout.version(night_.spec.model, anchor), night_.base));
  night_.data.count_parts(night_.mix, *night_.base.kind);
  left_out_ = std::move(left_out);
  const std::string remark = passed_over_remark(night_.mix.also_trained);
  if (!remark.empty()) night_.events.note(remark);
  if (const std::string vain = denied_in_vain_remark(night_.mix); !vain.empty())
    night_.events.note(vain);
  for (const SilentLabel& label : silent_labels(night_.mix))
    night_.events.note(silence_remark(label));
  require_enough(night_.mix, left_out_);
  nlohmann::json saved = to_json(night_.mix);
  saved["unreadable"] = to_json(left_out_);
  night_.files.save_mix(saved);
  night_.learn_symbols();
}

// In this order, so that a night that is killed in between comes to the same.
void MixStage::leave_out(const UnreadableSamples& unreadable) {
  const auto found = left_out_of(unreadable, night_.mix, night_.data.global(), night_.data.local());
  night_.files.remove_training();
  LeftOut all = left_out_;
  all.insert(all.end(), found.begin(), found.end());
  draw(std::move(all));
  night_.events.note(std::to_string(left_out_.size()) +
                     (left_out_.size() == 1 ? " sample cannot be read and is"
                                            : " samples cannot be read and are") +
                     " left out; the report names what");
}

}  // namespace moil::night
