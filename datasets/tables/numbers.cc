#include "datasets/tables/numbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/half_floats.h"
#include "datasets/labels/csv_line.h"
#include "datasets/labels/media_type.h"

namespace moil::data {
namespace {

static_assert(std::endian::native == std::endian::little, "NPY files are read in place");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDims = 8;
constexpr std::size_t kLongestField = 2048;  // none that is longer is a number

template <typename T>
double read_as(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

double read_half(const char* bytes) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return static_cast<double>(from_f16(bits));
}

struct NpyType {
  std::string_view name;  // with its quotes
  std::size_t bytes;
  double (*read)(const char*);
};
constexpr NpyType kNpyTypes[] = {
    {"'<f2'", 2, read_half},
    {"'<f4'", 4, read_as<float>},
    {"'<f8'", 8, read_as<double>},
    {"'|u1'", 1, read_as<std::uint8_t>},
    {"'|i1'", 1, read_as<std::int8_t>},
    {"'|b1'", 1, read_as<std::uint8_t>},
    {"'<u2'", 2, read_as<std::uint16_t>},
    {"'<i2'", 2, read_as<std::int16_t>},
    {"'<u4'", 4, read_as<std::uint32_t>},
    {"'<i4'", 4, read_as<std::int32_t>},
    {"'<u8'", 8, read_as<std::uint64_t>},
    {"'<i8'", 8, read_as<std::int64_t>},
};

class NumbersReader {
 public:
  // most: numbers to read; 0: their shape alone.
  NumbersReader(std::span<const std::uint8_t> bytes, std::string_view name, std::size_t most)
      : content_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        name_(name),
        most_(most) {}

  Numbers read() {
    content_.starts_with(kMagic) ? read_npy() : read_csv();
    if (count_ == 0) fail("it holds no number");
    return std::move(numbers_);
  }

  // What a number in the file takes; 0: it is no NPY file.
  std::size_t bytes_of_number() {
    if (!content_.starts_with(kMagic)) return 0;
    (void)read_header();
    return type().bytes;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadData, std::string(name_) + ": " + what);
  }

  void check_count(std::size_t count) const {
    if (most_ > 0 && count > most_)
      fail("it holds more than " + std::to_string(most_) +
           " numbers, which the model does not take");
  }

  // Each number but the last has one of these behind it: so nothing is ever moved.
  std::size_t separators() const {
    return static_cast<std::size_t>(std::ranges::count_if(content_, [](char c) {
      return c == ',' || c == ';' || c == '\t' || c == ' ' || c == '\n';
    }));
  }

  void read_csv() {
    if (is_utf16(content_)) fail(media_refusal(kUtf16));
    if (most_ > 0) numbers_.values.reserve(std::min(most_, separators() + 1));
    std::string_view rest = without_mark(content_), line;
    std::int64_t columns = 0, lines = 0;
    bool is_first = true, has_index = false;
    for (std::size_t number = 1; next_line(rest, line); ++number) {
      if (line.empty()) continue;
      if (std::exchange(is_first, false) && is_of_names(line)) {
        CsvFields names(line, separator_of(line), kLongestField);
        has_index = names.next() && is_nameless(names.field());
        continue;
      }
      const std::int64_t found = read_line(line, number, has_index);
      if (lines > 0 && found != columns)
        fail("line " + std::to_string(number) + " has " + std::to_string(found) +
             " numbers, the lines before it " + std::to_string(columns));
      columns = found;
      ++lines;
    }
    numbers_.shape = {lines, columns};
  }

  // As are_names() says of all of its fields.
  static bool is_of_names(std::string_view line) {
    double value = 0;
    for (CsvFields fields(line, separator_of(line), kLongestField); fields.next();)
      if (!is_missing(fields.field())) return !to_number(fields.field(), value);
    return false;
  }

  // has_index: the first field is none of them.
  std::int64_t read_line(std::string_view line, std::size_t number, bool has_index) {
    std::int64_t found = 0;
    CsvFields fields(line, separator_of(line), kLongestField);
    if (has_index) (void)fields.next();
    for (; fields.next(); ++found) {
      const bool is_whole = fields.field().size() < kLongestField;
      double value = 0;
      if (!is_whole || !to_number(fields.field(), value) || !std::isfinite(value))
        fail("line " + std::to_string(number) + ": '" + fields.field().substr(0, 40) +
             "' is no finite number");
      check_count(++count_);
      if (most_ > 0) numbers_.values.push_back(value);
    }
    return found;
  }

