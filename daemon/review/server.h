// The review of labels as a page in a browser: a web server on the loopback interface, for the one
// user who holds its token (gate.h). It speaks to moild as any client does.
//
//   GET  what the page consists of (assets.h)
//   GET  /sound/NAME                                     a sound's file, or a range of it
//   POST /api/open      {"token"}                        {"secret", "token"}: what the page shows
//   from
//                                                        then on, and with what it is loaded again
//   POST /api/sound     {"digest"}                       {"address"}: of it, for a while
//   POST /api/samples   {"unlabelled", "after"}          as Desk
//   POST /api/labels    {}                               as Desk
//   POST /api/previews  {"digests"}                      as label.preview
//   POST /api/large     {"digest"}                       the same of one, for the whole window
//   POST /api/decide    {"decisions": [{"digests", "labels"}]}   as Desk
//   POST /api/undo      {}                               as Desk
//   POST /api/home      {}                               what there is to say of the model
//   POST /api/learn     {}                               as model.learn
//   POST /api/predict   a file                           what the model says of it
//   POST /api/proposals {}, /api/doubts {}               what the model says of samples; may take
//   minutes. A JSON object a line: what is known so far, at last {"result"} or {"message"}. The
//   work ends with the page's connection.
//   POST /api/end       {}                               the server ends
//
// What cannot be done is answered with {"message"}, status 409. All but open need the secret, in
// the header Moil-Review.
#pragma once

#include <memory>
#include <string>

namespace moil::review {

class ReviewServer {
 public:
  // model: whose proposals and doubts are shown; empty: of the only one.
  explicit ReviewServer(const std::string& moild_socket, const std::string& model = "");
  ~ReviewServer();

  // port 0: any that is free. Its number; kIo if it cannot be had.
  int bind(int port);
  // Where the page is, for once.
  [[nodiscard]] std::string address() const;
  // Until stop(), or until the page ends it.
  void serve();
  void stop();  // any thread

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace moil::review
