// What a program asks of moild, connected at first use. One thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "daemon/client/client.h"

namespace moil::daemon {

class ClientSession {
 public:
  std::string socket = "/run/moild/moild.sock";

  Client& client();
  void hang_up() { client_.reset(); }  // the next call connects anew
  // As Client::while_waiting(), of the connection that there is.
  void look_about(std::function<void()> look) {
    if (client_) client_->while_waiting(std::move(look));
  }
  Json call(const std::string& method, const Json& params, std::span<const int> files = {},
            const Client::OnNotification& tell = {});
  // The reply of a method that answers in pages, with MEMBER as the whole list, or its first `most`
  // items (0: all).
  Json list(const std::string& method, Json params, const std::string& member,
            std::size_t most = 0);

 private:
  std::unique_ptr<Client> client_;
};

// The one model that there is; kInvalidArgument or kNotFound if it is not one.
std::string only_model(ClientSession& session);

}  // namespace moil::daemon
