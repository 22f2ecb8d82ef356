#include "engine/layers/properties.h"

#include "base/error.h"

namespace moil {

const Property* PropertyReader::find(const std::string& name) {
  known_.insert(name);
  const auto it = properties_.find(name);
  return it == properties_.end() ? nullptr : &it->second;
}

void PropertyReader::fail(const std::string& name, const std::string& expected) const {
  throw Error(ErrorCode::kInvalidArgument,
              owner_ + ": property \"" + name + "\" must be " + expected);
}

std::int64_t PropertyReader::integer(const std::string& name) {
  if (!find(name))
    throw Error(ErrorCode::kInvalidArgument, owner_ + ": property \"" + name + "\" is missing");
  return integer(name, 1, 1);
}

std::int64_t PropertyReader::integer(const std::string& name, std::int64_t fallback,
                                     std::int64_t least) {
  const Property* p = find(name);
  if (!p) return fallback;
  const auto* value = std::get_if<std::int64_t>(p);
  if (!value || *value < least) fail(name, "a whole number of at least " + std::to_string(least));
  return *value;
}

double PropertyReader::number(const std::string& name, double fallback) {
  const Property* p = find(name);
  if (!p) return fallback;
  if (const auto* value = std::get_if<double>(p)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(p)) return static_cast<double>(*value);
  fail(name, "a number");
}

bool PropertyReader::flag(const std::string& name, bool fallback) {
  const Property* p = find(name);
  if (!p) return fallback;
  if (const auto* value = std::get_if<bool>(p)) return *value;
  fail(name, "true or false");
}

std::string PropertyReader::word(const std::string& name, const std::string& fallback) {
  const Property* p = find(name);
  if (!p) return fallback;
  if (const auto* value = std::get_if<std::string>(p)) return *value;
  fail(name, "a string");
}

std::vector<std::int64_t> PropertyReader::integers(const std::string& name, std::size_t count,
                                                   std::int64_t fallback, std::int64_t least) {
  const Property* p = find(name);
  if (!p) return std::vector<std::int64_t>(count, fallback);
  if (const auto* one = std::get_if<std::int64_t>(p); one && *one >= least)
    return std::vector<std::int64_t>(count, *one);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(p); list && list->size() == count) {
    bool good = true;
    for (const std::int64_t v : *list) good = good && v >= least;
    if (good) return *list;
  }
  fail(name, "a whole number of at least " + std::to_string(least) + ", or a list of " +
                 std::to_string(count));
}

std::vector<std::int64_t> PropertyReader::list(const std::string& name, std::int64_t least) {
  const Property* p = find(name);
  if (!p)
    throw Error(ErrorCode::kInvalidArgument, owner_ + ": property \"" + name + "\" is missing");
  const auto* values = std::get_if<std::vector<std::int64_t>>(p);
  bool good = values && !values->empty();
  if (good)
    for (const std::int64_t v : *values) good = good && v >= least;
  if (!good) fail(name, "a list of whole numbers of at least " + std::to_string(least));
  return *values;
}

void PropertyReader::done() const {
  for (const auto& [name, value] : properties_) {
    if (!known_.contains(name)) {
      std::string names;
      for (const auto& k : known_) names += (names.empty() ? "" : ", ") + k;
      throw Error(ErrorCode::kInvalidArgument,
                  owner_ + ": unknown property \"" + name + "\"; known: " + names);
    }
  }
}

}  // namespace moil
