#include "datasets/kinds/rows/rows_kind.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/kinds/rows/ids_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/samples/dataset.h"
#include "datasets/tables/numbers.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

constexpr std::int64_t kMostNumbers = 1 << 24;
// To be raised when reading or the arithmetic changes its results.
constexpr const char* kRowsArithmetic = "rows 1 ";

void require_of_rows(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "rows: " + what);
}

void check(const RowsDescription& d) {
  require_of_rows(!d.dims.empty() && d.dims.size() <= 3,
                  "'dims' has " + std::to_string(d.dims.size()) + " dimensions, expected 1 to 3");
  std::int64_t numbers = 1;
  for (const std::int64_t extent : d.dims) {
    require_of_rows(extent >= 1 && extent <= kMostNumbers / numbers, "'dims' is out of range");
    numbers *= extent;
  }
  for (const auto& [field, values] : {std::pair("mean", &d.mean), std::pair("std", &d.stddev)}) {
    require_of_rows(values->size() == d.columns(),
                    "'" + std::string(field) + "' has " + std::to_string(values->size()) +
                        " entries, expected " + std::to_string(d.columns()));
    require_of_rows(std::ranges::all_of(*values, [](double v) { return std::isfinite(v); }),
                    "'" + std::string(field) + "' is not finite");
  }
  require_of_rows(std::ranges::all_of(d.stddev, [](double v) { return v > 0; }),
                  "'std' is not positive");
  require_of_rows(d.hop >= 0, "'hop' is not positive");
  require_of_rows(d.hop == 0 || d.dims.size() == 2, "'hop' goes with two dims, lines and columns");
  require_of_rows(d.hop > 0 || d.answer == PartAnswer::kMean, "'answer' goes with 'hop'");
  require_of_rows(d.named.empty() || (d.dims.size() == 1 && d.hop == 0 &&
                                      places_of(d.named) == static_cast<std::size_t>(d.dims[0])),
                  "'columns' goes with one dim, and has as many places as it");
}

std::string shown(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "1" : text;
}

