#include "daemon/pretrain/unreadable.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "daemon/pretrain/usual_network.h"
#include "datasets/kinds/decoding.h"
#include "datasets/kinds/rows/ids_kind.h"
#include "datasets/kinds/rows/rows_kind.h"
#include "datasets/kinds/several/several_kind.h"
#include "datasets/labels/media_type.h"
#include "datasets/tables/record.h"
#include "engine/io/model_json.h"
#include "engine/kernels/parallel.h"
#include "engine/model/preparation.h"

namespace moil::pretrain {
namespace {

bool is_of_the_sample(ErrorCode code) {
  return code == ErrorCode::kBadData || code == ErrorCode::kNotFound ||
         code == ErrorCode::kResourceExhausted;
}

std::string with_name(const std::string& name, const std::string& why) {
  return why.starts_with(name) ? why : name + ": " + why;
}

// Photos and sounds fit every model of their kind once they are decoded.
Trial trial_of_kind(const data::KindPtr& kind) {
  const bool decoded_is_enough = kind->name() == "image" || kind->name() == "sound";
  return [kind, decoded_is_enough](std::span<const std::uint8_t> bytes, std::string_view name) {
    if (const auto type = data::media_type_of(bytes); !kind->takes(type))
      throw Error(ErrorCode::kBadData, std::string(name) + ": it is " +
                                           std::string(data::media_name(type)) +
                                           ", which the model does not take");
    if (!decoded_is_enough) kind->maker({})->load(bytes, name);
  };
}

// Of what the first sample is of: photos, sounds, numbers or text.
Trial trial_of_family(const data::SampleDataset& dataset) {
  const std::string_view first = media_of(dataset);
  const auto family = data::is_image(first)     ? data::is_image
                      : data::is_sound(first)   ? data::is_sound
                      : data::is_numbers(first) ? data::is_numbers
                                                : data::is_text;
  return [family, first](std::span<const std::uint8_t> bytes, std::string_view name) {
    if (const auto type = data::media_type_of(bytes); !family(type))
      throw Error(ErrorCode::kBadData,
                  std::string(name) + ": it is " + std::string(data::media_name(type)) +
                      "; the first sample is " + std::string(data::media_name(first)));
  };
}

// As kind_of_data() will describe them; without the means, for which all are read.
Trial trial_of_inputs(const ModelDescription& model, const data::SampleDataset& dataset,
                      const KindOptions& options) {
  const std::string_view first = media_of(dataset);
  if (first == data::kTar)
    return [inputs = model.inputs](std::span<const std::uint8_t> bytes, std::string_view name) {
      for (const InputDescription& input : inputs)
        (void)data::file_in_archive(bytes, input.name, name);
    };
  if (auto ids = data::id_columns_of(dataset, options.ids); !ids.empty())
    return trial_of_kind(data::ids_kind(std::move(ids), {}));
  if (data::is_numbers(first) && model.inputs.size() == 1 && data::columns_of(dataset).empty()) {
    data::RowsDescription rows{model.inputs[0].dims, {}, {}, options.hop};
    rows.mean.assign(rows.columns(), 0.0);
    rows.stddev.assign(rows.columns(), 1.0);
    return trial_of_kind(data::rows_kind(std::move(rows)));
  }
  return trial_of_family(dataset);
}

}  // namespace

std::vector<Unreadable> unreadable_in(const data::SampleDataset& dataset, const Trial& trial) {
  std::vector<std::string> why(dataset.size());
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(thread_count()));
  const auto try_some = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string name = dataset.name(i);
      try {
        trial(dataset.encoded(i), name);
      } catch (const Error& error) {
        if (!is_of_the_sample(error.code())) throw;
        why[i] = with_name(name, error.what());
      }
    }
  };
  parallel_for(static_cast<std::int64_t>(dataset.size()), 8,
               [&](int part, std::int64_t begin, std::int64_t end) {
                 try {
                   try_some(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
                 } catch (...) {
                   failures[static_cast<std::size_t>(part)] = std::current_exception();
                 }
               });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  std::vector<Unreadable> found;
  for (std::size_t i = 0; i < why.size(); ++i)
    if (!why[i].empty()) found.push_back({i, std::move(why[i])});
  return found;
}

Trial trial_for(const data::KindPtr& kind) { return trial_of_kind(kind); }

Trial trial_for(const PretrainingOptions& options, const data::SampleDataset& dataset) {
  if (options.from) return trial_of_kind(options.from->kind);
  const ModelDescription model = options.model.empty()
                                     ? usual_network(dataset, options.task, options.kind.ids)
                                     : complete_model(read_model(options.model));
  if (!options.kind.preprocessing.is_null())
    return trial_of_kind(kind_of_data(model, dataset, options.kind));
  return trial_of_inputs(model, dataset, options.kind);
}

std::vector<std::string> told(const std::vector<std::string>& left_out, std::size_t all) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> lines;
  if (left_out.empty()) return lines;
  for (const std::string& why : left_out)
    if (lines.size() < kMostNamed) lines.push_back("left out " + why);
  lines.push_back(std::to_string(left_out.size()) + " of " + std::to_string(all) +
                  " samples left out: they cannot be read");
  return lines;
}

std::vector<std::string> told(const night::UnreadableSamples& left_out, std::size_t all) {
  std::vector<std::string> whys;
  for (const night::UnreadableSample& sample : left_out)
    whys.push_back(with_name(sample.name, sample.why));
  return told(whys, all);
}

}  // namespace moil::pretrain
