// moilctl label watch
#include <sys/stat.h>
#include <sysexits.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/labels/inbox.h"
#include "daemon/ctl/labels/label_adding.h"
#include "datasets/labels/denial.h"
#include "datasets/labels/label_types.h"

namespace moil::daemon::ctl {
namespace {

struct WatchOptions {
  std::string folder;
  bool once = false;
  bool as_spelled = false;
};

void tell(Session& session, const std::string& label, const std::filesystem::path& file,
          const Json& sample) {
  Json told = sample;
  told["label"] = label.empty() ? Json() : Json(label);
  if (session.printed_json_line(told) || sample.contains("error")) return;
  session.console.print(printable(file.string()) + ": " +
                        (sample["new"] == true ? "added" : "known already") + ", " +
                        (label.empty() ? "unlabelled" : printable(data::spoken_label(label))));
}

enum class Outcome { kTaken, kRefused, kLater };

// Whether the same file may be taken another time: what is wrong lies in the device or in moild,
// and not in the file.
bool is_passing(const std::string& code, const UniqueFd& file) {
  if (code == "resource_exhausted") {  // room, or the sample is too large
    struct stat status {};
    return ::fstat(file.get(), &status) != 0 ||
           static_cast<std::uint64_t>(status.st_size) <= data::kMaxSampleBytes;
  }
  return code == "io" || code == "internal" || code == "cancelled" ||
         code == "failed_precondition" || code == "permission_denied";
}

std::string code_of(const Json& error) {
  return error.value("/data/code"_json_pointer, std::string("internal"));
}

class Watching {
 public:
  Watching(Session& session, const WatchOptions& options)
      : session_(session),
        once_(options.once),
        as_spelled_(options.as_spelled),
        inbox_(options.folder) {}

  // What is refused is told, and the watch goes on.
  int run() {
    bool all_taken = true;
    const auto patience = std::chrono::milliseconds(once_ ? 0 : -1);
    while (auto arrival = next(patience)) {
      OpenSample sample{arrival->file, std::move(arrival->content)};
      const Outcome outcome = offer(arrival->label, sample);
      if (outcome == Outcome::kTaken) put_off_.erase(arrival->file);
      if (outcome == Outcome::kLater && !once_) put_off(arrival->file);
      all_taken = outcome == Outcome::kTaken && all_taken;
    }
    return all_taken ? EX_OK : EX_DATAERR;
  }

 private:
  std::optional<Inbox::Arrival> next(std::chrono::milliseconds patience) {
    const auto complain = [&] {
      if (const std::string why = inbox_.complaint(); !why.empty()) session_.console.note(why);
    };
    complain();
    auto arrival = inbox_.next(patience);
    complain();
    return arrival;
  }

  Outcome offer(const std::string& label, const OpenSample& sample) {
    AddOptions options;
    if (!label.empty()) options.labels = {label};
    Added added{.spelling = Spelling(as_spelled_)};
    try {
      add_open_files(session_, options, std::span(&sample, 1), added);
      away_ = false;
    } catch (const ReplyError& error) {
      session_.console.note(printable(sample.path.string()) + ": " + printable(error.what()));
      return is_passing(code_of(error.error()), sample.file) ? Outcome::kLater : Outcome::kRefused;
    } catch (const Error& error) {
      // A label that is no text, or differs from another one in case alone.
      if (error.code() == ErrorCode::kInvalidArgument ||
          error.code() == ErrorCode::kAlreadyExists) {
        session_.console.note(printable(sample.path.string()) + ": " + printable(error.what()));
        return Outcome::kRefused;
      }
      if (once_) throw;  // moild is not there: an upgrade, perhaps
      session_.hang_up();
      if (!std::exchange(away_, true))
        session_.console.note(std::string(error.what()) + "; trying again until it answers");
      return Outcome::kLater;
    }
    const Json& told = added.samples.at(0);
    tell(session_, label, sample.path, told);
    if (added.failed == 0) return Outcome::kTaken;
    return is_passing(told["error"].value("code", "internal"), sample.file) ? Outcome::kLater
                                                                            : Outcome::kRefused;
  }

  // A second first; each time twice as long, up to ten minutes.
  void put_off(const std::filesystem::path& file) {
    constexpr std::chrono::milliseconds kFirst{1000}, kLongest{600'000};
    auto& wait = put_off_.try_emplace(file, kFirst).first->second;
    inbox_.put_off(file, away_ ? kFirst : wait);
    if (!away_) wait = std::min(wait * 2, kLongest);
  }

  Session& session_;
  const bool once_, as_spelled_;
  Inbox inbox_;
  bool away_ = false;  // moild, and that was told
  std::map<std::filesystem::path, std::chrono::milliseconds> put_off_;
};

int watch(Session& session, const WatchOptions& options) {
  Watching watching(session, options);
  session.client();  // before anything is waited for
  if (!options.once && !session.json)
    session.console.note("watching " + printable(options.folder) + "; end with Ctrl+C");
  return watching.run();
}

}  // namespace

void add_label_watch_command(cli::Command group, Action& chosen) {
  const auto watched = std::make_shared<WatchOptions>();
  cli::Command command =
      add_command(group, "watch", "add files as they come into a folder", chosen, watched, watch);
  command
      .add_option("FOLDER", watched->folder,
                  "folders in it are labels; files beside them are unlabelled")
      .required();
  command.add_flag("--once", watched->once, "take what is there, and end");
  add_as_spelled(command, watched->as_spelled);
}

}  // namespace moil::daemon::ctl
