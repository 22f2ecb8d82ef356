#include "daemon/ctl/labels/sample_list.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/ctl/labels/sample_files.h"
#include "daemon/json/fields.h"
#include "daemon/json/parse.h"
#include "datasets/labels/csv_line.h"

namespace fs = std::filesystem;

namespace moil::daemon::ctl {
namespace {

constexpr int kLineNesting = 8;
constexpr const char* kHeading = "file,label,split";

struct ListLine {
  std::string file;
  std::vector<std::string> labels;
  std::optional<std::string> split;
};

const Fields<ListLine>& fields_of(const ListLine*) {
  static const Fields<ListLine> table = {
      field("file", &ListLine::file, Need::kRequired),
      field("labels", &ListLine::labels),
      field("split", &ListLine::split),
  };
  return table;
}

[[noreturn]] void fail(const fs::path& list, std::size_t line, const std::string& what) {
  throw Error(ErrorCode::kBadData, list.string() + ", line " + std::to_string(line) + ": " + what);
}

std::vector<ListedSample> from_json_lines(const fs::path& list) {
  const std::string text = read_text(list);
  std::string_view rest = text, line;
  std::vector<ListedSample> samples;
  for (std::size_t number = 1; data::next_line(rest, line); ++number) {
    if (line.empty()) continue;
    try {
      const auto read =
          read_fields<ListLine>(parse_json(std::string(line), kLineNesting), "the sample");
      samples.push_back({list.parent_path() / read.file, read.labels, read.split.value_or("")});
    } catch (const Error& error) {
      fail(list, number, error.what());
    }
  }
  return samples;
}

std::vector<ListedSample> from_csv(const fs::path& list) {
  const std::string text = read_text(list);
  std::string_view rest = text, line;
  std::vector<ListedSample> samples;
  std::map<std::string, std::size_t> known;  // by file
  if (!data::next_line(rest, line) || line != kHeading)
    fail(list, 1, std::string("expected \"") + kHeading + "\"");
  for (std::size_t number = 2; data::next_line(rest, line); ++number) {
    if (line.empty()) continue;
    const auto fields = data::fields_of(line, ',');
    if (fields.size() != 3)
      fail(list, number, std::to_string(fields.size()) + " fields, expected 3");
    const auto [at, is_new] = known.emplace(fields[0], samples.size());
    if (is_new) samples.push_back({list.parent_path() / fields[0], {}, fields[2]});
    ListedSample& sample = samples[at->second];
    if (sample.split != fields[2]) fail(list, number, fields[0] + " has another split above");
    if (!fields[1].empty()) sample.labels.push_back(fields[1]);
  }
  return samples;
}

std::vector<ListedSample> from_folders(const fs::path& root) {
  std::vector<ListedSample> samples;
  for (const fs::path& file : gather_samples({root.string()}).files) {
    const fs::path within = file.lexically_relative(root);
    ListedSample sample{file, {}, ""};
    if (within.has_parent_path()) sample.labels.push_back(within.begin()->string());
    samples.push_back(std::move(sample));
  }
  return samples;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",;\t\" ") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::vector<ListedSample> read_sample_list(const fs::path& from) {
  if (fs::is_directory(from)) {
    for (const char* list : {"labels.jsonl", "labels.csv"})
      if (fs::exists(from / list)) return read_sample_list(from / list);
    return from_folders(from);
  }
  if (!fs::exists(from))
    throw Error(ErrorCode::kNotFound, from.string() + ": there is no such file");
  if (from.extension() == ".csv") return from_csv(from);
  if (from.extension() == ".jsonl") return from_json_lines(from);
  throw Error(ErrorCode::kInvalidArgument,
              from.string() + ": expected a folder, or a list that ends in .csv or .jsonl");
}

std::string csv_of(const std::vector<ListedSample>& samples) {
  std::string text = std::string(kHeading) + "\n";
  for (const ListedSample& sample : samples) {
    const std::string file = quoted(sample.file.string());
    for (const std::string& label :
         sample.labels.empty() ? std::vector<std::string>{""} : sample.labels)
      text += file + "," + quoted(label) + "," + sample.split + "\n";
  }
  return text;
}

std::string json_lines_of(const std::vector<ListedSample>& samples) {
  std::string text;
  for (const ListedSample& s : samples)
    text += Json{{"file", s.file.string()}, {"labels", s.labels}, {"split", s.split}}.dump() + "\n";
  return text;
}

}  // namespace moil::daemon::ctl