std::vector<std::int64_t> without_ones(std::vector<std::int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

using Shape = std::vector<std::int64_t>;

std::size_t product(const Shape& shape) {
  std::size_t numbers = 1;
  for (const std::int64_t extent : shape) numbers *= static_cast<std::size_t>(extent);
  return numbers;
}

void check_shape(const Shape& shape, const Shape& dims, std::string_view name) {
  if (without_ones(shape) == without_ones(dims)) return;
  throw Error(ErrorCode::kBadData, std::string(name) + ": it holds " + shown(shape) +
                                       " numbers; the model takes " + shown(dims));
}

// Which mean a place in a sample, counted through in the order of its dims, has.
std::size_t column_of(const std::vector<std::int64_t>& dims, std::size_t place) {
  if (dims.size() < 3) return place % static_cast<std::size_t>(dims.back());
  return place / static_cast<std::size_t>(dims[1] * dims[2]);
}

// Windows that begin `hop` lines behind each other.
std::size_t windows_of(const Shape& shape, const RowsDescription& d, std::string_view name) {
  if (d.hop == 0) {
    check_shape(shape, d.dims, name);
    return 1;
  }
  const auto lines = static_cast<std::size_t>(d.dims[0]),
             width = static_cast<std::size_t>(d.dims[1]);
  const bool fits =
      width == 1 ? without_ones(shape).size() <= 1 : shape.size() == 2 && shape[1] == d.dims[1];
  const std::size_t has = product(shape) / width;
  if (fits && has >= lines) return 1 + (has - lines) / static_cast<std::size_t>(d.hop);
  throw Error(ErrorCode::kBadData, std::string(name) + ": it holds " + shown(shape) +
                                       " numbers; the model takes at least " + shown(d.dims));
}

// What is read of a sample at most. A file that holds a little more than the model takes is told by
// its shape; one that holds far more is not read to its end.
std::size_t most_read(const RowsDescription& d) {
  constexpr std::size_t kAlwaysRead = 1 << 16;
  if (d.hop > 0) return std::numeric_limits<std::size_t>::max();
  return std::max(product(d.dims), kAlwaysRead);
}

nlohmann::json columns_to_json(const std::vector<RowColumn>& columns) {
  nlohmann::json list = nlohmann::json::array();
  for (const RowColumn& column : columns) {
    nlohmann::json entry = {{"name", column.name}};
    if (column.may_lack) entry["missing"] = true;
    if (!column.values.empty()) entry["values"] = column.values;
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<RowColumn> columns_from_json(const nlohmann::json& json) {
  require_of_rows(json.is_array() && !json.empty(), "'columns' is no list");
  std::vector<RowColumn> columns;
  for (const nlohmann::json& entry : json) {
    JsonFields fields(entry, "rows: 'columns'", ErrorCode::kInvalidArgument);
    RowColumn column{fields.get<std::string>("name"), false, {}};
    if (fields.has("missing")) column.may_lack = fields.get<bool>("missing");
    if (fields.has("values")) {
      column.values = fields.get<std::vector<std::string>>("values");
      if (column.values.empty() || column.may_lack)
        fields.fail("'values' is a list of texts, and goes without 'missing'");
    }
    fields.finish();
    columns.push_back(std::move(column));
  }
  return columns;
}

class RowsMaker final : public SampleMaker {
 public:
  explicit RowsMaker(RowsDescription description) : description_(std::move(description)) {}

  void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
    values_ = {};
    if (!description_.named.empty()) {
      values_ = read_record(bytes, name, description_.named);
      return;
    }
    Numbers numbers = read_numbers(bytes, name, most_read(description_));
    windows_ = windows_of(numbers.shape, description_, name);
    values_ = std::move(numbers.values);
  }
  // If there are three dims, channels come last in memory.
  void make(const Digest&, PartView wanted, float* out) override {
    const auto& dims = description_.dims;
    const std::size_t channels = dims.size() == 3 ? static_cast<std::size_t>(dims[0]) : 1;
    std::size_t count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
    const std::size_t pixels = count / channels,
                      part = std::min<std::size_t>(wanted.part, windows_ - 1);
    const double* from = values_.data() + part * static_cast<std::size_t>(description_.hop) *
                                              (count / static_cast<std::size_t>(dims[0]));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t column = column_of(dims, i);
      const double mean = description_.mean[column];
      const double number = std::isnan(from[i]) ? mean : from[i];
      const double value = (number - mean) / description_.stddev[column];
      out[i % pixels * channels + i / pixels] = static_cast<float>(value);
    }
  }
  void release() override { values_ = {}; }

 private:
  const RowsDescription description_;
  std::vector<double> values_;
  std::size_t windows_ = 1;
};

class RowsKind final : public Kind {
 public:
  explicit RowsKind(RowsDescription description) : description_(std::move(description)) {
    check(description_);
  }

  std::string_view name() const override { return "rows"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"kind", name()},
                           {"dims", description_.dims},
                           {"mean", description_.mean},
                           {"std", description_.stddev}};
    if (description_.hop > 0) json["hop"] = description_.hop;
    if (description_.answer == PartAnswer::kMaximum) json["answer"] = "maximum";
    if (!description_.named.empty()) json["columns"] = columns_to_json(description_.named);
    return json;
  }
  // Answers of windows are joined behind the network.
  std::string fingerprint() const override {
    nlohmann::json seen = to_json();
    seen.erase("answer");
    return digest_of(kRowsArithmetic + seen.dump()).hex();
  }
  std::vector<Dims> inputs() const override { return {description_.dims}; }
  bool takes(std::string_view media_type) const override { return is_numbers(media_type); }
  bool has_parts() const override { return description_.hop > 0; }
  std::uint32_t parts(std::span<const std::uint8_t> bytes, std::string_view name) const override {
    return static_cast<std::uint32_t>(
        windows_of(shape_of_numbers(bytes, name), description_, name));
  }
  std::optional<PartPlaces> part_places(std::span<const std::uint8_t> bytes,
                                        std::string_view name) const override {
    if (!has_parts()) return std::nullopt;
    const auto numbers = static_cast<std::int64_t>(product(shape_of_numbers(bytes, name)));
    return PartPlaces{static_cast<double>(description_.hop),
                      static_cast<double>(description_.dims[0]),
                      static_cast<double>(numbers / description_.dims[1]), "lines"};
  }
  PartAnswer part_answer() const override { return description_.answer; }
  bool has_views() const override { return false; }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t> head,
                                           std::uint64_t file_bytes) const override {
    constexpr std::size_t kAllocatorRounding = 64 << 10;
    if (!description_.named.empty())
      return file_bytes + bytes_of_fields(file_bytes) + kAllocatorRounding;
    const std::uint64_t numbers =
        std::min<std::uint64_t>(most_numbers_in(head, file_bytes), most_read(description_));
    return file_bytes + numbers * sizeof(double) + kAllocatorRounding;
  }
  std::unique_ptr<SampleMaker> maker(const ViewRules&) const override {
    return std::make_unique<RowsMaker>(description_);
  }

 private:
  const RowsDescription description_;
};

}  // namespace

