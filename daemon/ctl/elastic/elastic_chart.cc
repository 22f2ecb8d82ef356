#include "daemon/ctl/elastic/elastic_chart.h"

#include <algorithm>
#include <array>

#include "daemon/ctl/elastic/elastic_grid.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kLinesAround = 6;  // heading, epochs, legend, and the shell's prompt
constexpr std::size_t kFewestLines = 12, kMostLines = 1'000;
constexpr std::size_t kNarrowest = 40, kWidest = 250, kPlainWidth = 120;
constexpr std::size_t kWidestCell = 7;
constexpr std::size_t kGap = 2;  // between labels and cells
constexpr const char* kEpochs = "EPOCHS";
constexpr const char* kShareHeading = "IMPORTANCE";

// How much of a cell's tensors were trained: none, few, half, most, all.
using Marks = std::array<const char*, 5>;
constexpr Marks kBlocks = {"·", "░", "▒", "▓", "█"};
constexpr Marks kLetters = {".", "-", "+", "*", "#"};

std::size_t mark_of(double selected) {
  if (selected <= 0) return 0;
  if (selected >= 1) return 4;
  return selected < 1.0 / 3 ? 1 : selected < 2.0 / 3 ? 2 : 3;
}

std::string repeated(const std::string& what, std::size_t times) {
  std::string out;
  while (times-- > 0) out += what;
  return out;
}

class TextChart {
 public:
  TextChart(const ElasticReport& report, const Screen& screen)
      : report_(report),
        marks_(screen.terminal && screen.utf8 ? kBlocks : kLetters),
        columns_(screen.terminal ? std::clamp(screen.columns, kNarrowest, kWidest) : kPlainWidth),
        has_shares_(has_shares(report)) {
    const std::size_t lines = screen.rows > kLinesAround ? screen.rows - kLinesAround : 0;
    const std::size_t most =
        screen.terminal ? std::clamp(lines, kFewestLines, kMostLines) : kMostLines;
    label_ = width(kEpochs);
    for (const GridRow& row : group_names(report.tensors, most))
      label_ = std::max(label_, width(label(row)));
    const std::size_t free = columns_ - label_ - kGap - share_columns();
    grid_ = make_elastic_grid(report, most, free);
    cell_ = std::clamp<std::size_t>(free / std::max<std::size_t>(1, grid_.columns.size()), 1,
                                    kWidestCell + 1);
  }

  std::string draw() {
    if (grid_.rows.empty() || grid_.columns.empty()) return "";
    heading();
    for (std::size_t i = 0; i < grid_.rows.size(); ++i) row(i);
    epochs();
    legend();
    out_.pop_back();
    return out_;
  }

 private:
  std::size_t share_columns() const { return has_shares_ ? width(kShareHeading) + 1 : 0; }

  // A third, and what the cells can do without.
  std::size_t label_room() const {
    const std::size_t others = kGap + share_columns() + 4 * report_.intervals.size();
    return std::max(columns_ / 3, columns_ - std::min(columns_, others));
  }

  std::string label(const GridRow& row) const {
    const std::string count = row.size() > 1 ? " (" + std::to_string(row.size()) + ")" : "";
    return shortened(row.name, label_room() - width(count)) + count;
  }

  void add(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }

  void heading() {
    const std::string over = padded("TENSOR", label_ + kGap + cell_ * grid_.columns.size());
    add(has_shares_ ? over + " " + kShareHeading : over);
  }

  void row(std::size_t index) {
    std::string line = padded(label(grid_.rows[index]), label_ + kGap);
    const std::size_t marks = std::max<std::size_t>(1, cell_ - 1);  // and a space, if there is room
    for (const GridCell& cell : grid_.cells[index])
      line += padded(repeated(marks_[mark_of(cell.selected)], marks), cell_);
    if (has_shares_) {
      const std::string mean = mean_share(grid_.cells[index]);
      line += padded("", share_columns() - width(mean)) + mean;
    }
    add(line);
  }

  // Over the columns that have one.
  static std::string mean_share(const std::vector<GridCell>& cells) {
    double sum = 0, columns = 0;
    for (const GridCell& cell : cells) {
      sum += cell.share.value_or(0);
      columns += cell.share ? 1 : 0;
    }
    return percent(sum / columns);
  }

  // Below their columns, as many as there is room for.
  void epochs() {
    std::string line = padded(kEpochs, label_ + kGap);
    for (std::size_t i = 0; i < grid_.columns.size(); ++i) {
      const std::size_t at = label_ + kGap + i * cell_;
      const GridColumn& column = grid_.columns[i];
      const std::string words = epochs_text(column.first_epoch, column.last_epoch);
      if ((i > 0 && width(line) >= at) || at + width(words) > columns_) continue;
      line = padded(line, at);
      line += words;
    }
    add(line);
  }

  void legend() {
    const auto mark = [&](std::size_t i) { return std::string(marks_[i]); };
    const bool whole = !grid_.groups() && grid_.columns.size() == report_.intervals.size();
    const std::string words = whole ? mark(4) + " trained  " + mark(0) + " not"
                                    : mark(4) + " all  " + mark(3) + " most  " + mark(2) +
                                          " half  " + mark(1) + " few  " + mark(0) +
                                          " none of a row's tensors trained";
    for (const std::string& line : wrapped(words, columns_, 2)) add(line);
  }

  const ElasticReport& report_;
  const Marks& marks_;
  const std::size_t columns_;
  const bool has_shares_;
  ElasticGrid grid_;
  std::size_t label_ = 0, cell_ = 2;
  std::string out_;
};

}  // namespace

std::string draw_elastic_chart(const ElasticReport& report, const Screen& screen) {
  return TextChart(report, screen).draw();
}

}  // namespace moil::daemon::ctl
