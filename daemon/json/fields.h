// Declarative field tables: one line a field says its JSON name, the C++ member, whether it is
// required and what it may hold; reading reports every error at once, each with its JSON pointer
// (RFC 6901); writing gives the same document back with every default filled in.
//
//   struct Point { double x = 0; std::optional<int> label; };
//   inline const Fields<Point>& fields_of(const Point*) {
//     static const Fields<Point> table = {field("x", &Point::x, Need::kRequired,
//     between(0.0, 1.0)),
//                                         field("label", &Point::label)};
//     return table;
//   }
//   Point p = read_fields<Point>(document, "point");   // throws ValidationError
//
// A member may be bool, an integer, double, std::string, Json (anything), an enum with
// enum_names(), std::optional (null or absent: empty), std::vector, or a struct with fields_of().
// Unknown fields are errors that name the nearest known field. Tables are constant after
// construction and may be used from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"

namespace moil::daemon {

// One wrong field: where (JSON pointer, "" is the whole document) and what was expected.
struct FieldError {
  std::string pointer;
  std::string message;
};
using FieldErrors = std::vector<FieldError>;
// [{"pointer", "message"}], as replies and the worker's events carry them.
Json to_json(const FieldErrors& errors);
// Reads such a list; passes over what is none.
FieldErrors field_errors_from_json(const Json& list);

// kInvalidArgument with every wrong field; what() is one line naming them all.
class ValidationError : public Error {
 public:
  ValidationError(const std::string& what, FieldErrors errors);
  const FieldErrors& errors() const { return errors_; }
  // The same of a document that holds this one at `pointer`.
  ValidationError within(const std::string& what, const std::string& pointer) const;

 private:
  FieldErrors errors_;
};

// `pointer` extended by one member name, escaped as RFC 6901 asks.
std::string pointer_to(const std::string& pointer, std::string_view member);
// "an object", "a string", "the number 7", ...: what was found, for messages.
std::string describe(const Json& value);
// The value, or null if there is none.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
// The message for an unknown name: names the nearest known one, or all of them.
std::string unknown_message(std::string_view what, std::string_view found,
                            std::span<const std::string> known);

enum class Need { kOptional, kRequired };

namespace fields_internal {

// How one type is read and written, whatever holds it; for each kind of type there is one, compiled
// once (codecs.cc).
class Codec {
 public:
  virtual ~Codec() = default;
  virtual void read(const Json& value, void* out, const std::string& at,
                    FieldErrors& errors) const = 0;
  virtual Json write(const void* in) const = 0;
  virtual Json schema() const { return Json::object(); }  // as schema_of(); {}: anything
};

struct Entry {
  std::string name;
  Need need;
  std::size_t offset;  // of the member in its struct, in bytes
  const Codec* codec;
  // What is wrong with a member that was read; empty: nothing can be.
  std::function<void(const void* member, const std::string& at, FieldErrors&)> check;
};
using Entries = std::vector<Entry>;

}  // namespace fields_internal

// A rule on a value: the text of the complaint, or nothing if the value is fine.
template <class T>
using Check = std::function<std::optional<std::string>(const T&)>;

// A rule on a struct whose fields are right each by itself: what is wrong with them together, each
// with its pointer within the struct.
template <class T>
using CheckTogether = std::function<FieldErrors(const T&)>;

// A table's line; made by field().
template <class Struct>
struct Field {
  fields_internal::Entry entry;
};

// A struct's table.
template <class Struct>
class Fields {
 public:
  Fields() = default;
  Fields(std::initializer_list<Field<Struct>> fields) {
    for (const Field<Struct>& f : fields) entries_.push_back(f.entry);
  }
  const fields_internal::Entries& entries() const { return entries_; }

 private:
  fields_internal::Entries entries_;
};

template <class T>
using EnumNames = std::vector<std::pair<T, std::string>>;

}  // namespace moil::daemon

#include "daemon/json/fields_inl.h"  // IWYU pragma: export
