// moil-worker: does one night's job, plans one, imports a model, runs one on samples or on a sound
// that comes, makes small pictures of samples, tries whether samples can be decoded, cuts a piece
// out of a recording, compares two models, measures the machine, makes a backup or reads one, and
// ends (daemon/spec/worker_protocol.h).
//
// Everything that parses strangers' bytes runs here and not in the daemon.
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "base/command_line/command_line.h"
#include "base/files/file.h"
#include "base/files/unflushed.h"
#include "base/process_memory.h"
#include "base/version.h"
#include "daemon/backup/backup.h"
#include "daemon/backup/restore.h"
#include "daemon/manual/manual.h"
#include "daemon/models/import.h"
#include "daemon/models/model_diff.h"
#include "daemon/night/night_job.h"
#include "daemon/night/night_plan.h"
#include "daemon/predict/listening.h"
#include "daemon/predict/prediction.h"
#include "daemon/study/label_study.h"
#include "daemon/worker/confinement.h"
#include "daemon/worker/cut.h"
#include "daemon/worker/doctor.h"
#include "daemon/worker/guarded.h"
#include "daemon/worker/handed_over.h"
#include "daemon/worker/pack.h"
#include "daemon/worker/preview.h"
#include "daemon/worker/trial.h"
#include "datasets/labels/label_types.h"

