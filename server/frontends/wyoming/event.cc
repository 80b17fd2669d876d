#include "server/frontends/wyoming/event.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// The version of the protocol's library whose events these are.
constexpr char kProtocolVersion[] = "1.10.2";

std::string ToText(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string SerializeEvent(std::string_view type, const Json& data, std::string_view payload) {
  Json head = {{"type", type}, {"version", kProtocolVersion}};
  std::string body;
  if (!data.empty()) {
    body = ToText(data);
    head["data_length"] = body.size();
  }
  if (!payload.empty()) head["payload_length"] = payload.size();
  std::string event = ToText(head);
  event.reserve(event.size() + 1 + body.size() + payload.size());
  event += '\n';
  event += body;
  event += payload;
  return event;
}

}  // namespace millrace::server
