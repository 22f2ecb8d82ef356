// Text that people write: names of labels, and of files as a user gave them. UTF-8 throughout.
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace moil::data {

[[nodiscard]] bool is_utf8(std::string_view text);

// The one spelling of what is read the same (Unicode's form NFC): "Übung" typed on any keyboard, or
// taken from the folders of any system. Text that is not UTF-8 comes back as it is.
[[nodiscard]] std::string normal(std::string_view text);

// The same for texts that differ in case alone, in any script ("Straße", "STRASSE").
[[nodiscard]] std::string without_case(std::string_view text);

// Why a name must not hold what it holds, as in "the label 'x' ..."; empty if nothing is wrong.
// Wrong are bytes that are not UTF-8, control characters (C0, C1, line separators) and those that
// turn the direction of the text around them. Right-to-left scripts need none of these.
[[nodiscard]] std::string_view unfit_characters(std::string_view name);

// The same text with U+FFFD in place of all that unfit_characters() objects to: safe to show.
[[nodiscard]] std::string shown(std::string_view text);

// Without leading and trailing spaces of any kind.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace moil::data
