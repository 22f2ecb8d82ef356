#include <algorithm>
#include <span>
#include <utility>

#include "daemon/json/fields.h"

namespace moil::daemon::fields_internal {

void wrong_type(const char* expected, const Json& found, const std::string& pointer,
                FieldErrors& errors) {
  errors.push_back({pointer, std::string("expected ") + expected + ", found " + describe(found)});
}

std::string name_by(const Codec& codec, const void* value) {
  return codec.write(value).get<std::string>();
}

namespace {

// `is` says whether a value is a T, `expected` what was expected if it is none.
template <class T>
class PlainCodec final : public Codec {
 public:
  using Is = bool (*)(const Json&);
  PlainCodec(Is is, const char* expected, const char* type)
      : is_(is), expected_(expected), type_(type) {}
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override {
    if (!is_(value)) return wrong_type(expected_, value, at, errors);
    value.get_to(*static_cast<T*>(out));
  }
  Json write(const void* in) const override { return *static_cast<const T*>(in); }
  Json schema() const override { return {{"type", type_}}; }

 private:
  const Is is_;
  const char* const expected_;
  const char* const type_;
};

class AnythingCodec final : public Codec {
 public:
  void read(const Json& value, void* out, const std::string&, FieldErrors&) const override {
    *static_cast<Json*>(out) = value;
  }
  Json write(const void* in) const override { return *static_cast<const Json*>(in); }
};

template <class T>
class IntegerCodec final : public Codec {
 public:
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override {
    if (!value.is_number_integer()) return wrong_type("an integer", value, at, errors);
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (!fits) return wrong_type("an integer within range", value, at, errors);
    *static_cast<T*>(out) = value.get<T>();
  }
  Json write(const void* in) const override { return *static_cast<const T*>(in); }
  Json schema() const override { return {{"type", "integer"}}; }
};

template <class T>
const Codec& integer_codec() {
  static const IntegerCodec<T> codec;
  return codec;
}

// Whether it is an object of which every name is in the table.
bool check_object(const Json& value, const Entries& table, const std::string& pointer,
                  FieldErrors& errors) {
  if (!value.is_object()) {
    wrong_type("an object", value, pointer, errors);
    return false;
  }
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (std::ranges::find(table, it.key(), &Entry::name) != table.end()) continue;
    std::vector<std::string> known;
    for (const Entry& entry : table) known.push_back(entry.name);
    errors.push_back({pointer_to(pointer, it.key()), unknown_message("field", it.key(), known)});
  }
  return true;
}

}  // namespace

template <>
const Codec& codec_of<bool>() {
  static const PlainCodec<bool> codec([](const Json& v) { return v.is_boolean(); }, "true or false",
                                      "boolean");
  return codec;
}
template <>
const Codec& codec_of<double>() {
  static const PlainCodec<double> codec([](const Json& v) { return v.is_number(); }, "a number",
                                        "number");
  return codec;
}
template <>
const Codec& codec_of<std::string>() {
  static const PlainCodec<std::string> codec([](const Json& v) { return v.is_string(); },
                                             "a string", "string");
  return codec;
}
template <>
const Codec& codec_of<Json>() {
  static const AnythingCodec codec;
  return codec;
}
template <>
const Codec& codec_of<int>() {
  return integer_codec<int>();
}
template <>
const Codec& codec_of<std::uint8_t>() {
  return integer_codec<std::uint8_t>();
}
template <>
const Codec& codec_of<std::uint32_t>() {
  return integer_codec<std::uint32_t>();
}
template <>
const Codec& codec_of<std::int64_t>() {
  return integer_codec<std::int64_t>();
}
template <>
const Codec& codec_of<std::uint64_t>() {
  return integer_codec<std::uint64_t>();
}

void EnumCodec::read(const Json& value, void* out, const std::string& at,
                     FieldErrors& errors) const {
  if (!value.is_string()) return wrong_type("a string", value, at, errors);
  const auto& wanted = value.get_ref<const std::string&>();
  std::vector<std::string> known;
  for (const auto& [number, name] : names_) {
    if (name == wanted) return put(out, number);
    known.push_back(name);
  }
  errors.push_back({at, unknown_message("value", wanted, known)});
}

Json EnumCodec::write(const void* in) const {
  const auto found = std::ranges::find(names_, value_of(in), [](const auto& n) { return n.first; });
  return found == names_.end() ? Json(nullptr) : Json(found->second);
}

Json EnumCodec::schema() const {
  Json names = Json::array();
  for (const auto& [number, name] : names_) names.push_back(name);
  return {{"enum", std::move(names)}};
}

void OptionalCodec::read(const Json& value, void* out, const std::string& at,
                         FieldErrors& errors) const {
  reset(out);
  if (!value.is_null()) held_.read(value, emplace(out), at, errors);
}

Json OptionalCodec::write(const void* in) const {
  const void* value = value_of(in);
  return value != nullptr ? held_.write(value) : Json(nullptr);
}

Json OptionalCodec::schema() const {
  return {{"anyOf", Json::array({held_.schema(), {{"type", "null"}}})}};
}

void ListCodec::read(const Json& value, void* out, const std::string& where,
                     FieldErrors& errors) const {
  if (!value.is_array()) return wrong_type("a list", value, where, errors);
  clear(out);
  for (std::size_t i = 0; i < value.size(); ++i)
    item_.read(value[i], append(out), pointer_to(where, std::to_string(i)), errors);
}

Json ListCodec::write(const void* in) const {
  Json list = Json::array();
  for (std::size_t i = 0; i < size(in); ++i) list.push_back(item_.write(at(in, i)));
  return list;
}

Json ListCodec::schema() const { return {{"type", "array"}, {"items", item_.schema()}}; }

void StructCodec::read(const Json& value, void* out, const std::string& where,
                       FieldErrors& errors) const {
  const Entries& table = table_();
  if (!check_object(value, table, where, errors)) return;
  for (const Entry& entry : table) {
    const auto found = value.find(entry.name);
    const std::string at = pointer_to(where, entry.name);
    if (found == value.end()) {
      if (entry.need == Need::kRequired) errors.push_back({at, "required field is missing"});
      continue;
    }
    const std::size_t before = errors.size();
    void* member = static_cast<std::byte*>(out) + entry.offset;
    entry.codec->read(*found, member, at, errors);
    if (entry.check && errors.size() == before) entry.check(member, at, errors);
  }
}

Json StructCodec::write(const void* in) const {
  Json object = Json::object();
  for (const Entry& entry : table_())
    object[entry.name] = entry.codec->write(static_cast<const std::byte*>(in) + entry.offset);
  return object;
}

Json StructCodec::schema() const {
  Json properties = Json::object(), required = Json::array();
  for (const Entry& entry : table_()) {
    properties[entry.name] = entry.codec->schema();
    if (entry.need == Need::kRequired) required.push_back(entry.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace moil::daemon::fields_internal
