#include "server/frontends/openapi/openapi_document.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "httplib.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/control/version.h"
#include "server/frontends/openapi/route_table.h"
#include "server/http/http_routes.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// Returns the path with a name in place of each variable part.
std::string Example(std::string_view path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    if (c == '{' || c == '}') {
      inside = c == '{';
      if (inside) out += 'x';
    } else if (!inside) {
      out += c;
    }
  }
  // The files of the console have one name each.
  return path == "/console/{file}" ? "/console/live" : out;
}

// Returns the pattern that a request would reach; empty if none.
std::string PatternOf(const HttpRoutes& routes, const RouteDescription& described) {
  const std::string method(described.method);
  const HttpRoutes::Route route = routes.Find(Example(described.path), method);
  return HttpRoutes::Has(route.methods, method) ? route.pattern : std::string();
}

std::vector<RouteDescription> Served(const HttpRoutes& routes) {
  std::vector<RouteDescription> served;
  std::ranges::copy_if(
      RouteTable(), std::back_inserter(served),
      [&](const RouteDescription& described) { return !PatternOf(routes, described).empty(); });
  return served;
}

// The demo has these for variable parts of paths. The others are parts of earlier answers.
constexpr std::pair<std::string_view, std::string_view> kPathExamples[] = {
    {"model", "null"}, {"version", "1"}, {"voice_id", "joe"}, {"file", "live"}};

Json Parameter(std::string_view name, std::string_view place) {
  return {{"name", name}, {"in", place}, {"required", true}, {"schema", {{"type", "string"}}}};
}

// Returns the parameters of the variable parts of a path, and that of the query.
Json Parameters(const RouteDescription& described) {
  const std::string_view path = described.path;
  Json parameters = Json::array();
  for (size_t open = path.find('{'); open != path.npos; open = path.find('{', open + 1)) {
    const std::string_view name = path.substr(open + 1, path.find('}', open) - open - 1);
    parameters.push_back(Parameter(name, "path"));
    const auto example = std::ranges::find(kPathExamples, name, [](auto& e) { return e.first; });
    if (example != std::end(kPathExamples)) parameters.back()["example"] = example->second;
  }
  if (!described.query.empty()) parameters.push_back(Parameter(described.query, "query"));
  return parameters;
}

std::string_view Meaning(int status) {
  if (status == 101) return "The connection goes on as a WebSocket; see the documents";
  return status < 300 ? "Success" : "The usual answer";
}

Json Operation(const RouteDescription& described) {
  Json operation = {{"tags", {described.api}}, {"summary", described.summary}};
  if (Json parameters = Parameters(described); !parameters.empty())
    operation["parameters"] = std::move(parameters);
  if (!described.body.empty()) {
    operation["requestBody"] = {
        {"content",
         {{std::string(described.body_type),
           {{"schema", {{"type", "object"}}}, {"example", Json::parse(described.body)}}}}}};
  }
  Json answer = {{"description", Meaning(described.status)}};
  if (!described.answer.empty())
    answer["content"] = {{std::string(described.answer), Json::object()}};
  operation["responses"] = {{StrCat(described.status), std::move(answer)},
                            {"4XX", {{"description", "What is wrong, in words"}}},
                            {"5XX", {{"description", "What has failed, in words"}}}};
  return operation;
}

std::string Escaped(std::string_view text) {
  return absl::StrReplaceAll(View(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

}  // namespace

RouteAgreement CompareRoutes(const HttpRoutes& routes) {
  RouteAgreement agreement;
  std::set<std::string> described;
  for (const RouteDescription& route : RouteTable()) {
    const std::string pattern = PatternOf(routes, route);
    described.insert(StrCat(route.method, " ", pattern));
    if (pattern.empty()) agreement.unregistered.push_back(StrCat(route.method, " ", route.path));
  }
  for (const auto& [method, pattern] : routes.All()) {
    // All files of the console are one line of the table, which what leads to its page needs not.
    if (method == "GET" && (pattern.starts_with("/console") || pattern == "/web")) continue;
    std::string registered = StrCat(method, " ", pattern);
    if (!described.contains(registered)) agreement.undescribed.push_back(std::move(registered));
  }
  return agreement;
}

std::string OpenApiDocument(const HttpRoutes& routes) {
  Json paths = Json::object();
  for (const RouteDescription& described : Served(routes)) {
    paths[std::string(described.path)][absl::AsciiStrToLower(View(described.method))] =
        Operation(described);
  }
  Json document = {
      {"openapi", "3.1.0"},
      {"info", {{"title", "Millrace"}, {"version", kVersion}}},
      {"components", {{"securitySchemes", {{"key", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
      {"security", {Json::object(), {{"key", Json::array()}}}},  // a key where the server has keys
      {"paths", std::move(paths)}};
  // None, unless somebody has forgotten the table; a test looks here.
  if (const std::vector<std::string> undescribed = CompareRoutes(routes).undescribed;
      !undescribed.empty())
    document["x-undescribed"] = undescribed;
  return document.dump(1);
}

std::string OpenApiPage(const HttpRoutes& routes) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Millrace: HTTP "
      "API</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<h1>Millrace: HTTP "
      "API</h1>\n<p>The same for programs: <a href=\"/openapi.json\">openapi.json</a>. Where the "
      "server has API keys, requests need one: <code>Authorization: Bearer KEY</code>.</p>\n";
  std::string_view api;
  for (const RouteDescription& described : Served(routes)) {
    if (described.api != api) {
      page += StrCat(api.empty() ? "" : "</dl>\n", "<h2>", Escaped(described.api), "</h2>\n<dl>\n");
      api = described.api;
    }
    page += StrCat("<dt><code>", described.method, " ", Escaped(described.path),
                   "</code></dt>\n<dd>", Escaped(described.summary));
    if (!described.body.empty()) page += StrCat("<br><code>", Escaped(described.body), "</code>");
    page += "</dd>\n";
  }
  return page + "</dl>\n</html>\n";
}

void AddOpenApiRoutes(HttpServer& server) {
  struct Answers {
    std::string document;
    std::string page;
  };
  const auto answers = std::make_shared<Answers>();
  HttpRoutes& routes = server.routes();
  // LibreTranslate has its own at /spec.
  for (const char* path : {"/openapi[.]json", "/spec"}) {
    routes.Get(path, [answers](const httplib::Request&, httplib::Response& response) {
      response.set_content(answers->document, "application/json");
    });
  }
  routes.Get("/docs", [answers](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Security-Policy", "default-src 'none'");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_content(answers->page, "text/html; charset=utf-8");
  });
  *answers = {.document = OpenApiDocument(routes), .page = OpenApiPage(routes)};
}

}  // namespace millrace::server
