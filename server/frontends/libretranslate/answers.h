#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/http/httplib_fwd.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// Returns the message of an error with LibreTranslate's names of the members.
std::string LibreTranslateMessage(const absl::Status& status);
// Answers with an error as LibreTranslate does: it calls the text q, and knows neither 401 nor 404.
void SendStatus(httplib::Response& response, const absl::Status& status);
void SendJson(httplib::Response& response, const std::string& body);

// OK if the request has a known key, as api_key or as the other endpoints take it, or keys is null;
// else UNAUTHENTICATED. api_key: the member of the request; empty: there is none.
absl::Status CheckKey(const httplib::Request& request, const ApiKeyStore* keys,
                      std::string_view api_key);

}  // namespace millrace::server
