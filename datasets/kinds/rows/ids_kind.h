// The kind `rows` of records that are ids alone (tables/ids.h). As JSON:
//
//   {"kind": "rows", "dims": [2], "columns": [{"name": "user", "ids": true}, {"name": "item",
//    "ids": true}], "ids": ["user=1", "user=2", "item=1"]}
//
// A sample is a record with names, as with other columns (rows_kind.h). The network sees the rows
// of its tables: 1 to 3 here, and 0 of an id that is none of these. In views of a record ids are
// hidden now and then, so that row 0 learns what there is to say of one that nobody knows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/kinds/kind.h"
#include "datasets/tables/ids.h"

namespace moil::data {

// Whether "columns" of these fields has ids.
[[nodiscard]] bool describes_ids(const nlohmann::json& fields);

// kInvalidArgument, naming the field.
[[nodiscard]] KindPtr ids_kind(std::vector<RowColumn> columns, std::vector<std::string> ids);
[[nodiscard]] KindPtr ids_kind_from_json(const nlohmann::json& fields);

}  // namespace moil::data
