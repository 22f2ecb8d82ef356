// The label store's rows of samples and of labels, and which sample carries which.
//
// Expects the store's lock, and what changes rows an open write transaction, whose sides are told.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlite/database.h"
#include "datasets/labels/label_change.h"
#include "datasets/labels/label_types.h"

namespace moil::data {

// A condition on rows of labels in SQL, by their index: that one is a denial (denial.h).
inline constexpr std::string_view kIsDenial = R"(name >= '!' AND name < '"')";

class Samples {
 public:
  explicit Samples(Database& database) : database_(database) {}

  // What record() reads of a row.
  static constexpr std::string_view kColumns =
      "id, digest, media_type, size, added_at, split, name, scene, likeness IS NOT NULL, "
      "used_split IS split";
  [[nodiscard]] SampleRecord record(const Statement& row) const;
  [[nodiscard]] std::optional<SampleRecord> find(const Digest& digest) const;
  [[nodiscard]] bool is_here(const Digest& digest) const;
  [[nodiscard]] std::int64_t id_of(const Digest& digest) const;  // kNotFound

  std::int64_t insert(const Digest& digest, std::span<const std::uint8_t> content,
                      std::optional<Split> split, std::string_view name);
  void name(std::int64_t sample, std::string_view name);
  // Its row goes, and what it leaves is noted as forgetting. kNotFound.
  void forget(LabelChange& change, const Digest& digest);

  [[nodiscard]] std::vector<std::string> labels_of(std::int64_t sample) const;
  [[nodiscard]] std::vector<std::int64_t> label_ids_of(std::int64_t sample) const;
  // Who has one of the two, by name.
  [[nodiscard]] std::vector<Digest> carriers_of(const std::array<std::string, 2>& labels) const;
  bool put_labels(Sides& sides, const Digest& digest, std::span<const std::string> names);
  // Adds labels that it has not.
  void attach(Sides& sides, std::int64_t sample, std::span<const std::int64_t> labels);

  [[nodiscard]] std::int64_t existing_label_id(const std::string& name) const;  // kNotFound
  std::vector<std::int64_t> label_ids(std::span<const std::string> names);      // creates them
  void rename(const std::string& from, const std::string& to);                  // and its denials
  void remove_if_bare(const std::string& label);
  void remove_bare_denials();
  // The labels of the model that it stands for; nothing if there is no such label.
  [[nodiscard]] std::optional<std::vector<std::string>> globals_of(const std::string& label) const;
  void set_globals(std::int64_t label, std::span<const std::string> globals);
  void note_other_meaning(std::int64_t label);

 private:
  std::int64_t make_newest(std::int64_t sample);
  std::int64_t next_number();
  void note_correction(std::int64_t sample);

  Database& database_;
};

}  // namespace moil::data
