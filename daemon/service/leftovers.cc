#include "daemon/service/leftovers.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <chrono>
#include <optional>

#include "daemon/state/disk_usage.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

// Whatever writes a file aside, or plans, has done so by then.
constexpr std::chrono::hours kLongAgo{1};

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  auto entry = fs::directory_iterator(folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

std::optional<std::int64_t> number_in(std::string name) {
  if (name.starts_with(StateLayout::kIncomingPrefix))
    name.erase(0, std::string_view(StateLayout::kIncomingPrefix).size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

bool is_old(const fs::path& file) {
  std::error_code error;
  const auto written = fs::last_write_time(file, error);
  return !error && fs::file_time_type::clock::now() - written > kLongAgo;
}

// Written aside and never renamed (base/atomic_file.h), or a plan's description.
bool is_passing(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.find(".tmp.") != std::string::npos || name.starts_with("plan-");
}

class Search {
 public:
  explicit Search(std::vector<Leftover>& found) : found_(found) {}

  void numbered(const fs::path& folder, const Kept::Folders& kept) {
    for (const fs::path& entry : entries_of(folder)) {
      const std::string name = entry.filename().string();
      const auto number = number_in(name);
      if (number && *number <= kept.highest && !kept.names.contains(name)) add(entry);
    }
  }
  void passing(const fs::path& folder) {
    for (const fs::path& entry : entries_of(folder)) {
      std::error_code error;
      if (fs::is_regular_file(fs::symlink_status(entry, error)) && is_passing(entry) &&
          is_old(entry))
        add(entry);
    }
  }

 private:
  void add(const fs::path& path) { found_.push_back({path, disk_usage(path)}); }
  std::vector<Leftover>& found_;
};

}  // namespace

std::vector<Leftover> find_leftovers(const StateLayout& layout, const Kept& kept) {
  std::vector<Leftover> found;
  Search search(found);
  for (const auto& [model, folders] : kept.versions) {
    search.numbered(layout.model(model), folders);
    search.passing(layout.timing_profiles(model));
  }
  search.passing(layout.accuracies("").parent_path());
  search.numbered(layout.jobs(), kept.jobs);
  search.passing(layout.jobs());
  search.passing(layout.kernel_profile().parent_path());
  return found;
}

void remove_leftover(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return spdlog::warn("cannot remove {}: {}", path.string(), error.message());
  spdlog::info("removed {}, which nothing needs", path.string());
}

}  // namespace moil::daemon
