// Who may speak to the review's server. It listens where every user and every web page of the
// machine can knock, so a request must show that it comes from the page that was opened with the
// one-time token:
//
//   token    in the address that is printed; the first request with it is let in and gets the
//            cookie, and the token is worth nothing any more
//   cookie   what all further requests show
//   Host     a name of this machine to itself; else a web page had its own name lead here
//   Origin   of what is more than looking: the page's own
//
// Safe from any thread.
#pragma once

#include <atomic>
#include <string>

namespace moil::review {

class Gate {
 public:
  struct Request {
    std::string host, origin;  // the headers; empty where they are not sent
    std::string cookie;        // its value
    std::string token;         // where the page is asked for
    bool is_call = false;      // asks for data or changes something
  };
  enum class Answer {
    kRefused,
    kWelcome,  // by the token: the cookie is to be set
    kKnown,    // by the cookie
  };

  Gate();  // with secrets of its own

  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] const std::string& cookie() const { return cookie_; }
  [[nodiscard]] Answer ask(const Request& request);

 private:
  const std::string token_, cookie_;
  std::atomic<bool> token_is_good_ = true;
};

}  // namespace moil::review
