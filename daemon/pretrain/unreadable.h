// Samples of the data that cannot be read: what is made of the data is made without them, as nights
// are, and they are named.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/night/data/sample_view.h"
#include "daemon/pretrain/pretraining.h"
#include "datasets/samples/dataset.h"

namespace moil::pretrain {

// Throws kBadData, beginning with `name`, for a sample that cannot be taken. From any thread.
using Trial = std::function<void(std::span<const std::uint8_t> bytes, std::string_view name)>;

// The samples that cannot be decoded, or that this refuses, by index: why. All are read, on
// all threads. Throws what reading throws beside kBadData, kNotFound and kResourceExhausted.
struct Unreadable {
  std::size_t index = 0;
  std::string why;  // beginning with the sample's name
};
[[nodiscard]] std::vector<Unreadable> unreadable_in(const data::SampleDataset& dataset,
                                                    const Trial& trial);

// Whether decoded samples fit a model: of numbers and archives, whose shape and files may be
// others'. dataset: all of its samples can be decoded, and there is one.
[[nodiscard]] Trial trial_for(const data::KindPtr& kind);
[[nodiscard]] Trial trial_for(const PretrainingOptions& options,
                              const data::SampleDataset& dataset);

// Lines for people: the first few, and how many of how many there are. Empty: none.
[[nodiscard]] std::vector<std::string> told(const std::vector<std::string>& left_out,
                                            std::size_t all);
[[nodiscard]] std::vector<std::string> told(const night::UnreadableSamples& left_out,
                                            std::size_t all);

}  // namespace moil::pretrain
