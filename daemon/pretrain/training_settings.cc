#include "daemon/pretrain/training_settings.h"

#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "daemon/pretrain/usual_network.h"

namespace moil::pretrain {
namespace {

void parse_groups(Arguments& a) {
  for (const std::string& text : a.groups) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::kInvalidArgument,
                  "--eval-groups \"" + text + "\" is not NAME=CLASS,CLASS");
    }
    auto& classes = a.training.groups[text.substr(0, equals)];
    std::string rest = text.substr(equals + 1);
    for (std::size_t comma = 0; comma != std::string::npos;
         rest.erase(0, comma == std::string::npos ? 0 : comma + 1)) {
      comma = rest.find(',');
      classes.push_back(rest.substr(0, comma));
    }
  }
}

nlohmann::json read_json(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  auto json = json_or_discarded(read_text(file, kMostBytes, Named::kFileOrPipe));
  if (json.is_discarded()) throw Error(ErrorCode::kBadData, file.string() + " is not JSON");
  return json;
}

bool has_usual_network(const Arguments& a) { return a.model.empty() && a.from.empty(); }

// What is left out is as the network has it.
void set_trainer(Arguments& a, const Selection& selection) {
  const bool is_usual = has_usual_network(a);
  TrainerConfig& trainer = a.training.trainer;
  const auto usual =
      usual_training(selection.size(), trainer.batch, a.training.task, selection.columns_are_ids());
  if (a.optimizer.empty()) a.optimizer = is_usual ? "adamw" : "sgd";
  OptimizerConfig& optimizer = trainer.optimizer;
  optimizer.kind = optimizer_kind(a.optimizer);
  optimizer.learning_rate = a.learning_rate.value_or(a.optimizer.starts_with("adam") ? 0.003 : 0.1);
  optimizer.momentum = a.momentum.value_or(default_momentum(optimizer.kind));
  optimizer.weight_decay =
      a.weight_decay.value_or(is_usual && a.optimizer == "adamw" ? usual.weight_decay : 0);
  constexpr double kClipOfSequences = 1;
  if (a.training.task == "sequence") trainer.clip_norm = kClipOfSequences;
  trainer.epochs = a.epochs.value_or(is_usual ? usual.epochs : 20);
}

std::string task_of(const Arguments& a, const Selection& selection) {
  if (!a.task.empty()) return a.task;
  return selection.labels_are_amounts() ? "predict" : "classify";
}

}  // namespace

void settle_before_data(Arguments& a) {
  parse_groups(a);
  a.training.model = a.model;
  if (!a.from.empty()) a.training.from = night::read_model_folder(a.from);
  a.training.trainer.schedule.kind = schedule_kind(a.schedule);
  if (!a.task.empty()) a.selection.labels_are_classes = a.task == "classify";
  a.training.may_be_one_class = !a.selection.classes.empty();
  a.training.kind.ids = a.selection.ids;
  a.training.outputs = {a.selection.label_column.empty() ? "number" : a.selection.label_column};
  if (!a.preprocessing.empty()) a.training.kind.preprocessing = read_json(a.preprocessing);
  if (a.loss == "huber") a.training.number_loss = NumberLoss::kHuber;
}

void settle_by(const Selection& selection, Arguments& a) {
  a.training.task = task_of(a, selection);
  set_trainer(a, selection);
}

}  // namespace moil::pretrain
