#include "tests/load/loadgen/http_requests.h"

#include <string_view>

#include "nlohmann/json.hpp"

namespace millrace::loadgen {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxShown = 200;  // characters of an answer that a report shows

// The rate of the voices that are measured, so that no speech is resampled.
constexpr int kSampleRate = 22050;

std::string Request(const Options& options, const std::string& path, const std::string& headers,
                    const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: " + options.address + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// The values that calls over gRPC send.
std::string InferData() {
  constexpr int kValues = 64;
  std::vector<float> values(kValues);
  for (int i = 0; i < kValues; ++i) values[i] = 0.5F * static_cast<float>(i) - 7;
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string InferRequest(const Options& options) {
  const std::string data = InferData();
  Json input;
  input["name"] = "INPUT0";
  input["shape"] = Json::array({data.size() / sizeof(float)});
  input["datatype"] = "FP32";
  input["parameters"]["binary_data_size"] = data.size();
  Json request;
  request["inputs"] = Json::array({input});
  request["parameters"]["binary_data_output"] = true;
  const std::string json = request.dump();
  return Request(options, "/v2/models/" + options.model + "/infer",
                 "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: " +
                     std::to_string(json.size()) + "\r\n",
                 json + data);
}

std::string TextRequest(const Options& options, const std::string& text) {
  constexpr char kJson[] = "Content-Type: application/json\r\n";
  if (options.method == Method::kHttpTranslate) {
    const Json body = {
        {"q", text}, {"source", options.source_language}, {"target", options.target_language}};
    return Request(options, "/translate", kJson, body.dump());
  }
  const Json body = {{"model", options.model},   {"input", text},
                     {"response_format", "pcm"}, {"sample_rate", kSampleRate},
                     {"voice", options.voice},   {"seed", options.seed}};
  return Request(options, "/v1/audio/speech", kJson, body.dump());
}

}  // namespace

std::vector<std::string> MakeHttpRequests(const Options& options) {
  if (options.method == Method::kHttpInfer) return {InferRequest(options)};
  std::vector<std::string> requests;
  for (const std::string& text : options.texts) requests.push_back(TextRequest(options, text));
  return requests;
}

grpc::Status StatusOf(const HttpResponse& response) {
  const auto code = [&response] {
    switch (response.status()) {
      case 200:
        return grpc::StatusCode::OK;
      case 400:
        return grpc::StatusCode::INVALID_ARGUMENT;
      case 401:
        return grpc::StatusCode::UNAUTHENTICATED;
      case 404:
        return grpc::StatusCode::NOT_FOUND;
      case 429:
        return grpc::StatusCode::RESOURCE_EXHAUSTED;
      case 500:
        return grpc::StatusCode::INTERNAL;
      case 503:
        return grpc::StatusCode::UNAVAILABLE;
      case 504:
        return grpc::StatusCode::DEADLINE_EXCEEDED;
      default:
        return grpc::StatusCode::UNKNOWN;
    }
  }();
  if (code == grpc::StatusCode::OK) return grpc::Status::OK;
  return {code, std::to_string(response.status()) + " " + response.body().substr(0, kMaxShown)};
}

void CheckHttpAnswer(const Options& options, size_t input, const HttpResponse& response,
                     Recorder& recorder, Outputs& outputs) {
  const std::string_view body = response.body();
  if (options.method == Method::kHttpInfer) {
    static const std::string expected = InferData();
    if (body.substr(response.json_bytes()) != expected) recorder.AddWrong();
    return;
  }
  std::string text;
  double audio_seconds = 0;
  if (options.method == Method::kHttpTranslate) {
    const Json answer = Json::parse(body, nullptr, /*allow_exceptions=*/false);
    const auto translated = answer.find("translatedText");
    if (translated != answer.end() && translated->is_string()) text = *translated;
    if (text.empty()) recorder.AddWrong();
  } else {
    constexpr double kBytesPerSample = 2;
    audio_seconds = static_cast<double>(body.size()) / kBytesPerSample / kSampleRate;
    if (body.empty()) recorder.AddWrong();
  }
  Hash hash;
  hash.Append(text.empty() ? body : std::string_view(text));
  const uint64_t bytes = text.empty() ? body.size() : text.size();
  recorder.AddWork(audio_seconds, bytes);
  outputs.Add(input, bytes, hash.value(), text);
}

}  // namespace millrace::loadgen
