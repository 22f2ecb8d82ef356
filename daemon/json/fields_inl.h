// Implementation of fields.h; include that one.
#pragma once

#include <bit>
#include <cstdint>

namespace moil::daemon {

template <class T>
concept HasFields = requires(const T* t) {
  fields_of(t);
};
template <class T>
concept HasNames = requires(T t) {
  enum_names(t);
};

namespace fields_internal {

void wrong_type(const char* expected, const Json& found, const std::string& pointer,
                FieldErrors& errors);
// The name that a codec of names writes.
std::string name_by(const Codec& codec, const void* value);

// The codec of T; those of plain types are in codecs.cc.
template <class T>
const Codec& codec_of();
template <>
const Codec& codec_of<bool>();
template <>
const Codec& codec_of<double>();
template <>
const Codec& codec_of<std::string>();
template <>
const Codec& codec_of<Json>();
template <>
const Codec& codec_of<int>();
template <>
const Codec& codec_of<std::uint8_t>();
template <>
const Codec& codec_of<std::uint32_t>();
template <>
const Codec& codec_of<std::int64_t>();
template <>
const Codec& codec_of<std::uint64_t>();

class EnumCodec : public Codec {
 public:
  explicit EnumCodec(EnumNames<std::int64_t> names) : names_(std::move(names)) {}
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override;
  Json write(const void* in) const override;

 private:
  Json schema() const override;
  virtual void put(void* out, std::int64_t value) const = 0;
  virtual std::int64_t value_of(const void* in) const = 0;

  const EnumNames<std::int64_t> names_;
};

template <class T>
class EnumCodecOf final : public EnumCodec {
 public:
  EnumCodecOf() : EnumCodec(numbered()) {}

 private:
  static EnumNames<std::int64_t> numbered() {
    EnumNames<std::int64_t> names;
    for (auto& [value, name] : enum_names(T{}))
      names.emplace_back(static_cast<std::int64_t>(value), name);
    return names;
  }
  void put(void* out, std::int64_t value) const override {
    *static_cast<T*>(out) = static_cast<T>(value);
  }
  std::int64_t value_of(const void* in) const override {
    return static_cast<std::int64_t>(*static_cast<const T*>(in));
  }
};

class OptionalCodec : public Codec {
 public:
  explicit OptionalCodec(const Codec& held) : held_(held) {}
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override;
  Json write(const void* in) const override;

 private:
  Json schema() const override;
  virtual void reset(void* optional) const = 0;
  virtual void* emplace(void* optional) const = 0;
  virtual const void* value_of(const void* optional) const = 0;  // null: empty

  const Codec& held_;
};

template <class T>
class OptionalCodecOf final : public OptionalCodec {
 public:
  OptionalCodecOf() : OptionalCodec(codec_of<T>()) {}

 private:
  using Optional = std::optional<T>;
  void reset(void* optional) const override { static_cast<Optional*>(optional)->reset(); }
  void* emplace(void* optional) const override {
    return &static_cast<Optional*>(optional)->emplace();
  }
  const void* value_of(const void* optional) const override {
    const auto& held = *static_cast<const Optional*>(optional);
    return held ? &*held : nullptr;
  }
};

class ListCodec : public Codec {
 public:
  explicit ListCodec(const Codec& item) : item_(item) {}
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override;
  Json write(const void* in) const override;

 private:
  Json schema() const override;
  virtual void clear(void* list) const = 0;
  virtual void* append(void* list) const = 0;
  virtual std::size_t size(const void* list) const = 0;
  virtual const void* at(const void* list, std::size_t i) const = 0;

  const Codec& item_;
};

template <class T>
class ListCodecOf final : public ListCodec {
 public:
  ListCodecOf() : ListCodec(codec_of<T>()) {}

 private:
  using List = std::vector<T>;
  void clear(void* list) const override { static_cast<List*>(list)->clear(); }
  void* append(void* list) const override { return &static_cast<List*>(list)->emplace_back(); }
  std::size_t size(const void* list) const override {
    return static_cast<const List*>(list)->size();
  }
  const void* at(const void* list, std::size_t i) const override {
    return &(*static_cast<const List*>(list))[i];
  }
};

class StructCodec : public Codec {
 public:
  // The table is asked for when it is used: structs may hold one another's lists.
  using Table = const Entries& (*)();
  explicit StructCodec(Table table) : table_(table) {}
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override;
  Json write(const void* in) const override;
  Json schema() const override;

