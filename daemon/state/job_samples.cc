#include "daemon/state/job_samples.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files/file.h"
#include "base/json/json.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

// Items of ["l", DIGEST, labels]; "g" stands for the global pack.
void add_local(const nlohmann::json& list, std::vector<data::Digest>& digests) {
  for (const auto& item : list) {
    if (item.at(0) == "l") digests.push_back(data::Digest::from_hex(item.at(1).get<std::string>()));
  }
}

JobSamples read_note(const fs::path& file) {
  const auto note = parsed_json(read_text(file, kMostBytes));
  JobSamples samples;
  add_local(note.at("train"), samples.trained);
  add_local(note.at("local_validation"), samples.others);
  for (const auto& item : note.value("unreadable", nlohmann::json::array())) {
    if (item.at("source") == "local")
      samples.others.push_back(data::Digest::from_hex(item.at("digest").get<std::string>()));
  }
  return samples;
}

}  // namespace

JobSamples samples_of_job(const StateLayout& layout, std::int64_t job) {
  const fs::path file = layout.job(job) / "mix.json";
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  try {
    return read_note(file);
  } catch (const nlohmann::json::exception&) {
  } catch (const Error&) {
  }
  return {};
}

std::vector<std::int64_t> jobs_that_know(const StateLayout& layout,
                                         const std::unordered_set<data::Digest>& samples) {
  const auto known = [&](const data::Digest& digest) { return samples.contains(digest); };
  std::vector<std::int64_t> jobs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(layout.jobs(), error)) {
    const std::string name = entry.path().filename().string();
    std::int64_t job = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), job).ec != std::errc()) continue;
    const JobSamples found = samples_of_job(layout, job);
    if (std::ranges::any_of(found.trained, known) || std::ranges::any_of(found.others, known))
      jobs.push_back(job);
  }
  return jobs;
}

}  // namespace moil::daemon
