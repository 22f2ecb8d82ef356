#include "base/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <type_traits>

#include "base/command_line/help.h"

namespace moil::cli {
namespace {

template <class T>
struct Single {
  using Type = T;
};
template <class T>
struct Single<std::vector<T>> {
  using Type = T;
};
template <class T>
struct Single<std::optional<T>> {
  using Type = T;
};

}  // namespace

Check positive() {
  return [](CLI::Option& option) { option.check(CLI::PositiveNumber); };
}
Check not_negative() {
  return [](CLI::Option& option) { option.check(CLI::NonNegativeNumber); };
}
Check within(int low, int high) {
  return [low, high](CLI::Option& option) { option.check(CLI::Range(low, high)); };
}
Check within(double low, double high) {
  return [low, high](CLI::Option& option) { option.check(CLI::Range(low, high)); };
}
Check one_of(std::vector<std::string> words) {
  return [words = std::move(words)](CLI::Option& option) { option.check(CLI::IsMember(words)); };
}

Option Option::required() const { return Option(option_->required()); }
Option Option::check(const Check& check) const {
  check(*option_);
  return *this;
}
Option Option::capture_default_str() const { return Option(option_->capture_default_str()); }
Option Option::default_str(const std::string& text) const {
  return Option(option_->default_str(text));
}
Option Option::envname(const std::string& variable) const {
  return Option(option_->envname(variable));
}
Option Option::group(const std::string& heading) const { return Option(option_->group(heading)); }
Option Option::delimiter(char between) const { return Option(option_->delimiter(between)); }
Option Option::expected(int low, int high) const { return Option(option_->expected(low, high)); }
Option Option::one_value_each_time() const { return Option(option_->allow_extra_args(false)); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
std::size_t Option::count() const { return option_->count(); }

template <class T>
Option Command::add_option(const std::string& names, T& target, const std::string& help) const {
  using Value = typename Single<T>::Type;
  constexpr ValueKind kKind = std::is_integral_v<Value>         ? ValueKind::kWhole
                              : std::is_floating_point_v<Value> ? ValueKind::kNumber
                                                                : ValueKind::kText;
  const OptionNames split = split_names(names, kKind);
  return Option(app_->add_option(split.names, target, help)->type_name(split.value));
}
template Option Command::add_option(const std::string&, int&, const std::string&) const;
template Option Command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, float&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, std::filesystem::path&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<int>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::optional<double>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<int>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::int64_t>&,
                                    const std::string&) const;
template Option Command::add_option(const std::string&, std::vector<std::string>&,
                                    const std::string&) const;

Option Command::add_flag(const std::string& names, bool& target, const std::string& help) const {
  return Option(app_->add_flag(names, target, help));
}
Option Command::add_action(const std::string& names,
                           const std::function<void(const std::string&)>& act,
                           const std::string& help) const {
  const OptionNames split = split_names(names, ValueKind::kText);
  return Option(
      app_->add_option_function<std::string>(split.names, act, help)->type_name(split.value));
}

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return Command(app_->add_subcommand(name, help)->group(kNoHeading));  // not its parent's
}
Command Command::callback(const std::function<void()>& act) const {
  return Command(app_->callback(act));
}
Command Command::group(const std::string& heading) const { return Command(app_->group(heading)); }
Command Command::alias(const std::string& name) const { return Command(app_->alias(name)); }
Command Command::example(const std::string& typed) const { return Command(app_->footer(typed)); }
Command Command::require_subcommand(int count) const {
  return Command(app_->require_subcommand(count));
}
Command Command::fallthrough() const { return Command(app_->fallthrough()); }
bool Command::given() const { return app_->parsed(); }
bool Command::got_subcommand(const std::string& name) const { return app_->got_subcommand(name); }

Program::Program(const std::string& help, const std::string& name, const std::string& version)
    : Program(std::make_unique<CLI::App>(help, name)) {
  own_->set_version_flag("--version", version, "print the version and exit");
  own_->set_help_flag("-h,--help", "print this and exit");
  own_->formatter(std::make_shared<Help>());
}
Program::Program(std::unique_ptr<CLI::App> app) : Command(app.get()), own_(std::move(app)) {}
Program::~Program() = default;

std::optional<int> Program::parse(int argc, char** argv, int usage) {
  return parse(argc, argv, [&](const CLI::App& app, const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EX_OK : usage;
  });
}

std::optional<int> Program::parse(
    int argc, char** argv,
    const std::function<int(const CLI::App&, const CLI::ParseError&)>& report) {
  try {
    own_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return report(*own_, error);
  }
}

}  // namespace moil::cli
