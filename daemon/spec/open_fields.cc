// What a job description may leave to the night, and how it is read and written: fields that it
// leaves out are open, and an open one is not written (job_spec.h).
#include "daemon/spec/job_spec.h"

namespace moil::daemon {

std::span<const std::string_view> choosable_fields() {
  static constexpr std::string_view kFields[] = {"/global/alpha",
                                                 "/global/limit",
                                                 "/freeze/trainable_layers",
                                                 "/freeze/batch_norms",
                                                 "/cache/dtype",
                                                 "/augment/views",
                                                 "/train/epochs",
                                                 "/train/batch",
                                                 "/train/optimizer/type",
                                                 "/train/optimizer/learning_rate",
                                                 "/train/optimizer/backbone_factor",
                                                 "/train/schedule/type",
                                                 "/train/schedule/warmup_epochs",
                                                 "/train/clip_norm"};
  return kFields;
}

namespace {

class JobSpecCodec final : public fields_internal::StructCodec {
 public:
  JobSpecCodec()
      : StructCodec([]() -> const fields_internal::Entries& {
          return fields_of(static_cast<const JobSpec*>(nullptr)).entries();
        }) {}

  void read(const Json& v, void* out, const std::string& at, FieldErrors& errors) const override {
    StructCodec::read(v, out, at, errors);
    auto& spec = *static_cast<JobSpec*>(out);
    spec.open.clear();
    if (!v.is_object() || spec.settings != Settings::kAuto) return;
    for (const std::string_view field : choosable_fields())
      if (!v.contains(Json::json_pointer(std::string(field)))) spec.open.emplace(field);
  }

  Json write(const void* in) const override {
    Json document = StructCodec::write(in);
    for (const std::string& field : static_cast<const JobSpec*>(in)->open) {
      const Json::json_pointer pointer(field);
      document.at(pointer.parent_pointer()).erase(pointer.back());
    }
    return document;
  }
};

}  // namespace

template <>
const fields_internal::Codec& fields_internal::codec_of<JobSpec>() {
  static const JobSpecCodec codec;
  return codec;
}

}  // namespace moil::daemon
