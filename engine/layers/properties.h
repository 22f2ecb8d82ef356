// A layer's properties, as its description gives them: named numbers, flags, words and lists.
// Users' own optimizers are described in the same way.
//
// The reader of a layer takes what it knows, with defaults, and ends with done(), which refuses
// what nobody asked for; so a misspelt property is an error and not a silent default.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace moil {

using Property = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                              std::vector<double>>;
using Properties = std::map<std::string, Property, std::less<>>;

// All functions throw kInvalidArgument naming the layer (or what else `kind` says) and the
// property.
class PropertyReader {
 public:
  PropertyReader(const std::string& name, const Properties& properties,
                 const std::string& kind = "layer")
      : owner_(kind + " \"" + name + "\""), properties_(properties) {}

  std::int64_t integer(const std::string& name);  // required
  std::int64_t integer(const std::string& name, std::int64_t fallback, std::int64_t least = 0);
  double number(const std::string& name, double fallback);
  bool flag(const std::string& name, bool fallback);
  std::string word(const std::string& name, const std::string& fallback);
  // One number for all `count` places, or a list of that many.
  std::vector<std::int64_t> integers(const std::string& name, std::size_t count,
                                     std::int64_t fallback, std::int64_t least = 0);
  // A list of any length but zero; required.
  std::vector<std::int64_t> list(const std::string& name, std::int64_t least = 0);
  bool has(const std::string& name) const { return properties_.contains(name); }
  void done() const;

 private:
  const Property* find(const std::string& name);
  [[noreturn]] void fail(const std::string& name, const std::string& expected) const;

  std::string owner_;  // layer "conv1"
  const Properties& properties_;
  std::set<std::string> known_;
};

}  // namespace moil
