#include "daemon/ctl/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/number_text.h"

namespace moil::daemon::ctl {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Where the character of that number begins.
std::size_t offset_of(const std::string& text, std::size_t character) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && character-- == 0) break;
  }
  return at;
}

}  // namespace

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value;
  const Json plain = with_plain_numbers(value);
  return plain.is_number_float() ? number_text(plain.get<double>()) : plain.dump();
}

Json with_plain_numbers(Json value) {
  constexpr int kDigits = 6;
  constexpr double kMostShortened = 1e6;  // beyond, all digits say something
  if (value.is_structured())
    for (Json& part : value) part = with_plain_numbers(std::move(part));
  if (!value.is_number_float() || std::abs(value.get<double>()) >= kMostShortened) return value;
  const std::string text = number_text(value.get<double>(), kDigits);
  double plain = 0;
  std::from_chars(text.data(), text.data() + text.size(), plain);
  return plain;
}

std::string version_title(const Json& version) {
  return "model " + cell(version["model"]) + " version " + cell(version["version"]);
}

std::string joined(const Json& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "" : ", ") + cell(value);
  return text;
}

std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string percent(const Json& fraction) {
  if (!fraction.is_number()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", fraction.get<double>() * 100);
  return text;
}

std::string formatted(const Json& value, const char* format) {
  char text[32];
  std::snprintf(text, sizeof text, format, value.get<double>());
  return text;
}

std::string metric_name(const Json& of, const std::string& side) {
  const Json name = of.value("metric", Json()), of_global = of.value("global_metric", Json());
  if (side == "global" && of_global.is_string()) return of_global;
  return name.is_string() ? name.get<std::string>() : "accuracy";
}

std::string quality_text(const Json& value, const Json& of) {
  if (!value.is_number() || of.value("is_fraction", true)) return percent(value);
  return formatted(value, "%.3f");
}

std::string global_quality_text(const Json& value, const Json& of) {
  const std::string name = metric_name(of, "global");
  const bool is_named = value.is_number() && name != metric_name(of, "local");
  return quality_text(value, of) + (is_named ? " " + name : "");
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

std::string bytes_cell(const Json& bytes) {
  return bytes.is_number() ? bytes_text(bytes.get<double>()) : "-";
}

std::string duration_text(double seconds) {
  const long s = std::lround(seconds);
  char text[48];
  if (s >= 3600) {
    std::snprintf(text, sizeof text, "%ld h %02ld min", s / 3600, s / 60 % 60);
  } else if (s >= 60) {
    std::snprintf(text, sizeof text, "%ld min %02ld s", s / 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%ld s", s);
  }
  return text;
}

std::string short_time_text(double seconds) {
  char text[48];
  if (seconds >= 1) {
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  } else {
    const int digits = seconds >= 0.1 ? 0 : seconds >= 0.01 ? 1 : 2;
    std::snprintf(text, sizeof text, "%.*f ms", digits, seconds * 1000);
  }
  return text;
}

std::string clock_text(double seconds) {
  const std::int64_t tenths = std::llround(seconds * 10);
  char text[48];
  std::snprintf(text, sizeof text, "%lld:%02d.%d", static_cast<long long>(tenths / 600),
                static_cast<int>(tenths / 10 % 60), static_cast<int>(tenths % 10));
  return text;
}

std::optional<double> seconds_of(const std::string& text) {
  constexpr double kSixty = 60;
  double seconds = 0;
  std::size_t begin = 0;
  for (int colons = 0;; ++colons) {
    const std::size_t colon = text.find(':', begin);
    const std::string part = text.substr(begin, colon - begin);
    double value = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
    const bool is_number = read.ec == std::errc() && read.ptr == part.data() + part.size();
    const bool is_whole = part.find_first_not_of("0123456789") == std::string::npos;
    // The first may be of any size; before a colon there are no fractions.
    if (!is_number || !(value >= 0) || !std::isfinite(value) || (colons > 0 && value >= kSixty) ||
        (colon != std::string::npos && (!is_whole || colons == 2)))
      return std::nullopt;
    seconds = seconds * kSixty + value;
    if (colon == std::string::npos) return seconds;
    begin = colon + 1;
  }
}

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t filled = width(text);
  return filled < columns ? text + std::string(columns - filled, ' ') : text;
}

std::string shortened(const std::string& text, std::size_t columns) {
  const std::size_t filled = width(text);
  if (filled <= columns) return text;
  if (columns <= 3) return std::string(columns, '.');
  const std::size_t kept = columns - 3, behind = kept / 2;
  return text.substr(0, offset_of(text, kept - behind)) + "..." +
         text.substr(offset_of(text, filled - behind));
}

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& rows,
                                       std::size_t columns) {
  constexpr std::size_t kWidest = 60, kNarrowest = 32, kGap = 2;
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t wanted = width(row[i]);
      if (columns > 0 || wanted <= kWidest) widths[i] = std::max(widths[i], wanted);
    }
  }
  const auto all = [&] {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  };
  while (columns > 0 && !widths.empty() && all() > columns) {
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= kNarrowest) break;
    *widest = std::max(kNarrowest, *widest - std::min(*widest, all() - columns));
  }
  return widths;
}

std::vector<std::string> wrapped(const std::string& text, std::size_t columns, std::size_t most) {
  std::vector<std::string> lines;
  std::string rest = text;
  while (lines.size() + 1 < most && width(rest) > columns) {
    const std::size_t end = offset_of(rest, columns);
    std::size_t cut = rest.rfind(' ', end);
    if (cut == std::string::npos || cut == 0) cut = end;
    lines.push_back(rest.substr(0, cut));
    rest.erase(0, std::min(rest.size(), rest.find_first_not_of(' ', cut)));
  }
  if (!rest.empty()) lines.push_back(shortened(rest, columns));
  return lines;
}

std::string printable(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are two bytes.
    const bool second_set =
        c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (second_set) ++i;
    out += second_set || c < 0x20 || c == 0x7F ? '?' : text[i];
  }
  return out;
}

}  // namespace moil::daemon::ctl
