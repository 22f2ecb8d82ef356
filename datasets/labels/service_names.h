// Names of files and folders that are nobody's data.
#pragma once

#include <string_view>

namespace moil::data {

// Whether the name of a file or folder says that it is nobody's data: hidden ones (a leading dot),
// and what systems and devices put beside photos: __MACOSX, @eaDir, $RECYCLE.BIN, lost+found, ...
[[nodiscard]] bool is_service_name(std::string_view name);

}  // namespace moil::data
