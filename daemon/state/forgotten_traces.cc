#include "daemon/state/forgotten_traces.h"

#include <iterator>

#include "base/json/json.h"
#include "daemon/json/parse.h"

namespace moil::daemon {
namespace {

using Names = std::unordered_map<std::string, std::string>;  // by digest, in hexadecimal digits

constexpr std::size_t kDigits = 32;
constexpr std::string_view kForgottenWord = "forgotten";

bool is_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The digests of these samples that the text holds.
std::vector<std::string> found_in(const std::string& text, const Names& names) {
  std::vector<std::string> found;
  std::size_t digits = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_digit(text[i])) {
      ++digits;
      continue;
    }
    if (digits == kDigits) {
      std::string digest = text.substr(i - digits, digits);
      if (names.contains(digest)) found.push_back(std::move(digest));
    }
    digits = 0;
  }
  return found;
}

void replace(std::string& text, const std::string& what) {
  if (what.empty()) return;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;
       at += kForgottenWord.size()) {
    text.replace(at, what.size(), kForgottenWord);
  }
}

bool clean(std::string& text, const Names& names) {
  const auto found = found_in(text, names);
  for (const std::string& digest : found) {
    replace(text, digest);
    replace(text, names.at(digest));
  }
  return !found.empty();
}

bool is_of(const Json& item, const Names& names) {
  if (!item.is_object()) return false;
  const auto digest = item.find("digest");
  return digest != item.end() && digest->is_string() && names.contains(digest->get<std::string>());
}

bool clean(Json& value, const Names& names) {
  bool changed = false;
  if (value.is_string()) return clean(value.get_ref<std::string&>(), names);
  if (value.is_array()) {
    auto& items = value.get_ref<Json::array_t&>();
    changed = std::erase_if(items, [&](const Json& item) { return is_of(item, names); }) > 0;
  }
  if (value.is_structured()) {
    for (Json& part : value) changed = clean(part, names) || changed;
  }
  return changed;
}

// Documents of a table, by rowid or by a key of two numbers.
struct Column {
  const char* all;     // two keys and the text
  const char* select;  // the text, by the keys
  const char* update;  // the text, then the keys
  bool is_json;
};

constexpr Column kColumns[] = {
    {"SELECT id, 0, message FROM jobs", "SELECT message FROM jobs WHERE id = ? AND 0 = ?",
     "UPDATE jobs SET message = ?1 WHERE id = ?2 AND 0 = ?3", false},
    {"SELECT id, 0, result FROM jobs WHERE result IS NOT NULL",
     "SELECT result FROM jobs WHERE id = ? AND 0 = ?",
     "UPDATE jobs SET result = ?1 WHERE id = ?2 AND 0 = ?3", true},
    {"SELECT id, 0, summary FROM jobs WHERE summary IS NOT NULL",
     "SELECT summary FROM jobs WHERE id = ? AND 0 = ?",
     "UPDATE jobs SET summary = ?1 WHERE id = ?2 AND 0 = ?3", true},
    {"SELECT rowid, 0, body FROM result_lists",
     "SELECT body FROM result_lists WHERE rowid = ? AND 0 = ?",
     "UPDATE result_lists SET body = ?1 WHERE rowid = ?2 AND 0 = ?3", true},
    {"SELECT job, seq, body FROM events", "SELECT body FROM events WHERE job = ? AND seq = ?",
     "UPDATE events SET body = ?1 WHERE job = ?2 AND seq = ?3", true},
};

std::string cleaned(std::string text, bool is_json, const Names& names) {
  Json document = is_json ? json_or_discarded(text) : Json();
  if (!is_json || document.is_discarded()) {
    clean(text, names);
    return text;
  }
  clean(document, names);
  return to_line(document);
}

}  // namespace

ForgottenTraces::ForgottenTraces(std::span<const data::ForgottenSample> samples) {
  for (const auto& sample : samples) names_[sample.digest.hex()] = sample.name;
}

std::vector<ForgottenTraces::Place> ForgottenTraces::find(const Database& database) const {
  std::vector<Place> places;
  for (std::size_t column = 0; column < std::size(kColumns); ++column) {
    Statement rows(database, kColumns[column].all);
    while (rows.step()) {
      if (!found_in(rows.text(2), names_).empty())
        places.push_back({column, rows.integer(0), rows.integer(1)});
    }
  }
  return places;
}

void ForgottenTraces::remove(Database& database, const Place& place) const {
  const Column& column = kColumns[place.column];
  Statement select(database, column.select);
  if (!select.bind(place.first).bind(place.second).step()) return;  // removed meanwhile
  const std::string text = cleaned(select.text(0), column.is_json, names_);
  select.reset();
  Statement update(database, column.update);
  update.bind(std::string_view(text)).bind(place.first).bind(place.second).run();
}

}  // namespace moil::daemon
