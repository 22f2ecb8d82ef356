#include "daemon/ctl/elastic/elastic_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/svg.h"
#include "daemon/ctl/elastic/elastic_grid.h"
#include "daemon/ctl/text.h"

namespace moil::daemon::ctl {
namespace {

constexpr std::size_t kPictureRows = 400, kPictureColumns = 50;
constexpr std::size_t kLabelLetters = 32, kTipLetters = 100, kRemarkLines = 4;
constexpr double kGridTop = 66, kLetter = 6.4, kTitleLetter = 10, kLine = 15;
constexpr double kLabelHeight = 11, kLabelRoom = 9.5;  // of the smallest text; at the least
constexpr double kPlotHeight = 1'100, kPlotWidth = 620, kLegendWidth = 170, kLegendHeight = 170,
                 kLeastWidth = 720;
constexpr const char* kNotTrained = "#f1f1f1";
constexpr const char* kNotRecorded = "#1d91c0";

// By the share of the importance, from `from` on.
struct Shade {
  double from;
  const char* colour;
  const char* label;
};
constexpr std::array<Shade, 6> kShades = {{{0.3, "#0c2c84", "30% and more"},
                                           {0.1, "#225ea8", "10% to 30%"},
                                           {0.03, "#1d91c0", "3% to 10%"},
                                           {0.01, "#41b6c4", "1% to 3%"},
                                           {0.003, "#7fcdbb", "0.3% to 1%"},
                                           {0, "#c7e9b4", "below 0.3%"}}};

const char* colour(const GridCell& cell) {
  if (!cell.share) return kNotRecorded;
  for (const Shade& shade : kShades) {
    if (*cell.share >= shade.from) return shade.colour;
  }
  return kShades.back().colour;
}

std::string fill(const std::string& what) { return "fill=\"" + what + "\""; }

class Picture {
 public:
  explicit Picture(const ElasticReport& report)
      : report_(report), grid_(make_elastic_grid(report, kPictureRows, kPictureColumns)) {
    const auto rows = static_cast<double>(std::max<std::size_t>(1, grid_.rows.size()));
    const auto columns = static_cast<double>(std::max<std::size_t>(1, grid_.columns.size()));
    row_ = std::clamp(kPlotHeight / rows, 3.0, 18.0);
    column_ = std::clamp(kPlotWidth / columns, 12.0, 110.0);
    height_ = row_ * rows;
    width_ = column_ * columns;
    labels_ = group_names(report.tensors, std::max(1.0, height_ / kLabelHeight));
    std::size_t letters = std::string_view("of a full step").size();
    for (const GridRow& label : labels_)
      letters = std::max(letters, width(shortened(label.name, kLabelLetters)));
    left_ = 40 + kLetter * static_cast<double>(letters);
  }

  std::string draw(const std::string& title) {
    const double whole = std::max(kLeastWidth, left_ + width_ + kLegendWidth);
    remark_ = wrapped(report_.remark, letters_in(whole, kLetter), kRemarkLines);
    out_ = svg::begin(whole, bottom() + kLine * (1 + static_cast<double>(remark_.size())));
    out_ += svg::text(14, 24, shortened(title, letters_in(whole, kTitleLetter)),
                      "font-size=\"16\" font-weight=\"bold\"");
    out_ += svg::text(14, 44, summary());
    for (std::size_t i = 0; i < grid_.rows.size(); ++i) cells(i);
    names();
    epochs();
    legend();
    remark();
    return out_ + "</svg>\n";
  }

 private:
  static std::size_t letters_in(double width, double letter) {
    return static_cast<std::size_t>((width - 28) / letter);
  }
  // Where the plot with its figures, and the legend, end.
  double bottom() const { return std::max(line_below(3), kGridTop + kLegendHeight); }
  // Where the tensor's row begins; of the grid's rows, each may have several tensors.
  double y_of(std::size_t tensor) const {
    const auto row =
        std::upper_bound(grid_.rows.begin(), grid_.rows.end(), tensor,
                         [](std::size_t t, const GridRow& candidate) { return t < candidate.end; });
    return kGridTop + row_ * static_cast<double>(row - grid_.rows.begin());
  }
  double x_of(std::size_t column) const { return left_ + column_ * static_cast<double>(column); }

  std::string summary() const {
    std::string text = std::to_string(report_.tensors.size()) + " tensors, " +
                       std::to_string(report_.intervals.size()) + " intervals";
    if (report_.rho) text += "; a step may take " + percent(*report_.rho) + " of a full step";
    if (report_.full_step_seconds)
      text += ", which takes " + short_time_text(*report_.full_step_seconds);
    return text;
  }

  std::string tip(const GridRow& row, const GridColumn& column, const GridCell& cell) const {
    std::string text = shortened(row.name, kTipLetters);
    if (row.size() > 1) text += " (" + std::to_string(row.size()) + " tensors)";
    text += ", epochs " + epochs_text(column.first_epoch, column.last_epoch) + ": ";
    const bool partly = cell.selected > 0 && cell.selected < 1;
    text += partly              ? percent(cell.selected) + " trained"
            : cell.selected > 0 ? "trained"
                                : "not trained";
    return cell.share ? text + ", " + percent(*cell.share) + " of the importance" : text;
  }

