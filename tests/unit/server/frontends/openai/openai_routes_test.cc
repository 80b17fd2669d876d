#include "server/frontends/openai/openai_routes.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "httplib.h"
#include "mps_runtime/base/joining_thread.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/frontends/openai/openai_routes_fixture.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(OpenAiRoutesTest, SpeechIsAnsweredInItsFormat) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  const Answer pcm = Post(Say());
  EXPECT_EQ(pcm.status, 200);
  EXPECT_EQ(pcm.body.size(), 2000U);
  EXPECT_EQ(pcm.headers.find("Content-Type")->second, "audio/pcm");
  EXPECT_EQ(pcm.headers.find("Transfer-Encoding")->second, "chunked");
  const std::vector<std::tuple<std::string, std::string, std::string>> formats = {
      {"mp3", "audio/mpeg", "\xFF"},
      {"opus", "audio/ogg", "OggS"},
      {"flac", "audio/flac", "fLaC"},
      {"wav", "audio/wav", "RIFF"}};
  for (const auto& [format, type, begin] : formats) {
    const Answer answer =
        Post(R"({"model": "joe", "input": "Hi", "response_format": ")" + format + "\"}");
    EXPECT_EQ(answer.status, 200) << format;
    EXPECT_EQ(answer.headers.find("Content-Type")->second, type);
    EXPECT_EQ(answer.body.substr(0, begin.size()), begin) << format;
  }
  AwaitAllEnded();
  EXPECT_EQ(server_->Count("joe", Method::kHttpSpeech, absl::StatusCode::kOk), 5);
}

TEST_F(OpenAiRoutesTest, EventsEndWithDone) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  const Answer answer = Post(Say(R"("stream_format": "sse")"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.find("Content-Type")->second, "text/event-stream");
  EXPECT_THAT(answer.body, HasSubstr(R"(data: {"type":"speech.audio.delta","audio":")"));
  EXPECT_THAT(
      answer.body,
      ::testing::EndsWith("data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":2,"
                          "\"output_tokens\":3,\"total_tokens\":5}}\n\n"));
}

TEST_F(OpenAiRoutesTest, TimesAreAnEventBeforeTheAudioOfTheirSentence) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = [](models::Request& request) {
                 const auto& input = std::get<models::SynthesizeInput>(request.input());
                 EXPECT_TRUE(input.word_times && input.phoneme_times);
                 for (size_t i = 0; i < 2; ++i) {
                   models::SynthesizeOutput part = Sound(4000);
                   part.sentence_index = i;
                   part.words = {{"\"Hi", 800, 1600, 4}};
                   part.phonemes = {{"h", 800, 1000}, {"I", 1000, 1600}};
                   request.Emit(std::move(part));
                 }
                 request.Finish(absl::OkStatus());
               }});
  const std::string body =
      Post(Say(R"("stream_format": "sse", "timestamps": ["word", "phoneme"])")).body;
  std::vector<json> events;
  for (size_t at = body.find("data: "); at != std::string::npos; at = body.find("data: ", at + 1))
    events.push_back(json::parse(body.substr(at + 6, body.find("\n\n", at) - at - 6)));
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0], json::parse(R"({"type": "speech.timestamps", "sentence_index": 0,
                "words": [{"text": "\"Hi", "start": 0.1, "end": 0.2, "character_offset": 4}],
                "phonemes": [{"text": "h", "start": 0.1, "end": 0.125},
                             {"text": "I", "start": 0.125, "end": 0.2}]})"));
  EXPECT_EQ(events[1]["type"], "speech.audio.delta");
  EXPECT_EQ(events[2]["words"][0]["start"], 0.6);
  EXPECT_EQ(events[3]["type"], "speech.audio.delta");
}

