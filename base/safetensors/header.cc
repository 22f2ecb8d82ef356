#include "base/safetensors/header.h"

#include <algorithm>

#include "base/error.h"
#include "base/safetensors/strict_json.h"

namespace moil {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kDepth = 3;  // the object, a tensor's object, its lists
constexpr std::size_t kMaxRank = 32;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

[[noreturn]] void fail(const std::string& file, const std::string& tensor,
                       const std::string& what) {
  throw Error(ErrorCode::kBadData, file + ": tensor \"" + tensor + "\": " + what);
}

// Reads one tensor's description.
class EntryReader {
 public:
  EntryReader(const std::string& file, const std::string& name, const Json& json, TensorsOf tensors)
      : file_(file), name_(name), json_(json), tensors_(tensors) {}

  TensorEntry read(std::uint64_t data_bytes) {
    if (name_.empty()) throw Error(ErrorCode::kBadData, file_ + ": a tensor has an empty name");
    if (!json_.is_object()) bad("expected an object with dtype, shape and data_offsets");
    for (const auto& [key, value] : json_.items()) {
      if (key != "dtype" && key != "shape" && key != "data_offsets") bad("unknown key: " + key);
    }
    TensorEntry entry{name_, dtype(), {}, 0, 0};
    const std::int64_t elements = shape(entry.dims);
    offsets(entry, data_bytes);
    const std::uint64_t needed = static_cast<std::uint64_t>(elements) * bytes_of(entry.dtype);
    if (entry.end - entry.begin != needed) {
      bad("its shape needs " + std::to_string(needed) + " bytes, its data_offsets span " +
          std::to_string(entry.end - entry.begin));
    }
    return entry;
  }

 private:
  [[noreturn]] void bad(const std::string& what) const { fail(file_, name_, what); }

  const Json& member(const char* key) const {
    const auto it = json_.find(key);
    if (it == json_.end()) bad(std::string(key) + " is missing");
    return *it;
  }

  FileDType dtype() const {
    const Json& json = member("dtype");
    if (json == "F32") return FileDType::kF32;
    if (json == "BF16") return FileDType::kBF16;
    if (json == "F16") return FileDType::kF16;
    if (tensors_ == TensorsOf::kData && json == "I64") return FileDType::kI64;
    if (tensors_ == TensorsOf::kData && json == "U8") return FileDType::kU8;
    bad("dtype is " + json.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 40) +
        (tensors_ == TensorsOf::kData ? ": expected F32, BF16, F16, I64 or U8"
                                      : ": expected F32, BF16 or F16"));
  }

  std::int64_t shape(std::vector<std::int64_t>& dims) const {
    const Json& json = member("shape");
    if (!json.is_array() || json.size() > kMaxRank) bad("shape must be a list of dimensions");
    const bool may_be_empty = tensors_ == TensorsOf::kData;
    std::int64_t elements = 1, most = 1;  // most: as if no dimension were 0
    for (const Json& dim : json) {
      if (!dim.is_number_unsigned() || dim.get<std::uint64_t>() < (may_be_empty ? 0U : 1U) ||
          dim.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxElements / most)) {
        bad(std::string("shape must be of whole numbers from ") + (may_be_empty ? "0" : "1") +
            ", at most 2^48 elements in all");
      }
      dims.push_back(dim.get<std::int64_t>());
      elements *= dims.back();
      most *= std::max<std::int64_t>(dims.back(), 1);
    }
    return elements;
  }

  void offsets(TensorEntry& entry, std::uint64_t data_bytes) const {
    const Json& json = member("data_offsets");
    if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() ||
        !json[1].is_number_unsigned()) {
      bad("data_offsets must be two whole numbers");
    }
    entry.begin = json[0].get<std::uint64_t>();
    entry.end = json[1].get<std::uint64_t>();
    if (entry.begin > entry.end) bad("data_offsets end before they begin");
    if (entry.end > data_bytes) {
      bad("data_offsets reach to byte " + std::to_string(entry.end) + " of " +
          std::to_string(data_bytes) + "; the file may be truncated");
    }
  }

  const std::string& file_;
  const std::string& name_;
  const Json& json_;
  const TensorsOf tensors_;
};

std::map<std::string, std::string> read_metadata(const Json& json, const std::string& file) {
  if (!json.is_object()) fail_expected(file, "/__metadata__", "an object of strings", json);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      fail_expected(file, child_pointer("/__metadata__", key), "a string", value);
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Tensors sorted by their data must cover it all, each byte once.
void check_coverage(const std::vector<TensorEntry>& entries, std::uint64_t data_bytes,
                    const std::string& file) {
  std::uint64_t end = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin < end) fail(file, entry.name, "its data overlaps another tensor's");
    if (entry.begin > end) {
      fail(file, entry.name,
           "there are " + std::to_string(entry.begin - end) + " bytes of no tensor before it");
    }
    end = entry.end;
  }
  if (end != data_bytes) {
    throw Error(ErrorCode::kBadData, file + ": there are " + std::to_string(data_bytes - end) +
                                         " trailing bytes that belong to no tensor");
  }
}

}  // namespace

std::size_t bytes_of(FileDType dtype) {
  switch (dtype) {
    case FileDType::kF32:
      return 4;
    case FileDType::kI64:
      return 8;
    case FileDType::kU8:
      return 1;
    default:
      return 2;
  }
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                           const std::string& file, TensorsOf tensors) {
  const Json document = parse_strict_json(json, file, kDepth);
  if (!document.is_object()) fail_expected(file, "", "an object of tensors", document);
  SafetensorsHeader header;
  for (const auto& [name, value] : document.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(value, file);
    } else {
      header.entries.push_back(EntryReader(file, name, value, tensors).read(data_bytes));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(),
            [](const TensorEntry& a, const TensorEntry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);  // empty ones first
            });
  check_coverage(header.entries, data_bytes, file);
  return header;
}

std::size_t elements_of(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 1 || dim > kMaxElements / elements) {
      throw Error(ErrorCode::kInvalidArgument,
                  "tensor \"" + name + "\": dimension " + std::to_string(dim));
    }
    elements *= dim;
  }
  return static_cast<std::size_t>(elements);
}

std::string format_safetensors_header(const TensorShapes& shapes,
                                      const std::map<std::string, std::string>& metadata) {
  OrderedJson document = OrderedJson::object();
  if (!metadata.empty()) document["__metadata__"] = metadata;
  std::uint64_t begin = 0;
  for (const auto& [name, dims] : shapes) {
    if (name.empty() || name == "__metadata__") {
      throw Error(ErrorCode::kInvalidArgument, "no tensor can be named \"" + name + "\"");
    }
    const std::uint64_t end = begin + elements_of(name, dims) * sizeof(float);
    document[name] = {{"dtype", "F32"}, {"shape", dims}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  try {
    std::string text = document.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const OrderedJson::exception&) {
    throw Error(ErrorCode::kInvalidArgument, "a tensor's name or its metadata is not UTF-8");
  }
}

}  // namespace moil
