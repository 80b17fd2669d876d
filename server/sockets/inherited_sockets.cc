#include "server/sockets/inherited_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"

namespace millrace {
namespace {

// There are as many as ports, and some room for a mistake to be named.
constexpr int kMostSockets = 64;

std::optional<int> NumberOf(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Returns 0 for what is no socket.
int OptionOf(int descriptor, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  return getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : 0;
}

bool IsListeningStream(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6 &&
       address.ss_family != AF_UNIX)) {
    return false;
  }
  return OptionOf(descriptor, SO_TYPE) == SOCK_STREAM && OptionOf(descriptor, SO_ACCEPTCONN) != 0;
}

}  // namespace

absl::StatusOr<InheritedSockets> InheritedSockets::Take(
    const std::vector<std::string_view>& names) {
  absl::StatusOr<InheritedSockets> sockets = TakeFrom({.pid = std::getenv("LISTEN_PID"),
                                                       .fds = std::getenv("LISTEN_FDS"),
                                                       .names = std::getenv("LISTEN_FDNAMES")},
                                                      getpid(), names);
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) unsetenv(variable);
  return sockets;
}

absl::StatusOr<InheritedSockets> InheritedSockets::TakeFrom(
    const Passed& passed, pid_t self, const std::vector<std::string_view>& names) {
  InheritedSockets sockets;
  // The variables may be a parent's, whose sockets are not here.
  if (passed.pid == nullptr || passed.fds == nullptr || NumberOf(passed.pid) != self)
    return sockets;
  const std::optional<int> count = NumberOf(passed.fds);
  if (!count || *count < 0 || *count > kMostSockets) {
    return InvalidArgument("LISTEN_FDS: '", passed.fds,
                           "' is no number of sockets, allowed are 0..", kMostSockets);
  }
  if (*count == 0) return sockets;
  const std::string allowed = absl::StrJoin(
      names, ", ", [](std::string* out, std::string_view name) { out->append(name); });
  const std::vector<std::string> given =
      absl::StrSplit(passed.names != nullptr ? passed.names : "", ':');
  if (given.size() != static_cast<size_t>(*count) || passed.names == nullptr) {
    return InvalidArgument(
        "LISTEN_FDNAMES: has ", passed.names == nullptr ? 0 : given.size(), " names for ", *count,
        " sockets; each socket unit needs FileDescriptorName= with one of: ", allowed);
  }
  for (int i = 0; i < *count; ++i) {
    const std::string& name = given[static_cast<size_t>(i)];
    const int descriptor = passed.first + i;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return InvalidArgument("LISTEN_FDNAMES: '", name,
                             "' is no port of this server, allowed are: ", allowed);
    }
    if (!IsListeningStream(descriptor)) {
      return InvalidArgument("LISTEN_FDS: descriptor ", descriptor, " (", name,
                             ") is no stream socket that listens");
    }
    if (!sockets.descriptors_.emplace(name, descriptor).second) {
      return InvalidArgument("LISTEN_FDNAMES: '", name, "' occurs twice; a port has one socket");
    }
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  }
  return sockets;
}

int InheritedSockets::Find(std::string_view name) const {
  const auto found = descriptors_.find(name);
  return found == descriptors_.end() ? -1 : found->second;
}

}  // namespace millrace