std::size_t RowsDescription::columns() const {
  if (dims.empty()) return 0;
  return static_cast<std::size_t>(dims.size() < 3 ? dims.back() : dims.front());
}

KindPtr rows_kind(RowsDescription description) {
  return std::make_shared<RowsKind>(std::move(description));
}

KindPtr rows_kind_from_json(const nlohmann::json& json) {
  if (describes_ids(json)) return ids_kind_from_json(json);
  JsonFields fields(json, "rows", ErrorCode::kInvalidArgument);
  RowsDescription description;
  description.dims = fields.get<std::vector<std::int64_t>>("dims");
  description.mean = fields.get<std::vector<double>>("mean");
  description.stddev = fields.get<std::vector<double>>("std");
  if (fields.has("hop")) description.hop = fields.whole("hop", 1, kMostNumbers);
  if (fields.has("answer")) {
    const auto answer = fields.get<std::string>("answer");
    if (answer != "mean" && answer != "maximum")
      fields.fail("'answer' is \"" + answer + "\", expected \"mean\" or \"maximum\"");
    if (answer == "maximum") description.answer = PartAnswer::kMaximum;
  }
  if (fields.has("columns")) description.named = columns_from_json(fields.at("columns"));
  fields.finish();
  return rows_kind(std::move(description));
}

namespace {

std::vector<double> values_of(std::span<const std::uint8_t> bytes, std::string_view name,
                              const RowsDescription& description) {
  if (!description.named.empty()) return read_record(bytes, name, description.named);
  Numbers numbers = read_numbers(bytes, name);
  (void)windows_of(numbers.shape, description, name);
  return std::move(numbers.values);
}

// Places that are 0 or 1 are seen as they are.
void keep_flags(RowsDescription& description) {
  std::size_t place = 0;
  for (const RowColumn& column : description.named) {
    const std::size_t end = place + column.places();
    if (column.values.empty()) ++place;  // a number
    for (; place < end; ++place) {
      description.mean[place] = 0;
      description.stddev[place] = 1;
    }
  }
}

// The columns' places are the model's.
void require_places(const std::vector<RowColumn>& columns, const std::vector<std::int64_t>& dims) {
  if (dims.size() == 1 && places_of(columns) == static_cast<std::size_t>(dims[0])) return;
  throw Error(ErrorCode::kBadData,
              "the table's columns make " + std::to_string(places_of(columns)) + " numbers (" +
                  names_of_places(columns).substr(0, 400) + "); the model takes " + shown(dims));
}

}  // namespace

std::vector<std::int64_t> dims_of_rows(const SampleDataset& dataset) {
  if (const auto columns = columns_of(dataset); !columns.empty())
    return {static_cast<std::int64_t>(places_of(columns))};
  Shape shape = without_ones(shape_of_numbers(dataset.encoded(0), dataset.name(0)));
  return shape.empty() ? Shape{1} : shape;
}

RowsDescription describe_rows(const std::vector<std::int64_t>& dims, const SampleDataset& dataset,
                              std::span<const std::size_t> samples, std::int64_t hop) {
  struct Column {
    double count = 0, mean = 0, squares = 0;  // of what differs from the mean (Welford)
  };
  RowsDescription description{dims, {}, {}, hop};
  if (hop == 0) description.named = columns_of(dataset);
  if (!description.named.empty()) require_places(description.named, dims);
  std::vector<Column> columns(description.columns());
  for (const std::size_t i : samples) {
    const std::vector<double> values = values_of(dataset.encoded(i), dataset.name(i), description);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::isnan(values[k])) continue;
      Column& c = columns[column_of(dims, k)];
      const double before = values[k] - c.mean;
      c.mean += before / ++c.count;
      c.squares += before * (values[k] - c.mean);
    }
  }
  for (const Column& c : columns) {
    description.mean.push_back(c.mean);
    description.stddev.push_back(c.squares > 0 ? std::sqrt(c.squares / c.count) : 1);
  }
  keep_flags(description);
  return description;
}

}  // namespace moil::data
