#include "datasets/labels/label_journal.h"

#include <algorithm>
#include <iterator>

#include "datasets/labels/denial.h"

namespace moil::data {
namespace {

// A name a line: no name holds a line's end.
void bind_names(Statement& statement, const std::optional<std::vector<std::string>>& names) {
  if (!names) {
    statement.bind_null();
    return;
  }
  std::string text;
  for (const std::string& name : *names) text += name + "\n";
  statement.bind(std::string_view(text));
}

std::optional<std::vector<std::string>> names_in(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  const std::string text = row.text(column);
  std::vector<std::string> names;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    names.push_back(text.substr(at, end - at));
  return names;
}

}  // namespace

std::int64_t LabelJournal::begin(std::string_view kind, std::string_view name, std::int64_t now) {
  Statement last(database_, "SELECT id, name FROM steps ORDER BY id DESC LIMIT 1");
  if (!name.empty() && last.step() && last.text(1) == name) return last.integer(0);
  last.reset();
  Statement(database_, "INSERT INTO steps (at, kind, name) VALUES (?, ?, ?)")
      .bind(now)
      .bind(kind)
      .bind(name)
      .run();
  const std::int64_t step = database_.last_id();
  Statement(database_,
            "DELETE FROM steps WHERE id NOT IN (SELECT id FROM steps ORDER BY id DESC LIMIT ?)")
      .bind(static_cast<std::int64_t>(kMostSteps))
      .run();
  return step;
}

void LabelJournal::note(std::int64_t step, const Digest& sample,
                        const std::optional<std::vector<std::string>>& labels) {
  Statement insert(database_, "INSERT OR IGNORE INTO step_samples VALUES (?, ?, ?)");
  insert.bind(step).bind(sample.bytes);
  bind_names(insert, labels);
  insert.run();
}

void LabelJournal::note(std::int64_t step, const std::string& label,
                        const std::optional<std::vector<std::string>>& globals) {
  Statement insert(database_, "INSERT OR IGNORE INTO step_labels VALUES (?, ?, ?)");
  insert.bind(step).bind(std::string_view(label));
  bind_names(insert, globals);
  insert.run();
}

LabelStep LabelJournal::read(const Statement& row) const {
  LabelStep step{row.integer(0), row.integer(1), row.text(2), {}, {}};
  Statement samples(database_, "SELECT digest, labels FROM step_samples WHERE step_id = ?");
  samples.bind(step.id);
  while (samples.step())
    step.samples.emplace(Digest::from_bytes(samples.blob(0)), names_in(samples, 1));
  Statement labels(database_, "SELECT name, globals FROM step_labels WHERE step_id = ?");
  labels.bind(step.id);
  while (labels.step()) step.labels.emplace(labels.text(0), names_in(labels, 1));
  return step;
}

std::vector<LabelStep> LabelJournal::last(std::string_view name) const {
  Statement select(database_,
                   name.empty() ? "SELECT id, at, kind FROM steps ORDER BY id DESC LIMIT 1"
                                : "SELECT id, at, kind FROM steps WHERE name = ? ORDER BY id DESC");
  if (!name.empty()) select.bind(name);
  std::vector<LabelStep> steps;
  while (select.step()) steps.push_back(read(select));
  return steps;
}

std::vector<LabelJournal::Renaming> LabelJournal::renamings_after(std::int64_t step) const {
  Statement select(database_,
                   "SELECT steps.id, old.name, new.name FROM steps "
                   "JOIN step_labels AS old ON old.step_id = steps.id AND old.globals IS NOT NULL "
                   "JOIN step_labels AS new ON new.step_id = steps.id AND new.globals IS NULL "
                   "WHERE kind = 'rename' AND steps.id > ? ORDER BY steps.id");
  select.bind(step);
  std::vector<Renaming> found;
  while (select.step()) found.push_back({select.integer(0), select.text(1), select.text(2)});
  return found;
}

std::int64_t LabelJournal::next_of(std::int64_t step, const Digest& sample) const {
  Statement row(database_,
                "SELECT min(step_id) FROM step_samples WHERE digest = ? AND step_id > ?");
  return row.bind(sample.bytes).bind(step).step() ? row.integer(0) : 0;
}

std::int64_t LabelJournal::next_of(std::int64_t step, const std::string& label) const {
  Statement row(database_, "SELECT min(step_id) FROM step_labels WHERE name = ? AND step_id > ?");
  return row.bind(std::string_view(label)).bind(step).step() ? row.integer(0) : 0;
}

LabelStep LabelJournal::take_out(LabelStep step) {
  const auto renamings = renamings_after(step.id);
  const auto called_at = [&](std::optional<std::vector<std::string>>& names, std::int64_t time) {
    for (const Renaming& renaming : renamings)
      if (names && (time == 0 || renaming.step < time)) {
        std::ranges::replace(*names, renaming.from, renaming.to);
        std::ranges::replace(*names, denial_of(renaming.from), denial_of(renaming.to));
      }
  };
  for (auto it = step.samples.begin(); it != step.samples.end();) {
    const std::int64_t next = next_of(step.id, it->first);
    called_at(it->second, next);
    if (next == 0) {
      ++it;
      continue;
    }
    Statement update(database_,
                     "UPDATE step_samples SET labels = ? WHERE step_id = ? AND digest = ?");
    bind_names(update, it->second);
    update.bind(next).bind(it->first.bytes).run();
    it = step.samples.erase(it);
  }
  for (auto it = step.labels.begin(); it != step.labels.end();) {
    const std::int64_t next = next_of(step.id, it->first);
    const bool is_renamed = std::ranges::find(renamings, next, &Renaming::step) != renamings.end();
    if (next != 0 && !is_renamed) {
      Statement update(database_,
                       "UPDATE step_labels SET globals = ? WHERE step_id = ? AND name = ?");
      bind_names(update, it->second);
      update.bind(next).bind(std::string_view(it->first)).run();
    }
    it = next == 0 ? std::next(it) : step.labels.erase(it);
  }
  Statement(database_, "DELETE FROM steps WHERE id = ?").bind(step.id).run();
  return step;
}

std::size_t LabelJournal::steps() const {
  return static_cast<std::size_t>(database_.number("SELECT count(*) FROM steps"));
}

}  // namespace moil::data
