#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "server/frontends/http/http_translator.h"

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
  std::vector<std::string> ignored;  // members that have no effect
};

// The parameters of a query in which plug-ins send a key.
inline constexpr const char* kPluginKeyParameters[] = {"token", "api_token"};

// How one of the plug-ins asks and is answered.
struct PluginProtocol {
  const char* path;
  // Its names for members of a request; empty for one that it does not have.
  std::string_view text;
  std::string_view texts;  // instead of one
  std::string_view source;
  std::string_view target;
  std::string_view format;  // says whether the texts are HTML
  // Finds the format of the texts, by that member if it is there. Null: they are plain.
  absl::Status (*take_format)(const nlohmann::json* value, PluginRequest& request);
  std::string (*answer)(const PluginRequest& request, HttpTranslator::Result result);
  std::string (*error)(int http_status, std::string_view message);
};

// Returns those with a path of their own: Immersive Translate's /imme, KISS Translator's /kiss,
// DeepLX's /deeplx and /v1/translate, and MTranServer's /translate/batch.
std::span<const PluginProtocol> PluginProtocols();

// Reads a request. Errors name the member, its value and what is allowed.
absl::StatusOr<PluginRequest> ParsePluginRequest(const PluginProtocol& protocol,
                                                 const nlohmann::json& members);
// Returns the message of a request that failed later, with the protocol's names. list: of
// PluginRequest.
std::string PluginErrorMessage(const PluginProtocol& protocol, bool list,
                               const absl::Status& status);

// Returns the one that such members belong to, of those that share POST /translate with
// LibreTranslate: DeepLX's or MTranServer's. Null: neither.
const PluginProtocol* ProtocolOfTranslate(const nlohmann::json& members);

}  // namespace millrace::server
