#include "daemon/night/stages/distill_stage.h"

#include "daemon/night/data/mix_record.h"
#include "daemon/night/judge/anchor.h"
#include "daemon/night/maps/head_network.h"
#include "daemon/night/maps/head_slice.h"
#include "daemon/night/train/distillation.h"

namespace moil::night {

using daemon::Stage;

void DistillStage::run() {
  if (!model_.trainer || night_.spec.train.distill == 0 || count_global(night_.mix) == 0) return;
  if (night_.base.task->teaches_itself()) return;  // a row a symbol would be more than the samples
  const auto file = night_.files.soft_targets();
  if (!std::filesystem::exists(file)) ask_teacher();
  restored(
      [&] { targets_.emplace(file, night_.mix.train, reader_.views_of(data::Source::kGlobal)); });
}

std::optional<StoredModel> DistillStage::anchor() const {
  const std::int64_t version = night_.file.anchor_version;
  if (version == 0 || version == night_.file.base_version) return std::nullopt;
  return anchor_behind_maps({version, night_.layout.version(night_.spec.model, version), night_.mix,
                             night_.data.origins(), night_.base, model_, reader_});
}

void DistillStage::ask_teacher() {
  const auto asked = trained_portion(night_.mix, night_.spec, false);
  const std::int64_t total = count_questions(asked, reader_);
  night_.begin(Stage::kDistill, total);
  const std::optional<StoredModel> known = anchor();
  HeadNetwork teacher(known ? head_slice(known->description, model_.freeze) : model_.base_head,
                      *model_.trainer_kernels);
  teacher.allocate(weights_of(known ? *known : night_.base));
  if (!write_soft_targets(
          night_.files.soft_targets(), teacher, *night_.base.task, asked, reader_,
          [&](std::int64_t done) { return night_.report(Stage::kDistill, done, total); }))
    throw Stopped{};
}

Teacher DistillStage::teacher() const {
  if (!targets_) return {};
  return {&*targets_, night_.spec.train.distill};
}

}  // namespace moil::night
