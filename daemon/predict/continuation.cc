#include "daemon/predict/continuation.h"

#include <algorithm>

#include "base/error.h"
#include "daemon/predict/likeliest.h"
#include "datasets/kinds/tokens/tokens_kind.h"
#include "datasets/labels/text.h"
#include "engine/model/ending.h"
#include "engine/model/preparation.h"
#include "engine/train/batch.h"

namespace moil::night {
namespace {

std::span<const std::uint8_t> bytes_in(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// As JSON may hold it, lines kept.
std::string as_text(const std::string& bytes) {
  std::string text;
  for (std::size_t begin = 0; begin <= bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    text += (begin == 0 ? "" : "\n") + data::shown(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

}  // namespace

Continuation::Continuation(ModelBundle& bundle, std::size_t top, KernelSelector& kernels)
    : bundle_(bundle),
      tokens_(*data::tokens_of(*bundle.kind)),
      form_{answers_probabilities(bundle.description)},
      top_(top),
      symbols_(tokens_.vocabulary.symbols()),
      network_(prepare_inference(bundle.description, bundle.weights), {.batch = 1, .plan = {}},
               kernels),
      shown_(bundle.kind->floats()) {
  network_.allocate();
  network_.move_in(bundle.weights);
}

void Continuation::run(const float* shown) {
  scatter(shown, 1, NetworkBatch(network_).inputs());
  network_.forward();
  outputs_.assign(network_.output(0), network_.output(0) + shown_.size() * symbols_);
}

std::span<const float> Continuation::next(std::string_view text) {
  const auto end = tokens_.vocabulary.end_of(text, shown_.size());
  const auto all = tokens_.vocabulary.symbols_of(bytes_in(end));
  const auto symbols = std::span(all).last(std::min(all.size(), shown_.size()));
  if (symbols.empty()) throw Error(ErrorCode::kBadData, "the sample holds no text to go on from");
  std::ranges::fill(shown_, static_cast<float>(tokens_.vocabulary.padding()));
  std::ranges::copy(symbols, shown_.begin());
  run(shown_.data());
  bundle_.task->answer(outputs_, form_);
  const auto found = std::span(outputs_).subspan((symbols.size() - 1) * symbols_, symbols_);
  found[tokens_.vocabulary.padding()] = 0;  // what pads a text is none that comes next
  return found;
}

Json Continuation::of(std::string_view text) {
  Json found = {{"bits_per_symbol", bits_per_symbol(text)}};
  std::string so_far(tokens_.vocabulary.end_of(text, shown_.size())), added;
  for (std::size_t i = 0; i < kMostSymbols; ++i) {
    const auto probabilities = next(so_far);
    if (i == 0) found["top"] = most_likely(probabilities);
    const auto likeliest = std::ranges::max_element(probabilities) - probabilities.begin();
    const auto symbol = static_cast<data::Vocabulary::Symbol>(likeliest);
    const std::string one = tokens_.vocabulary.text_of({&symbol, 1});
    if (one == "\n" && !added.empty()) break;
    so_far += one;
    added += one;
  }
  found["continuation"] = as_text(added);
  return found;
}

Json Continuation::bits_per_symbol(std::string_view text) {
  const auto scorer = bundle_.task->scorer(form_);
  std::vector<float> target(shown_.size() * symbols_);
  const auto targets = bundle_.task->targets({}, target.size(), {});
  const auto maker = bundle_.kind->maker({});
  maker->load(bytes_in(text), "the sample");
  const std::uint32_t parts = bundle_.kind->parts(bytes_in(text), "the sample");
  for (std::uint32_t part = parts - std::min(parts, kMostWindows); part < parts; ++part) {
    maker->make({}, {0, part}, shown_.data());
    run(shown_.data());
    targets->write_shown(shown_, target);
    scorer->add(outputs_, target);
  }
  const auto headline = scorer->scores().front().value;
  return headline ? Json(*headline) : Json(nullptr);
}

Json Continuation::most_likely(std::span<const float> probabilities) const {
  Json list = Json::array();
  for (const data::Vocabulary::Symbol symbol : likeliest(probabilities, top_))
    list.push_back({{"label", as_text(tokens_.vocabulary.text_of({&symbol, 1}))},
                    {"probability", probabilities[symbol]}});
  return list;
}

}  // namespace moil::night
