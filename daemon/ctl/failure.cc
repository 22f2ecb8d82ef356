#include "daemon/ctl/failure.h"

#include <sysexits.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "daemon/json/nearest.h"
#include "daemon/rpc/error.h"
#include "daemon/rpc/reply.h"

namespace moil::daemon::ctl {
namespace {

int status_of_error(const std::string& code) {
  if (code == "invalid_argument") return EX_USAGE;
  if (code == "bad_data") return EX_DATAERR;
  if (code == "not_found") return EX_NOINPUT;
  if (code == "already_exists") return EX_CANTCREAT;
  if (code == "failed_precondition" || code == "unimplemented") return EX_UNAVAILABLE;
  if (code == "resource_exhausted" || code == "cancelled") return EX_TEMPFAIL;
  if (code == "permission_denied") return EX_NOPERM;
  if (code == "io") return EX_IOERR;
  return EX_SOFTWARE;
}

// Errors as the daemon would have sent them.
Json error_object(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ReplyError& reply) {
    return reply.error();
  } catch (...) {
    const RpcError found = rpc_error(error);
    return {{"code", found.code}, {"message", found.message}, {"data", found.data}};
  }
}

// One line; if fields of a job description are wrong, one line each, named as in the file.
void print_for_people(const Json& error) {
  const Json errors = error.value("/data/errors"_json_pointer, Json::array());
  if (errors.empty()) {
    std::cerr << "moilctl: " << error.value("message", "the daemon reported an error") << "\n";
    return;
  }
  for (const Json& wrong : errors) {
    std::string pointer = wrong.value("pointer", "");
    if (pointer.starts_with("/job/")) pointer = pointer.substr(4);
    std::cerr << "moilctl: " << (pointer.empty() ? "" : pointer + ": ")
              << wrong.value("message", "") << "\n";
  }
}

int print_error(bool json, const Json& error) {
  if (json) {
    std::cerr << to_line(error) << "\n";
  } else {
    print_for_people(error);
  }
  return status_of_error(error.value("/data/code"_json_pointer, std::string("internal")));
}

// The sub-command that the command line came to, and what one types to get there.
const CLI::App* innermost(const CLI::App* app, std::string& typed) {
  typed = "moilctl";
  for (auto chosen = app->get_subcommands(); !chosen.empty(); chosen = app->get_subcommands()) {
    app = chosen.front();
    typed += " " + app->get_name();
  }
  return app;
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

// If a command is missing or unknown, CLI11 says only that one is required.
std::string missing_command(const CLI::App& root, const CLI::App& at, const std::string& typed) {
  const std::vector<std::string> known = names_below(at);
  const std::vector<std::string> left = root.remaining(true);
  const auto word = std::find_if(left.begin(), left.end(),
                                 [](const std::string& text) { return !text.starts_with("-"); });
  if (word == left.end())
    return "\"" + typed + "\" needs one of its commands: " + joined(known) + "; see " + typed +
           " --help";
  const std::string near = nearest(*word, known);
  return "\"" + typed + "\" has no command \"" + *word + "\"; " +
         (near.empty() ? "it has " + joined(known) : "did you mean \"" + near + "\"?");
}

std::string usage_complaint(const CLI::App& root, const CLI::ParseError& error) {
  std::string typed;
  const CLI::App* at = innermost(&root, typed);
  const bool at_group = !names_below(*at).empty();
  if (at_group && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return missing_command(root, *at, typed);
  return std::string(error.what()) + "; see " + typed + " --help";
}

}  // namespace

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    app.exit(error);
    return EX_OK;
  }
  const std::string complaint = usage_complaint(app, error);
  const auto wrong = std::make_exception_ptr(Error(ErrorCode::kInvalidArgument, complaint));
  return print_error(app.count("--json") > 0, error_object(wrong));
}

int report_failure(Session& session, const std::exception_ptr& error) {
  session.console.end_bar();
  return print_error(session.json, error_object(error));
}

}  // namespace moil::daemon::ctl
