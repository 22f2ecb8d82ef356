#include "datasets/kinds/image/image_kind.h"

#include "base/error.h"
#include "base/json/json.h"
#include "datasets/images/codec.h"
#include "datasets/labels/media_type.h"
#include "datasets/transforms/difference_hash.h"
#include "datasets/transforms/transform.h"

namespace moil::data {
namespace {

constexpr std::size_t kAllocatorRounding = 64 << 10;

class ImageMaker final : public SampleMaker {
 public:
  ImageMaker(const Preprocessing& description, const ViewRules& rules)
      : transform_(description), may_flip_(rules.flip) {}

  void load(std::span<const std::uint8_t> bytes, std::string_view name) override {
    decode_image(bytes, name, image_);
  }
  void make(const Digest& content, PartView wanted, float* out) override {
    transform_.apply(image_, view_of(content, wanted.view, may_flip_), out);
  }
  std::optional<Likeness> likeness() override { return hash_.of(image_); }
  void release() override {
    image_ = {};
    transform_.release();
  }

 private:
  Transform transform_;
  const bool may_flip_;
  Image image_;
  DifferenceHash hash_;
};

class ImageKind final : public Kind {
 public:
  explicit ImageKind(const Preprocessing& description) : transform_(description) {}

  std::string_view name() const override { return "image"; }
  nlohmann::json to_json() const override {
    nlohmann::json json = transform_.description().to_json();
    json["kind"] = name();
    return json;
  }
  std::string fingerprint() const override { return transform_.description().fingerprint(); }
  std::vector<Dims> inputs() const override {
    const Preprocessing& p = transform_.description();
    return {{p.channels, p.height, p.width}};
  }
  bool takes(std::string_view media_type) const override { return is_image(media_type); }
  bool has_likeness() const override { return true; }
  std::optional<std::size_t> working_bytes(std::span<const std::uint8_t> head,
                                           std::uint64_t file_bytes) const override {
    try {
      const ImageHeader header = read_image_header(head, "");
      return file_bytes + header.decoding_bytes + kAllocatorRounding +
             transform_.working_bytes(header.width, header.height, header.channels);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kBadData) throw;
      return std::nullopt;
    }
  }
  std::unique_ptr<SampleMaker> maker(const ViewRules& rules) const override {
    return std::make_unique<ImageMaker>(transform_.description(), rules);
  }

 private:
  const Transform transform_;
};

}  // namespace

KindPtr image_kind(const Preprocessing& description) {
  return std::make_shared<ImageKind>(description);
}

KindPtr image_kind_from_json(const nlohmann::json& fields) {
  return image_kind(Preprocessing::from_json(fields));
}

}  // namespace moil::data
