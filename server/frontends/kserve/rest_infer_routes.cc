#include "server/frontends/kserve/rest_infer_routes.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/http/error_status.h"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/kserve/infer_tensors.h"
#include "server/frontends/kserve/rest_codec.h"
#include "server/frontends/kserve/rest_infer_reply.h"
#include "server/http/form.h"
#include "server/http/http_routes.h"
#include "server/http/json_body.h"
#include "server/http/multipart_form.h"
#include "server/json/ignored_members.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using httplib::ContentReader;

absl::Status NotAForm() {
  return InvalidArgument("the body must be JSON or binary data, not a form");
}

class RestInferRoutes {
 public:
  RestInferRoutes(Services& services, RestInferOptions options)
      : services_(services), options_(std::move(options)), connections_(options_.max_connections) {}

  void Infer(const httplib::Request& request, httplib::Response& response,
             const ContentReader& reader) {
    const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
    response.set_header("X-Request-Id", id);
    Ticket place;  // held until the connection is done with the reply
    std::string body;
    absl::StatusOr<std::shared_ptr<ServedModel>> model = Admit(request, place);
    if (!Read(request, reader, model.ok() ? &body : nullptr)) return;  // the library answers
    const auto reply =
        std::make_shared<RestInferReply>(services_, id, HttpCaller(request, services_.keys));
    RestInferForm form;
    Start(request, std::move(model), std::move(body), *reply, form);
    std::optional<absl::Status> end;
    while (!(end = reply->Wait(kClientCheckInterval))) {
      if (!HttpClientGone()) continue;
      reply->Abandon();
      return SendErrorStatus(response, absl::CancelledError("the caller went away"));
    }
    SetRateLimitHeaders(reply->run(), response);
    AddWarning(IgnoredMembersWarning(form.ignored), response);
    if (!end->ok()) return SendErrorStatus(response, *end);
    absl::StatusOr<RestInferAnswer> answer = EncodeRestInfer(reply->output(), form, reply->model());
    if (!answer.ok()) {
      reply->Fail(answer.status());
      return SendErrorStatus(response, answer.status());
    }
    if (answer->json_length) response.set_header(kJsonLengthHeader, StrCat(*answer->json_length));
    response.set_header("Content-Type",
                        answer->json_length ? "application/octet-stream" : "application/json");
    response.status = 200;
    response.body = std::move(answer->body);  // set_content would copy it
  }

 private:
  // Checks a request without its body. Only an admitted request may take memory for one.
  absl::StatusOr<std::shared_ptr<ServedModel>> Admit(const httplib::Request& request,
                                                     Ticket& place) {
    MILLRACE_RETURN_IF_ERROR(AuthenticateHttp(request, services_.keys));
    if (!options_.started()) return Starting();
    auto model = services_.models.FindForTask(models::Task::kInfer, request.matches[1].str(),
                                              request.matches[3].str());
    if (!model.ok()) return model;
    if (IsMultipartForm(request)) return NotAForm();
    absl::StatusOr<Ticket> entered = connections_.TryEnter();
    if (!entered.ok()) {
      return Refused(Refusal::kTooMany,
                     StrCat("the server already infers on ", options_.max_connections,
                            " HTTP connections, which is its limit"),
                     std::chrono::seconds(1));
    }
    place = *std::move(entered);
    return model;
  }

  // Reads the body, into nothing where it is not wanted: the connection's next request comes behind
  // it. Returns false if it did not arrive.
  static bool Read(const httplib::Request& request, const ContentReader& reader,
                   std::string* body) {
    size_t length = 0;
    if (body != nullptr && absl::SimpleAtoi(request.get_header_value("Content-Length"), &length))
      body->reserve(length);
    return reader([body](const char* data, size_t size) {
      if (body != nullptr) body->append(data, size);
      return true;
    });
  }

  void Start(const httplib::Request& request, absl::StatusOr<std::shared_ptr<ServedModel>> model,
             std::string body, RestInferReply& reply, RestInferForm& form) {
    if (!model.ok()) return reply.Start(model.status());
    std::optional<std::string> json_length;
    if (request.has_header(kJsonLengthHeader))
      json_length = request.get_header_value(kJsonLengthHeader);
    // Many clients send JSON under the type of a form.
    const std::string type = request.get_header_value("Content-Type");
    if (!json_length && !body.empty() && IsEncodedForm(type) && !IsJsonBody(type, body))
      return reply.Start(NotAForm());
    absl::StatusOr<RestInferRequest> decoded =
        DecodeRestInfer(std::move(body), json_length, (*model)->info());
    if (!decoded.ok()) return reply.Start(decoded.status());
    form = std::move(decoded->form);
    reply.Start(Work{.model = *std::move(model),
                     .input = std::move(decoded->input),
                     .timeout = InferTimeout(decoded->timeout_us)});
  }

  Services& services_;
  const RestInferOptions options_;
  Admission connections_;
};

}  // namespace

void AddRestInferRoutes(HttpServer& server, Services& services, RestInferOptions options) {
  const size_t max_body_bytes = options.max_body_bytes;
  const auto routes = std::make_shared<RestInferRoutes>(services, std::move(options));
  server.routes().Post("/v2/models/([^/]+)(/versions/([^/]+))?/infer",
                       HttpRoutes::Reader(std::bind_front(&RestInferRoutes::Infer, routes)),
                       max_body_bytes);
}

}  // namespace millrace::server
