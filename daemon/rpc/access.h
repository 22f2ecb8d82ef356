// Who may speak to the daemon, and in which role.
//
// root and the user that the daemon runs as are administrators. Others are named by the
// configuration, as users ("anna") or as groups ("@video"); who is named more than once has the
// highest of these roles. Names are looked up once, at the construction, for that may take long.
// Constant after construction; any thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/rpc/role.h"

namespace moil::daemon {

// The group of the service's user. It counts only if the daemon runs as that group or as root:
// a daemon that somebody runs for themselves is nothing to the people of the service.
inline constexpr const char* kServiceGroup = "@moild";

struct AccessNames {
  std::vector<std::string> read, label, operate{kServiceGroup}, admin;
};

// The process at the other end of a socket, as it was when it connected.
struct Peer {
  uid_t user = 0;
  std::vector<gid_t> groups;
};
std::optional<Peer> peer_of(int socket);

class Access {
 public:
  Access() = default;  // nobody but root and the daemon's own user
  explicit Access(const AccessNames& names);

  // Nothing if the daemon does not serve them.
  std::optional<Role> role_of(const Peer& peer) const;

  // The names that no user or group bears at present, and the lists that have them: "operate: @tv".
  const std::vector<std::string>& unknown() const { return unknown_; }

  // Whether anybody but root and the daemon's own user is served; the group, if it is one alone.
  bool serves_others() const { return !users_.empty() || !groups_.empty(); }
  std::optional<gid_t> only_group() const;

 private:
  void add(const std::string& name, Role role);

  std::map<uid_t, Role> users_;
  std::map<gid_t, Role> groups_;
  std::vector<std::string> unknown_;
};

}  // namespace moil::daemon
