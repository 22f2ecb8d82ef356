// What the last changes of labels were, so that they can be undone: a step is what the user did at
// once (one call, or several that the client gave the same name), and holds what was there before:
// of each sample whose labels it changed, and of each label that it made, removed or mapped.
//
// In the label store's database, and written in the transaction of the change itself. Bounded: the
// oldest steps go first. Nothing is kept of a sample that is forgotten. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlite/database.h"
#include "datasets/identity/digest.h"

namespace moil::data {

struct LabelStep {
  std::int64_t id = 0;
  std::int64_t at = 0;  // seconds since 1970
  std::string kind;     // "add", "assign", "relabel", "rename", "merge", "rm", "map"
  // Before the step; nothing: not there.
  std::map<Digest, std::optional<std::vector<std::string>>> samples;      // their labels
  std::map<std::string, std::optional<std::vector<std::string>>> labels;  // what they mean
};

class LabelJournal {
 public:
  static constexpr std::size_t kMostSteps = 50;

  explicit LabelJournal(Database& database) : database_(database) {}

  // A step begins, or goes on if the last one has the same name, which is not empty.
  [[nodiscard]] std::int64_t begin(std::string_view kind, std::string_view name, std::int64_t now);
  // How it was before; what the step has noted already stays.
  void note(std::int64_t step, const Digest& sample,
            const std::optional<std::vector<std::string>>& labels);
  void note(std::int64_t step, const std::string& label,
            const std::optional<std::vector<std::string>>& globals);

  // The last step; of those with a name all, the last first. What it did alone is in it.
  [[nodiscard]] std::vector<LabelStep> last(std::string_view name = {}) const;
  // As if it had never been: later steps that changed the same remember what it does. What is left
  // is to be put back now, with names as they are now.
  [[nodiscard]] LabelStep take_out(LabelStep step);
  [[nodiscard]] std::size_t steps() const;

 private:
  struct Renaming {
    std::int64_t step = 0;
    std::string from, to;
  };
  std::vector<Renaming> renamings_after(std::int64_t step) const;
  // The first step behind it that notes the same; 0: none does.
  std::int64_t next_of(std::int64_t step, const Digest& sample) const;
  std::int64_t next_of(std::int64_t step, const std::string& label) const;
  LabelStep read(const Statement& row) const;

  Database& database_;
};

}  // namespace moil::data
