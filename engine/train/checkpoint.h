// Checkpoints: everything a killed run needs to go on as if nothing had happened.
//
// One file: a text of the caller's (JSON: the job, the choices, the state of the loop), then the
// persistent tensors by name. Replaced atomically and checked by a hash, so a reader finds the last
// whole one or none. docs/checkpoint-format.md gives the bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/network.h"

namespace moil {

// Throws what write_file_atomic throws (base/file.h).
void save_checkpoint(const std::filesystem::path& path, const std::string& text,
                     std::span<const PersistentTensor> tensors);

class Checkpoint {
 public:
  // Nothing where there is no file; kBadData where it is damaged or of another version.
  [[nodiscard]] static std::optional<Checkpoint> load(const std::filesystem::path& path);

  const std::string& text() const { return text_; }
  // Copies into `tensors`; kBadData, and nothing copied, where names or sizes differ from what was
  // saved.
  void restore(std::span<const PersistentTensor> tensors) const;

 private:
  struct Saved {
    std::string name;
    std::size_t offset, elements;
  };
  std::vector<std::uint8_t> bytes_;
  std::string text_;
  std::vector<Saved> tensors_;
};

}  // namespace moil