TEST_F(OpenAiRoutesTest, OpenAisModelsAreMadeForTheLanguageOfTheText) {
  Serve();
  models::ModelInfo kokoro = VoiceInfo("kokoro");
  kokoro.speech().languages = {"en-US", "ja"};
  kokoro.speech().voices = {"jm", "jf"};
  kokoro.speech().voice_languages = {"ja", "ja"};
  kokoro.speech().default_voices = {{"ja", "jf"}};
  std::vector<std::string> voices;
  server_->Add(kokoro, {.complete = [&](models::Request& request) {
                 voices.push_back(std::get<models::SynthesizeInput>(request.input()).voice);
                 SpeakOnce(request);
               }});
  models::ModelInfo joe = VoiceInfo("piper");
  joe.speech().languages = joe.speech().voice_languages = {"en-US"};
  server_->Add(joe, {.complete = SpeakOnce});
  const auto count = [&](const char* model) {
    return server_->Count(model, Method::kHttpSpeech, absl::StatusCode::kOk);
  };
  EXPECT_EQ(Post(R"({"model": "tts-1", "input": "x"})").status, 200);
  AwaitAllEnded();
  EXPECT_EQ(count("piper"), 1);
  EXPECT_EQ(Post(R"({"model": "tts-1", "input": "x", "language": "ja"})").status, 200);
  EXPECT_EQ(Post(R"({"model": "tts-1", "input": "x", "voice": "jm"})").status, 200);
  EXPECT_EQ(Post(R"({"model": "kokoro", "input": "x"})").status, 200);
  AwaitAllEnded();
  EXPECT_EQ(count("kokoro"), 3);
  EXPECT_EQ(voices, (std::vector<std::string>{"jf", "jm", "jm"}));
}

TEST_F(OpenAiRoutesTest, OpenAisModelsAreTheFirstForSpeech) {
  Serve();
  server_->Add(InferInfo("aaa"), {.complete = Echo});
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  server_->Add(VoiceInfo("zoe"), {});
  for (const std::string name : {"tts-1", "tts-1-hd", "gpt-4o-mini-tts"}) {
    EXPECT_EQ(Post(R"({"model": ")" + name + R"(", "input": "x"})").status, 200) << name;
  }
  AwaitAllEnded();
  EXPECT_EQ(server_->Count("joe", Method::kHttpSpeech, absl::StatusCode::kOk), 3);
  // Unless there is one of that name.
  server_->Add(VoiceInfo("tts-1"), {.complete = SpeakOnce});
  EXPECT_EQ(Post(R"({"model": "tts-1", "input": "x"})").status, 200);
  AwaitAllEnded();
  EXPECT_EQ(server_->Count("tts-1", Method::kHttpSpeech, absl::StatusCode::kOk), 1);
}

TEST_F(OpenAiRoutesTest, ErrorsHaveOpenAisShape) {
  Serve();
  server_->Add(InferInfo("null"), {});
  server_->Add(VoiceInfo("joe"), {.validate = [](const models::Input& input) {
                 return std::get<models::SynthesizeInput>(input).voice == "first"
                            ? absl::OkStatus()
                            : absl::InvalidArgumentError("voice: it has: first");
               }});
  struct Case {
    std::string body;
    int status;
    json param;
    json code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"{", 400, nullptr, nullptr, "not valid JSON"},
      {R"({"model": "joe"})", 400, "input", nullptr, "input: is missing"},
      {R"({"model": "joe", "input": ""})", 400, "input", nullptr, "input: is empty"},
      {Say(R"("voice": "nobody")"), 400, "voice", nullptr, "first"},
      {R"({"model": "nil", "input": "x"})", 404, "model", "model_not_found",
       "loaded for speech are: joe; these names"},
      {R"({"model": "null", "input": "x"})", 400, "model", nullptr, "for infer"},
      {std::string(100'001, ' '), 413, nullptr, nullptr, "100000 bytes"}};
  for (const Case& bad : cases) {
    const Answer answer = Post(bad.body);
    EXPECT_EQ(answer.status, bad.status) << bad.message;
    EXPECT_EQ(answer.headers.find("Content-Type")->second, "application/json");
    const json error = answer.error();
    EXPECT_THAT(error.at("message").get<std::string>(), HasSubstr(bad.message));
    EXPECT_EQ(error.at("type"), "invalid_request_error");
    EXPECT_EQ(error.at("param"), bad.param) << bad.message;
    EXPECT_EQ(error.at("code"), bad.code) << bad.message;
  }
  EXPECT_EQ(Get("/v1/nothing").error().at("message"), "no such path: '/v1/nothing'");
  EXPECT_EQ(Get("/v1/audio/speech").status, 405);
}

TEST_F(OpenAiRoutesTest, AFailureBeforeTheFirstAudioIsAnHttpStatus) {
  Serve();
  server_->Add(VoiceInfo("joe"),
               {.forward = [](models::Request&) { throw std::runtime_error("device lost"); }});
  const Answer answer = Post(Say());
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.error().at("type"), "server_error");
  EXPECT_THAT(answer.error().at("message").get<std::string>(), HasSubstr("device lost"));
}

// The audio is incomplete, and the client can tell: the last chunk is missing.
TEST_F(OpenAiRoutesTest, AFailureAfterTheFirstAudioCutsTheAnswerOff) {
  Serve();
  std::atomic<bool> fail{false};
  server_->Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 if (fail) throw std::runtime_error("device lost");
                 SpeakOn(request);
               }});
  const int descriptor = Connect(Say());
  char byte = 0;
  ASSERT_EQ(recv(descriptor, &byte, 1, 0), 1);
  fail = true;
  const std::string answer = ReadAll(descriptor);
  EXPECT_THAT(answer, HasSubstr("200 OK"));
  EXPECT_NE(answer.substr(answer.size() - 5), "0\r\n\r\n");
  AwaitAllEnded();
  EXPECT_EQ(server_->Count("joe", Method::kHttpSpeech, absl::StatusCode::kInternal), 1);
}

