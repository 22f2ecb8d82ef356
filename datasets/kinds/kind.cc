#include "datasets/kinds/kind.h"

#include <map>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/kinds/image/image_kind.h"
#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/kinds/several/several_kind.h"
#include "datasets/kinds/sound/sound_kind.h"
#include "datasets/kinds/tokens/tokens_kind.h"

namespace moil::data {
namespace {

// A new kind is a folder beside this file and a line here.
std::map<std::string, KindReader>& readers() {
  static std::map<std::string, KindReader> all = {
      {"image", image_kind_from_json},     {"rows", rows_kind_from_json},
      {"several", several_kind_from_json}, {"sound", sound_kind_from_json},
      {"tokens", tokens_kind_from_json},
  };
  return all;
}

std::string known_names() {
  std::string names;
  for (const auto& [name, reader] : readers())
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  return names;
}

}  // namespace

std::size_t Kind::floats() const {
  std::size_t sum = 0;
  for (const Dims& dims : inputs()) {
    std::size_t product = 1;
    for (const std::int64_t extent : dims) product *= static_cast<std::size_t>(extent);
    sum += product;
  }
  return sum;
}

KindPtr kind_from_json(const nlohmann::json& json) {
  nlohmann::json fields = json;
  nlohmann::json name = "image";
  if (fields.is_object() && fields.contains("kind")) {
    name = fields["kind"];
    fields.erase("kind");
  }
  if (name.is_string()) {
    const auto reader = readers().find(name.get<std::string>());
    if (reader != readers().end()) return reader->second(fields);
  }
  throw Error(ErrorCode::kInvalidArgument,
              "'kind' is " + name.dump() + ", expected one of " + known_names());
}

void register_kind(const std::string& name, KindReader reader) {
  if (!readers().emplace(name, std::move(reader)).second)
    throw Error(ErrorCode::kAlreadyExists, "there is a kind \"" + name + "\" already");
}

}  // namespace moil::data
