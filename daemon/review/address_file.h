// The review's address for a browser, in a file that its user alone can read: a command line with
// the token in it could be read by every user of the machine.
#pragma once

#include <filesystem>
#include <string>

namespace moil::review {

class AddressFile {
 public:
  // In the user's own folder for such files (XDG_RUNTIME_DIR), else in a new one. Throws kIo.
  explicit AddressFile(const std::string& address);
  ~AddressFile();  // it is gone
  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_, path_;
};

// Has the desktop show the file, if there is a desktop; says whether that was begun. Does not
// wait: what opens it may last as long as the browser.
bool open_in_browser(const std::filesystem::path& file);

}  // namespace moil::review