TEST_F(OpenAiRoutesTest, AFailureAmongEventsIsAnEvent) {
  Serve();
  std::atomic<bool> fail{false};
  server_->Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 if (fail) throw std::runtime_error("device lost");
                 SpeakOn(request);
               }});
  const int descriptor = Connect(Say(R"("stream_format": "sse")"));
  char byte = 0;
  ASSERT_EQ(recv(descriptor, &byte, 1, 0), 1);
  fail = true;
  std::string answer;
  char buffer[4096];
  while (answer.find("\r\n0\r\n\r\n") == std::string::npos) {
    const ssize_t count = recv(descriptor, buffer, sizeof(buffer), 0);
    ASSERT_GT(count, 0) << answer;
    answer.append(buffer, static_cast<size_t>(count));
  }
  close(descriptor);
  EXPECT_THAT(answer, HasSubstr("data: {\"error\":{\"message\":\"model 'joe' failed"));
}

TEST_F(OpenAiRoutesTest, AClientThatLeavesStopsItsWorkBeforeAndAfterTheFirstAudio) {
  Serve();
  Gate gate;
  std::atomic<bool> cancelled{false};
  server_->Add(VoiceInfo("quiet"), {.complete = [&](models::Request& request) {
                 gate.Pass();
                 Await([&] { return request.cancelled(); });
                 cancelled = true;
                 request.Finish(absl::CancelledError("the caller went away"));
               }});
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOn});
  const int waiting = Connect(R"({"model": "quiet", "input": "x"})");
  gate.AwaitInside();
  gate.Open();
  close(waiting);
  Await([&] { return cancelled.load(); });
  const int listening = Connect(Say());
  char byte = 0;
  ASSERT_EQ(recv(listening, &byte, 1, 0), 1);
  close(listening);
  AwaitAllEnded();
  EXPECT_EQ(server_->Count("quiet", Method::kHttpSpeech, absl::StatusCode::kCancelled), 1);
  EXPECT_EQ(server_->Count("joe", Method::kHttpSpeech, absl::StatusCode::kCancelled), 1);
}

