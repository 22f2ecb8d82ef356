// A folder that is watched for files to be labelled: folders in it are labels, with folders below;
// files beside them are unlabelled.
//
// A file is told when its writer has closed it, or when it was moved there; one that lies there
// already at once, unless somebody still writes it. Folders may come and go. What is hidden or a
// system's own is passed over, and so are links.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace moil::daemon::ctl {

class Inbox {
 public:
  struct Arrival {
    std::filesystem::path file;
    std::string label;  // empty: none
  };

  // kNotFound where there is no such folder.
  explicit Inbox(const std::filesystem::path& root);

  // The next file, as soon as there is one; nothing after `patience` (negative: waits on).
  // kNotFound when the folder itself is gone.
  [[nodiscard]] std::optional<Arrival> next(std::chrono::milliseconds patience);

 private:
  void watch(const std::filesystem::path& folder);
  void take(const std::filesystem::path& file);
  void look_again();
  void read_events();

  const std::filesystem::path root_;
  UniqueFd events_;
  std::map<int, std::filesystem::path> folders_;  // by watch
  std::deque<Arrival> arrived_;
  std::deque<std::filesystem::path> unsure_;  // whether somebody writes them cannot be told yet
};

}  // namespace moil::daemon::ctl
