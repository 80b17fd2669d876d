#include "server/http/multipart_form.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/http/form.h"

namespace millrace {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kMultipartForm = "multipart/form-data";
// Senders may put blanks behind a delimiter. More than these are no delimiter.
constexpr size_t kMaxPadding = 64;
constexpr size_t kMaxBoundary = 70;

std::string_view Trimmed(std::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(View(text));
  return {trimmed.data(), trimmed.size()};
}

// Takes the value of a parameter, a word or a quoted string, from the front of `text`. A backslash
// escapes a quote or a backslash; any other one is a part of the value, as in a path of Windows.
std::string TakeParameterValue(std::string_view& text) {
  std::string value;
  if (!text.starts_with('"')) {
    value = Trimmed(text.substr(0, text.find(';')));
    text.remove_prefix(std::min(text.find(';'), text.size()));
    return value;
  }
  text.remove_prefix(1);
  while (!text.empty() && text.front() != '"') {
    if (text.size() > 1 && text[0] == '\\' && (text[1] == '"' || text[1] == '\\'))
      text.remove_prefix(1);
    value += text.front();
    text.remove_prefix(1);
  }
  text.remove_prefix(std::min(text.find(';'), text.size()));
  return value;
}

// Returns a parameter of a header such as `form-data; name="file"`; nothing if it has none.
std::optional<std::string> FindParameter(std::string_view header, std::string_view name) {
  header.remove_prefix(std::min(header.find(';'), header.size()));
  while (header.starts_with(';')) {
    header.remove_prefix(1);
    const size_t equals = std::min(header.find_first_of("=;"), header.size());
    const std::string_view found = Trimmed(header.substr(0, equals));
    header.remove_prefix(equals);
    if (!header.starts_with('=')) continue;
    header.remove_prefix(1);
    while (header.starts_with(' ') || header.starts_with('\t')) header.remove_prefix(1);
    std::string value = TakeParameterValue(header);
    if (absl::EqualsIgnoreCase(View(found), View(name))) return value;
  }
  return std::nullopt;
}

// Returns the name of a file, from the form of RFC 8187 where a client sends that, alone or beside
// another: `filename*=utf-8''a%20b`.
std::string FileNameIn(std::string_view header) {
  constexpr std::string_view kUtf8 = "utf-8'";
  const std::string extended = FindParameter(header, "filename*").value_or("");
  const size_t language_end = extended.find('\'', kUtf8.size());
  if (absl::StartsWithIgnoreCase(extended, View(kUtf8)) && language_end != extended.npos)
    return DecodePercent(std::string_view(extended).substr(language_end + 1));
  return FindParameter(header, "filename").value_or("");
}

// Returns an error for a header which says that the part is encoded, which nobody would undo.
absl::Status CheckEncoding(size_t part, std::string_view name, std::string_view value) {
  constexpr absl::string_view kPlain[] = {"", "7bit", "8bit", "binary", "identity"};
  constexpr absl::string_view kEncodings[] = {"Content-Transfer-Encoding", "Content-Encoding"};
  const auto is = [](std::string_view text) {
    return [text](absl::string_view one) { return absl::EqualsIgnoreCase(one, View(text)); };
  };
  if (std::ranges::none_of(kEncodings, is(name)) || std::ranges::any_of(kPlain, is(value)))
    return absl::OkStatus();
  return InvalidArgument("part ", part, " of the form: ", name, ": ", Shown(value),
                         " is not supported; send its bytes as they are");
}

// Returns what separates the parts.
absl::StatusOr<std::string> BoundaryOf(std::string_view content_type) {
  const auto boundary = FindParameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kMaxBoundary) {
    return InvalidArgument(
        "Content-Type: needs a boundary of 1 to ", kMaxBoundary,
        " characters to be multipart/form-data, such as multipart/form-data; boundary=x");
  }
  return *boundary;
}

}  // namespace

MultipartReader::MultipartReader(std::string_view boundary, OnPart on_part, OnBytes on_bytes)
    : delimiter_(StrCat(kLineEnd, "--", boundary)),
      on_part_(std::move(on_part)),
      on_bytes_(std::move(on_bytes)) {}

absl::Status MultipartReader::Take(std::string_view bytes) {
  if (state_ == State::kEpilogue) return absl::OkStatus();
  buffer_.append(bytes);
  while (state_ != State::kEpilogue) {
    if (state_ == State::kHeaders) {
      MILLRACE_ASSIGN_OR_RETURN(const bool taken, TakeHeaders());
      if (!taken) return absl::OkStatus();
    } else if (!TakeToDelimiter()) {
      return absl::OkStatus();
    }
  }
  buffer_.clear();
  return absl::OkStatus();
}