TEST_F(OpenAiRoutesTest, SpeechConnectionsAreLimitedAndOthersStillServed) {
  Serve({.max_speech_connections = 2});
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOn});
  std::vector<int> listeners;
  for (int i = 0; i < 2; ++i) {
    listeners.push_back(Connect(Say()));
    char byte = 0;
    ASSERT_EQ(recv(listeners.back(), &byte, 1, 0), 1);
  }
  const Answer refused = Post(Say());
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.find("Retry-After")->second, "1");
  EXPECT_EQ(refused.headers.find("Retry-After-Ms")->second, "1000");
  EXPECT_EQ(refused.error().at("code"), "rate_limit_exceeded");
  EXPECT_EQ(refused.error().at("message"),
            "the server already speaks on 2 HTTP connections, which is its limit");
  EXPECT_EQ(Get("/v1/models").status, 200);
  for (const int descriptor : listeners) close(descriptor);
  AwaitAllEnded();
  server_->Add(VoiceInfo("short"), {.complete = SpeakOnce});
  // The places are free again, once the connections' threads have seen it.
  Await([&] { return Post(R"({"model": "short", "input": "x"})").status == 200; });
}

TEST_F(OpenAiRoutesTest, AFullQueueIs429WithATimeToWait) {
  Serve({}, {.workers = 1, .queue_size = 1});
  Gate gate;
  const auto voice = server_->Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                                    gate.Pass();
                                    SpeakOnce(request);
                                  }});
  JoiningThread running([&] { EXPECT_EQ(Post(Say()).status, 200); });
  gate.AwaitInside();
  JoiningThread waiting([&] { EXPECT_EQ(Post(Say()).status, 200); });
  Await([&] { return server_->scheduler.depth(voice->queue()) == 1; });
  const Answer refused = Post(Say());
  gate.Open();
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(refused.headers.find("Retry-After"), refused.headers.end());
  EXPECT_NE(refused.headers.find("Retry-After-Ms"), refused.headers.end());
}

TEST_F(OpenAiRoutesTest, WhileItStartsAndOnceItDrainsItIs503) {
  std::atomic<bool> started{false};
  Serve({.started = [&] { return started.load(); }});
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  EXPECT_EQ(Post(Say()).status, 503);
  EXPECT_EQ(Get("/v1/models").status, 503);
  started = true;
  EXPECT_EQ(Post(Say()).status, 200);
  server_->admission.Close();
  const Answer draining = Post(Say());
  EXPECT_EQ(draining.status, 503);
  EXPECT_EQ(draining.headers.find("Retry-After")->second, "1");
  EXPECT_EQ(draining.headers.find("Retry-After-Ms")->second, "1000");
  EXPECT_EQ(draining.error().at("type"), "server_error");
}

TEST_F(OpenAiRoutesTest, HealthSaysWhetherTheServerIsReady) {
  std::atomic<bool> started{false}, ready{false};
  Serve({.started = [&] { return started.load(); }, .ready = [&] { return ready.load(); }});
  const auto expect = [&](int status, const char* word) {
    const Answer health = Get("/health");
    EXPECT_EQ(health.status, status);
    EXPECT_EQ(json::parse(health.body).at("status"), word);
  };
  expect(503, "starting");
  started = true;  // and all models are unloaded, or it drains
  expect(503, "not ready");
  ready = true;
  expect(200, "healthy");
}

TEST_F(OpenAiRoutesTest, KeysAreAskedFor) {
  const auto keys = testing::OpenKeys({{"alice", Role::kUser, "secret"}});
  Serve({}, {.keys = keys.get()});
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  EXPECT_EQ(Post(Say(), {{"Authorization", "Bearer secret"}}).status, 200);
  const Answer wrong = Post(Say(), {{"Authorization", "Bearer wrong"}});
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(wrong.headers.find("WWW-Authenticate")->second, "Bearer");
  EXPECT_EQ(wrong.error().at("code"), "invalid_api_key");
  EXPECT_EQ(Post(Say()).status, 401);
  EXPECT_EQ(Get("/v1/models").status, 401);
  EXPECT_EQ(Get("/v1/audio/voices").status, 401);
  EXPECT_EQ(server_->Count("", Method::kHttpSpeech, absl::StatusCode::kUnauthenticated), 2);
}

TEST_F(OpenAiRoutesTest, ATypeThatIsNoJsonIsNamed) {
  Serve();
  const Answer refused =
      Post("input=Hi", {}, "/v1/audio/speech", "application/x-www-form-urlencoded");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.error().at("message"),
            "Content-Type: 'application/x-www-form-urlencoded' is not supported; "
            "application/json is");
}

