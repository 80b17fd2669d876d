#include "server/frontends/wyoming/event_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/core/errors.h"
#include "server/json/json_member.h"
#include "server/json/json_parse.h"

namespace millrace::server {
namespace {

using nlohmann::json;

// Bytes that were read are dropped once there are so many of them.
constexpr size_t kCompactBytes = size_t{16} << 10;

// A member that is null is as if it were not there.
absl::Status TakeLength(const json& line, const char* name, size_t max, size_t& out) {
  const auto found = line.find(name);
  if (found == line.end() || found->is_null()) return absl::OkStatus();
  uint64_t length = 0;
  absl::Status status = TakeInteger(*found, name, max, length);
  out = static_cast<size_t>(length);
  return status;
}

}  // namespace

void EventReader::Push(std::string_view bytes) {
  if (event_ && data_left_ == 0) {
    const size_t skipped = std::min(payload_left_, bytes.size());
    payload_left_ -= skipped;
    bytes.remove_prefix(skipped);
  }
  buffer_ += bytes;
}

void EventReader::Skip(size_t bytes) {
  next_ += bytes;
  if (next_ == buffer_.size()) {
    buffer_.clear();
    next_ = 0;
  } else if (next_ >= kCompactBytes && next_ >= buffer_.size() / 2) {
    buffer_.erase(0, std::exchange(next_, 0));
  }
}

absl::StatusOr<std::optional<WyomingEvent>> EventReader::Next() {
  if (!event_) {
    constexpr char kTlsHandshake = '\x16';  // has no end of a line that would be waited for
    if (unread().starts_with(kTlsHandshake))
      return InvalidArgument("line: TLS is not spoken on this address, where each line is JSON");
    const size_t end = unread().find('\n', searched_);
    const bool whole = end != std::string_view::npos;
    if ((whole ? end : unread().size()) > limits_.line_bytes) {
      return InvalidArgument("line: is longer than ", limits_.line_bytes,
                             " bytes, which is its limit; longer data comes "
                             "behind it, with data_length");
    }
    searched_ = whole ? 0 : unread().size();
    if (!whole) return std::nullopt;
    MILLRACE_RETURN_IF_ERROR(TakeLine(end));
  }
  if (data_left_ > 0) {
    if (unread().size() < data_left_) return std::nullopt;
    MILLRACE_RETURN_IF_ERROR(TakeData());
  }
  const size_t skipped = std::min(payload_left_, unread().size());
  payload_left_ -= skipped;
  Skip(skipped);
  if (payload_left_ > 0) return std::nullopt;
  return std::exchange(event_, std::nullopt);
}

absl::Status EventReader::TakeLine(size_t end) {
  MILLRACE_ASSIGN_OR_RETURN(json line, ParseObject("line:", unread().substr(0, end)));
  Skip(end + 1);
  WyomingEvent event;
  const auto type = line.find("type");
  if (type == line.end()) return InvalidArgument("type: is missing");
  MILLRACE_RETURN_IF_ERROR(TakeString(*type, "type", event.type));
  if (const auto data = line.find("data"); data != line.end() && !data->is_null()) {
    if (!data->is_object()) return WrongType("data", "a JSON object", *data);
    event.data = std::move(*data);
  }
  absl::Status status = TakeLength(line, "data_length", limits_.data_bytes, data_left_);
  status.Update(TakeLength(line, "payload_length", limits_.payload_bytes, payload_left_));
  event_ = std::move(event);
  return status;
}

absl::Status EventReader::TakeData() {
  MILLRACE_ASSIGN_OR_RETURN(json data, ParseObject("data:", unread().substr(0, data_left_)));
  Skip(std::exchange(data_left_, 0));
  // Data behind the line wins over data in the line. It is moved, because a copy recurses as deep
  // as a client nests its data.
  for (auto& [name, value] : data.get_ref<json::object_t&>()) event_->data[name] = std::move(value);
  return absl::OkStatus();
}

}  // namespace millrace::server
