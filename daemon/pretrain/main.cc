// moil-pretrain: what happens before a device is shipped. Trains a global model from scratch and
// writes it with its global pack; makes packs for models that were trained elsewhere and packs of
// feature maps; exports images of a dataset.
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/access.h"
#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/seconds.h"
#include "base/version.h"
#include "daemon/manual/manual.h"
#include "daemon/packs/answered_pack.h"
#include "daemon/pretrain/pretraining.h"
#include "daemon/pretrain/reconciliation.h"
#include "daemon/pretrain/selection.h"
#include "daemon/pretrain/unreadable.h"
#include "daemon/pretrain/usual_network.h"
#include "datasets/kinds/decoding.h"
#include "datasets/pack/sample_pack.h"
#include "datasets/readers/plain_folder.h"
#include "datasets/readers/split_labels.h"
#include "engine/kernels/parallel.h"

namespace {

using moil::pretrain::Selection;
using moil::pretrain::SelectionOptions;

struct Arguments {
  SelectionOptions selection;
  std::string out, model, pack, json;
  moil::pretrain::PretrainingOptions training;
  std::string task, optimizer, schedule = "cosine", class_names, preprocessing, loss = "squares";
  std::optional<double> learning_rate, momentum, weight_decay, held_out;
  std::optional<int> epochs;
  std::vector<std::string> groups;
  int threads = 0, trainable_layers = 1;
};

void add_selection(moil::cli::Command command, SelectionOptions& s) {
  command
      .add_option("--data=PATH", s.data,
                  "Digits CSV, a table as CSV, or a folder or tar of images by class")
      .required();
  command.add_option("--format", s.format,
                     "digits-csv or image-folder; by the file's name if left out");
  command.add_option("--label-column", s.label_column,
                     "The data is a table, a record a line: this column names the classes");
  command.add_option("--classes=NAME", s.classes, "Classes to use, in this order").delimiter(',');
  command.add_option("--limit-per-class", s.limit_per_class,
                     "Use so many samples of each class and split");
  command.add_option("--offset", s.skip_per_class,
                     "Pass over the first so many of each class and split");
}

void add_validation(moil::cli::Command command, SelectionOptions& s) {
  command.add_option("--validation-data,--val-data=PATH", s.validation_data,
                     "Held-out samples, if they lie apart; of all classes or of some");
  command
      .add_option("--validation-fraction,--val-fraction=FRACTION", s.validation_fraction,
                  "Held out, by class")
      .check(moil::cli::within(0.0, 0.9))
      .capture_default_str();
}

void add_train(moil::cli::Command app, Arguments& a) {
  moil::cli::Command train = app.add_subcommand(
      "train", "Train a global model, from scratch or from another; write model and global pack");
  add_selection(train, a.selection);
  add_validation(train, a.selection);
  train.add_option("--model=FILE", a.model,
                   "From scratch: the network's description (JSON); numbers without one get two "
                   "hidden layers");
  moil::cli::Option from = train.add_option(
      "--from=DIR", a.training.from,
      "From a model's folder, as moil-onnx import writes one; where its labels are "
      "others, with a fresh classifier");
  train
      .add_option("--trainable-layers", a.training.trainable_layers,
                  "n of LF(n): of --from, the last so many layers learn; all if left out")
      .check(moil::cli::positive());
  train
      .add_option("--task", a.task,
                  "classify: one class a sample; tag: several labels, as \"red+round\"; predict: "
                  "the label is a number; if left out, a table of fractions or of more than 21 "
                  "numbers is predicted, and everything else classified")
      .check(moil::cli::one_of({"classify", "tag", "predict"}));
  train
      .add_option("--loss", a.loss,
                  "For --task predict: squares, or huber, with which labels that lie far from the "
                  "others count little")
      .check(moil::cli::one_of({"squares", "huber"}))
      .capture_default_str();
  moil::cli::Option preprocessing = train.add_option(
      "--preprocessing=FILE", a.preprocessing,
      "JSON: what samples are to the model (docs/kinds.md); by the data if left out");
  preprocessing.excludes(from);
  train
      .add_option(
          "--hop=LINES", a.training.kind.hop,
          "Samples are recordings of any length, seen in windows of the model's lines, each "
          "so many lines behind the one before")
      .check(moil::cli::positive())
      .excludes(preprocessing);
  train
      .add_option(
          "--views", a.training.augmentation.views,
          "Views of each training sample, the plain one among them; each epoch shows the next")
      .check(moil::cli::within(1, 64))
      .capture_default_str();
  train.add_flag("!--no-flip", a.training.augmentation.flip,
                 "Views are not mirrored: letters and digits would be others then");
  train.add_option("--out=DIR", a.out, "Folder to write; gets model/ and pack/").required();
  auto& t = a.training.trainer;
  train
      .add_option("--epochs", a.epochs,
                  "If left out, 20; 60 or more for numbers without a described network")
      .check(moil::cli::positive());
  train.add_option("--batch", t.batch).check(moil::cli::positive()).capture_default_str();
  train.add_option("--optimizer", a.optimizer,
                   "sgd, sgdw, adam or adamw; sgd if left out, adamw for numbers without a "
                   "described network");
  train.add_option("--learning-rate", a.learning_rate,
                   "If left out, 0.003 for adam and adamw, else 0.1");
  train.add_option("--momentum", a.momentum, "For sgd and sgdw; 0.9 if left out");
  train.add_option("--weight-decay", a.weight_decay,
                   "If left out, 0; for numbers without a described network up to 3, the more the "
                   "fewer they are");
  train.add_option("--schedule", a.schedule, "constant, step, cosine or exponential")
      .capture_default_str();
  train.add_option("--seed", t.seed).capture_default_str();
  train.add_option("--threads", a.threads, "All CPUs if left out").check(moil::cli::positive());
  train
      .add_option("--eval-groups=NAME=A,B", a.groups,
                  "NAME=A,B: also tell the accuracy of these classes; several with ';'")
      .delimiter(';');
  train.add_option("--json=FILE", a.json, "Write the figures to this file");
}

void add_others(moil::cli::Command app, Arguments& a) {
  moil::cli::Command pack =
      app.add_subcommand("pack", "Make a pack of feature maps from a pack of images");
  pack.add_option("--model=DIR", a.model, "The model's folder").required();
  pack.add_option("--pack=DIR", a.pack, "The pack of images").required();
  pack.add_option("--trainable-layers", a.trainable_layers,
                  "n of LF(n): what stays trainable on the device")
      .required();
  pack.add_option("--out=DIR", a.out, "Folder to write").required();
  moil::cli::Command sample_pack = app.add_subcommand(
      "image-pack", "Make a global pack of images, for a model that was trained elsewhere");
  add_selection(sample_pack, a.selection);
  add_validation(sample_pack, a.selection);
  sample_pack.add_option("--model=DIR", a.model, "The model's folder; its labels name the classes")
      .required();
  sample_pack.add_option("--class-names=FILE", a.class_names,
                         "Text: a class's name in the data, a tab, the model's label; found by "
                         "itself where spelling or a table beside the data tells");
  sample_pack.add_option("--out=DIR", a.out, "Folder to write").required();
  moil::cli::Command described = app.add_subcommand(
      "described-pack",
      "Make a pack without any data: feature maps that the model's classifier describes");
  described.add_option("--model=DIR", a.model, "The model's folder").required();
  described.add_option("--out=DIR", a.out, "Folder to write").required();
  moil::cli::Command unlabelled = app.add_subcommand(
      "unlabelled-pack",
      "Make a pack of samples without labels, and of feature maps that the classifier describes");
  unlabelled.add_option("--model=DIR", a.model, "The model's folder; its answers are the labels")
      .required();
  unlabelled
      .add_option("--data=DIR", a.selection.data, "A folder of samples, in folders of any name")
      .required();
  unlabelled.add_option("--out=DIR", a.out, "Folder to write").required();
  moil::cli::Command images = app.add_subcommand(
      "images", "Write a dataset's samples as <class>/<number>.png, .npy or .csv");
  add_selection(images, a.selection);
  images
      .add_option(
          "--validation-fraction,--val-fraction=FRACTION", a.held_out,
          "Also write labels.jsonl, for moilctl label import, in which these are held out: the "
          "same as train holds out")
      .check(moil::cli::within(0.0, 0.9));
  images.add_option("--out=DIR", a.out, "Folder to write").required();
}

void parse_groups(Arguments& a) {
  for (const std::string& text : a.groups) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      throw moil::Error(moil::ErrorCode::kInvalidArgument,
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

std::string shown(const std::optional<double>& quality, const moil::Metric& metric) {
  if (!quality) return "not measured";
  char text[32];
  if (metric.is_fraction)
    std::snprintf(text, sizeof text, "%5.1f %%", 100 * *quality);
  else
    std::snprintf(text, sizeof text, "%6.3f", *quality);
  return text;
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

// Nothing that rounds to no second.
std::string left_text(double seconds) {
  return seconds < 0.5 ? "" : "  " + seconds_text(std::round(seconds)) + " left";
}

// What is shown of the work, and how long its parts took.
class Progress {
 public:
  void show_epoch(const moil::pretrain::EpochReport& r) const {
    const double left =
        r.seconds / static_cast<double>(r.epoch) * static_cast<double>(r.epochs - r.epoch);
    std::fprintf(stderr, "%sepoch %lld/%lld  loss %.4f  held-out %s %s%s%s", tty_ ? "\r\033[K" : "",
                 static_cast<long long>(r.epoch), static_cast<long long>(r.epochs), r.loss,
                 r.metric.name.c_str(), shown(r.quality, r.metric).c_str(), left_text(left).c_str(),
                 tty_ && r.epoch < r.epochs ? "" : "\n");
  }
  void show_features(std::int64_t done, std::int64_t all) {
    frozen_ = moil::seconds_since(start_);
    if (tty_ || done == all)
      std::fprintf(stderr, "%sfrozen layers: %lld of %lld feature maps%s", tty_ ? "\r\033[K" : "",
                   static_cast<long long>(done), static_cast<long long>(all),
                   tty_ && done < all ? "" : "\n");
  }
  // "46 s, of which frozen layers 45 s"
  [[nodiscard]] std::string took() const {
    const std::string all = seconds_text(moil::seconds_since(start_));
    return frozen_ > 0 ? all + ", of which frozen layers " + seconds_text(frozen_) : all;
  }

 private:
  const bool tty_ = ::isatty(STDERR_FILENO) == 1;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double frozen_ = 0;
};

void show_remarks(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks)
    std::fprintf(stderr, "moil-pretrain: %s\n", remark.c_str());
}

// What cannot be read, or is refused by a trial, is named and left out.
void leave_out(Selection& selection, const moil::pretrain::Trial& trial) {
  std::vector<std::size_t> samples;
  std::vector<std::string> whys;
  for (moil::pretrain::Unreadable& one : moil::pretrain::unreadable_in(selection, trial)) {
    samples.push_back(one.index);
    whys.push_back(std::move(one.why));
  }
  if (samples.empty()) return;
  show_remarks(moil::pretrain::told(whys, selection.size()));
  selection.leave_out(samples, whys.front());
}

// A folder that cannot be written to is known before the work is done.
void require_writable(const std::filesystem::path& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw moil::system_error("cannot write into " + folder.string(), errno);
}

moil::data::PackOptions pack_options(bool is_tagging) {
  moil::data::PackOptions options;
  if (is_tagging) options.label_separator = moil::data::kLabelSeparator;
  return options;
}

nlohmann::json read_json(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  auto json = moil::json_or_discarded(moil::read_text(file, kMostBytes, moil::Named::kFileOrPipe));
  if (json.is_discarded())
    throw moil::Error(moil::ErrorCode::kBadData, file.string() + " is not JSON");
  return json;
}

bool has_usual_network(const Arguments& a) { return a.model.empty() && a.training.from.empty(); }

// What is left out is as the network has it.
void set_training(Arguments& a, std::size_t samples) {
  const bool is_usual = has_usual_network(a);
  moil::TrainerConfig& trainer = a.training.trainer;
  const auto usual = moil::pretrain::usual_training(samples, trainer.batch);
  if (a.optimizer.empty()) a.optimizer = is_usual ? "adamw" : "sgd";
  moil::OptimizerConfig& optimizer = trainer.optimizer;
  optimizer.kind = moil::optimizer_kind(a.optimizer);
  optimizer.learning_rate = a.learning_rate.value_or(a.optimizer.starts_with("adam") ? 0.003 : 0.1);
  optimizer.momentum = a.momentum.value_or(moil::default_momentum(optimizer.kind));
  optimizer.weight_decay =
      a.weight_decay.value_or(is_usual && a.optimizer == "adamw" ? usual.weight_decay : 0);
  trainer.epochs = a.epochs.value_or(is_usual ? usual.epochs : 20);
}

std::string task_of(const Arguments& a, const Selection& selection) {
  if (!a.task.empty()) return a.task;
  return selection.labels_are_amounts() ? "predict" : "classify";
}

void train(Arguments& a) {
  parse_groups(a);
  if (a.threads > 0) moil::set_thread_count(a.threads);
  a.training.model = a.model;
  a.training.trainer.schedule.kind = moil::schedule_kind(a.schedule);
  if (!a.task.empty()) a.selection.labels_are_classes = a.task == "classify";
  a.training.may_be_one_class = !a.selection.classes.empty();
  a.training.outputs = {a.selection.label_column.empty() ? "number" : a.selection.label_column};
  if (!a.preprocessing.empty()) a.training.kind.preprocessing = read_json(a.preprocessing);
  if (a.loss == "huber") a.training.number_loss = moil::pretrain::NumberLoss::kHuber;
  Selection selection(a.selection);
  show_remarks(selection.remarks());
  a.training.task = task_of(a, selection);
  set_training(a, selection.size());
  const std::filesystem::path out = a.out;
  moil::pretrain::check_pretraining(selection, a.training, out);
  leave_out(selection, moil::data::check_decodes);
  leave_out(selection, moil::pretrain::trial_for(a.training, selection));
  moil::pretrain::check_pretraining(selection, a.training, out);  // classes may have gone
  if (a.training.task == "predict")
    show_remarks(
        moil::pretrain::outlying_numbers(selection, a.training.outputs, a.training.number_loss));
  if (!a.json.empty()) require_writable(a.json);
  Progress progress;
  const auto result = moil::pretrain::pretrain(
      selection, a.training, out,
      {[&](const moil::pretrain::EpochReport& epoch) { progress.show_epoch(epoch); },
       [&](std::int64_t done, std::int64_t all) { progress.show_features(done, all); }});
  const std::string took = progress.took();
  moil::night::write_model_folder(out / "model", result.bundle);
  moil::data::write_sample_pack(out / "pack", selection, result.bundle.kind,
                                pack_options(a.training.task == "tag"));
  moil::publish(out / "model");
  moil::publish_content(out / "pack");
  if (!a.json.empty()) {
    moil::write_file_atomic(a.json, result.report.dump(1) + "\n");
    moil::publish(a.json);
  }
  const moil::Metric metric = result.bundle.task->headline();
  std::printf("%s: %zu %s, held-out %s %s, trained in %s\n", (out / "model").c_str(),
              result.bundle.labels.size(),
              result.bundle.task->outputs_are_labels() ? "classes" : "outputs", metric.name.c_str(),
              shown(result.quality, metric).c_str(), took.c_str());
  if (!result.remark.empty()) show_remarks({result.remark});
}

// Classes that the model has other names for get those, or they would be new ones every night.
void rename_classes(Selection& selection, const Arguments& a,
                    const std::vector<std::string>& labels) {
  const auto beside = std::filesystem::absolute(a.selection.data).parent_path();
  const auto found = moil::pretrain::reconcile_classes(
      selection.classes(), labels, {a.class_names, selection.texts(), {a.model, beside}});
  if (found.names.empty()) return;
  const auto& [from, to] = *found.names.begin();
  std::fprintf(stderr, "moil-pretrain: %zu classes have the model's labels by %s: %s is \"%s\"\n",
               found.names.size(), found.by.c_str(), from.c_str(), to.c_str());
  selection.rename(found.names);
}

void write_pack(Arguments& a) {
  const moil::night::ModelBundle bundle = moil::night::read_model_folder(a.model);
  const bool is_tagging = bundle.task->name() == "tag";
  a.selection.known = bundle.labels;
  a.selection.labels_are_classes = bundle.task->name() == "classify";
  Selection selection(a.selection);
  show_remarks(selection.remarks());
  leave_out(selection, moil::data::check_decodes);
  leave_out(selection, moil::pretrain::trial_for(bundle.kind));
  if (a.selection.labels_are_classes) rename_classes(selection, a, bundle.labels);
  moil::data::write_sample_pack(a.out, selection, bundle.kind, pack_options(is_tagging));
  moil::publish_content(a.out);
  std::printf("%s: %zu samples of %zu classes\n", a.out.c_str(), selection.size(),
              selection.classes().size());
}

void show_pack(const std::filesystem::path& out, const moil::packs::AnsweredPack& made) {
  moil::publish_content(out);
  std::string text = out.string() + ": " + std::to_string(made.described) +
                     " feature maps that the classifier describes, of " +
                     std::to_string(made.outputs) + " labels";
  if (made.samples > 0)
    text += "; " + std::to_string(made.samples) + " samples, which reach " +
            std::to_string(made.reached) + " of them";
  std::printf("%s\n", text.c_str());
}

void write_unlabelled(const Arguments& a) {
  const auto kind = moil::night::open_model_folder(a.model).kind;
  const moil::data::PlainFolder samples(a.selection.data, *kind);
  if (const std::string passed_over = samples.passed_over().said(); !passed_over.empty())
    show_remarks({a.selection.data.string() + ": passed over " + passed_over});
  std::vector<moil::night::UnreadableSample> unreadable;
  Progress progress;
  const auto made = moil::packs::write_unlabelled_pack(
      a.model, samples, a.out, unreadable, [&](std::size_t done, std::size_t all) {
        progress.show_features(static_cast<std::int64_t>(done), static_cast<std::int64_t>(all));
      });
  show_remarks(moil::pretrain::told(unreadable, samples.size()));
  show_pack(a.out, made);
}

int exit_code_of(moil::ErrorCode code) {
  switch (code) {
    case moil::ErrorCode::kInvalidArgument:
      return EX_USAGE;
    case moil::ErrorCode::kBadData:
      return EX_DATAERR;
    case moil::ErrorCode::kNotFound:
      return EX_NOINPUT;
    case moil::ErrorCode::kAlreadyExists:
      return EX_CANTCREAT;
    case moil::ErrorCode::kIo:
      return EX_IOERR;
    default:
      return EX_SOFTWARE;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  moil::cli::Program app("The cloud phase of moild: global models and packs.", "moil-pretrain",
                         moil::kVersion);
  app.require_subcommand(1);
  add_train(app, arguments);
  add_others(app, arguments);
  moil::manual::add_manual(app);
  if (const auto exit = app.parse(argc, argv)) return *exit;
  try {
    if (app.got_subcommand("train")) train(arguments);
    if (app.got_subcommand("pack")) {
      show_remarks(moil::pretrain::write_features(arguments.model, arguments.pack,
                                                  arguments.trainable_layers, arguments.out));
      moil::publish_content(arguments.out);
    }
    if (app.got_subcommand("image-pack")) write_pack(arguments);
    if (app.got_subcommand("described-pack"))
      show_pack(arguments.out, moil::packs::write_described_pack(arguments.model, arguments.out));
    if (app.got_subcommand("unlabelled-pack")) write_unlabelled(arguments);
    if (app.got_subcommand("images")) {
      arguments.selection.validation_fraction = arguments.held_out.value_or(0);
      Selection selection(arguments.selection);
      show_remarks(selection.remarks());
      leave_out(selection, moil::data::check_decodes);
      moil::pretrain::export_samples(selection, arguments.out, arguments.held_out.has_value());
      moil::publish_content(arguments.out);
    }
    return EX_OK;
  } catch (const moil::Error& e) {
    std::fprintf(stderr, "moil-pretrain: %s\n", e.what());
    return exit_code_of(e.code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "moil-pretrain: %s\n", e.what());
    return EX_SOFTWARE;
  }
}
