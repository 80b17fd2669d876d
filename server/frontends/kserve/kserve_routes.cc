#include "server/frontends/kserve/kserve_routes.h"

#include <string>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/kserve/model_config.h"
#include "server/frontends/kserve/repository_actions.h"
#include "server/http/http_routes.h"
#include "server/http/json_body.h"
#include "server/json/json_member.h"
#include "server/json/json_text.h"

namespace millrace {
namespace {

// This type keeps the order in which members are added.
using Json = nlohmann::ordered_json;

void Send(httplib::Response& response, int status, const Json& json) {
  response.status = status;
  // Names and errors come from files, so bytes that are not UTF-8 must not throw.
  response.set_content(server::JsonText(json), "application/json");
}

Json TensorsToJson(const std::vector<models::TensorSpec>& specs) {
  Json tensors = Json::array();
  for (const models::TensorSpec& spec : specs) {
    tensors.push_back({{"name", spec.name},
                       {"datatype", std::string(models::ToString(spec.type))},
                       {"shape", spec.shape}});
  }
  return tensors;
}

Json SummaryToJson(const ModelStatusView& model) {
  Json json = {{"name", model.info.name},
               {"version", StrCat(model.info.version)},
               {"state", std::string(ToString(model.state))}};
  if (!model.error.empty()) json["error"] = model.error;
  return json;
}

// An entry of Triton's index of the repository, which has a version only of what serves.
Json IndexEntry(const ModelStatusView& model) {
  const bool ready = TakesRequests(model.state);
  Json json = {{"name", model.info.name}};
  if (ready) json["version"] = StrCat(model.info.version);
  json["state"] = server::IndexState(model.state);
  if (!model.error.empty()) json["reason"] = model.error;
  return json;
}

// Returns whether only models that serve are asked for; the body may be empty.
absl::StatusOr<bool> OnlyReady(const httplib::Request& request, httplib::Response& response) {
  if (request.body.empty()) return false;
  MILLRACE_RETURN_IF_ERROR(CheckJsonType(request.get_header_value("Content-Type"), request.body));
  MILLRACE_ASSIGN_OR_RETURN(const auto members, ParseJsonObject(request.body));
  server::AddWarningOfOthers(members, {"ready"}, response);
  const auto ready = members.find("ready");
  if (ready == members.end()) return false;
  bool only_ready = false;
  MILLRACE_RETURN_IF_ERROR(server::TakeBool(*ready, "ready", only_ready));
  return only_ready;
}

// Add what is known of a loaded model by its task.
void AddDetails(const models::InferInfo& info, Json& json) {
  json["inputs"] = TensorsToJson(info.inputs);
  json["outputs"] = TensorsToJson(info.outputs);
}

void AddDetails(const models::TranslationInfo& info, Json& json) {
  json["source_language"] = info.source_language;
  json["target_language"] = info.target_language;
  if (!info.source_languages.empty()) json["source_languages"] = info.source_languages;
  if (!info.target_languages.empty()) json["target_languages"] = info.target_languages;
}

void AddDetails(const models::SpeechInfo& info, Json& json) {
  json["voices"] = info.voices;
  json["voice_languages"] = info.voice_languages;
  json["language"] = info.language;
  json["languages"] = info.languages;
  json["sample_rate"] = info.sample_rate;
}

// KServe's members come first, then ours. Of a model that is not loaded, only the name, version and
// state are known.
Json MetadataToJson(const ModelStatusView& model) {
  const models::ModelInfo& info = model.info;
  if (!TakesRequests(model.state)) {
    Json json = {{"name", info.name},
                 {"versions", {StrCat(info.version)}},
                 {"state", std::string(ToString(model.state))}};
    if (!model.error.empty()) json["error"] = model.error;
    return json;
  }
  Json json = {{"name", info.name},
               {"versions", {StrCat(info.version)}},
               {"platform", info.platform},
               {"inputs", Json::array()},
               {"outputs", Json::array()},
               {"state", std::string(ToString(model.state))},
               {"task", std::string(models::ToString(info.task()))},
               {"license", info.license}};
  std::visit([&json](const auto& details) { AddDetails(details, json); }, info.details);
  return json;
}

// Returns the model that the path names, or answers 404 and returns nothing. The second group of
// the path, a version, may be missing.
std::optional<ModelStatusView> FindModel(const ServerView& view, const httplib::Request& request,
                                         httplib::Response& response) {
  const std::string name = request.matches[1];
  const std::string version = request.matches[3];
  std::optional<ModelStatusView> model = view.FindModel(name);
  if (!model) {
    SendError(response, 404, StrCat("model ", Shown(name), " is unknown"));
    return std::nullopt;
  }
  if (!version.empty() && version != StrCat(model->info.version)) {
    SendError(response, 404,
              StrCat("model '", name, "' has no version ", Shown(version), ", it serves ",
                     model->info.version));
    return std::nullopt;
  }
  return model;
}

}  // namespace

void AddKServeRoutes(HttpServer& server, const ServerView& view, const ApiKeyStore* keys) {
  HttpRoutes& routes = server.routes();
  const auto guarded = [keys](auto handler) {
    return [keys, handler](const httplib::Request& request, httplib::Response& response) {
      if (CheckApiKey(request, response, keys)) handler(request, response);
    };
  };

  // An orchestrator restarts a server whose probe is not answered, or takes it out of its load
  // balancer.
  server.ReserveThreadsFor("/v2/health/");
  routes.Get("/v2/health/live", [&view](const httplib::Request&, httplib::Response& response) {
    const bool live = view.Live();
    Send(response, live ? 200 : 503, {{"live", live}});
  });
  routes.Get("/v2/health/ready", [&view](const httplib::Request&, httplib::Response& response) {
    const bool ready = view.Ready();
    Json json = {{"ready", ready}};
    if (std::string degraded = view.Degraded(); !degraded.empty())
      json["degraded"] = std::move(degraded);
    Send(response, ready ? 200 : 503, json);
  });
  routes.Get(
      "/v2", guarded([&view](const httplib::Request&, httplib::Response& response) {
        Send(response, 200,
             {{"name", "millrace"},
              {"version", view.Version()},
              {"extensions",
               {"binary_tensor_data", "model_configuration", "model_repository", "statistics"}}});
      }));
  routes.Get("/v2/models", guarded([&view](const httplib::Request&, httplib::Response& response) {
               Json models = Json::array();
               for (const ModelStatusView& model : view.Models())
                 models.push_back(SummaryToJson(model));
               Send(response, 200, {{"models", std::move(models)}});
             }));
  routes.Post("/v2/repository/index",
              guarded([&view](const httplib::Request& request, httplib::Response& response) {
                const auto only_ready = OnlyReady(request, response);
                if (!only_ready.ok())
                  return SendError(response, 400, std::string(Message(only_ready.status())));
                Json index = Json::array();
                for (const ModelStatusView& model : view.Models()) {
                  if (!*only_ready || TakesRequests(model.state))
                    index.push_back(IndexEntry(model));
                }
                Send(response, 200, index);
              }));
  constexpr char kModel[] = "/v2/models/([^/]+)(/versions/([^/]+))?";
  routes.Get(kModel, guarded([&view](const httplib::Request& request, httplib::Response& response) {
               if (const auto model = FindModel(view, request, response))
                 Send(response, 200, MetadataToJson(*model));
             }));
  routes.Get(StrCat(kModel, "/ready"),
             guarded([&view](const httplib::Request& request, httplib::Response& response) {
               const auto model = FindModel(view, request, response);
               if (!model) return;
               const bool ready = TakesRequests(model->state) && view.Ready();
               Send(response, ready ? 200 : 503, {{"name", model->info.name}, {"ready", ready}});
             }));
  routes.Get(StrCat(kModel, "/config"),
             guarded([&view](const httplib::Request& request, httplib::Response& response) {
               const auto model = FindModel(view, request, response);
               if (!model) return;
               // The tensors of other models are not known.
               if (TakesRequests(model->state))
                 return Send(response, 200, server::ModelConfigJson(model->info));
               SendError(response, 404, StrCat("model '", model->info.name, "' is not loaded"));
             }));
}

}  // namespace millrace
