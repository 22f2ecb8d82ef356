// The label store's steps: what a change of labels was before it is noted, so that the last can be
// undone (label_journal.h).
//
// Expects the store's lock and an open write transaction, whose sides are told.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "datasets/labels/label_change.h"
#include "datasets/labels/label_journal.h"
#include "datasets/labels/samples.h"

namespace moil::data {

class Steps {
 public:
  Steps(Database& database, Samples& samples)
      : database_(database), samples_(samples), journal_(database) {}

  // The step that a change belongs to.
  std::int64_t begin(std::string_view kind, std::string_view name);
  void note_added(std::int64_t step, const Digest& sample) {
    journal_.note(step, sample, std::nullopt);
  }
  // What labels mean now.
  void note_labels(std::int64_t step, std::span<const std::string> names);
  // Which of the names are of no label yet.
  void note_new_labels(std::int64_t step, std::span<const std::string> names);
  // Samples::put_labels(), noted.
  bool set_labels(Sides& sides, std::int64_t step, const Digest& digest,
                  std::span<const std::string> names);
  // As LabelStore::undo() says, with samples.
  UndoneStep undo(LabelChange& change, std::string_view step);

 private:
  void take_back(LabelChange& change, const LabelStep& step, UndoneStep& undone);
  void undo_rename(const LabelStep& step);

  Database& database_;
  Samples& samples_;
  LabelJournal journal_;
};

}  // namespace moil::data
