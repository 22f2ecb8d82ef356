#include "daemon/rpc/access.h"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace moil::daemon {
namespace {

constexpr std::size_t kMostEntryBytes = std::size_t{1} << 20;  // of a group with many members

std::optional<uid_t> user_named(const std::string& name) {
  for (std::size_t size = 1 << 12; size <= kMostEntryBytes; size *= 4) {
    std::vector<char> buffer(size);
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error != ERANGE) return found != nullptr ? std::optional(found->pw_uid) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<gid_t> group_named(const std::string& name) {
  for (std::size_t size = 1 << 12; size <= kMostEntryBytes; size *= 4) {
    std::vector<char> buffer(size);
    group entry{};
    group* found = nullptr;
    const int error = ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (error != ERANGE) return found != nullptr ? std::optional(found->gr_gid) : std::nullopt;
  }
  return std::nullopt;
}

template <class Id>
void raise(std::map<Id, Role>& roles, Id id, Role role) {
  const auto [place, is_new] = roles.emplace(id, role);
  if (!is_new) place->second = std::max(place->second, role);
}

std::vector<gid_t> further_groups(int socket) {
  std::vector<gid_t> groups(64);
  for (;;) {
    socklen_t bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    const int status = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
    const bool too_small = status != 0 && errno == ERANGE && bytes > groups.size() * sizeof(gid_t);
    if (!too_small && status != 0) return {};
    groups.resize(bytes / sizeof(gid_t));
    if (status == 0) return groups;
  }
}

}  // namespace

EnumNames<Role> enum_names(Role) {
  return {{Role::kRead, "read"},
          {Role::kLabel, "label"},
          {Role::kOperate, "operate"},
          {Role::kAdmin, "admin"}};
}

std::string to_string(Role role) { return name_of(role); }

std::optional<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  Peer peer{credentials.uid, further_groups(socket)};
  peer.groups.push_back(credentials.gid);
  return peer;
}

Access::Access(const AccessNames& names) {
  for (const auto& name : names.read) add(name, Role::kRead);
  for (const auto& name : names.label) add(name, Role::kLabel);
  for (const auto& name : names.operate) add(name, Role::kOperate);
  for (const auto& name : names.admin) add(name, Role::kAdmin);
}

void Access::add(const std::string& name, Role role) {
  if (!name.starts_with('@')) {
    if (const auto user = user_named(name)) return raise(users_, *user, role);
  } else if (const auto group = group_named(name.substr(1))) {
    const bool is_ours = ::geteuid() == 0 || ::getegid() == *group;
    if (name != kServiceGroup || is_ours) raise(groups_, *group, role);
    return;
  }
  // If moild is no service there is no such group, and nobody needs a warning.
  if (name != kServiceGroup) unknown_.push_back(to_string(role) + ": " + name);
}

std::optional<Role> Access::role_of(const Peer& peer) const {
  if (peer.user == 0 || peer.user == ::geteuid()) return Role::kAdmin;
  std::optional<Role> role;
  if (const auto found = users_.find(peer.user); found != users_.end()) role = found->second;
  for (const gid_t group : peer.groups) {
    const auto found = groups_.find(group);
    if (found != groups_.end()) role = std::max(role.value_or(found->second), found->second);
  }
  return role;
}

std::optional<gid_t> Access::only_group() const {
  if (!users_.empty() || groups_.size() != 1) return std::nullopt;
  return groups_.begin()->first;
}

}  // namespace moil::daemon
