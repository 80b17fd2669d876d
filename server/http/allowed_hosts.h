#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// The names by which a server lets itself be called in a Host header. A page whose name resolves to
// this machine counts for a browser as of the server's own origin (DNS rebinding), so a server that
// asks for no key must look at the name. Constant, so any thread may use it.
class AllowedHosts {
 public:
  static AllowedHosts All() { return AllowedHosts({"*"}); }
  // Allows IP addresses, localhost and the names below it, and these names; ".example.org" stands
  // for all names below it, and "*" for all.
  explicit AllowedHosts(std::vector<std::string> names);

  // host: as in a Host header, with or without a port.
  bool Allows(std::string_view host) const;

  // Returns what a client is told whose Host is not allowed.
  static std::string Refusal(std::string_view host);

 private:
  std::vector<std::string> names_;  // in lower case
  bool all_ = false;
};

}  // namespace millrace
