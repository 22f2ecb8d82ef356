#include "daemon/state/forgotten_traces.h"

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/json/parse.h"

namespace moil::daemon {
namespace {

using Json = nlohmann::json;
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
  const char* select;  // two keys and the text
  const char* update;  // the text, then the keys
  bool is_json;
};

constexpr Column kColumns[] = {
    {"SELECT id, 0, message FROM jobs", "UPDATE jobs SET message = ?1 WHERE id = ?2 AND 0 = ?3",
     false},
    {"SELECT id, 0, result FROM jobs WHERE result IS NOT NULL",
     "UPDATE jobs SET result = ?1 WHERE id = ?2 AND 0 = ?3", true},
    {"SELECT id, 0, summary FROM jobs WHERE summary IS NOT NULL",
     "UPDATE jobs SET summary = ?1 WHERE id = ?2 AND 0 = ?3", true},
    {"SELECT rowid, 0, body FROM result_lists",
     "UPDATE result_lists SET body = ?1 WHERE rowid = ?2 AND 0 = ?3", true},
    {"SELECT job, seq, body FROM events", "UPDATE events SET body = ?1 WHERE job = ?2 AND seq = ?3",
     true},
};

struct Row {
  std::int64_t first = 0, second = 0;
  std::string text;
};

std::vector<Row> rows_with(Database& database, const Column& column, const Names& names) {
  std::vector<Row> rows;
  Statement select(database, column.select);
  while (select.step()) {
    std::string text = select.text(2);
    if (!found_in(text, names).empty())
      rows.push_back({select.integer(0), select.integer(1), std::move(text)});
  }
  return rows;
}

std::string cleaned(const Row& row, bool is_json, const Names& names) {
  std::string text = row.text;
  Json document = is_json ? Json::parse(text, nullptr, false) : Json();
  if (!is_json || document.is_discarded()) {
    clean(text, names);
    return text;
  }
  clean(document, names);
  return to_line(document);
}

}  // namespace

void remove_traces(Database& database, std::span<const data::ForgottenSample> samples) {
  Names names;
  for (const auto& sample : samples) names[sample.digest.hex()] = sample.name;
  Transaction transaction(database, Transaction::Kind::kWrite);
  for (const Column& column : kColumns) {
    Statement update(database, column.update);
    for (const Row& row : rows_with(database, column, names)) {
      update.bind(std::string_view(cleaned(row, column.is_json, names)));
      update.bind(row.first).bind(row.second).run();
    }
  }
  transaction.commit();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace moil::daemon
