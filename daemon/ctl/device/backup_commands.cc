// moilctl backup, moilctl restore: all that cannot be made again, in one file and back
#include <fcntl.h>
#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "daemon/ctl/command.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr const char* kStandard = "-";  // in place of a file's name

struct BackupOptions {
  std::string file;
  bool yes = false;
};

Json asked_with(Session& session, const std::string& method, int file, const char* heading) {
  const auto show = [&session, heading](const Json& notification) {
    const Json& at = notification["params"];
    const double done = at.value("done", 0.0), total = at.value("total", 0.0);
    const Json left = at.value("seconds_left", Json());
    session.console.bar(
        total > 0 ? done / total : 0, heading,
        bytes_text(done) + " of " + bytes_text(total) +
            (left.is_number() ? ", " + duration_text(left.get<double>()) + " left" : ""));
  };
  const Json reply =
      session.call(method, {{"file", 0}, {"progress", !session.json}}, std::span(&file, 1), show);
  session.console.end_bar();
  return reply;
}

std::atomic<bool> is_stopped = false;

// Who stops the command leaves no half of a file behind.
void clear_up_when_stopped(Session& session) {
  struct sigaction action {};
  action.sa_handler = [](int) { is_stopped = true; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  (void)session.client();  // which there must be, to look about in it
  session.look_about([] {
    if (is_stopped) throw Error(ErrorCode::kCancelled, "stopped; no backup was made");
  });
}

std::string holds_text(const Json& holds) {
  const auto count = [&](const char* what, const char* one) {
    return counted(holds.value(what, std::int64_t{0}), one);
  };
  return count("samples", "sample") + ", " + count("labels", "label") + ", " +
         count("models", "model") + " (" + count("versions", "version") + "), " +
         count("schedules", "schedule") + ", " + count("packs", "pack");
}

void note_what_is_missing(Console& console, const Json& reply) {
  if (const auto left = reply["samples_left_out"].get<std::int64_t>(); left > 0)
    console.note("not in it: " + counted(left, "sample") +
                 ", forgotten meanwhile or without its file");
  for (const Json& pack : reply["packs_elsewhere"])
    console.note("not in it: the pack " + printable(cell(pack)) +
                 ", which jobs need and which lies outside the state folder");
}

int back_up_to_stdout(Session& session) {
  if (::isatty(STDOUT_FILENO) == 1)
    throw Error(ErrorCode::kInvalidArgument,
                "a backup is nothing for a terminal; name a file, or send it on");
  const Json reply = asked_with(session, "system.backup", STDOUT_FILENO, "backup");
  note_what_is_missing(session.console, reply);
  session.console.note("backup: " + holds_text(reply["holds"]));
  return EX_OK;
}

int back_up(Session& session, const BackupOptions& options) {
  if (options.file == kStandard) return back_up_to_stdout(session);
  const fs::path path = options.file;
  if (fs::exists(path)) {
    if (!fs::is_regular_file(path))
      throw Error(ErrorCode::kInvalidArgument,
                  path.string() +
                      " is not a regular file; \"moilctl backup - > FILE\" writes "
                      "wherever it may");
    session.require_consent(options.yes, "write over " + path.string());
  }
  AtomicFile file(path, AtomicFile::Aside::kUnnamed);
  clear_up_when_stopped(session);
  const Json reply = asked_with(session, "system.backup", file.descriptor(), "backup");
  file.commit();
  if (session.printed_json(reply)) return EX_OK;
  note_what_is_missing(session.console, reply);
  session.console.print(path.string() + ": " + holds_text(reply["holds"]) + "; " +
                        bytes_text(static_cast<double>(fs::file_size(path))));
  return EX_OK;
}

// Nothing if the device has nothing that could be lost.
std::string what_is_there(Session& session) {
  const auto samples = session.call("label.list", {{"limit", 1}}).value("samples", std::int64_t{0});
  const std::size_t versions =
      session.list("model.list", Json::object(), "models")["models"].size();
  const std::size_t schedules =
      session.list("schedule.list", Json::object(), "schedules")["schedules"].size();
  if (samples == 0 && versions + schedules == 0) return "";
  return counted(samples, "sample") + ", " +
         counted(static_cast<std::int64_t>(versions), "version") + " of models and " +
         counted(static_cast<std::int64_t>(schedules), "schedule");
}

// Until the daemon that answered has gone and the next answers; whether it does.
bool is_back(Session& session) {
  try {
    for (;;) (void)session.client().next_notification();
  } catch (const Error&) {  // it has closed the connection
    session.hang_up();
  }
  constexpr std::chrono::seconds kMost{120};
  const auto give_up = std::chrono::steady_clock::now() + kMost;
  while (std::chrono::steady_clock::now() < give_up) {
    try {
      (void)session.call("system.methods", Json::object());
      return true;
    } catch (const Error&) {
      session.hang_up();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  return false;
}

UniqueFd open_backup(const std::string& file) {
  UniqueFd open(file == kStandard ? ::dup(STDIN_FILENO)
                                  : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open) throw system_error("cannot open " + file, errno);
  return open;
}

int restore(Session& session, const BackupOptions& options) {
  const UniqueFd file = open_backup(options.file);
  if (const std::string there = options.yes ? "" : what_is_there(session); !there.empty())
    session.require_consent(false, "put the backup in place of what this device has: " + there);
  const Json reply = asked_with(session, "system.restore", file.get(), "restore");
  const bool back = is_back(session);
  if (!session.printed_json(reply)) {
    for (const Json& left : reply["packs_left_out"])
      session.console.note("the pack " + printable(cell(left["pack"])) +
                           " was left out: " + printable(cell(left["why"])));
    session.console.print("restored what moild " + printable(cell(reply["moild"])) + " kept at " +
                          printable(cell(reply["made_at"])) + ": " + holds_text(reply["holds"]));
  }
  if (back) return EX_OK;
  session.console.note(
      "moild does not answer yet; \"systemctl status moild\" shows why, and it goes on when it is "
      "started");
  return EX_TEMPFAIL;
}

}  // namespace

void add_backup_commands(cli::Command app, Action& chosen) {
  const auto to = std::make_shared<BackupOptions>();
  cli::Command command =
      add_command(app, "backup", "all that cannot be made again, in one file", chosen, to, back_up)
          .group(kDevice);
  command.add_option("FILE", to->file, "a new file; \"-\": to stdout").required();
  command.add_flag("-y,--yes", to->yes, "write over a file that is there without asking");
  const auto from = std::make_shared<BackupOptions>();
  command = add_command(app, "restore", "put a backup in place of what the device has", chosen,
                        from, restore)
                .group(kDevice);
  command.add_option("FILE", from->file, "the backup; \"-\": from stdin").required();
  add_yes(command, from->yes);
}

}  // namespace moil::daemon::ctl
