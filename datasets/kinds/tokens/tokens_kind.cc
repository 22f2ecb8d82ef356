#include "datasets/kinds/tokens/tokens_kind.h"

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/labels/media_type.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

constexpr std::int64_t kMostSymbols = 1 << 20;
// To be raised when reading changes its results.
constexpr const char* kTokensArithmetic = "tokens 2 ";

using Symbol = Vocabulary::Symbol;

void check(const TokensDescription& d) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw Error(ErrorCode::kInvalidArgument, "tokens: " + what);
  };
  require(d.length >= 2 && d.length <= kMostSymbols, "'length' is " + std::to_string(d.length) +
                                                         ", expected 2 to " +
                                                         std::to_string(kMostSymbols));
  require(d.hop >= 1 && d.hop <= d.length, "'hop' is longer than 'length'");
  require(!d.ends || (d.length % 2 == 0 && d.vocabulary.is_of_bytes()),
          "'take' \"ends\" goes with bytes and an even 'length'");
}

// A text that ends within the first window has one; else each begins a hop behind the one before,
// and the last has at least one symbol that none before it has.
std::size_t windows_of(std::size_t symbols, const TokensDescription& d) {
  const auto length = static_cast<std::size_t>(d.length), hop = static_cast<std::size_t>(d.hop);
  return symbols <= length ? 1 : 1 + (symbols - length + hop - 1) / hop;
}

bool is_blank(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

class TokensMaker final : public SampleMaker {
 public:
  explicit TokensMaker(const TokensDescription& description) : d_(description) {}

  void load(std::span<const std::uint8_t> bytes, std::string_view) override {
    if (d_.ends)
      take_ends(bytes);
    else
      symbols_ = d_.vocabulary.symbols_of(bytes);
  }
  void make(const Digest&, PartView wanted, float* out) override {
    const auto length = static_cast<std::size_t>(d_.length);
    const std::size_t begin =
        std::min(wanted.part * static_cast<std::size_t>(d_.hop), symbols_.size());
    const std::size_t count = std::min(length, symbols_.size() - begin);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(symbols_[begin + i]);
    std::fill(out + count, out + length, static_cast<float>(d_.vocabulary.padding()));
  }
  void release() override { symbols_ = {}; }

 private:
  void take_ends(std::span<const std::uint8_t> bytes) {
    // White space is looked for in so much of either end, as Magika does.
    const std::size_t half = static_cast<std::size_t>(d_.length) / 2, block = 4 * half;
    auto first = bytes.first(std::min(bytes.size(), block));
    auto last = bytes.last(std::min(bytes.size(), block));
    while (!first.empty() && is_blank(first.front())) first = first.subspan(1);
    while (!last.empty() && is_blank(last.back())) last = last.first(last.size() - 1);
    first = first.first(std::min(first.size(), half));
    last = last.last(std::min(last.size(), half));
    symbols_.assign(2 * half, d_.vocabulary.padding());
    std::ranges::copy(first, symbols_.begin());
    std::ranges::copy(last, symbols_.end() - std::ssize(last));
  }

  const TokensDescription d_;
  std::vector<Symbol> symbols_;
};

class TokensKind final : public Kind {
 public:
  explicit TokensKind(TokensDescription description) : d_(std::move(description)) { check(d_); }

  const TokensDescription& description() const { return d_; }

  std::string_view name() const override { return "tokens"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = {{"kind", name()}, {"length", d_.length}};
    if (d_.ends)
      json["take"] = "ends";
    else
      json["hop"] = d_.hop;
    json["vocabulary"] = d_.vocabulary.is_of_bytes() ? nlohmann::json("bytes")
                                                     : nlohmann::json(d_.vocabulary.characters());
    return json;
  }
  std::string fingerprint() const override {
    return digest_of(kTokensArithmetic + to_json().dump()).hex();
  }
  std::vector<Dims> inputs() const override { return {{d_.length}}; }
  std::int64_t symbols() const override { return d_.vocabulary.symbols(); }

  bool can_learn_symbols() const override { return !d_.vocabulary.is_of_bytes(); }
  std::vector<std::string> unknown_symbols(std::span<const std::uint8_t> bytes,
                                           std::string_view) const override {
    const auto strange = d_.vocabulary.strange_in(bytes);
    return {strange.begin(), strange.end()};
  }
  KindPtr with_symbols(const std::vector<std::string>& fresh) const override {
    TokensDescription more = d_;
    more.vocabulary = d_.vocabulary.with(fresh);
    return tokens_kind(std::move(more));
  }

  bool takes(std::string_view media_type) const override { return d_.ends || is_text(media_type); }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t>,
                                           std::uint64_t file_bytes) const override {
    constexpr std::size_t kAllocatorRounding = 64 << 10;
    const std::uint64_t symbols = d_.ends ? static_cast<std::uint64_t>(d_.length) : file_bytes;
    // A list that grows is there twice while it does.
    return file_bytes + 3 * symbols * sizeof(Symbol) + kAllocatorRounding;
  }
  bool has_parts() const override { return !d_.ends; }
  std::uint32_t parts(std::span<const std::uint8_t> bytes, std::string_view) const override {
    return d_.ends ? 1 : static_cast<std::uint32_t>(windows_of(d_.vocabulary.count(bytes), d_));
  }
  std::optional<PartPlaces> part_places(std::span<const std::uint8_t> bytes,
                                        std::string_view) const override {
    if (d_.ends) return std::nullopt;
    return PartPlaces{static_cast<double>(d_.hop), static_cast<double>(d_.length),
                      static_cast<double>(d_.vocabulary.count(bytes)), "symbols"};
  }
  bool has_views() const override { return false; }
  std::unique_ptr<SampleMaker> maker(const ViewRules&) const override {
    return std::make_unique<TokensMaker>(d_);
  }

 private:
  const TokensDescription d_;
};

Vocabulary vocabulary_from_json(JsonFields& fields) {
  const nlohmann::json& json = fields.at("vocabulary");
  if (json == "bytes") return {};
  if (!json.is_array()) fields.fail("'vocabulary' is neither \"bytes\" nor a list of characters");
  return Vocabulary(fields.get<std::vector<std::string>>("vocabulary"));
}

}  // namespace

KindPtr tokens_kind(TokensDescription description) {
  if (description.hop == 0) description.hop = std::max<std::int64_t>(1, description.length - 1);
  return std::make_shared<TokensKind>(std::move(description));
}

KindPtr tokens_kind_from_json(const nlohmann::json& json) {
  JsonFields fields(json, "tokens", ErrorCode::kInvalidArgument);
  TokensDescription description;
  description.length = fields.whole("length", 2, kMostSymbols);
  if (fields.has("vocabulary")) description.vocabulary = vocabulary_from_json(fields);
  if (fields.has("take")) {
    const auto take = fields.get<std::string>("take");
    if (take != "ends" && take != "windows")
      fields.fail("'take' is \"" + take + "\", expected \"windows\" or \"ends\"");
    description.ends = take == "ends";
  }
  if (fields.has("hop")) {
    if (description.ends) fields.fail("'hop' goes with windows");
    description.hop = fields.whole("hop", 1, description.length);
  }
  fields.finish();
  return tokens_kind(std::move(description));
}

const TokensDescription* tokens_of(const Kind& kind) {
  const auto* tokens = dynamic_cast<const TokensKind*>(&kind);
  return tokens == nullptr ? nullptr : &tokens->description();
}

}  // namespace moil::data
