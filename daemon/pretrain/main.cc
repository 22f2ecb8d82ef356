// moil-pretrain: what happens before a device is shipped. Trains a global model from scratch and
// writes it with its global pack; makes packs for models that were trained elsewhere and packs of
// feature maps; exports images of a dataset.
#include <sysexits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/access.h"
#include "base/command_line/command_line.h"
#include "base/error.h"
#include "base/files/file.h"
#include "base/version.h"
#include "daemon/manual/manual.h"
#include "daemon/packs/answered_pack.h"
#include "daemon/pretrain/arguments.h"
#include "daemon/pretrain/pretraining.h"
#include "daemon/pretrain/progress.h"
#include "daemon/pretrain/reconciliation.h"
#include "daemon/pretrain/selection.h"
#include "daemon/pretrain/training_settings.h"
#include "daemon/pretrain/unreadable.h"
#include "daemon/pretrain/usual_network.h"
#include "datasets/kinds/decoding.h"
#include "datasets/kinds/tokens/tokens_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/pack/sample_pack.h"
#include "datasets/readers/plain_folder.h"
#include "datasets/readers/split_labels.h"
#include "engine/kernels/parallel.h"

namespace {

using moil::pretrain::Arguments;
using moil::pretrain::Progress;
using moil::pretrain::Selection;

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

// A kind that sees the ends of files takes them as they are. null: no such kind.
bool takes_any_file(const moil::data::Kind* kind) {
  return kind != nullptr && kind->takes(moil::data::kUnknownMedia);
}

// What the user says of samples; null if it follows from the data.
moil::data::KindPtr kind_said(const Arguments& a) {
  const auto& options = a.training;
  if (options.from) return options.from->kind;
  if (options.kind.preprocessing.is_null()) return nullptr;
  return moil::data::kind_from_json(options.kind.preprocessing);
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

std::string what_it_tells(const moil::night::ModelBundle& bundle) {
  if (bundle.task->teaches_itself()) return std::to_string(bundle.kind->symbols()) + " symbols";
  return std::to_string(bundle.labels.size()) +
         (bundle.task->outputs_are_labels() ? " classes" : " outputs");
}

void train(Arguments& a) {
  if (a.threads > 0) moil::set_thread_count(a.threads);
  moil::pretrain::settle_before_data(a);
  a.selection.any_file = takes_any_file(kind_said(a).get());
  Selection selection(a.selection);
  show_remarks(selection.remarks());
  moil::pretrain::settle_by(selection, a);
  const std::filesystem::path out = a.out;
  moil::pretrain::check_pretraining(selection, a.training, out);
  if (!a.selection.any_file && moil::pretrain::media_of(selection) != moil::data::kText)
    leave_out(selection, moil::data::check_decodes);
  leave_out(selection, moil::pretrain::trial_for(a.training, selection));
  moil::pretrain::check_pretraining(selection, a.training, out);  // classes may have gone
  if (a.training.task == "predict")
    show_remarks(
        moil::pretrain::outlying_numbers(selection, a.training.outputs, a.training.number_loss));
  if (!a.json.empty()) require_writable(a.json);
  Progress progress;
  const auto result = moil::pretrain::pretrain(
      selection, std::move(a.training), out,
      {[&](const moil::pretrain::EpochReport& epoch) { progress.show_epoch(epoch); },
       [&](std::int64_t done, std::int64_t all) { progress.show_features(done, all); }});
  const std::string took = progress.took();
  moil::night::write_model_folder(out / "model", result.bundle);
  moil::data::write_sample_pack(out / "pack", selection, result.bundle.kind,
                                pack_options(result.bundle.task->name() == "tag"));
  moil::publish(out / "model");
  moil::publish_content(out / "pack");
  if (!a.json.empty()) {
    moil::write_file_atomic(a.json, result.report.dump(1) + "\n");
    moil::publish(a.json);
  }
  const moil::Metric metric = result.bundle.task->headline();
  std::printf("%s: %s, held-out %s %s, trained in %s\n", (out / "model").c_str(),
              what_it_tells(result.bundle).c_str(), metric.name.c_str(),
              moil::pretrain::quality_text(result.quality, metric).c_str(), took.c_str());
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
  a.selection.any_file = takes_any_file(bundle.kind.get());
  Selection selection(a.selection);
  show_remarks(selection.remarks());
  if (moil::data::tokens_of(*bundle.kind) == nullptr)
    leave_out(selection, moil::data::check_decodes);
  leave_out(selection, moil::pretrain::trial_for(bundle.kind));
  if (*a.selection.labels_are_classes) rename_classes(selection, a, bundle.labels);
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
  moil::pretrain::add_train(app, arguments);
  moil::pretrain::add_others(app, arguments);
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
