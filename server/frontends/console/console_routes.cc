#include "server/frontends/console/console_routes.h"

#include <openssl/sha.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
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
#include "server/http/http_status.h"
#include "server/http/query.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// Returns the source expression that allows the style in the page, and no other (Content Security
// Policy Level 3, 6.7.2.4).
std::string StyleSource(std::string_view page) {
  constexpr std::string_view kBegin = "<style>";
  const size_t begin = page.find(kBegin) + kBegin.size();
  const std::string_view style = page.substr(begin, page.find("</style>") - begin);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(style.data()), style.size(), digest);
  return StrCat(
      "'sha256-",
      absl::Base64Escape(absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest))),
      "'");
}

// The page loads nothing from elsewhere, runs no inline code and is shown in no frame. The images
// and sounds that it makes itself are data: and blob: URLs.
std::string ContentSecurityPolicy(std::string_view style_source) {
  return StrCat("default-src 'none'; script-src 'self'; style-src ", style_source,
                "; connect-src 'self'; img-src 'self' data: blob:; media-src blob:; base-uri "
                "'none'; form-action 'none'; frame-ancestors 'none'");
}

constexpr char kIndex[] = "index.html";

const char* ContentTypeOf(std::string_view name) {
  return name.ends_with(".js") ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8";
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

void SendFile(const PageFile& file, const std::string& policy, const httplib::Request& request,
              httplib::Response& response) {
  const bool packed = HttpClientAcceptsGzip();
  const std::string tag = StrCat("\"", file.hash, packed ? "-gzip" : "", "\"");
  response.set_header("ETag", tag);
  response.set_header("Cache-Control", "no-cache");  // kept, and asked for again each time
  response.set_header("Vary", "Accept-Encoding");
  response.set_header("Content-Security-Policy", policy);
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

// The longest time that the hubs may take for their lists.
constexpr std::chrono::seconds kListingTime{60};
// Lists of the hubs that are asked for at once; each occupies a connection's thread and a process.
constexpr int kMaxListings = 2;

// Answers with what the server does now, and with the models that there are. Thread-safe.
class ConsoleData {
 public:
  ConsoleData(std::shared_ptr<const LiveView> live, std::shared_ptr<const ShelfView> shelf,
              const ApiKeyStore* keys, std::function<bool()> started)
      : live_(std::move(live)),
        shelf_(std::move(shelf)),
        keys_(keys),
        started_(std::move(started)),
        listings_(kMaxListings) {}

  void Live(const httplib::Request& request, httplib::Response& response) {
    if (!Check(request, response)) return;
    std::string since;
    HttpQuery().TakeText("since", since).IgnoreError();
    double since_ms = 0;
    if (!absl::SimpleAtod(since, &since_ms)) since_ms = 0;
    Answer(response, live_->Json(since_ms, AuthorizeHttpAdmin(request, keys_).ok()));
  }

  void Shelf(const httplib::Request& request, httplib::Response& response) {
    if (!Check(request, response)) return;
    Answer(response, shelf_->InstalledJson(AuthorizeHttpAdmin(request, keys_).ok()));
  }

  void Available(const httplib::Request& request, httplib::Response& response) {
    if (!Check(request, response)) return;
    if (const absl::Status status = AuthorizeHttpAdmin(request, keys_); !status.ok())
      return Answer(response, status);
    const absl::StatusOr<Ticket> place = listings_.TryEnter();
    if (!place.ok()) {
      return Answer(response, absl::ResourceExhaustedError(
                                  "the hubs are being asked for others already; try again soon"));
    }
    const auto end = std::chrono::steady_clock::now() + kListingTime;
    Answer(response, shelf_->AvailableJson([end] {
      return std::chrono::steady_clock::now() >= end || HttpClientGone();
    }));
  }

 private:
  bool Check(const httplib::Request& request, httplib::Response& response) const {
    if (!CheckApiKey(request, response, keys_)) return false;
    if (started_()) return true;
    SendError(response, 503, std::string(Message(Starting())));
    return false;
  }

  static void Answer(httplib::Response& response, const absl::StatusOr<std::string>& json) {
    if (!json.ok())
      return SendError(response, HttpStatusOf(json.status()), std::string(Message(json.status())));
    response.set_header("Cache-Control", "no-store");
    response.set_content(*json, "application/json");
  }

  const std::shared_ptr<const LiveView> live_;
  const std::shared_ptr<const ShelfView> shelf_;
  const ApiKeyStore* const keys_;
  const std::function<bool()> started_;
  Admission listings_;
};

}  // namespace

void AddConsoleRoutes(HttpServer& server, std::shared_ptr<const LiveView> live,
                      std::shared_ptr<const ShelfView> shelf, const ApiKeyStore* keys,
                      std::function<bool()> started) {
  HttpRoutes& routes = server.routes();
  for (const PageFile& file : PageFiles()) {
    const bool is_index = file.name == kIndex;
    // A dot of a name must not stand for any character.
    const std::string path =
        is_index ? "/" : absl::StrReplaceAll(StrCat("/console/", file.name), {{".", "[.]"}});
    routes.Get(path, [&file, policy = ContentSecurityPolicy(is_index ? StyleSource(file.plain)
                                                                     : "'none'")](
                         const httplib::Request& request, httplib::Response& response) {
      SendFile(file, policy, request, response);
    });
  }
  // These are where people look for a page of such a server, which a proxy may have in a folder.
  for (const char* path : {"/console", "/web"}) {
    routes.Get(path, [](const httplib::Request& request, httplib::Response& response) {
      response.set_redirect(request.path.ends_with('/') ? "../" : "./");
    });
  }
  const auto data =
      std::make_shared<ConsoleData>(std::move(live), std::move(shelf), keys, std::move(started));
  routes.Get("/console/live", std::bind_front(&ConsoleData::Live, data));
  routes.Get("/console/shelf", std::bind_front(&ConsoleData::Shelf, data));
  // A POST, because browsers tell whose page sends it: other pages must not have the hubs asked.
  routes.Post("/console/shelf/available", std::bind_front(&ConsoleData::Available, data));
}

}  // namespace millrace::server
