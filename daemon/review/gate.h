// Who may speak to the review's server. It listens where every user and every web page of the
// machine can knock, and a browser would send a cookie to each server that listens there, whoever
// owns it: so there is none. A request that reads or changes data must show that it comes from the
// page that was opened with the one-time token:
//
//   token    in the address that is printed, behind the "#", which a browser sends to nobody. The
//   page
//            exchanges it for the secret and a new token, with which it can be loaded once more.
//   secret   in the page's memory; a header of all that it asks for
//   Host     a name of this machine to itself; else a web page had its own name lead here
//   Origin   the page's own
//
// What the page itself consists of holds no data, and is given to everybody.
//
// Safe from any thread.
#pragma once

#include <mutex>
#include <optional>
#include <string>

namespace moil::review {

class Gate {
 public:
  struct Request {
    std::string host, origin;  // the headers; empty if they are not sent
    std::string secret;        // the header
  };
  // What the page gets for a token.
  struct Opened {
    std::string secret, token;
  };

  Gate();  // with secrets of its own

  // The one that was not used yet.
  [[nodiscard]] std::string token() const;
  // Nothing if the token is not the one, or it does not come from the page.
  [[nodiscard]] std::optional<Opened> open(const Request& request, const std::string& token);
  // Whether it may ask for data and change it.
  [[nodiscard]] bool may_call(const Request& request) const;
  // Whether it is meant for this server: all that the page's parts ask.
  [[nodiscard]] static bool is_meant_for_us(const Request& request);

 private:
  static bool is_from_the_page(const Request& request);

  const std::string secret_;
  mutable std::mutex mutex_;
  std::string token_;  // guarded by mutex_
};

// 256 random bits in hexadecimal digits.
[[nodiscard]] std::string new_secret();

}  // namespace moil::review