namespace {

std::atomic<bool> stop{false};

void on_terminate(int) { stop = true; }

struct Arguments {
  std::string job_file, state_dir, source, other, model, pack;
  std::int64_t version = 0;
  int reply = -1;                  // a descriptor
  std::vector<std::string> files;  // NAME=DESCRIPTOR
  moil::night::PlanRequest plan;
  std::size_t audit = 0, suggest = 0;  // so many; 0: none are asked for
  bool meanings = false;
  std::vector<int> images;  // descriptors
  moil::night::PredictionWanted prediction;
  moil::night::ListeningWanted listening;
  int size = 128;
  moil::worker::Cut cut;
  std::string scratch;
  int archive = -1;  // descriptor of a backup
};

moil::daemon::JobFile read_job_file(const std::string& path) {
  return moil::daemon::job_file_from_json(moil::parsed_json(moil::read_text(path)));
}

void confine_to(const moil::worker::Needs& needs) {
  const std::string missing = moil::worker::confine(needs);
  if (!missing.empty()) std::cerr << "moil-worker: " << missing << "\n";
}

// What the daemon has made for this worker, without waiting for the disk: what is written there is
// to survive a power cut. job_file: empty if there is none.
void flush_places(const moil::daemon::StateLayout& layout, const std::string& job_file) {
  moil::sync_folder(layout.models());
  if (job_file.empty()) return;
  moil::flush_file(job_file);
  moil::sync_folder(layout.jobs());
}

int run(const Arguments& arguments, moil::daemon::EventWriter& events) {
  const auto file = read_job_file(arguments.job_file);
  const moil::daemon::StateLayout layout(arguments.state_dir);
  flush_places(layout, arguments.job_file);
  moil::night::make_place_for_cache(layout, events);
  confine_to(moil::worker::needs_of_night(layout, file));
  if (!moil::night::run_night(layout, file, events, stop)) return moil::daemon::kExitCheckpointed;
  events.result();
  return moil::daemon::kExitDone;
}

int answer(const Arguments& arguments, moil::daemon::EventWriter& events, const moil::Json& reply) {
  moil::daemon::write_reply(arguments.reply, reply);
  events.result();
  return moil::daemon::kExitDone;
}

int plan(const Arguments& arguments, moil::daemon::EventWriter& events) {
  const moil::daemon::StateLayout layout(arguments.state_dir);
  auto file = read_job_file(arguments.job_file);
  // Measured is whatever the job says, and for that a device may be opened.
  if (!arguments.plan.processors.empty())
    file.spec.processors = moil::daemon::ProcessorUse::kOpencl;
  confine_to(moil::worker::needs_of_plan(layout, arguments.job_file, file));
  const auto tell = [&events](moil::daemon::Stage stage, std::int64_t done, std::int64_t total) {
    moil::daemon::Progress progress;
    progress.stage = stage;
    progress.done = done;
    progress.total = total;
    events.progress(progress);
  };
  if (arguments.audit > 0)
    return answer(arguments, events,
                  moil::night::audit_labels(layout, file, arguments.audit, tell));
  if (arguments.suggest > 0)
    return answer(arguments, events,
                  moil::night::suggest_labels(
                      layout, file, arguments.suggest, tell,
                      [&events](const moil::Json& some) { events.suggestions(some); }));
  if (arguments.meanings)
    return answer(arguments, events, moil::night::meanings_of_labels(layout, file, tell));
  return answer(arguments, events, moil::night::plan_job(layout, file, arguments.plan));
}

int import(const Arguments& arguments, moil::daemon::EventWriter& events) {
  const moil::daemon::StateLayout layout(arguments.state_dir);
  flush_places(layout, "");
  confine_to(
      moil::worker::needs_of_import(layout, arguments.source, arguments.pack, arguments.model));
  const auto import_from = [&](const std::filesystem::path& source) {
    return answer(arguments, events,
                  to_json(moil::night::import_model(
                      {source, arguments.pack, arguments.model, arguments.version}, layout)));
  };
  if (arguments.files.empty()) return import_from(arguments.source);
  const auto received = layout.incoming(arguments.model, arguments.version);
  moil::worker::take_over(arguments.files, received, moil::worker::is_of_model);
  try {
    return import_from(received);
  } catch (const moil::Error& error) {  // in the words of who has the files
    throw moil::Error(error.code(),
                      moil::worker::named_after(arguments.source, received, error.what()));
  }
}

int import_pack(const Arguments& arguments, moil::daemon::EventWriter& events) {
  const moil::daemon::StateLayout layout(arguments.state_dir);
  confine_to(moil::worker::needs_of_pack(layout));
  return answer(
      arguments, events,
      moil::worker::import_pack(layout, arguments.pack, arguments.files, arguments.source));
}

std::vector<moil::night::ReadSample> images_of(const Arguments& arguments) {
  std::vector<moil::night::ReadSample> images;
  for (const int fd : arguments.images)
    images.emplace_back([fd] { return moil::read_descriptor(fd, moil::data::kMaxSampleBytes); });
  return images;
}

int predict(const Arguments& arguments, moil::daemon::EventWriter& events) {
  confine_to(moil::worker::needs_of_model(arguments.source));
  std::vector<moil::night::AskedSample> asked;
  for (moil::night::ReadSample& read : images_of(arguments))
    asked.push_back({std::move(read), arguments.images[asked.size()]});
  return answer(
      arguments, events,
      {{"predictions", moil::night::predict(arguments.source, asked, arguments.prediction)}});
}

int listen(const Arguments& arguments, moil::daemon::EventWriter& events) {
  confine_to(moil::worker::needs_of_model(arguments.source));
  return answer(arguments, events,
                moil::night::listen(arguments.source, arguments.listening,
                                    [&events](const moil::night::HeardNow& heard) {
                                      events.heard(heard.time, heard.label,
                                                   double{heard.probability});
                                    }));
}

int preview(const Arguments& arguments, moil::daemon::EventWriter& events) {
  confine_to({});
  return answer(arguments, events,
                {{"previews", moil::worker::previews(images_of(arguments), arguments.size)}});
}

int try_samples(const Arguments& arguments, moil::daemon::EventWriter& events) {
  confine_to({});
  return answer(arguments, events, {{"samples", moil::worker::tried(images_of(arguments))}});
}

int cut(const Arguments& arguments, moil::daemon::EventWriter& events) {
  confine_to({});
  return answer(arguments, events, moil::worker::cut(arguments.cut));
}

int doctor(const Arguments& arguments, moil::daemon::EventWriter& events) {
  return answer(arguments, events, moil::daemon::examine_machine());
}

int diff(const Arguments& arguments, moil::daemon::EventWriter& events) {
  confine_to(
      {.read = {arguments.source, arguments.other}, .update = {}, .control = {}, .change = {}});
  return answer(arguments, events, moil::night::model_diff(arguments.source, arguments.other));
}

moil::backup::Pace::Tell tell_of(moil::daemon::EventWriter& events, moil::daemon::Stage stage) {
  return [&events, stage](std::uint64_t done, std::uint64_t total, std::optional<double> left) {
    moil::daemon::Progress progress;
    progress.stage = stage;
    progress.done = static_cast<std::int64_t>(done);
    progress.total = static_cast<std::int64_t>(total);
    progress.seconds_left = left;
    events.progress(progress);
  };
}

// What SQLite sorts on the disk has no other place than the folder that may be changed.
void keep_private(const std::filesystem::path& temporary) {
  ::umask(077);
  ::setenv("SQLITE_TMPDIR", temporary.c_str(), 1);
}

int backup(const Arguments& arguments, moil::daemon::EventWriter& events) {
  const moil::daemon::StateLayout layout(arguments.state_dir);
  keep_private(arguments.scratch);
  confine_to(moil::worker::needs_of_backup(layout, arguments.scratch));
  return answer(arguments, events,
                moil::backup::make_backup(layout, arguments.scratch, arguments.archive,
                                          tell_of(events, moil::daemon::Stage::kBackup)));
}

int restore(const Arguments& arguments, moil::daemon::EventWriter& events) {
  const moil::daemon::StateLayout layout(arguments.state_dir);
  keep_private(layout.restoring());
  confine_to(moil::worker::needs_of_restore(layout));
  return answer(arguments, events,
                moil::backup::read_backup(layout, arguments.archive,
                                          tell_of(events, moil::daemon::Stage::kRestore)));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  moil::cli::Program app("Does one job of moild and ends. Started by the daemon.", "moil-worker",
                         moil::kVersion);
  app.require_subcommand(1);
  moil::cli::Command run_command = app.add_subcommand("run", "Run one night's job");
  run_command.add_option("--job-file", arguments.job_file, "jobs/ID/job.json").required();
  run_command.add_option("--state-dir", arguments.state_dir, "The state folder").required();
  moil::cli::Command plan_command = app.add_subcommand("plan", "Say what a night's job would need");
  plan_command.add_option("--job-file", arguments.job_file, "The job").required();
  plan_command.add_option("--state-dir", arguments.state_dir, "The state folder").required();
  plan_command.add_flag("--picture", arguments.plan.picture, "With the plan as SVG");
  plan_command.add_flag("--timing", arguments.plan.timing, "With what each layer takes, measured");
  plan_command.add_option("--processors", arguments.plan.processors,
                          "With who would compute what, by this selection, measured");
  plan_command.add_flag("--check", arguments.plan.check, "Only whether the night would refuse it");
  plan_command.add_option("--audit", arguments.audit,
                          "Instead: so many labels that the model doubts");
  plan_command.add_option("--suggest", arguments.suggest,
                          "Instead: labels for so many unlabelled samples");
  plan_command.add_flag("--meanings", arguments.meanings,
                        "Instead: what the model calls the labels");
  moil::cli::Command import_command =
      app.add_subcommand("import", "Check a model folder and put it into the store");
  import_command.add_option("--source", arguments.source, "The model's folder").required();
  import_command.add_option("--file", arguments.files, "NAME=DESCRIPTOR of what is open already");
  import_command.add_option("--pack", arguments.pack, "The pack that its nights will mix from");
  import_command.add_option("--model", arguments.model, "Its name in the store").required();
  import_command.add_option("--version", arguments.version, "Its version").required();
  import_command.add_option("--state-dir", arguments.state_dir, "The state folder").required();
  moil::cli::Command pack_command =
      app.add_subcommand("import-pack", "Check a global pack and copy it into the state folder");
  pack_command.add_option("--source", arguments.source, "What messages call its folder").required();
  pack_command.add_option("--file", arguments.files, "NAME=DESCRIPTOR of its files").required();
  pack_command.add_option("--pack", arguments.pack, "Its name").required();
  pack_command.add_option("--state-dir", arguments.state_dir, "The state folder").required();
  moil::cli::Command predict_command = app.add_subcommand("predict", "Run a model on images");
  predict_command.add_option("--model-folder", arguments.source, "The model").required();
  predict_command.add_option("--top", arguments.prediction.top, "So many labels an image");
  predict_command.add_flag("--timeline", arguments.prediction.timeline, "When labels are said");
  predict_command.add_option("--image", arguments.images, "Descriptor of an image").required();
  moil::cli::Command listen_command = app.add_subcommand("listen", "Run a model on a sound");
  listen_command.add_option("--model-folder", arguments.source, "The model").required();
  listen_command.add_option("--sound", arguments.listening.sound, "Its descriptor").required();
  listen_command.add_option("--name", arguments.listening.name, "What messages call it");
  listen_command.add_option("--rate", arguments.listening.raw_rate, "Of samples without a head");
  listen_command.add_option("--every", arguments.listening.every, "Seconds to the next decision");
  listen_command.add_option("--threshold", arguments.listening.threshold, "Of the probability");
  listen_command.add_option("--false-accepts", arguments.listening.false_accepts, "An hour");
  listen_command.add_option("--label", arguments.listening.labels, "To tell; else all")
      .one_value_each_time();
  moil::cli::Command preview_command =
      app.add_subcommand("preview", "Make small pictures of samples");
  preview_command.add_option("--size", arguments.size, "Pixels of the longer side")
      .check(moil::cli::within(1, 4096));
  preview_command.add_option("--image", arguments.images, "Descriptor of a sample").required();
  moil::cli::Command try_command = app.add_subcommand("try", "Say whether samples can be decoded");
  try_command.add_option("--image", arguments.images, "Descriptor of a sample").required();
  moil::cli::Command cut_command = app.add_subcommand("cut", "Cut a piece out of a recording");
  cut_command.add_option("--recording", arguments.cut.recording, "Its descriptor").required();
  cut_command.add_option("--piece", arguments.cut.piece, "Descriptor for the piece").required();
  cut_command.add_option("--name", arguments.cut.name, "What messages call the recording");
  cut_command.add_option("--from", arguments.cut.from, "Seconds").required();
  cut_command.add_option("--to", arguments.cut.to, "Seconds").required();
  moil::cli::Command doctor_command = app.add_subcommand("doctor", "Measure the machine");
  moil::cli::Command diff_command = app.add_subcommand("diff", "Say what tells two versions apart");
  diff_command.add_option("--model-folder", arguments.source, "The first").required();
  diff_command.add_option("--other", arguments.other, "The second").required();
  moil::cli::Command backup_command = app.add_subcommand("backup", "Write a backup of the state");
  backup_command.add_option("--state-dir", arguments.state_dir, "The state folder").required();
  backup_command.add_option("--scratch", arguments.scratch, "A folder for copies").required();
  backup_command.add_option("--to", arguments.archive, "Descriptor for the backup").required();
  moil::cli::Command restore_command =
      app.add_subcommand("restore", "Read a backup into a folder beside the state");
  restore_command.add_option("--state-dir", arguments.state_dir, "The state folder").required();
  restore_command.add_option("--from", arguments.archive, "Descriptor of the backup").required();
  for (moil::cli::Command command : {plan_command, import_command, pack_command, predict_command,
                                     listen_command, preview_command, try_command, cut_command,
                                     doctor_command, diff_command, backup_command, restore_command})
    command.add_option("--reply", arguments.reply, "Descriptor for the answer").required();
  moil::manual::add_manual(app, 8);
  if (const auto exit = app.parse(argc, argv, moil::daemon::kExitUsage)) return *exit;
  moil::return_freed_memory();
  struct sigaction action {};
  action.sa_handler = on_terminate;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  moil::daemon::EventWriter events(STDOUT_FILENO);
  moil::worker::guard_threads(events);
  return moil::worker::guarded(events, [&] {
    if (run_command.given()) return run(arguments, events);
    if (pack_command.given()) return import_pack(arguments, events);
    if (predict_command.given()) return predict(arguments, events);
    if (listen_command.given()) return listen(arguments, events);
    if (preview_command.given()) return preview(arguments, events);
    if (try_command.given()) return try_samples(arguments, events);
    if (cut_command.given()) return cut(arguments, events);
    if (doctor_command.given()) return doctor(arguments, events);
    if (diff_command.given()) return diff(arguments, events);
    if (backup_command.given()) return backup(arguments, events);
    if (restore_command.given()) return restore(arguments, events);
    return plan_command.given() ? plan(arguments, events) : import(arguments, events);
  });
}
