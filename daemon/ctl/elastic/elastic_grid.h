// Tensors by intervals, cut into as many rows and columns as there is room for: what the drawings
// of elastic training show.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/ctl/elastic/elastic_report.h"

namespace moil::daemon::ctl {

// Neighbouring tensors in a row.
struct GridRow {
  std::string name;
  std::size_t first = 0, end = 0;

  std::size_t size() const { return end - first; }
};

// Neighbouring intervals in a column.
struct GridColumn {
  std::int64_t first_epoch = 1, last_epoch = 1;
  std::size_t first = 0, end = 0;
};

struct GridCell {
  double selected = 0;          // of the row's tensors and the column's intervals, from 0 to 1
  std::optional<double> share;  // of the importance, all tensors of the row together
};

struct ElasticGrid {
  std::vector<GridRow> rows;                 // from the input to the output
  std::vector<GridColumn> columns;           // as the epochs went
  std::vector<std::vector<GridCell>> cells;  // [row][column]

  bool groups() const;  // some row is of several tensors
};

// Each name by itself if at most `most` (from 1) are asked for; else those of a layer together
// ("block3.bn" for "block3.bn.gamma" and "block3.bn.beta"), else those whose layers' names begin
// alike ("block3"), and if these are too many, or hardly any: neighbours, as many as it takes.
[[nodiscard]] std::vector<GridRow> group_names(std::span<const std::string> names,
                                               std::size_t most);

// At most so many rows and columns (each from 1).
[[nodiscard]] ElasticGrid make_elastic_grid(const ElasticReport& report, std::size_t most_rows,
                                            std::size_t most_columns);

}  // namespace moil::daemon::ctl
