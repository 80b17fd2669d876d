#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "server/frontends/http/http_translator.h"
#include "server/requests/field_names.h"

namespace millrace::server {

// A request of a plug-in.
struct PluginRequest {
  TranslationRequest translation;
  // As the client names them.
  std::string source_language;
  std::string target_language;
  bool list = false;  // several texts are asked for, and several are answered
  // True if the texts are HTML only in their placeholders, so that a & is written as such.
  bool bare_ampersands = false;
};

// How one of the plug-ins asks and is answered.
struct PluginProtocol {
  const char* path;
  absl::StatusOr<PluginRequest> (*parse)(const nlohmann::json& members);
  std::string (*answer)(const PluginRequest& request, HttpTranslator::Result result);
  std::string (*error)(int http_status, std::string_view message);
  FieldNames names;
};

// Returns those with a path of their own: Immersive Translate's /imme, KISS Translator's /kiss,
// DeepLX's /deeplx and /v1/translate, and MTranServer's /translate/batch.
std::span<const PluginProtocol> PluginProtocols();

// Returns the one that such members belong to, of those that share POST /translate with
// LibreTranslate: DeepLX's or MTranServer's. Null: neither.
const PluginProtocol* ProtocolOfTranslate(const nlohmann::json& members);

}  // namespace millrace::server
