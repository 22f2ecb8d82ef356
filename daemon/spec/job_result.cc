#include "daemon/spec/job_result.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/file.h"
#include "daemon/json/parse.h"
#include "daemon/spec/worker_protocol.h"

namespace moil::daemon {
namespace {

// A list that is shorter is not worth a row.
constexpr std::size_t kShortList = 1024;

struct Found {
  Json::json_pointer at;
  std::size_t bytes = kShortList;
};

// Lists of samples stay with the job: who forgets one looks for it there and takes it out
// (state/forgotten_traces.h). They are never long.
bool names_samples(const Json& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const Json& item) { return item.is_object() && item.contains("digest"); });
}

// The longest list that is reached through objects alone.
void find_longest(const Json& value, const Json::json_pointer& at, Found& longest) {
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) find_longest(member, at / name, longest);
  } else if (value.is_array() && !names_samples(value)) {
    if (const std::size_t bytes = to_line(value).size(); bytes > longest.bytes)
      longest = {at, bytes};
  }
}

// Takes the longest lists out until what is left has at most so many bytes. What `take` is given is
// gone.
template <typename Take>
void shorten(Json& result, std::size_t most_bytes, const Take& take) {
  while (to_line(result).size() > most_bytes) {
    Found longest;
    find_longest(result, Json::json_pointer(), longest);
    if (longest.at.empty()) return;  // nothing is left to take
    Json list = std::move(result.at(longest.at));
    result.at(longest.at.parent_pointer()).erase(longest.at.back());
    take(longest.at.to_string(), std::move(list));
  }
}

}  // namespace

void write_result(const StateLayout& layout, std::int64_t job, const JobResult& result) {
  Json document = write_fields(result);
  std::vector<std::string> too_long;
  shorten(document, kMostResultBytes,
          [&](const std::string& pointer, const Json&) { too_long.push_back(pointer); });
  if (!too_long.empty()) document["details"]["too_long"] = too_long;
  write_file_atomic(layout.job_result(job), to_line(document) + "\n");
}

std::optional<Json> finished_result(const StateLayout& layout, std::int64_t job,
                                    const std::string& model, std::int64_t version) {
  const auto file = layout.job_result(job);
  if (!std::filesystem::exists(file)) return std::nullopt;
  Json result;
  try {
    result = parse_json(read_text(file, 2 * kMostResultBytes), kMostNesting);
    (void)read_fields<JobResult>(result, "the job's result");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kIo) throw;
    return std::nullopt;
  }
  const bool promoted = result.value("promoted", false);
  if (promoted && !std::filesystem::is_directory(layout.version(model, version)))
    return std::nullopt;
  return result;
}

SplitResult split_result(Json result) {
  SplitResult split;
  shorten(result, kMostKeptBytes, [&](const std::string& pointer, Json list) {
    split.lists.emplace(pointer, std::move(list));
  });
  for (const auto& [pointer, list] : split.lists) result["lists"][pointer] = list.size();
  split.result = std::move(result);
  return split;
}

}  // namespace moil::daemon
