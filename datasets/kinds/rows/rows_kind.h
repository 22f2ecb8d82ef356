// The kind `rows`: numbers of a fixed shape, one window of a sensor or one record a sample, as CSV
// or NPY (numbers.h), normalised. As JSON:
//
//   {"kind": "rows", "dims": [50, 6], "mean": [...], "std": [...]}
//
// dims: 1 to 3, of the network's input. A sample has this shape, dimensions of 1 aside; one of a
// single dimension may be a line or a column. mean, std: one each for every place in the last of
// one or two dims (a column), in the first of three (a channel): (x - mean) / std.
//
// "hop", of two dims: a sample is a recording of any length; its parts are windows of the dims,
// each so many lines behind the one before. What is left at the end is no window. "answer": "mean"
// or "maximum" of the windows' outputs.
//
// "columns", of one dim: a sample is a record with names (record.h), [{"name": "age", "missing":
// true}, {"name": "colour", "values": ["blue", "red"]}]; they have as many places as the dim. A
// number that is missing is as the mean. Columns of ids: ids_kind.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "datasets/kinds/kind.h"
#include "datasets/tables/record.h"

namespace moil::data {

class SampleDataset;

struct RowsDescription {
  std::vector<std::int64_t> dims;
  std::vector<double> mean, stddev;
  std::int64_t hop = 0;  // 0: a sample has the dims
  PartAnswer answer = PartAnswer::kMean;
  std::vector<RowColumn> named = {};  // "columns"; empty: samples are plain numbers

  // Places that have a mean of their own.
  [[nodiscard]] std::size_t columns() const;
};

// kInvalidArgument, naming the field.
[[nodiscard]] KindPtr rows_kind(RowsDescription description);
[[nodiscard]] KindPtr rows_kind_from_json(const nlohmann::json& fields);

// The dims of a network that sees all of a sample: the columns' places, or the shape of the first
// one, dimensions of 1 aside. kBadData as columns_of() and read_numbers().
[[nodiscard]] std::vector<std::int64_t> dims_of_rows(const SampleDataset& dataset);

// Describes samples of these dims, with the means and deviations of the data; 1 if a column never
// changes. Records of text, or of which some lack values, get "columns"; places that are 0 or 1
// stay so. kBadData names a sample that does not fit.
[[nodiscard]] RowsDescription describe_rows(const std::vector<std::int64_t>& dims,
                                            const SampleDataset& dataset,
                                            std::span<const std::size_t> samples,
                                            std::int64_t hop = 0);

}  // namespace moil::data
