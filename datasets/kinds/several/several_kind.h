// The kind `several`: a sample of several files in one tar archive, one for each of the network's
// inputs: a photo and the numbers of a sensor at that moment. As JSON:
//
//   {"kind": "several", "inputs": [{"file": "photo", "kind": "image", ...},
//                                  {"file": "sensor", "kind": "rows", ...}]}
//
// file: what the file in the archive is called before its first dot, in whatever folder. Inputs are
// the network's, in its order. A view of a sample is that view of each file that has views.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "datasets/kinds/kind.h"

namespace moil::data {

struct SeveralInput {
  std::string file;
  KindPtr kind;
};

// kInvalidArgument, naming the field.
[[nodiscard]] KindPtr several_kind(std::vector<SeveralInput> inputs);
[[nodiscard]] KindPtr several_kind_from_json(const nlohmann::json& fields);

// Each plain file in an archive, in its order. kBadData, beginning with `name`, for what is no
// archive, and what `visit` throws.
void each_file_in_archive(
    std::span<const std::uint8_t> archive, std::string_view name,
    const std::function<void(const std::string& path, const std::vector<std::uint8_t>& content)>&
        visit);
// The file of that name in an archive. kBadData, beginning with `name`, if there is none or
// more than one, and for what is no archive.
[[nodiscard]] std::vector<std::uint8_t> file_in_archive(std::span<const std::uint8_t> archive,
                                                        const std::string& file,
                                                        std::string_view name);

}  // namespace moil::data
