#include "datasets/kinds/rows/ids_kind.h"

#include <algorithm>

#include "base/error.h"
#include "base/json/json.h"
#include "base/random.h"
#include "datasets/labels/media_type.h"
#include "datasets/labels/text.h"
#include "datasets/transforms/json_fields.h"

namespace moil::data {
namespace {

using Columns = std::vector<RowColumn>;

// Of a view that is not plain, so many of its ids are hidden, one in the mean.
constexpr std::uint64_t kHiddenOneOf = 16;
// To be raised when reading or the arithmetic changes its results.
constexpr const char* kIdsArithmetic = "ids 1 ";

void require_of_ids(bool good, const std::string& what) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, "rows: " + what);
}

// "user 17" of "user=17".
std::string as_said(const std::string& id, const RowColumn& column) {
  return column.name + " " + id.substr(column.name.size() + 1);
}

class IdsMaker final : public SampleMaker {
 public:
  IdsMaker(Columns columns, std::shared_ptr<const IdList> known)
      : columns_(std::move(columns)), known_(std::move(known)) {}

  void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
    ids_ = read_ids(bytes, name, columns_);
  }
  std::string remark() const override {
    std::string strange;
    for (std::size_t c = 0; c < ids_.size(); ++c) {
      if (known_->row(ids_[c]) != 0) continue;
      strange += strange.empty() ? "" : " and ";
      strange += ids_[c].empty() ? "a missing " + columns_[c].name : as_said(ids_[c], columns_[c]);
    }
    if (strange.empty()) return {};
    return "the model does not know " + strange + ": it says what it would of any";
  }
  void make(const Digest& content, PartView wanted, float* out) override {
    const auto* seed = reinterpret_cast<const char*>(content.bytes.data());
    Random random(derive_seed(wanted.view, {seed, content.bytes.size()}));
    for (const std::string& id : ids_) {
      const bool is_hidden = wanted.view > 0 && random.below(kHiddenOneOf) == 0;
      *out++ = is_hidden ? 0.0F : static_cast<float>(known_->row(id));
    }
  }
  void release() override { ids_ = {}; }

 private:
  const Columns columns_;
  const std::shared_ptr<const IdList> known_;
  std::vector<std::string> ids_;
};

class IdsKind final : public Kind {
 public:
  IdsKind(Columns columns, std::vector<std::string> ids) : columns_(std::move(columns)) {
    require_of_ids(!columns_.empty(), "'columns' is empty");
    for (const RowColumn& column : columns_) {
      const bool is_plain =
          column.name.find('=') == std::string::npos && unfit_characters(column.name).empty();
      require_of_ids(!column.name.empty() && is_plain, "'columns' has ids by the name \"" +
                                                           shown(column.name) +
                                                           "\", expected a text without '='");
    }
    known_ = std::make_shared<const IdList>(std::move(ids), columns_);
  }

  std::string_view name() const override { return "rows"; }
  nlohmann::json to_json() const override {
    nlohmann::json columns = nlohmann::json::array();
    for (const RowColumn& column : columns_)
      columns.push_back({{"name", column.name}, {"ids", true}});
    return {{"kind", name()}, {"dims", inputs()[0]}, {"columns", columns}, {"ids", known_->ids()}};
  }
  std::string fingerprint() const override {
    return digest_of(kIdsArithmetic + to_json().dump()).hex();
  }
  std::vector<Dims> inputs() const override {
    return {{static_cast<std::int64_t>(columns_.size())}};
  }
  std::int64_t symbols() const override { return known_->rows(); }
  bool can_learn_symbols() const override { return true; }
  std::vector<std::string> unknown_symbols(std::span<const std::uint8_t> bytes,
                                           std::string_view name) const override {
    std::vector<std::string> ids = read_ids(bytes, name, columns_);
    std::erase_if(ids, [&](const std::string& id) { return id.empty() || known_->row(id) != 0; });
    return ids;
  }
  KindPtr with_symbols(const std::vector<std::string>& fresh) const override {
    std::vector<std::string> all = known_->ids();
    all.insert(all.end(), fresh.begin(), fresh.end());
    return ids_kind(columns_, std::move(all));
  }
  bool takes(std::string_view media_type) const override { return is_numbers(media_type); }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t>,
                                           std::uint64_t file_bytes) const override {
    constexpr std::size_t kAllocatorRounding = 64 << 10;
    return file_bytes + bytes_of_fields(file_bytes) + kAllocatorRounding;
  }
  std::unique_ptr<SampleMaker> maker(const ViewRules&) const override {
    return std::make_unique<IdsMaker>(columns_, known_);
  }

 private:
  const Columns columns_;
  std::shared_ptr<const IdList> known_;
};

}  // namespace

bool describes_ids(const nlohmann::json& fields) {
  const auto columns = fields.find("columns");
  return columns != fields.end() && columns->is_array() &&
         std::ranges::any_of(*columns, [](const nlohmann::json& column) {
           return column.is_object() && column.contains("ids");
         });
}

KindPtr ids_kind(std::vector<RowColumn> columns, std::vector<std::string> ids) {
  return std::make_shared<IdsKind>(std::move(columns), std::move(ids));
}

KindPtr ids_kind_from_json(const nlohmann::json& json) {
  JsonFields fields(json, "rows", ErrorCode::kInvalidArgument);
  for (const char* field : {"mean", "std", "hop", "answer"})
    require_of_ids(!fields.has(field),
                   "'" + std::string(field) + "' is of numbers, and columns are ids");
  Columns columns;
  for (const nlohmann::json& entry : fields.at("columns")) {
    JsonFields column(entry, "rows: 'columns'", ErrorCode::kInvalidArgument);
    columns.push_back({column.get<std::string>("name"), false, {}});
    require_of_ids(column.has("ids") && column.get<bool>("ids"),
                   "column \"" + columns.back().name +
                       "\" is none of ids, and others are; a network's input takes either");
    column.finish();
  }
  const auto dims = fields.get<std::vector<std::int64_t>>("dims");
  require_of_ids(dims.size() == 1 && dims[0] == static_cast<std::int64_t>(columns.size()),
                 "'dims' is one dim, as many as there are 'columns' of ids");
  KindPtr kind = ids_kind(std::move(columns), fields.get<std::vector<std::string>>("ids"));
  fields.finish();
  return kind;
}

}  // namespace moil::data
