#include "datasets/readers/tar_index.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace moil::data {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kMaxNameRecord = 1 << 20;

using Header = std::array<std::uint8_t, kBlock>;

class Indexer {
 public:
  Indexer(const InputFile& file, std::size_t* passed_over)
      : file_(file), passed_over_(passed_over) {}

  std::vector<TarMember> run() {
    while (!at_end()) {
      if (file_.size() - offset_ < kBlock) fail("the archive is cut off");
      file_.read(offset_, header_);
      if (std::ranges::all_of(header_, [](auto byte) { return byte == 0; })) return members_;
      check_sum();
      take_entry();
    }
    fail("the archive is cut off: its closing blocks are missing");
  }

 private:
  bool at_end() const { return offset_ >= file_.size(); }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadData,
                file_.path().string() + ": byte " + std::to_string(offset_) + ": " + what);
  }

  std::string_view text(std::size_t from, std::size_t length) const {
    const auto* begin = reinterpret_cast<const char*>(header_.data()) + from;
    return {begin, static_cast<std::size_t>(std::find(begin, begin + length, '\0') - begin)};
  }

  // Octal digits, or GNU's base 256 for what is larger.
  std::uint64_t number(std::size_t from, std::size_t length) const {
    std::uint64_t value = 0;
    if (header_[from] & 0x80) {
      if (header_[from] != 0x80) fail("a number is negative or too large");
      for (std::size_t i = from + 1; i < from + length; ++i) {
        if (value >> 55) fail("a number is too large");
        value = value << 8 | header_[i];
      }
      return value;
    }
    auto digits = text(from, length);
    digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
    digits = digits.substr(0, digits.find(' '));
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
    if (error != std::errc() || end != digits.data() + digits.size()) fail("no tar header");
    return value;
  }

  void check_sum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : header_[i];
    if (sum != number(148, 8)) fail("no tar header (its checksum is wrong)");
  }

  void take_entry() {
    const char type = static_cast<char>(header_[156]);
    const bool is_file = type == '0' || type == '\0' || type == '7';
    std::uint64_t size = number(124, 12);
    const bool is_link = type >= '1' && type <= '6' && type != '5';  // or a device: no content
    if (is_file && pax_size_) size = *pax_size_;
    if (is_link) size = 0;  // some tell the size of what they point at
    const std::uint64_t data = offset_ + kBlock;
    if (size > file_.size() - data) {
      fail("the archive is cut off: the member has " + std::to_string(size) + " bytes, " +
           std::to_string(file_.size() - data) + " are left");
    }
    if (is_file) {
      add(data, size);
    } else if (type == 'L' || type == 'K' || type == 'x') {
      take_name(type, data, size);
    } else if (is_link && passed_over_ != nullptr) {
      take_link(type);
    } else if (type != '5' && type != 'g') {
      fail(std::string("a member of type '") + type + "': only plain files and folders are read");
    }
    if (is_file || is_link || type == '5')
      long_name_.reset(), long_link_.reset(), pax_size_.reset();
    offset_ = data + (size + kBlock - 1) / kBlock * kBlock;
  }

  void add(std::uint64_t offset, std::uint64_t size) {
    members_.push_back({member_name(), offset, size});
    if (passed_over_ != nullptr) by_name_[members_.back().name] = members_.size() - 1;
  }

  void take_link(char type) {
    const std::string target = without_dots(long_link_ ? *long_link_ : std::string(text(157, 100)));
    const auto found = by_name_.find(target);
    if (type != '1' || found == by_name_.end()) {
      ++*passed_over_;
      return;
    }
    const TarMember member = members_[found->second];
    add(member.offset, member.size);
  }

  static std::string without_dots(std::string name) {
    while (name.starts_with("./")) name.erase(0, 2);
    return name;
  }

  std::string member_name() const {
    std::string name;
    if (long_name_) {
      name = *long_name_;
    } else {
      const bool posix = text(257, 6) == "ustar";  // GNU's older format has no prefix
      const auto prefix = posix ? text(345, 155) : std::string_view();
      name = std::string(prefix) + (prefix.empty() ? "" : "/") + std::string(text(0, 100));
    }
    name = without_dots(std::move(name));
    if (name.empty()) fail("a member without a name");
    return name;
  }

  void take_name(char type, std::uint64_t data, std::uint64_t size) {
    if (size > kMaxNameRecord) fail("a name of " + std::to_string(size) + " bytes");
    const auto bytes = file_.read(data, size);
    const std::string_view record(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (type == 'x') return take_pax(record);
    (type == 'L' ? long_name_ : long_link_) = record.substr(0, record.find('\0'));
  }

  // Records "<length> <key>=<value>\n", the length counting itself.
  void take_pax(std::string_view records) {
    while (!records.empty()) {
      std::size_t length = 0;
      const auto [end, error] =
          std::from_chars(records.data(), records.data() + records.size(), length);
      const auto digits = static_cast<std::size_t>(end - records.data());
      if (error != std::errc() || length <= digits + 1 || length > records.size() ||
          records[digits] != ' ' || records[length - 1] != '\n') {
        fail("a damaged pax header");
      }
      take_pax_record(records.substr(digits + 1, length - digits - 2));
      records.remove_prefix(length);
    }
  }

  void take_pax_record(std::string_view record) {
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) fail("a damaged pax header");
    const auto key = record.substr(0, equals);
    const auto value = record.substr(equals + 1);
    if (key == "path") long_name_ = value;
    if (key == "linkpath") long_link_ = value;
    if (key.starts_with("GNU.sparse")) fail("a sparse member");
    if (key != "size") return;
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (error != std::errc() || end != value.data() + value.size()) fail("a damaged pax header");
    pax_size_ = size;
  }

  const InputFile& file_;
  std::uint64_t offset_ = 0;
  Header header_{};
  std::vector<TarMember> members_;
  std::size_t* passed_over_;
  std::map<std::string, std::size_t> by_name_;        // of members, if hard links may name them
  std::optional<std::string> long_name_, long_link_;  // for the next member
  std::optional<std::uint64_t> pax_size_;
};

}  // namespace

std::vector<TarMember> index_tar(const InputFile& file, std::size_t* passed_over) {
  return Indexer(file, passed_over).run();
}

}  // namespace moil::data
