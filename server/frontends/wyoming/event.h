#pragma once

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace millrace::server {

// An event of the Wyoming protocol: its type and data, followed by samples if it is audio.
struct WyomingEvent {
  std::string type;
  nlohmann::json data = nlohmann::json::object();
};

// Returns the bytes of an event: a line of JSON, `data` as JSON unless it is empty, the payload.
// The data is never in the line, because the clients in Python limit that to 64 KiB.
std::string SerializeEvent(std::string_view type, const nlohmann::ordered_json& data,
                           std::string_view payload = {});

}  // namespace millrace::server
