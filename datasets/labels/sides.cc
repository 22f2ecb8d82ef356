#include "datasets/labels/sides.h"

#include <cmath>
#include <optional>

#include "datasets/identity/split.h"
#include "datasets/labels/label_types.h"

namespace moil::data {
namespace {

// Samples that nights, or the user, have settled.
constexpr const char* kTrainedOn = "(used_split IS 0 OR (split_chosen = 1 AND split = 0))";
constexpr const char* kHeldOut = "(used_split IS 1 OR (split_chosen = 1 AND split = 1))";

const auto kHeldOutBelow =
    static_cast<std::int64_t>(std::llround(kValidationFraction * double{kDraws}));

static_assert(kDraws == 9'007'199'254'740'992, "as kRank says");

constexpr const char* kCarriers =
    "SELECT samples.id, scene, split, split_chosen, rank FROM sample_labels "
    "JOIN samples ON samples.id = sample_id WHERE label_id = ? ORDER BY rank ";

// A label's carrier as kCarriers tells of it.
struct Carrier {
  explicit Carrier(const Statement& row)
      : sample(row.integer(0)),
        unit(row.integer(1) == 0 ? -sample : row.integer(1)),
        stays_held_out(row.integer(2) == 1 && row.integer(3) == 1),
        is_trained_for_good(row.integer(4) >= kDraws) {}

  std::int64_t sample, unit;
  bool stays_held_out, is_trained_for_good;
};

std::string of_unit(bool is_scene, const std::string& before, const std::string& behind = "") {
  return before + (is_scene ? "scene = ?1" : "id = ?1") + behind;
}

std::string kept_as(bool is_scene, const char* column) {
  const std::string members = of_unit(is_scene, "(SELECT id FROM samples WHERE ", ")");
  return "SELECT 1 FROM sample_labels JOIN labels ON labels.id = label_id WHERE sample_id IN " +
         members + " AND " + column + " IN " + members;
}

}  // namespace

struct Sides::Facts {
  bool is_trained = false, is_held_out = false;  // by a night, or by the user
  std::int64_t draw = 0;
};

// What is asked of every unit, prepared once.
class Sides::Queries {
 public:
  explicit Queries(Database& database) : sample_(database, false), scene_(database, true) {}

  Facts facts(Unit unit) {
    Statement& row = of(unit).facts;
    const bool found = row.bind(key(unit)).step();
    const Facts facts{found && row.integer(0) == 1, found && row.integer(1) == 1,
                      found ? row.integer(2) : 0};
    row.reset();
    return facts;
  }
  bool is_to_learn(Unit unit) { return is_there(of(unit).to_learn, unit); }
  bool is_to_judge(Unit unit) { return is_there(of(unit).to_judge, unit); }
  std::set<std::int64_t> labels(Unit unit) {
    Statement& rows = of(unit).labels;
    rows.bind(key(unit));
    std::set<std::int64_t> found;
    while (rows.step()) found.insert(rows.integer(0));
    rows.reset();
    return found;
  }
  void move(Unit unit, Split side) {
    Statement& update = of(unit).move;
    update.bind(key(unit)).bind(static_cast<std::int64_t>(side)).run();
  }

 private:
  struct Of {
    Of(Database& database, bool is_scene)
        : facts(database,
                of_unit(is_scene, std::string("SELECT coalesce(max(") + kTrainedOn +
                                      "), 0), coalesce(max(" + kHeldOut +
                                      "), 0), coalesce(min(draw), 0) FROM samples WHERE ")),
          to_learn(database, kept_as(is_scene, "to_learn")),
          to_judge(database, kept_as(is_scene, "to_judge")),
          labels(database, of_unit(is_scene,
                                   "SELECT DISTINCT label_id FROM sample_labels WHERE sample_id IN "
                                   "(SELECT id FROM samples WHERE ",
                                   ")")),
          move(database, of_unit(is_scene, "UPDATE samples SET split = ?2 WHERE ",
                                 " AND split_chosen = 0 AND split <> ?2")) {}
    Statement facts, to_learn, to_judge, labels, move;
  };

  static std::int64_t key(Unit unit) { return unit < 0 ? -unit : unit; }
  Of& of(Unit unit) { return unit < 0 ? sample_ : scene_; }
  static bool is_there(Statement& row, Unit unit) {
    const bool found = row.bind(key(unit)).step();
    row.reset();
    return found;
  }

