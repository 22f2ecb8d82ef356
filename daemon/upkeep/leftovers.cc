#include "daemon/upkeep/leftovers.h"

#include <signal.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "base/files/atomic_file.h"
#include "base/files/folder_entries.h"
#include "daemon/state/disk_usage.h"

namespace fs = std::filesystem;

namespace moil::daemon {
namespace {

std::optional<std::int64_t> number_in(std::string name) {
  if (name.starts_with(StateLayout::kIncomingPrefix))
    name.erase(0, std::string_view(StateLayout::kIncomingPrefix).size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// The number that the name goes on with.
std::optional<pid_t> process_after(std::string_view mark, const std::string& name) {
  const auto at = name.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  const char* const begin = name.data() + at + mark.size();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), process);
  if (error != std::errc() || process <= 0) return std::nullopt;
  return process;
}

bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

// Written aside and never renamed (base/files/atomic_file.h), or a plan's description. Their names
// show who wrote them; ages show nothing if a clock was wrong.
bool is_abandoned(const fs::path& file) {
  const std::string name = file.filename().string();
  const auto aside = process_after(kAsideMark, name);
  if (aside) return !is_running(*aside);
  if (!name.starts_with(StateLayout::kPlanPrefix)) return false;
  const auto planner = process_after(StateLayout::kPlanPrefix, name);
  return !planner || !is_running(*planner);
}

class Search {
 public:
  explicit Search(std::vector<Leftover>& found) : found_(found) {}

  void numbered(const fs::path& folder, const Kept::Folders& kept, const Leftover& kind) {
    for (const fs::path& entry : entries_of(folder)) {
      const std::string name = entry.filename().string();
      const auto number = number_in(name);
      if (number && *number <= kept.highest && !kept.names.contains(name)) add(entry, kind);
    }
  }
  void passing(const fs::path& folder) {
    for (const fs::path& entry : entries_of(folder)) {
      std::error_code error;
      if (fs::is_regular_file(fs::symlink_status(entry, error)) && is_abandoned(entry))
        add(entry, {});
    }
  }

 private:
  void add(const fs::path& path, Leftover left) {
    left.path = path;
    left.bytes = disk_usage(path);
    found_.push_back(std::move(left));
  }
  std::vector<Leftover>& found_;
};

}  // namespace

std::vector<Leftover> find_leftovers(const StateLayout& layout, const Kept& kept) {
  std::vector<Leftover> found;
  Search search(found);
  for (const auto& [model, folders] : kept.versions) {
    search.numbered(layout.model(model), folders, {{}, 0, Leftover::Of::kVersion, model});
    search.passing(layout.timing_profiles(model));
  }
  search.passing(layout.accuracies("").parent_path());
  search.numbered(layout.jobs(), kept.jobs, {{}, 0, Leftover::Of::kJob, {}});
  search.passing(layout.jobs());
  search.passing(layout.profiles());
  return found;
}

bool is_needed(const Leftover& left, const Kept& kept) {
  const std::string name = left.path.filename().string();
  if (left.of == Leftover::Of::kJob) return kept.jobs.names.contains(name);
  if (left.of != Leftover::Of::kVersion) return false;
  const auto folders = kept.versions.find(left.model);
  return folders != kept.versions.end() && folders->second.names.contains(name);
}

}  // namespace moil::daemon