  // The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
  void read_npy() {
    const std::string_view data = read_header();
    read_shape();
    if (value_of("fortran_order").starts_with("True"))
      fail("an NPY file in Fortran order; save it in C order");
    copy(data, type());
  }

  // What follows it.
  std::string_view read_header() {
    const std::size_t version = at(6), prefix = version == 1 ? 10 : 12;
    if (version < 1 || version > 3) fail("an NPY file of an unknown version");
    std::size_t length = at(8) | at(9) << 8;
    if (version > 1) length |= at(10) << 16 | at(11) << 24;
    if (content_.size() < prefix + length) fail("the NPY file ends within its header");
    header_ = content_.substr(prefix, length);
    return content_.substr(prefix + length);
  }

  std::size_t at(std::size_t i) const {
    if (i >= content_.size()) fail("the NPY file ends within its header");
    return static_cast<unsigned char>(content_[i]);
  }

  // What stands behind a key.
  std::string_view value_of(const std::string& key) const {
    const std::size_t found = header_.find("'" + key + "'");
    const std::size_t colon = header_.find(':', found);
    if (found == std::string_view::npos || colon == std::string_view::npos)
      fail("the NPY file's header names no '" + key + "'");
    std::string_view value = header_.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return value;
  }

  void read_shape() {
    std::string_view text = value_of("shape");
    const std::size_t end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos)
      fail("the NPY file's 'shape' is no tuple");
    text = text.substr(1, end - 1);
    for (const std::string& field : fields_of(text, ',')) {
      if (field.empty()) continue;  // behind the last comma
      std::int64_t extent = 0;
      const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), extent);
      if (error != std::errc() || stop != field.data() + field.size() || extent < 0 ||
          numbers_.shape.size() == kMostDims)
        fail("the NPY file's 'shape' is (" + std::string(text.substr(0, 40)) + ")");
      numbers_.shape.push_back(extent);
    }
  }

  const NpyType& type() const {
    const std::string_view type = value_of("descr").substr(0, 40);
    for (const NpyType& known : kNpyTypes)
      if (type.starts_with(known.name)) return known;
    fail("an NPY file of the type " + std::string(type.substr(0, type.find(','))) +
         "; floats of 2, 4 and 8 bytes, whole numbers and bools are taken, little-endian");
  }

  void copy(std::string_view data, const NpyType& type) {
    std::size_t count = 1;
    for (const std::int64_t extent : numbers_.shape) {
      const auto n = static_cast<std::size_t>(extent);
      if (n > 0 && count > data.size() / n) fail("the NPY file is shorter than its 'shape' says");
      count *= n;
    }
    if (data.size() != count * type.bytes)
      fail("the NPY file holds " + std::to_string(data.size()) + " bytes of numbers, its 'shape' " +
           std::to_string(count * type.bytes));
    count_ = count;
    check_count(count);
    if (most_ == 0) return;
    numbers_.values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers_.values[i] = type.read(data.data() + i * type.bytes);
      if (!std::isfinite(numbers_.values[i]))
        fail("number " + std::to_string(i + 1) + " is not finite");
    }
  }

  std::string_view content_, name_, header_;
  const std::size_t most_;
  std::size_t count_ = 0;
  Numbers numbers_;
};

}  // namespace

Numbers read_numbers(std::span<const std::uint8_t> bytes, std::string_view name, std::size_t most) {
  return NumbersReader(bytes, name, std::max<std::size_t>(1, most)).read();
}

std::vector<std::int64_t> shape_of_numbers(std::span<const std::uint8_t> bytes,
                                           std::string_view name) {
  return NumbersReader(bytes, name, 0).read().shape;
}

// In CSV a number has two characters at least.
std::uint64_t most_numbers_in(std::span<const std::uint8_t> head, std::uint64_t file_bytes) {
  try {
    const std::size_t bytes = NumbersReader(head, "", 0).bytes_of_number();
    return bytes > 0 ? file_bytes / bytes : file_bytes / 2 + 1;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadData) throw;
    return file_bytes;
  }
}

std::vector<std::uint8_t> encode_npy(std::span<const float> values) {
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                     std::to_string(values.size()) + ",), }";
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::vector<std::uint8_t> file(kMagic.begin(), kMagic.end());
  for (const std::size_t byte :
       {std::size_t{1}, std::size_t{0}, text.size() & 0xff, text.size() >> 8})
    file.push_back(static_cast<std::uint8_t>(byte));
  file.insert(file.end(), text.begin(), text.end());
  const auto bytes = std::as_bytes(values);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  file.insert(file.end(), begin, begin + bytes.size());
  return file;
}

}  // namespace moil::data
