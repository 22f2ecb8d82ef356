// Checkpoints: everything a killed run needs to go on as if nothing had happened.
//
// One file, written and read tensor by tensor without a second copy: a text of the caller's (JSON:
// the job, the choices, the state of the loop), then the persistent tensors by name. Replaced
// atomically and checked by a hash, so a reader finds the last whole one or none.
// docs/checkpoint-format.md gives the bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "engine/run/network.h"

namespace moil {

// Throws what AtomicFile throws (base/files/atomic_file.h).
void save_checkpoint(const std::filesystem::path& path, const std::string& text,
                     std::span<const PersistentTensor> tensors);

class Checkpoint {
 public:
  // Nothing if there is no file; kBadData if it is damaged or of another version. Holds the
  // file as it is now, whatever takes its place.
  [[nodiscard]] static std::optional<Checkpoint> load(const std::filesystem::path& path);

  const std::string& text() const { return text_; }
  // Reads into `tensors`; kBadData, and nothing read, if names or sizes differ from what was
  // saved.
  void restore(std::span<const PersistentTensor> tensors) const;

 private:
  struct Saved {
    std::string name;
    std::size_t offset, elements;
  };
  UniqueFd fd_;
  std::string text_;
  std::vector<Saved> tensors_;
};

}  // namespace moil
