// Implementation of fields.h; include that one.
#pragma once

#include <cstdint>
#include <limits>

namespace moil::daemon {

template <class T>
concept HasFields = requires(const T* t) {
  fields_of(t);
};
template <class T>
concept HasNames = requires(T t) {
  enum_names(t);
};

template <class T>
T read_fields(const Json& value, const std::string& what);

namespace fields_internal {

void wrong_type(const char* expected, const Json& found, const std::string& pointer,
                FieldErrors& errors);
bool check_object(const Json& value, std::span<const std::string> known, const std::string& pointer,
                  FieldErrors& errors);

template <class Struct>
void read_struct(const Json& value, Struct& out, const std::string& pointer, FieldErrors& errors);
template <class Struct>
Json write_struct(const Struct& in);

template <class T>
struct Codec;

template <>
struct Codec<bool> {
  static void read(const Json& v, bool& out, const std::string& at, FieldErrors& errors) {
    if (!v.is_boolean()) return wrong_type("true or false", v, at, errors);
    out = v.get<bool>();
  }
  static Json write(const bool& v) { return v; }
};

template <>
struct Codec<std::string> {
  static void read(const Json& v, std::string& out, const std::string& at, FieldErrors& errors) {
    if (!v.is_string()) return wrong_type("a string", v, at, errors);
    out = v.get<std::string>();
  }
  static Json write(const std::string& v) { return v; }
};

template <>
struct Codec<double> {
  static void read(const Json& v, double& out, const std::string& at, FieldErrors& errors) {
    if (!v.is_number()) return wrong_type("a number", v, at, errors);
    out = v.get<double>();
  }
  static Json write(const double& v) { return v; }
};

template <>
struct Codec<Json> {
  static void read(const Json& v, Json& out, const std::string&, FieldErrors&) { out = v; }
  static Json write(const Json& v) { return v; }
};

template <class T>
requires std::is_integral_v<T>
struct Codec<T> {
  static void read(const Json& v, T& out, const std::string& at, FieldErrors& errors) {
    if (!v.is_number_integer()) return wrong_type("an integer", v, at, errors);
    const bool fits = v.is_number_unsigned() ? std::in_range<T>(v.get<std::uint64_t>())
                                             : std::in_range<T>(v.get<std::int64_t>());
    if (!fits) return wrong_type("an integer within range", v, at, errors);
    out = v.get<T>();
  }
  static Json write(const T& v) { return v; }
};

template <HasNames T>
struct Codec<T> {
  static void read(const Json& v, T& out, const std::string& at, FieldErrors& errors) {
    std::vector<std::string> known;
    for (const auto& [value, name] : enum_names(T{})) {
      if (v.is_string() && v.get_ref<const std::string&>() == name) {
        out = value;
        return;
      }
      known.push_back(name);
    }
    if (!v.is_string()) return wrong_type("a string", v, at, errors);
    errors.push_back({at, unknown_message("value", v.get_ref<const std::string&>(), known)});
  }
  static Json write(const T& v) {
    for (const auto& [value, name] : enum_names(T{})) {
      if (value == v) return name;
    }
    return nullptr;
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static void read(const Json& v, std::optional<T>& out, const std::string& at,
                   FieldErrors& errors) {
    out.reset();
    if (v.is_null()) return;
    T value{};
    Codec<T>::read(v, value, at, errors);
    out = std::move(value);
  }
  static Json write(const std::optional<T>& v) { return v ? Codec<T>::write(*v) : Json(nullptr); }
};

template <class T>
struct Codec<std::vector<T>> {
  static void read(const Json& v, std::vector<T>& out, const std::string& at, FieldErrors& errors) {
    if (!v.is_array()) return wrong_type("a list", v, at, errors);
    out.clear();
    out.reserve(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      T item{};
      Codec<T>::read(v[i], item, pointer_to(at, std::to_string(i)), errors);
      out.push_back(std::move(item));
    }
  }
  static Json write(const std::vector<T>& v) {
    Json list = Json::array();
    for (const T& item : v) list.push_back(Codec<T>::write(item));
    return list;
  }
};

template <HasFields T>
struct Codec<T> {
  static void read(const Json& v, T& out, const std::string& at, FieldErrors& errors) {
    read_struct(v, out, at, errors);
  }
  static Json write(const T& v) { return write_struct(v); }
};

template <class Struct>
void read_struct(const Json& value, Struct& out, const std::string& pointer, FieldErrors& errors) {
  const Fields<Struct>& table = fields_of(static_cast<const Struct*>(nullptr));
  std::vector<std::string> known;
  for (const auto& entry : table) known.push_back(entry.name);
  if (!check_object(value, known, pointer, errors)) return;
  for (const auto& entry : table) {
    const auto it = value.find(entry.name);
    const std::string at = pointer_to(pointer, entry.name);
    if (it != value.end()) {
      entry.read(*it, out, at, errors);
    } else if (entry.need == Need::kRequired) {
      errors.push_back({at, "required field is missing"});
    }
  }
}

template <class Struct>
Json write_struct(const Struct& in) {
  Json object = Json::object();
  for (const auto& entry : fields_of(static_cast<const Struct*>(nullptr))) {
    object[entry.name] = entry.write(in);
  }
  return object;
}

}  // namespace fields_internal

// A table's line. A check sees the member as read (of an optional: only where it holds a value)
// and runs only where the type was right.
template <class Struct, class T>
Field<Struct> field(std::string name, T Struct::*member, Need need = Need::kOptional,
                    std::type_identity_t<Check<T>> check = nullptr) {
  auto read = [member, check](const Json& v, Struct& out, const std::string& at,
                              FieldErrors& errors) {
    const std::size_t before = errors.size();
    fields_internal::Codec<T>::read(v, out.*member, at, errors);
    if (!check || errors.size() != before) return;
    if (const auto complaint = check(out.*member)) errors.push_back({at, *complaint});
  };
  auto write = [member](const Struct& in) { return fields_internal::Codec<T>::write(in.*member); };
  return {std::move(name), need, std::move(read), std::move(write)};
}

// With a rule on the struct that the member is.
template <class Struct, class T>
Field<Struct> field(std::string name, T Struct::*member, Need need,
                    std::type_identity_t<CheckTogether<T>> check) {
  Field<Struct> entry = field(std::move(name), member, need);
  entry.read = [member, check, read = std::move(entry.read)](
                   const Json& v, Struct& out, const std::string& at, FieldErrors& errors) {
    const std::size_t before = errors.size();
    read(v, out, at, errors);
    if (errors.size() != before) return;
    for (FieldError& error : check(out.*member))
      errors.push_back({at + error.pointer, std::move(error.message)});
  };
  return entry;
}

// The number lies in [low, high]; of an optional, where it holds one.
template <class N>
auto between(N low, N high) {
  return [low, high](const auto& value) -> std::optional<std::string> {
    const auto complain = [&](const auto& v) -> std::optional<std::string> {
      if (v >= low && v <= high) return std::nullopt;
      return "expected a number from " + Json(low).dump() + " to " + Json(high).dump() +
             ", found " + Json(v).dump();
    };
    if constexpr (requires { value.has_value(); }) {
      return value ? complain(*value) : std::nullopt;
    } else {
      return complain(value);
    }
  };
}

// Reads every field and throws ValidationError ("`what` is wrong: ...") with all that is wrong.
template <class T>
T read_fields(const Json& value, const std::string& what) {
  T out{};
  FieldErrors errors;
  fields_internal::Codec<T>::read(value, out, "", errors);
  if (!errors.empty()) throw ValidationError(what, std::move(errors));
  return out;
}

// What can be read of a document that was right when it was written, whatever is asked for now:
// wrong fields keep what they hold, or their default.
template <class T>
T read_stored_fields(const Json& value) {
  T out{};
  FieldErrors ignored;
  fields_internal::Codec<T>::read(value, out, "", ignored);
  return out;
}

// The document of a struct, defaults included.
template <HasFields T>
Json write_fields(const T& value) {
  return fields_internal::Codec<T>::write(value);
}

}  // namespace moil::daemon
