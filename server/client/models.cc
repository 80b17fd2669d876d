#include <cmath>
#include <cstdio>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "models/core/strings.h"
#include "models/repository/model_repository.h"
#include "nlohmann/json.hpp"
#include "server/client/admin_call.h"
#include "server/client/client.h"
#include "server/client/json_text.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRow = "%-24s %-8s %-10s %-12s %s\n";

// Returns what a voice computes in and how far its sounds in int8 are, as the end of its line.
std::string PrecisionText(const std::string& precision, float int8_distance_db) {
  if (precision.empty()) return "";  // an older server does not tell
  const std::string distance =
      int8_distance_db > 0 ? StrCat(" (int8: ", absl::StrFormat("%.2f dB", int8_distance_db), ")")
                           : "";
  return StrCat("; ", precision, distance);
}

std::string Details(const v1::ModelStatus& model) {
  if (!model.error().empty()) return model.error();
  if (model.task() == "translation")
    return StrCat(model.source_language(), " -> ", model.target_language());
  if (model.task() == "synthesis") {
    std::string details = "voices: ";
    for (int i = 0; i < model.voices_size(); ++i) {
      absl::StrAppend(&details, i == 0 ? "" : ", ", model.voices(i));
      if (i < model.voice_languages_size() && !model.voice_languages(i).empty())
        absl::StrAppend(&details, " (", model.voice_languages(i), ")");
    }
    if (!model.languages().empty())
      absl::StrAppend(&details, "; ", absl::StrJoin(model.languages(), ", "));
    return StrCat(details, "; ", model.sample_rate(), " Hz",
                  PrecisionText(model.precision(), model.int8_distance_db()));
  }
  return "";
}

std::string StateName(v1::ModelState state) {
  static constexpr std::string_view kPrefix = "MODEL_STATE_";
  const std::string& name = v1::ModelState_Name(state);
  // A newer server may have states without a name here.
  return name.size() > kPrefix.size() ? name.substr(kPrefix.size())
                                      : StrCat("STATE_", static_cast<int>(state));
}

// Returns where a model is from, as the end of its line.
std::string OriginText(const std::string& name, const std::string& revision,
                       const std::string& date) {
  if (name.empty()) return "";
  return StrCat("; ", name, " ", revision.substr(0, 12), " of ", date);
}

// Prints a line for each voice that speaks.
void ListVoices(const v1::ListModelsResponse& response) {
  constexpr const char* kVoiceRow = "%-24s %-10s %s\n";
  std::printf(kVoiceRow, "VOICE", "LANGUAGE", "MODEL");
  for (const v1::ModelStatus& model : response.models()) {
    for (int i = 0; i < model.voices_size(); ++i) {
      const bool known = i < model.voice_languages_size() && !model.voice_languages(i).empty();
      std::printf(kVoiceRow, model.voices(i).c_str(),
                  known ? model.voice_languages(i).c_str() : "-", model.name().c_str());
    }
  }
}

int ListFolder(const ModelsCommand& command) {
  const models::ModelRepository repository(command.models, nullptr);
  if (const absl::Status status = repository.Check(); !status.ok())
    return Fail(std::string(status.message()));
  const auto entries = repository.List();
  if (!entries.ok()) return Fail(std::string(entries.status().message()));
  Json listed = Json::array();
  int failed = 0;
  for (const auto& entry : *entries) {
    const auto package = repository.Find(entry);
    failed += !package.ok();
    Json& model = listed.emplace_back();
    model["name"] = entry.name;
    model["version"] = StrCat(entry.versions.back());
    model["state"] = package.ok() ? "AVAILABLE" : "FAILED";
    model["platform"] = package.ok() ? std::string(package->config.kind->name) : "-";
    model["license"] = package.ok() ? package->config.license : "";
    if (package.ok() && !package->config.origin.name.empty()) {
      const models::ModelOrigin& origin = package->config.origin;
      model["origin"] = {
          {"name", origin.name}, {"revision", origin.revision}, {"date", origin.date}};
    }
    if (package.ok()) {
      const models::ModelDetails details = package->config.settings->Details();
      if (const auto* const speech = std::get_if<models::SpeechInfo>(&details); speech != nullptr) {
        model["precision"] = speech->precision;
        // A float has digits that model.pbtxt does not have.
        model["int8_distance_db"] = std::round(speech->int8_distance_db * 1000.0) / 1000.0;
      }
    }
    model["error"] = std::string(package.status().message());
  }
  if (command.json) {
    std::printf("%s\n", Json{{"models", listed}}.dump(1).c_str());
    return failed == 0 ? kExitOk : kExitFailed;
  }
  std::printf(kRow, "MODEL", "VERSION", "STATE", "PLATFORM", "DETAILS");
  for (const Json& model : listed) {
    const auto text = [&](const char* member) { return model[member].get<std::string>(); };
    std::string details = text(text("error").empty() ? "license" : "error");
    if (const auto found = model.find("origin"); found != model.end()) {
      const auto field = [&](const char* member) { return (*found)[member].get<std::string>(); };
      details += OriginText(field("name"), field("revision"), field("date"));
    }
    if (const auto found = model.find("precision"); found != model.end())
      details += PrecisionText(found->get<std::string>(), model["int8_distance_db"].get<float>());
    std::printf(kRow, text("name").c_str(), text("version").c_str(), text("state").c_str(),
                text("platform").c_str(), details.c_str());
  }
  return failed == 0 ? kExitOk : kExitFailed;
}

}  // namespace

int RunModels(const ModelsCommand& command) {
  if (!command.models.empty()) return ListFolder(command);
  v1::ListModelsResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::ListModels, {}, response))
    return kExitFailed;
  if (command.json) return PrintJson(response);
  if (command.voices) {
    ListVoices(response);
    return kExitOk;
  }
  std::printf(kRow, "MODEL", "VERSION", "STATE", "PLATFORM", "DETAILS");
  for (const v1::ModelStatus& model : response.models()) {
    std::printf(kRow, model.name().c_str(), model.version().c_str(),
                StateName(model.state()).c_str(), model.platform().c_str(),
                (Details(model) + OriginText(model.origin().name(), model.origin().revision(),
                                             model.origin().date()))
                    .c_str());
  }
  return kExitOk;
}

}  // namespace millrace
