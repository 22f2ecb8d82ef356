// Columns of ids: a user, an item. All columns share one list of the ids that are known, and an id
// is the number of its place there: the row of a table that a network keeps of it. Row 0 is of an
// id that nobody knows.
//
// An id is written with its column, "user=17". Values and pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/tables/record.h"

namespace moil::data {

class SampleDataset;

// As many as a float counts without a gap, row 0 among them.
inline constexpr std::size_t kMostIds = (std::size_t{1} << 24) - 1;

class IdList {
 public:
  // The first one has row 1. kInvalidArgument for more than kMostIds, for one that is there twice,
  // and for one that is of none of the columns.
  IdList(std::vector<std::string> ids, const std::vector<RowColumn>& columns);
  IdList(const IdList&) = delete;
  IdList& operator=(const IdList&) = delete;

  // Its row; 0: it is not known.
  [[nodiscard]] std::int64_t row(std::string_view id) const;
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(ids_.size()) + 1; }
  [[nodiscard]] const std::vector<std::string>& ids() const { return ids_; }

 private:
  const std::vector<std::string> ids_;
  std::unordered_map<std::string_view, std::int32_t> rows_;  // of ids_
};

// The ids of a record, one a column; empty for one that is missing. As read_fields().
[[nodiscard]] std::vector<std::string> read_ids(std::span<const std::uint8_t> bytes,
                                                std::string_view name,
                                                const std::vector<RowColumn>& columns);

// Whether all of these columns hold ids, if nobody says so, by their names: "id", "userId",
// "movie_id", "user", "item".
[[nodiscard]] bool are_names_of_ids(const std::vector<std::string>& columns);

// The columns of a dataset of records of ids; empty if it has none. wanted: which they are; if it
// is empty, by the first record's names. kBadData if one is not there, or if there is a column that
// is not wanted.
[[nodiscard]] std::vector<RowColumn> id_columns_of(const SampleDataset& dataset,
                                                   const std::vector<std::string>& wanted = {});
// All ids of these samples, the first column's first, sorted.
[[nodiscard]] std::vector<std::string> ids_of(const SampleDataset& dataset,
                                              std::span<const std::size_t> samples,
                                              const std::vector<RowColumn>& columns);

}  // namespace moil::data
