#include "daemon/ctl/elastic/elastic_grid.h"

#include <algorithm>

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kMostParts = 16;   // of a name that are told apart
constexpr std::size_t kLeastFilled = 3;  // a third of the rows is filled, or neighbours are merged

// The layer's part of "LAYER.WEIGHT".
std::string layer_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

std::size_t count_parts(const std::string& layer) {
  return 1 + static_cast<std::size_t>(std::count(layer.begin(), layer.end(), '.'));
}

std::string first_parts(const std::string& layer, std::size_t parts) {
  std::size_t at = layer.find('.');
  while (--parts > 0 && at != std::string::npos) at = layer.find('.', at + 1);
  return layer.substr(0, at);
}

// Neighbours whose layers have their first parts in common.
std::vector<GridRow> group_by_parts(std::span<const std::string> names, std::size_t parts) {
  std::vector<GridRow> rows;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = first_parts(layer_of(names[i]), parts);
    if (!rows.empty() && rows.back().name == name) {
      rows.back().end = i + 1;
    } else {
      rows.push_back({.name = std::move(name), .first = i, .end = i + 1});
    }
  }
  return rows;
}

// The whole in `most` parts as equal as can be.
std::size_t part_begin(std::size_t part, std::size_t whole, std::size_t most) {
  return part * whole / most;
}

std::vector<GridRow> merge(const std::vector<GridRow>& rows, std::size_t most) {
  std::vector<GridRow> out;
  for (std::size_t i = 0; i < most; ++i) {
    const GridRow& first = rows[part_begin(i, rows.size(), most)];
    const GridRow& last = rows[part_begin(i + 1, rows.size(), most) - 1];
    const bool alone = &first == &last;
    out.push_back({.name = alone ? first.name : first.name + " to " + last.name,
                   .first = first.first,
                   .end = last.end});
  }
  return out;
}

std::vector<GridColumn> group_intervals(const std::vector<ElasticInterval>& intervals,
                                        std::size_t most) {
  const std::size_t count = std::min(most, intervals.size());
  std::vector<GridColumn> columns;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = part_begin(i, intervals.size(), count),
                      end = part_begin(i + 1, intervals.size(), count);
    columns.push_back({.first_epoch = intervals[first].first,
                       .last_epoch = intervals[end - 1].last,
                       .first = first,
                       .end = end});
  }
  return columns;
}

GridCell make_cell(const ElasticReport& report, const GridRow& row, const GridColumn& column) {
  std::size_t selected = 0, recorded = 0;
  double share = 0;
  for (std::size_t i = column.first; i < column.end; ++i) {
    const ElasticInterval& interval = report.intervals[i];
    if (!interval.shares.empty()) ++recorded;
    for (std::size_t t = row.first; t < row.end; ++t) {
      if (interval.selected[t]) ++selected;
      if (!interval.shares.empty()) share += interval.shares[t];
    }
  }
  GridCell cell;
  cell.selected =
      static_cast<double>(selected) / static_cast<double>(row.size() * (column.end - column.first));
  if (recorded > 0) cell.share = share / static_cast<double>(recorded);
  return cell;
}

}  // namespace

bool ElasticGrid::groups() const {
  return std::any_of(rows.begin(), rows.end(), [](const GridRow& row) { return row.size() > 1; });
}

std::vector<GridRow> group_names(std::span<const std::string> names, std::size_t most) {
  std::vector<GridRow> finer;
  for (std::size_t i = 0; i < names.size(); ++i)
    finer.push_back({.name = names[i], .first = i, .end = i + 1});
  if (finer.size() <= most) return finer;
  std::size_t parts = 1;
  for (const std::string& name : names) parts = std::max(parts, count_parts(layer_of(name)));
  for (parts = std::min(parts, kMostParts); parts > 0; --parts) {
    std::vector<GridRow> rows = group_by_parts(names, parts);
    if (rows.size() * kLeastFilled < most) break;
    if (rows.size() <= most) return rows;
    finer = std::move(rows);
  }
  return merge(finer, most);
}

ElasticGrid make_elastic_grid(const ElasticReport& report, std::size_t most_rows,
                              std::size_t most_columns) {
  ElasticGrid grid{.rows = group_names(report.tensors, most_rows),
                   .columns = group_intervals(report.intervals, most_columns),
                   .cells = {}};
  for (const GridRow& row : grid.rows) {
    auto& cells = grid.cells.emplace_back();
    for (const GridColumn& column : grid.columns) cells.push_back(make_cell(report, row, column));
  }
  return grid;
}

}  // namespace moil::daemon::ctl