  Of sample_, scene_;
};

// As they are now.
std::set<Sides::Unit> Sides::units() const {
  std::set<Unit> found = scenes_;
  Statement row(database_, "SELECT scene FROM samples WHERE id = ?");
  for (const std::int64_t sample : samples_) {
    if (row.bind(sample).step()) found.insert(row.integer(0) == 0 ? -sample : row.integer(0));
    row.reset();
  }
  return found;
}

void Sides::scene_changed(std::int64_t scene) {
  scenes_.insert(scene);
  Statement rows(database_,
                 "SELECT DISTINCT label_id FROM sample_labels JOIN samples ON "
                 "samples.id = sample_id WHERE scene = ?");
  rows.bind(scene);
  while (rows.step()) labels_.insert(rows.integer(0));
}

void Sides::settle() {
  if (labels_.empty() && samples_.empty() && scenes_.empty()) return;
  Queries queries(database_);
  for (const std::int64_t label : labels_) keep("to_learn", label, learned_from(queries, label));
  // Who is kept to be learned from is judged by for none of its labels.
  std::set<std::int64_t> labels = labels_;
  for (const Unit unit : units()) labels.merge(queries.labels(unit));
  for (const std::int64_t label : labels) keep("to_judge", label, judged_by(queries, label));
  for (const Unit unit : units()) place(queries, unit);
  labels_.clear();
  samples_.clear();
  scenes_.clear();
}

// The label's sample with the highest rank that may be trained on; rather none that was held out.
std::int64_t Sides::learned_from(Queries& queries, std::int64_t label) const {
  Statement rows(database_, std::string(kCarriers) + "DESC");
  rows.bind(label);
  std::int64_t second_best = 0;
  std::set<Unit> seen;
  while (rows.step()) {
    const Carrier carrier(rows);
    if (carrier.stays_held_out || !seen.insert(carrier.unit).second) continue;
    const Facts facts = queries.facts(carrier.unit);
    if (facts.is_trained || !facts.is_held_out) return carrier.sample;
    if (second_best == 0) second_best = carrier.sample;
  }
  return second_best;
}

// 0 if the label has too few samples, or one is held out already that no draw decides about.
std::int64_t Sides::judged_by(Queries& queries, std::int64_t label) const {
  Statement enough(database_,
                   "SELECT count(*) FROM (SELECT 1 FROM sample_labels WHERE label_id = ? LIMIT ?)");
  constexpr auto kEnough = static_cast<std::int64_t>(kSamplesNeedingValidation);
  if (!enough.bind(label).bind(kEnough).step() || enough.integer(0) < kEnough) return 0;
  Statement rows(database_, std::string(kCarriers) + "ASC");
  rows.bind(label);
  std::int64_t lowest = 0;
  std::set<Unit> seen;
  while (rows.step()) {
    const Carrier carrier(rows);
    if (carrier.stays_held_out) return 0;
    if (carrier.is_trained_for_good) break;
    if (!seen.insert(carrier.unit).second) continue;
    const Facts facts = queries.facts(carrier.unit);
    if (facts.is_trained || queries.is_to_learn(carrier.unit)) continue;
    if (facts.is_held_out) return 0;
    if (lowest == 0) lowest = carrier.sample;
    if (facts.draw < kHeldOutBelow) break;  // it is held out all the same
  }
  return lowest;
}

// Notes it with the label; if that is another than before, both are looked at.
void Sides::keep(const char* column, std::int64_t label, std::int64_t sample) {
  Statement row(database_, std::string("SELECT ") + column + " FROM labels WHERE id = ?");
  if (!row.bind(label).step() || row.integer(0) == sample) return;
  sample_changed(row.integer(0));
  sample_changed(sample);
  row.reset();
  Statement(database_, std::string("UPDATE labels SET ") + column + " = ? WHERE id = ?")
      .bind(sample)
      .bind(label)
      .run();
}

void Sides::place(Queries& queries, Unit unit) const {
  const Facts facts = queries.facts(unit);
  Split side = Split::kTrain;
  if (!facts.is_trained && !queries.is_to_learn(unit) &&
      (facts.is_held_out || facts.draw < kHeldOutBelow || queries.is_to_judge(unit)))
    side = Split::kValidation;
  queries.move(unit, side);
}

}  // namespace moil::data
