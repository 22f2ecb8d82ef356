// What --help prints: commands before options, those that everyone needs with an example, values by
// what they are (FILE, N) and what is known of them in words. Pure; thread-safe.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace moil::cli {

class Help : public CLI::Formatter {
 public:
  Help();
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_option_usage(const CLI::Option* positional) const override;
};

// The group of commands without a heading of their own.
inline constexpr const char* kNoHeading = "Commands";

enum class ValueKind : std::uint8_t { kWhole, kNumber, kText };
struct OptionNames {
  std::string names;  // "-o,--out"
  std::string value;  // "FILE"
};
// The parts of "-o,--out=FILE". A value without a name is called by its kind, a text by the
// option's name.
[[nodiscard]] OptionNames split_names(const std::string& names, ValueKind kind);

// The values that an option takes, if these are a list.
[[nodiscard]] std::vector<std::string> choices_of(const CLI::Option& option);
// "N" of --top, without what is checked of it; empty: a flag.
[[nodiscard]] std::string value_of(const CLI::Option& option);

}  // namespace moil::cli
