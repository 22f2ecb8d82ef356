// The kind "tokens": text, or any file, as symbols, one after the other.
//
// A network takes `length` numbers of symbols (vocabulary.h) at once: windows of a text, one part
// each, the last filled up with padding; or the two ends of a file, whatever it holds.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "datasets/kinds/kind.h"
#include "datasets/kinds/tokens/vocabulary.h"

namespace moil::data {

struct TokensDescription {
  std::int64_t length = 0;  // symbols that a network takes
  Vocabulary vocabulary;
  // From a window to the next. One symbol is in both, so that each but a text's first is predicted
  // by those before it.
  std::int64_t hop = 0;
  // Half of them from a file's beginning and half from its end, without the white space there;
  // padding is in between. Such a kind takes files of every media type.
  bool ends = false;
};

// kInvalidArgument for a description that describes nothing.
[[nodiscard]] KindPtr tokens_kind(TokensDescription description);

// The description without "kind". kInvalidArgument, naming the field.
[[nodiscard]] KindPtr tokens_kind_from_json(const nlohmann::json& json);

// Null if the kind is another.
[[nodiscard]] const TokensDescription* tokens_of(const Kind& kind);

}  // namespace moil::data
