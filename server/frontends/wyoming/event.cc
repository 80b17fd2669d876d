#include "server/frontends/wyoming/event.h"

#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// The version of the protocol's library whose events these are.
constexpr char kProtocolVersion[] = "1.10.2";

}  // namespace

std::string SerializeEvent(std::string_view type, const Json& data, std::string_view payload) {
  Json head = {{"type", type}, {"version", kProtocolVersion}};
  std::string body;
  if (!data.empty()) {
    body = JsonText(data);
    head["data_length"] = body.size();
  }
  if (!payload.empty()) head["payload_length"] = payload.size();
  std::string event = JsonText(head);
  event.reserve(event.size() + 1 + body.size() + payload.size());
  event += '\n';
  event += body;
  event += payload;
  return event;
}

}  // namespace millrace::server
