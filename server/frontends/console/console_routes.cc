#include "server/frontends/console/console_routes.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "httplib.h"
#include "models/core/strings.h"
#include "server/frontends/console/page_files.h"
#include "server/http/admin_access.h"
#include "server/http/http_routes.h"

namespace millrace::server {
namespace {

// The page loads nothing from elsewhere, runs no inline code and is shown in no frame. The images
// and sounds that it makes itself are data: and blob: URLs.
constexpr char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr char kIndex[] = "index.html";

const char* ContentTypeOf(std::string_view name) {
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "text/html; charset=utf-8";
}

// Returns true if an If-None-Match names the tag (RFC 9110, 13.1.2).
bool Matches(const std::string& if_none_match, const std::string& tag) {
  for (const absl::string_view entry : absl::StrSplit(if_none_match, ',')) {
    absl::string_view named = absl::StripAsciiWhitespace(entry);
    if (named == "*") return true;
    absl::ConsumePrefix(&named, "W/");
    if (named == tag) return true;
  }
  return false;
}

void SendFile(const PageFile& file, const httplib::Request& request, httplib::Response& response) {
  const bool packed = HttpClientAcceptsGzip();
  const std::string tag = StrCat("\"", file.hash, packed ? "-gzip" : "", "\"");
  response.set_header("ETag", tag);
  response.set_header("Cache-Control", "no-cache");  // kept, and asked for again each time
  response.set_header("Vary", "Accept-Encoding");
  response.set_header("Content-Security-Policy", kContentSecurityPolicy);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cross-Origin-Opener-Policy", "same-origin");
  if (Matches(request.get_header_value("If-None-Match"), tag)) {
    response.status = 304;
    return;
  }
  if (packed) response.set_header("Content-Encoding", "gzip");
  const std::string_view content = packed ? file.packed : file.plain;
  response.set_content(content.data(), content.size(), ContentTypeOf(file.name));
}

}  // namespace

void AddConsoleRoutes(HttpServer& server, std::shared_ptr<const LiveView> live,
                      const ApiKeyStore* keys, std::function<bool()> started) {
  HttpRoutes& routes = server.routes();
  for (const PageFile& file : PageFiles()) {
    const std::string path = file.name == kIndex ? "/" : StrCat("/console/", file.name);
    // A dot of a name must not stand for any character.
    routes.Get(file.name == kIndex ? path : absl::StrReplaceAll(path, {{".", "[.]"}}),
               [&file](const httplib::Request& request, httplib::Response& response) {
                 SendFile(file, request, response);
               });
  }
  routes.Get("/console/live", [live = std::move(live), keys, started = std::move(started)](
                                  const httplib::Request& request, httplib::Response& response) {
    if (!CheckApiKey(request, response, keys)) return;
    if (!started()) return SendError(response, 503, "the server is starting; try again soon");
    double since_ms = 0;
    if (!absl::SimpleAtod(request.get_param_value("since"), &since_ms)) since_ms = 0;
    response.set_header("Cache-Control", "no-store");
    response.set_content(live->Json(since_ms, AuthorizeHttpAdmin(request, keys).ok()),
                         "application/json");
  });
}

}  // namespace millrace::server
