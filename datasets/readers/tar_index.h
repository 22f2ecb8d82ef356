// Where the files of a plain tar are, so that they can be read in place.
//
// Understands ustar, GNU long names and pax paths and sizes. Folders are passed over; sparse files
// are kBadData, as is anything damaged or cut off: the message names the archive and the byte
// offset of the header. Nothing is unpacked, and names never become paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/readers/input_file.h"

namespace moil::data {

struct TarMember {
  std::string name;  // without a leading "./"
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// In the order of the archive. Symbolic links and device files are counted in `passed_over`, and a
// hard link is the member that it names; if that is null, all three are kBadData.
[[nodiscard]] std::vector<TarMember> index_tar(const InputFile& file,
                                               std::size_t* passed_over = nullptr);

}  // namespace moil::data
