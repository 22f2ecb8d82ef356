#include "datasets/kinds/kind.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "datasets/kinds/image/image_kind.h"
#include "datasets/kinds/rows/rows_kind.h"

namespace moil::data {
namespace {

struct Registered {
  std::string_view name;
  KindPtr (*from_json)(const nlohmann::json& fields);  // without "kind"
};

// A new kind is a folder beside this file and a line here.
constexpr Registered kKinds[] = {
    {"image", image_kind_from_json},
    {"rows", rows_kind_from_json},
};

std::string known_names() {
  std::string names;
  for (const Registered& kind : kKinds)
    names += (names.empty() ? "\"" : ", \"") + std::string(kind.name) + "\"";
  return names;
}

}  // namespace

std::size_t Kind::floats() const {
  std::size_t product = 1;
  for (const std::int64_t extent : dims()) product *= static_cast<std::size_t>(extent);
  return product;
}

KindPtr kind_from_json(const nlohmann::json& json) {
  nlohmann::json fields = json;
  nlohmann::json name = "image";
  if (fields.is_object() && fields.contains("kind")) {
    name = fields["kind"];
    fields.erase("kind");
  }
  for (const Registered& kind : kKinds)
    if (name == kind.name) return kind.from_json(fields);
  throw Error(ErrorCode::kInvalidArgument,
              "'kind' is " + name.dump() + ", expected one of " + known_names());
}

}  // namespace moil::data
