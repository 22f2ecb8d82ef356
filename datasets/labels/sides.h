// On which side of the split samples lie: what content, labels and scenes say, in whatever order
// they came to the store, and what nights and the user have settled.
//
// Every sample has a draw, a number that its content (of a scene: one for all of it) draws. The
// first that holds decides for a scene, or for a sample that is of no scene:
//   1. a night has trained on part of it, or the user said so: it is trained on
//   2. it has the highest draw of a label of which 1 has none: it is trained on, for every label
//      needs something to be learned from
//   3. a night has held part of it out, or the user said so: it is held out
//   4. its draw is below a fifth of all: it is held out
//   5. it has the lowest draw, of those that 1 and 2 leave, of a label with five samples or more,
//      of which 3 holds none out: it is held out
//   6. it is trained on
// So the sides follow from what is there and from what nights did with it, in whatever order that
// came; 1 and 2 may lay elsewhere what a night has held out, until the reason is gone.
// What the user chose for a single sample stays, whatever its scene does.
//
// A label has its samples by rank: by their draws, and those that are trained on for good behind
// all others.
//
// Used within a write transaction of the label store: whoever changes rows says so, and settle()
// moves whom that concerns. One thread at a time.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/sqlite/database.h"

namespace moil::data {

class Sides {
 public:
  explicit Sides(Database& database) : database_(database) {}

  // It is new, or of another scene, or has labels that it had not.
  void sample_changed(std::int64_t sample) { samples_.insert(sample); }
  // It has other samples than before.
  void label_changed(std::int64_t label) { labels_.insert(label); }
  // Samples joined it or left it.
  void scene_changed(std::int64_t scene);
  // To be called before a label is removed, too.
  void settle();

  // SQL, of a row of samples: what its rank is, with its labels. To be written anew if one of
  // the columns changes that it is made of.
  static constexpr const char* kRank =
      "draw + CASE WHEN used_split IS 0 OR (split_chosen = 1 AND split = 0) "
      "THEN 9007199254740992 ELSE 0 END";

 private:
  // A scene's number, or a sample's, negative.
  using Unit = std::int64_t;
  struct Facts;
  class Queries;

  std::set<Unit> units() const;
  std::int64_t learned_from(Queries& queries, std::int64_t label) const;
  std::int64_t judged_by(Queries& queries, std::int64_t label) const;
  void keep(const char* column, std::int64_t label, std::int64_t sample);
  void place(Queries& queries, Unit unit) const;

  Database& database_;
  std::set<std::int64_t> labels_, samples_, scenes_;
};

}  // namespace moil::data
