#include "datasets/labels/label_journal.h"

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

std::optional<LabelStep> LabelJournal::last() const {
  Statement select(database_, "SELECT id, at, kind FROM steps ORDER BY id DESC LIMIT 1");
  if (!select.step()) return std::nullopt;
  LabelStep step{select.integer(0), select.integer(1), select.text(2), {}, {}};
  Statement samples(database_, "SELECT digest, labels FROM step_samples WHERE step_id = ?");
  samples.bind(step.id);
  while (samples.step())
    step.samples.emplace(Digest::from_bytes(samples.blob(0)), names_in(samples, 1));
  Statement labels(database_, "SELECT name, globals FROM step_labels WHERE step_id = ?");
  labels.bind(step.id);
  while (labels.step()) step.labels.emplace(labels.text(0), names_in(labels, 1));
  return step;
}

void LabelJournal::drop(std::int64_t step) {
  Statement(database_, "DELETE FROM steps WHERE id = ?").bind(step).run();
}

std::size_t LabelJournal::steps() const {
  return static_cast<std::size_t>(database_.number("SELECT count(*) FROM steps"));
}

}  // namespace moil::data
