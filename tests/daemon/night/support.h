// A small world for the night's tests: images made of numbers, a small network, a folder that goes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "daemon/models/model_folder.h"
#include "datasets/images/codec.h"
#include "datasets/kinds/image/image_kind.h"
#include "datasets/labels/label_store.h"
#include "datasets/samples/sample_table.h"
#include "engine/io/model_json.h"
#include "engine/model/initial_weights.h"
#include "engine/run/network.h"

namespace moil::night {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "moil-night-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw system_error("mkdtemp", errno);
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Grey 8x8 images; every one differs.
class NumberImages : public data::TableDataset<data::SampleDataset> {
 public:
  NumberImages(const std::vector<std::string>& classes, std::size_t per_class,
               std::size_t first = 0)
      : first_(first) {
    table_ = data::SampleTable(classes);
    for (std::size_t k = 0; k < classes.size(); ++k) {
      for (std::size_t i = 0; i < per_class; ++i) {
        table_.add({static_cast<data::ClassId>(k)},
                   i % 4 == 3 ? data::Split::kValidation : data::Split::kTrain);
      }
    }
  }
  data::Image image(std::size_t i) const {
    data::Image image;
    image.resize(8, 8, 1);
    for (std::size_t p = 0; p < 64; ++p)
      image.pixels[p] = static_cast<std::uint8_t>((p * 7 + (first_ + i) * 13) * (i + 3) % 256);
    return image;
  }
  data::Digest digest(std::size_t i) const override { return data::digest_of(image(i).pixels); }
  std::vector<std::uint8_t> encoded(std::size_t i) const override {
    return data::encode_png(image(i));
  }
  std::string name(std::size_t i) const override { return "number " + std::to_string(i); }

 private:
  std::size_t first_;
};

// Grey images of this side, pixels from -1 to 1.
inline data::KindPtr grey_images(int side) {
  data::Preprocessing p;
  p.channels = 1;
  p.height = p.width = side;
  p.mean = {127.5};
  p.stddev = {127.5};
  return data::image_kind(p);
}

// Two convolutions with batch norm, pooled, and a classifier; weights drawn, labels "a", "b", ...
inline ModelBundle small_bundle(std::size_t classes = 3) {
  ModelBundle bundle;
  bundle.description = parse_model(R"({"format":"moil-model","version":1,"name":"small",
    "inputs":[{"name":"image","dims":[1,8,8]}],
    "layers":[
     {"name":"c1","type":"conv2d","inputs":["image"],"properties":{"out_channels":8,"kernel":3,"padding":1,"bias":false}},
     {"name":"n1","type":"batch_norm","inputs":["c1"]},
     {"name":"r1","type":"relu6","inputs":["n1"]},
     {"name":"c2","type":"conv2d","inputs":["r1"],"properties":{"out_channels":12,"kernel":1,"bias":false}},
     {"name":"n2","type":"batch_norm","inputs":["c2"]},
     {"name":"r2","type":"relu","inputs":["n2"]},
     {"name":"pool","type":"global_average_pool","inputs":["r2"]},
     {"name":"classifier","type":"fully_connected","inputs":["pool"],"properties":{"units":)" +
                                   std::to_string(classes) + R"(}}],
    "outputs":["classifier"]})");
  bundle.weights = initial_weights(build_graph(bundle.description, 1), 5);
  for (std::size_t i = 0; i < classes; ++i)
    bundle.labels.push_back(std::string(1, static_cast<char>('a' + i)));
  bundle.kind = grey_images(8);
  return bundle;
}

// For a bundle that outlives it.
inline WeightsOfPart weights_in(const ModelBundle& bundle) {
  return [&bundle](const ModelDescription& part) { return weights_of(part, bundle.weights); };
}

// As the daemon records it, too: what it looks like.
inline data::Digest add_looked_at(data::LabelStore& labels, std::span<const std::uint8_t> content,
                                  const std::string& label,
                                  std::optional<data::Split> split = std::nullopt) {
  const std::vector<std::string> names = {label};
  const data::Digest digest = labels.add_sample(content, names, split).digest;
  const data::SampleLikeness looked_at{digest, {}};
  labels.record_likenesses({&looked_at, 1});
  labels.record_uses({&digest, 1});
  return digest;
}

// The code of the Error that `work` throws; fails if it throws none.
template <typename Work>
ErrorCode error_of(const Work& work, std::string* text = nullptr) {
  try {
    work();
  } catch (const Error& e) {
    if (text) *text = e.what();
    return e.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kInternal;
}

}  // namespace moil::night
