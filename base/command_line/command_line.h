// Command lines, read by CLI11, whose headers take seconds to compile: they are seen by
// command_line.cc and by what looks into the table of a program's commands (daemon/manual).
//
//   Program program("What it does.", "moil-thing", kVersion);
//   program.add_option("--batch", batch, "samples a step").check(positive()).capture_default_str();
//   if (const auto exit = program.parse(argc, argv)) return *exit;
//
// Options are written to their variables by parse(). A Command and an Option are handles, copied at
// will; they live as long as their Program. One thread.
#pragma once

#include <sysexits.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace moil::cli {

// What a value must be; the help says it.
using Check = std::function<void(CLI::Option&)>;
Check positive();
Check not_negative();
Check within(int low, int high);
Check within(double low, double high);
Check one_of(std::vector<std::string> words);

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  Option check(const Check& check) const;
  Option capture_default_str() const;  // the help says what the variable holds now
  Option default_str(const std::string& text) const;
  Option envname(const std::string& variable) const;  // the value, if the option is left out
  Option group(const std::string& heading) const;     // "": hidden
  Option delimiter(char between) const;
  Option expected(int low, int high) const;  // so many values each time
  Option one_value_each_time() const;        // of an option that may be given again
  Option excludes(Option other) const;
  Option needs(Option other) const;
  std::size_t count() const;  // how often it was given

 private:
  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  // names: "-o,--out=FILE"; behind the "=" is what the help calls the value. Without that it is N,
  // NUMBER, or the option's own name (MODEL of --model).
  // T: a number, a text, a path, std::optional or std::vector of them; command_line.cc names those
  // that there are.
  template <class T>
  Option add_option(const std::string& names, T& target, const std::string& help = "") const;
  Option add_flag(const std::string& names, bool& target, const std::string& help = "") const;
  // Calls `act` with the value as soon as it is read.
  Option add_action(const std::string& names, const std::function<void(const std::string&)>& act,
                    const std::string& help) const;

  Command add_subcommand(const std::string& name, const std::string& help) const;
  Command callback(const std::function<void()>& act) const;  // once its options are read
  Command group(const std::string& heading) const;           // "": hidden
  Command alias(const std::string& name) const;              // an old name, which is not listed
  Command example(const std::string& typed) const;           // "moilctl predict cat.jpg"
  Command require_subcommand(int count) const;
  Command fallthrough() const;  // its options may stand behind a sub-command

  bool given() const;  // whether the command line names it
  bool got_subcommand(const std::string& name) const;
  CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

class Program : public Command {
 public:
  // `version` is what --version prints.
  Program(const std::string& help, const std::string& name, const std::string& version);
  ~Program();

  // The exit status if there is nothing more to do: 0 after help or the version, `usage` after a
  // line that says what is wrong.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv, int usage = EX_USAGE);
  // The same, but hands what is wrong, help and the version to `report`, whose status it returns.
  [[nodiscard]] std::optional<int> parse(
      int argc, char** argv,
      const std::function<int(const CLI::App&, const CLI::ParseError&)>& report);

 private:
  explicit Program(std::unique_ptr<CLI::App> app);

  std::unique_ptr<CLI::App> own_;
};

}  // namespace moil::cli