 private:
  const Table table_;
};

// For a type that is read and written by functions of its own:
//
//   template <>
//   const Codec& codec_of<TimeOfDay>() {
//     static const OwnCodec<TimeOfDay> codec(read_time, write_time);
//     return codec;
//   }
template <class T>
class OwnCodec final : public Codec {
 public:
  using Read = void (*)(const Json& value, T& out, const std::string& at, FieldErrors& errors);
  using Write = Json (*)(const T& value);
  OwnCodec(Read reader, Write writer) : read_(reader), write_(writer) {}
  void read(const Json& value, void* out, const std::string& at,
            FieldErrors& errors) const override {
    read_(value, *static_cast<T*>(out), at, errors);
  }
  Json write(const void* in) const override { return write_(*static_cast<const T*>(in)); }

 private:
  const Read read_;
  const Write write_;
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

template <class T>
const Codec& codec_of() {
  if constexpr (HasFields<T>) {
    static const StructCodec codec(
        []() -> const Entries& { return fields_of(static_cast<const T*>(nullptr)).entries(); });
    return codec;
  } else if constexpr (IsOptional<T>::value) {
    static const OptionalCodecOf<typename T::value_type> codec;
    return codec;
  } else if constexpr (IsList<T>::value) {
    static const ListCodecOf<typename T::value_type> codec;
    return codec;
  } else {
    static const EnumCodecOf<T> codec;
    return codec;
  }
}

template <class Struct, class T>
std::size_t offset_of(T Struct::*member) {
  // The C++ ABI of Linux keeps a member's offset in a pointer to it.
  static_assert(sizeof member == sizeof(std::ptrdiff_t));
  return static_cast<std::size_t>(std::bit_cast<std::ptrdiff_t>(member));
}

}  // namespace fields_internal

template <class Struct, class T>
Field<Struct> field(std::string name, T Struct::*member, Need need = Need::kOptional) {
  return {{std::move(name), need, fields_internal::offset_of(member),
           &fields_internal::codec_of<T>(), nullptr}};
}

// With a rule, which sees the member as read and is asked only if the type was right.
template <class Struct, class T>
Field<Struct> field(std::string name, T Struct::*member, Need need,
                    std::type_identity_t<Check<T>> check) {
  Field<Struct> made = field(std::move(name), member, need);
  made.entry.check = [check = std::move(check)](const void* read, const std::string& at,
                                                FieldErrors& errors) {
    if (auto complaint = check(*static_cast<const T*>(read)))
      errors.push_back({at, *std::move(complaint)});
  };
  return made;
}

// With a rule on the struct that the member is.
template <class Struct, class T>
Field<Struct> field(std::string name, T Struct::*member, Need need,
                    std::type_identity_t<CheckTogether<T>> check) {
  Field<Struct> made = field(std::move(name), member, need);
  made.entry.check = [check = std::move(check)](const void* read, const std::string& at,
                                                FieldErrors& errors) {
    for (FieldError& error : check(*static_cast<const T*>(read)))
      errors.push_back({at + error.pointer, std::move(error.message)});
  };
  return made;
}

// The number lies in [low, high]; of an optional, if it holds one.
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
  fields_internal::codec_of<T>().read(value, &out, "", errors);
  if (!errors.empty()) throw ValidationError(what, std::move(errors));
  return out;
}

// What can be read of a document that was right when it was written, whatever is asked for now:
// wrong fields keep what they hold, or their default.
template <class T>
T read_stored_fields(const Json& value) {
  T out{};
  FieldErrors ignored;
  fields_internal::codec_of<T>().read(value, &out, "", ignored);
  return out;
}

// The name of an enum's value.
template <HasNames T>
std::string name_of(T value) {
  return fields_internal::name_by(fields_internal::codec_of<T>(), &value);
}

// The types of a struct's fields and which are required, as JSON Schema; no other rule.
template <HasFields T>
Json schema_of() {
  return fields_internal::codec_of<T>().schema();
}

// The document of a struct, defaults included.
template <HasFields T>
Json write_fields(const T& value) {
  return fields_internal::codec_of<T>().write(&value);
}

}  // namespace moil::daemon