  // Partly trained: coloured as far.
  void cells(std::size_t row) {
    const double y = kGridTop + row_ * static_cast<double>(row), gap = row_ > 6 ? 0.8 : 0.3;
    for (std::size_t i = 0; i < grid_.columns.size(); ++i) {
      const GridCell& cell = grid_.cells[row][i];
      const std::string words = tip(grid_.rows[row], grid_.columns[i], cell);
      const double x = x_of(i) + 0.75, wide = column_ - 1.5, trained = wide * cell.selected;
      if (trained < wide)
        out_ += svg::box(x + trained, y, wide - trained, row_ - gap, fill(kNotTrained), words);
      if (trained > 0) out_ += svg::box(x, y, trained, row_ - gap, fill(colour(cell)), words);
    }
  }

  bool has_room(const GridRow& label, double free) const {
    return middle_of(label) - kLabelRoom / 2 >= free;
  }
  double middle_of(const GridRow& label) const {
    return (y_of(label.first) + y_of(label.end - 1) + row_) / 2;
  }

  // Each name beside its tensors, if the names before it and the last one leave room; a line where
  // a group begins.
  void names() {
    double free = 0;
    for (const GridRow& label : labels_) {
      if (labels_.size() < report_.tensors.size()) {
        const double begin = y_of(label.first);
        out_ += svg::line(left_ - 5, begin, left_ + width_, begin,
                          "stroke=\"#bbbbbb\" stroke-width=\"0.5\"");
      }
      const double middle = middle_of(label), end = middle + kLabelRoom / 2;
      const bool last = &label == &labels_.back();
      if (!last && (!has_room(label, free) || !has_room(labels_.back(), end))) continue;
      out_ += svg::text(left_ - 7, middle + 3.5, shortened(label.name, kLabelLetters),
                        "font-size=\"10\" text-anchor=\"end\"");
      free = end;
    }
    const double middle = kGridTop + height_ / 2;
    const std::string words = "tensors, from the input to the output";
    const bool fits = kLetter * static_cast<double>(words.size()) < height_;
    out_ += svg::text(
        18, middle, fits ? words : "tensors",
        "text-anchor=\"middle\" transform=\"rotate(-90 18 " + svg::number(middle) + ")\"");
  }

  // Below the columns, if the one before leaves room.
  void epochs() {
    const bool alone = grid_.columns.size() == report_.intervals.size();
    // Narrow columns' figures reach beyond the first.
    const double end = left_ - 7 - std::max(0.0, 4 * kLetter - column_ / 2);
    const std::vector<const char*> headings{"epochs", "tensors", "of a full step"};
    for (std::size_t i = 0; i < (alone ? headings.size() : 1); ++i)
      out_ += svg::text(end, line_below(i), headings[i], "text-anchor=\"end\"");
    double free = 0;
    for (std::size_t i = 0; i < grid_.columns.size(); ++i) {
      const GridColumn& column = grid_.columns[i];
      const std::string words = epochs_text(column.first_epoch, column.last_epoch);
      const double middle = x_of(i) + column_ / 2;
      const double half = kLetter * static_cast<double>(std::max<std::size_t>(7, words.size())) / 2;
      if (middle - half < free) continue;
      free = middle + half;
      below(middle, 0, words);
      if (alone) figures(middle, report_.intervals[i]);
    }
  }

  void figures(double middle, const ElasticInterval& interval) {
    below(middle, 1, std::to_string(count_selected(interval)));
    const auto share = share_of_full_step(report_, interval);
    below(middle, 2, share ? percent(*share) : "-");
  }

  double line_below(std::size_t line) const {
    return kGridTop + height_ + kLine * static_cast<double>(line + 1);
  }
  void below(double middle, std::size_t line, const std::string& words) {
    out_ += svg::text(middle, line_below(line), words, "text-anchor=\"middle\"");
  }

  void swatch(double& y, const std::string& shade, const std::string& words) {
    const double x = left_ + width_ + 22;
    out_ += svg::box(x, y, 12, 12, fill(shade));
    out_ += svg::text(x + 18, y + 10, words);
    y += kLine + 3;
  }

  void legend() {
    double y = kGridTop + 10;
    if (has_shares(report_)) {
      out_ += svg::text(left_ + width_ + 22, y, "share of the importance");
      y += 8;
      for (const Shade& shade : kShades) swatch(y, shade.colour, shade.label);
    } else {
      swatch(y, kNotRecorded, "trained");
    }
    swatch(y, kNotTrained, "not trained");
    if (grid_.groups()) out_ += svg::text(left_ + width_ + 22, y + 10, "in part: some trained");
  }

  void remark() {
    double y = bottom() + kLine / 2;
    for (const std::string& words : remark_) {
      out_ += svg::text(14, y, words);
      y += kLine;
    }
  }

  const ElasticReport& report_;
  const ElasticGrid grid_;
  double row_ = 0, column_ = 0, width_ = 0, height_ = 0, left_ = 0;
  std::vector<GridRow> labels_;
  std::vector<std::string> remark_;
  std::string out_;
};

}  // namespace

std::string draw_elastic_picture(const std::string& title, const ElasticReport& report) {
  return Picture(report).draw(title);
}

}  // namespace moil::daemon::ctl
