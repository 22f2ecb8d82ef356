// Values as people read them on a terminal. Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/json/fields.h"

namespace moil::daemon::ctl {

// Text of a value for a table: "-" for null, strings without quotes, numbers as people write them.
std::string cell(const Json& value);
// With such numbers wherever one is in it: 0.01 in place of 0.009999999999999998.
Json with_plain_numbers(Json value);
std::string version_title(const Json& version);  // "model NAME version 3", of its document
std::string joined(const Json& values);          // cells of an array: "a, b"
std::string counted(std::int64_t count, const std::string& what);  // "1 photo", "2 photos"
std::string percent(const Json& fraction);                         // "97.2%", "-" for null
std::string formatted(const Json& value, const char* format);      // by printf's rules for a double
// What `of` calls the metric of that side, "global" or "local": "accuracy".
std::string metric_name(const Json& of, const std::string& side);
// A task's metric, as `of` says with "is_fraction": "97.2%" or "0.913".
std::string quality_text(const Json& value, const Json& of);
// The same of the global side, with its metric's name if that is another than the local one's.
std::string global_quality_text(const Json& value, const Json& of);
std::string bytes_text(double bytes);         // "12.3 MiB"
std::string bytes_cell(const Json& bytes);    // the same, "-" for null
std::string duration_text(double seconds);    // "1 h 02 min", "3 min 05 s", "8 s"
std::string short_time_text(double seconds);  // "1.24 s", "102 ms", "15.8 ms", "0.35 ms"

// 83.44 -> "1:23.4".
std::string clock_text(double seconds);
// Seconds, from "83.4", "1:23.4" or "1:01:23.4"; nothing if the text is none of them.
std::optional<double> seconds_of(const std::string& text);

// Columns that the text fills: its characters of UTF-8.
std::size_t width(const std::string& text);
// With spaces behind it, `columns` wide; longer text stays.
std::string padded(const std::string& text, std::size_t columns);
// At most so many columns: what is too much is taken from its middle, with "..." in its place.
std::string shortened(const std::string& text, std::size_t columns);
// How wide each column of a table is: as its widest cell, but for what is much wider than most,
// which flows over in its own row. If the table has `columns` columns of a screen (0: any
// number), the widest ones are made narrower until it fits, down to what a digest needs.
[[nodiscard]] std::vector<std::size_t> column_widths(
    const std::vector<std::vector<std::string>>& rows, std::size_t columns);
// Lines of at most so many columns, cut between words if there are words; the last of `most`
// lines is shortened.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns, std::size_t most);
// Without control characters, which would steer the terminal: "?" in their place.
std::string printable(const std::string& text);

}  // namespace moil::daemon::ctl