bool MultipartReader::TakeToDelimiter() {
  const std::string_view text = buffer_;
  size_t at = 0;
  while (true) {
    at = text.find(delimiter_, at);
    if (at == text.npos) {
      // The end of what has come may be the beginning of one.
      Drop(text.size() - std::min(text.size(), delimiter_.size() - 1));
      return false;
    }
    const std::string_view rest = text.substr(at + delimiter_.size());
    const std::string_view behind =
        rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const size_t padding = rest.size() - behind.size();
    const bool is_last = rest.starts_with("--");
    if (is_last || (padding <= kMaxPadding && behind.starts_with(kLineEnd))) {
      state_ = is_last ? State::kEpilogue : State::kHeaders;
      Drop(at);
      buffer_.erase(0, delimiter_.size() + padding);
      return true;
    }
    if (rest == "-" || (padding <= kMaxPadding && kLineEnd.starts_with(behind))) {
      Drop(at);  // the next bytes will tell
      return false;
    }
    at += kLineEnd.size();  // it is the beginning of another line
  }
}

void MultipartReader::Drop(size_t bytes) {
  if (parts_ > 0 && bytes > 0) on_bytes_(std::string_view(buffer_).substr(0, bytes));
  buffer_.erase(0, bytes);
}

absl::StatusOr<bool> MultipartReader::TakeHeaders() {
  // They begin behind the line end of the delimiter, and end with an empty line.
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t end = buffer_.find(kEnd);
  const bool is_whole = end != buffer_.npos;
  if (is_whole ? end > kMaxHeaderBytes : buffer_.size() >= kMaxHeaderBytes + kEnd.size()) {
    return InvalidArgument("the headers of part ", parts_ + 1, " of the form have more than ",
                           kMaxHeaderBytes, " bytes, which is the limit");
  }
  if (!is_whole) return false;
  MILLRACE_RETURN_IF_ERROR(BeginPart(std::string_view(buffer_).substr(0, end)));
  buffer_.erase(0, end + kEnd.size());
  state_ = State::kBytes;
  return true;
}

absl::Status MultipartReader::BeginPart(std::string_view headers) {
  if (++parts_ > kMaxParts)
    return InvalidArgument("the form has more than ", kMaxParts, " parts, which is the limit");
  Part part;
  while (!headers.empty()) {
    const size_t line_end = std::min(headers.find(kLineEnd), headers.size());
    const std::string_view line = headers.substr(0, line_end);
    headers.remove_prefix(std::min(line_end + kLineEnd.size(), headers.size()));
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = Trimmed(line.substr(0, colon));
    MILLRACE_RETURN_IF_ERROR(CheckEncoding(parts_, name, Trimmed(line.substr(colon + 1))));
    if (!absl::EqualsIgnoreCase(View(name), "Content-Disposition")) continue;
    part.name = FindParameter(line.substr(colon), "name").value_or("");
    part.file_name = FileNameIn(line.substr(colon));
  }
  on_part_(std::move(part));
  return absl::OkStatus();
}

absl::Status MultipartReader::End() const {
  if (state_ == State::kEpilogue) return absl::OkStatus();
  return InvalidArgument("the form ends before its last boundary line, --", delimiter_.substr(4),
                         "--");
}

bool IsMultipartForm(const httplib::Request& request) {
  const std::string type = request.get_header_value("Content-Type");
  return absl::EqualsIgnoreCase(View(Trimmed(std::string_view(type).substr(0, type.find(';')))),
                                View(kMultipartForm));
}

std::optional<absl::Status> ReadMultipartForm(const httplib::Request& request,
                                              const httplib::ContentReader& reader,
                                              MultipartReader::OnPart on_part,
                                              MultipartReader::OnBytes on_bytes) {
  const auto boundary = BoundaryOf(request.get_header_value("Content-Type"));
  absl::Status status = boundary.status();
  MultipartReader form(boundary.ok() ? *boundary : "", std::move(on_part), std::move(on_bytes));
  // The rest of a malformed one is dropped, so that the connection stays.
  const bool read = reader([&](const char* bytes, size_t size) {
    if (status.ok()) status = form.Take({bytes, size});
    return true;
  });
  if (!read) return std::nullopt;
  if (status.ok()) status = form.End();
  return status;
}

}  // namespace millrace
