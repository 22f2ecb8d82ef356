// moilctl logs JOB: what moild keeps about a job, and what the journal has about it.
#include <poll.h>
#include <sysexits.h>

#include <algorithm>
#include <ctime>

#include "base/durations.h"
#include "daemon/ctl/command.h"
#include "daemon/ctl/jobs/event_text.h"
#include "daemon/ctl/jobs/job_journal.h"
#include "daemon/state/job.h"

namespace moil::daemon::ctl {
namespace {

constexpr int kLastWait = 200;  // milliseconds
constexpr int kErrorPriority = 3, kWarningPriority = 4;

struct LogsOptions {
  std::int64_t id = 0;
  std::size_t lines = 0;  // 0: all
  bool follow = false;
};

// A line of either source, as --json prints it too.
struct LogLine {
  std::int64_t second = 0;
  Json document;
  std::string text;
};

// "2026-11-21T03:15:00Z", as moild writes times.
std::int64_t second_of(const std::string& text) {
  std::tm parts{};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return 0;
  return ::timegm(&parts);
}

LogLine line_of(const Json& event) {
  const std::string at = event["at"];
  return {second_of(at),
          {{"at", at}, {"source", "event"}, {"event", event["event"]}},
          at + "  " + printable(event_text(event["event"]))};
}

LogLine line_of(const JobJournal::Line& line) {
  const std::string at = utc_text(line.at);
  std::string mark;
  if (line.priority == kWarningPriority) mark = "warning: ";
  if (line.priority <= kErrorPriority) mark = "error: ";
  return {line.at / kSecond,
          {{"at", at}, {"source", "journal"}, {"priority", line.priority}, {"message", line.text}},
          at + "  " + mark + printable(line.text)};
}

class Logs {
 public:
  Logs(Session& session, const LogsOptions& options)
      : session_(session),
        options_(options),
        job_(session.call("job.get", {{"id", options.id}, {"details", false}})["job"]),
        journal_(options.id, session.call("system.status", Json::object())["state_dir"],
                 second_of(job_["submitted_at"]) * kSecond) {}

  int run() {
    history();
    return options_.follow ? follow() : EX_OK;
  }

 private:
  void history() {
    std::vector<LogLine> lines;
    const Json params{{"id", options_.id}, {"details", false}};
    const Json events = session_.list("job.get", params, "events")["events"];
    for (const Json& event : events) lines.push_back(line_of(event));
    if (!events.empty()) seen_ = events.back()["seq"];
    for (const JobJournal::Line& line : journal_.read()) lines.push_back(line_of(line));
    std::ranges::stable_sort(lines, {}, &LogLine::second);
    if (options_.lines > 0 && lines.size() > options_.lines)
      lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(options_.lines));
    if (session_.json && !options_.follow) return print_document(lines);
    for (const LogLine& line : lines) print(line);
    if (!journal_.why_not().empty())
      session_.console.note("moilctl: these are the job's events alone: " + journal_.why_not());
  }

  void print_document(const std::vector<LogLine>& lines) {
    Json list = Json::array();
    for (const LogLine& line : lines) list.push_back(line.document);
    const std::string& why = journal_.why_not();
    session_.printed_json({{"job", options_.id},
                           {"lines", std::move(list)},
                           {"journal_unread", why.empty() ? Json(nullptr) : Json(why)}});
  }

  void print(const LogLine& line) {
    if (!session_.printed_json_line(line.document)) session_.console.print(line.text);
  }

  int follow() {
    Client& client = session_.client();
    const Json begin = session_.call("job.watch", {{"id", options_.id}, {"since", seen_}});
    for (const Json& event : begin["events"]) take(event);
    // If the reply has not all events, later ones show how it ends.
    if (begin.value("next", Json()).is_null()) look_at(begin["job"]["state"]);
    while (!ended_) {
      pollfd waiting[] = {{client.descriptor(), POLLIN, 0}, {journal_.descriptor(), POLLIN, 0}};
      if (!client.has_notification()) ::poll(waiting, 2, -1);
      print_journal();
      if (!client.has_notification() && waiting[0].revents == 0) continue;
      const Json params = client.next_notification()["params"];
      if (params.value("job", std::int64_t{0}) == options_.id) take(params);
    }
    pollfd last{journal_.descriptor(), POLLIN, 0};  // journald is a little behind
    if (last.fd >= 0) ::poll(&last, 1, kLastWait);
    print_journal();
    return EX_OK;
  }

  void print_journal() {
    for (const JobJournal::Line& line : journal_.read()) print(line_of(line));
  }

  // A kept event, or a position, which is passed over: it has no time.
  void take(const Json& event) {
    if (!event.contains("at")) return;
    print(line_of(event));
    if (event["event"].value("event", "") == "state") look_at(event["event"].value("state", ""));
  }

  void look_at(const std::string& state) { ended_ = state != "queued" && state != "running"; }

  Session& session_;
  const LogsOptions& options_;
  const Json job_;
  JobJournal journal_;
  std::int64_t seen_ = 0;
  bool ended_ = false;
};

int logs(Session& session, const LogsOptions& options) { return Logs(session, options).run(); }

}  // namespace

void add_logs_command(cli::Command app, Action& chosen) {
  const auto options = std::make_shared<LogsOptions>();
  cli::Command command =
      add_command(app, "logs", "what a job did, and what the log says of it", chosen, options, logs)
          .group(kLearning);
  command.add_option("JOB", options->id, "the job's number").required();
  command.add_option("-n,--lines", options->lines, "the last so many lines; all if left out");
  command.add_flag("-f,--follow", options->follow, "go on with what comes, until the job ends");
}

}  // namespace moil::daemon::ctl
