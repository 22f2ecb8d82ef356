// A folder that is watched for files to be labelled: folders in it are labels, with folders below;
// files beside them are unlabelled.
//
// A file is told when its writer has closed it, or when it was moved there; one that lies there
// already at once, unless somebody still writes it. Folders may come and go. What is hidden or a
// system's own is passed over, and so are links: a file is opened step by step from the folder on,
// and no step follows a link, whenever that was put in place. Folders that the kernel does not
// watch for us are looked through every few seconds.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/files/unique_fd.h"

namespace moil::daemon::ctl {

class Inbox {
 public:
  struct Arrival {
    std::filesystem::path file;
    std::string label;  // empty: none
    UniqueFd content;   // open for reading; a regular file
  };

  // kNotFound if there is no such folder. most_watches: folders that the kernel is asked to
  // watch (for tests; as many as it will).
  explicit Inbox(const std::filesystem::path& root, std::size_t most_watches = SIZE_MAX);

  // The next file, as soon as there is one; nothing after `patience` (negative: waits on).
  // kNotFound when the folder itself is gone.
  [[nodiscard]] std::optional<Arrival> next(std::chrono::milliseconds patience);

  // Tells the file again after a while, if it is still there.
  void put_off(const std::filesystem::path& file, std::chrono::milliseconds time);
  // Why folders are looked through instead of watched, and what to do; empty if none is. Said
  // once.
  [[nodiscard]] std::string complaint();

 private:
  using Clock = std::chrono::steady_clock;
  using Signature = std::tuple<std::uint64_t, std::int64_t, std::int64_t, std::int64_t>;

  void add_folder(const std::filesystem::path& folder);
  bool watch(const std::filesystem::path& folder);
  enum class Folders { kAll, kUnknown };
  void look_through(const std::filesystem::path& folder, Folders below);
  [[nodiscard]] bool is_known(const std::filesystem::path& folder) const;
  void look_through_unwatched();
  void found(const std::filesystem::path& file);
  void take(const std::filesystem::path& file);
  void look_again();
  void read_events();
  [[nodiscard]] UniqueFd open_within(const std::filesystem::path& file) const;
  [[nodiscard]] std::optional<Arrival> first_arrived();
  [[nodiscard]] Clock::duration until_next_look() const;

  const std::filesystem::path root_;
  const std::size_t most_watches_;
  UniqueFd events_;                               // none if the kernel gives none
  std::map<int, std::filesystem::path> folders_;  // by watch
  std::set<std::filesystem::path> unwatched_;
  std::map<std::filesystem::path, Signature>
      seen_;  // files of unwatched folders, as they were told
  Clock::time_point looked_through_ = Clock::now();
  std::string complaint_;
  std::deque<std::filesystem::path> arrived_;
  std::deque<std::filesystem::path> unsure_;  // whether somebody writes them cannot be told yet
  std::multimap<Clock::time_point, std::filesystem::path> put_off_;
};

}  // namespace moil::daemon::ctl
