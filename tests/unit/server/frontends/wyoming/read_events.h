#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace millrace::server {

// An event as a client has it.
struct ReadEvent {
  std::string type;
  nlohmann::json data;
  std::string payload;
};

// Takes the whole events at the beginning of the bytes, which then begin with a part of one.
inline std::vector<ReadEvent> TakeEvents(std::string& bytes) {
  std::vector<ReadEvent> events;
  size_t next = 0;
  for (size_t end; (end = bytes.find('\n', next)) != std::string::npos;) {
    const auto line = nlohmann::json::parse(bytes.substr(next, end - next));
    EXPECT_TRUE(line.contains("version")) << line;
    EXPECT_FALSE(line.contains("data")) << "the readers of clients limit the line: " << line;
    const size_t data = line.value("data_length", size_t{0});
    const size_t payload = line.value("payload_length", size_t{0});
    if (bytes.size() < end + 1 + data + payload) break;
    ReadEvent event{line.at("type"), nlohmann::json::object(),
                    bytes.substr(end + 1 + data, payload)};
    if (data > 0) event.data = nlohmann::json::parse(bytes.substr(end + 1, data));
    events.push_back(std::move(event));
    next = end + 1 + data + payload;
  }
  bytes.erase(0, next);
  return events;
}

// The types in their order, each once where it is repeated.
inline std::vector<std::string> TypesOf(const std::vector<ReadEvent>& events) {
  std::vector<std::string> types;
  for (const ReadEvent& event : events) {
    if (types.empty() || types.back() != event.type) types.push_back(event.type);
  }
  return types;
}

}  // namespace millrace::server