TEST_F(OpenAiRoutesTest, ModelsAndVoicesAreListed) {
  Serve();
  server_->Add(InferInfo("null"), {});
  server_->Add(VoiceInfo("joe"), {});
  const json models = json::parse(Get("/v1/models").body);
  EXPECT_EQ(models.at("object"), "list");
  std::vector<std::string> ids;
  for (const json& model : models.at("data")) ids.push_back(model.at("id"));
  EXPECT_THAT(ids, ElementsAre("joe", "null", "tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro"));
  EXPECT_EQ(models.at("data")[0].at("object"), "model");
  EXPECT_EQ(models.at("data")[0].at("owned_by"), "millrace");
  EXPECT_GT(models.at("data")[0].at("created"), 1'600'000'000);
  EXPECT_EQ(json::parse(Get("/v1/models/null").body).at("id"), "null");
  EXPECT_EQ(json::parse(Get("/v1/models/tts-1").body).at("id"), "tts-1");
  const Answer unknown = Get("/v1/models/nil");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.error().at("param"), "model");
  const json voices = json::parse(Get("/v1/audio/voices").body).at("voices");
  ASSERT_EQ(voices.size(), 2U);
  EXPECT_EQ(voices[1].at("id"), "second");
  EXPECT_EQ(voices[1].at("model"), "joe");
}

TEST_F(OpenAiRoutesTest, AliasesAreListedOnceAndOnlyWhereTheyMeanSomething) {
  Serve();
  server_->Add(InferInfo("null"), {});
  EXPECT_EQ(json::parse(Get("/v1/models").body).at("data").size(), 1U);
  EXPECT_EQ(Get("/v1/models/tts-1").status, 404);
  server_->Add(VoiceInfo("tts-1"), {});
  EXPECT_EQ(json::parse(Get("/v1/models").body).at("data").size(), 5U);
}

TEST_F(OpenAiRoutesTest, VoicesAreThoseOfTheModelAskedFor) {
  Serve();
  server_->Add(InferInfo("null"), {});
  server_->Add(VoiceInfo("jane"), {});
  models::ModelInfo joe = VoiceInfo("joe");
  joe.speech().voices = {"one"};
  server_->Add(joe, {});
  const auto count = [this](const std::string& query) {
    return json::parse(Get("/v1/audio/voices" + query).body).at("voices").size();
  };
  EXPECT_EQ(count(""), 3U);
  EXPECT_EQ(count("?model=joe"), 1U);
  EXPECT_EQ(count("?model=tts-1"), 3U);  // the models that it may mean
  EXPECT_EQ(count("?model=null"), 0U);
  const Answer unknown = Get("/v1/audio/voices?model=nil");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.error().at("param"), "model");
}

TEST_F(OpenAiRoutesTest, AVoiceThatNoModelHasIsToldThoseOfAllThatTheAliasMayMean) {
  Serve();
  server_->Add(VoiceInfo("jane"), {.complete = SpeakOnce});
  models::ModelInfo joe = VoiceInfo("joe");
  joe.speech().voices = {"one"};
  server_->Add(joe, {.complete = SpeakOnce});
  const Answer answer = Post(R"({"model": "tts-1", "input": "x", "voice": "nobody"})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.error().at("param"), "voice");
  EXPECT_EQ(answer.error().at("message"),
            "voice: 'nobody' is a voice of no model; there are: first, second (jane), one (joe); "
            "OpenAI's names, such as alloy, stand for one of them");
  EXPECT_EQ(Post(R"({"model": "tts-1", "input": "x", "voice": "one"})").status, 200);
}

TEST_F(OpenAiRoutesTest, AnOldClientIsToldThatTheAnswerIsChunked) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  const int descriptor = Connect("");
  close(descriptor);
  const int old = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(http_->port()));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  ASSERT_EQ(connect(old, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string body = Say();
  const std::string request =
      "POST /v1/audio/speech HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  send(old, request.data(), request.size(), MSG_NOSIGNAL);
  EXPECT_THAT(ReadAll(old), HasSubstr("needs HTTP/1.1"));
}

}  // namespace
}  // namespace millrace::server
