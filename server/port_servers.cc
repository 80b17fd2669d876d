#include "server/port_servers.h"

#include "models/core/errors.h"

namespace millrace::server {

absl::Status PortServers::Start(const FrontEndParts& parts,
                                std::span<const FrontEnd* const> front_ends,
                                const InheritedSockets& sockets) {
  for (const FrontEnd* front_end : front_ends) {
    if (front_end->address == nullptr) continue;
    Entry& entry = entries_.emplace_back(Entry{front_end->name, nullptr});
    if ((parts.config.*front_end->address).empty()) continue;
    entry.server = front_end->make_server(parts, sockets.Find(front_end->name));
    MILLRACE_RETURN_IF_ERROR(entry.server->Start());
  }
  return absl::OkStatus();
}

std::vector<std::pair<std::string_view, int>> PortServers::Ports() const {
  std::vector<std::pair<std::string_view, int>> ports;
  for (const auto& [name, server] : entries_)
    ports.emplace_back(name, server != nullptr ? server->port() : 0);
  return ports;
}

void PortServers::Stop() {
  for (const auto& [name, server] : entries_) {
    if (server != nullptr) server->Stop();
  }
}

}  // namespace millrace::server
