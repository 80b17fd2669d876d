#include "server/frontends/wyoming/voice_list.h"

#include <gtest/gtest.h>

#include "tests/unit/server/frontends/wyoming/read_events.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;

json ProgramOf(const TestBackend& backend) {
  std::string bytes = MakeInfoEvent(backend.directory);
  const std::vector<ReadEvent> events = TakeEvents(bytes);
  EXPECT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().type, "info");
  for (const char* kind : {"asr", "handle", "intent", "wake", "mic", "snd"})
    EXPECT_EQ(events.front().data.at(kind), json::array()) << kind;
  EXPECT_EQ(events.front().data.at("tts").size(), 1U);
  return events.front().data.at("tts").at(0);
}

TEST(VoiceListTest, AProgramHasTheVoicesOfAllSpeechModels) {
  TestBackend backend;
  models::ModelInfo info = VoiceInfo("m");
  info.version = 3;
  info.speech().voice_languages = {"en-GB", ""};
  info.speech().languages = {"en-US", "pt-BR"};
  backend.Add(info, {});
  backend.Add(VoiceInfo("other"), {});
  backend.Add(TranslatorInfo("enpt", "en", "pt"), {});
  const json program = ProgramOf(backend);
  EXPECT_EQ(program.at("name"), "millrace");
  EXPECT_EQ(program.at("installed"), true);
  EXPECT_EQ(program.at("supports_synthesize_streaming"), true);
  EXPECT_EQ(program.at("version"), MILLRACE_VERSION);
  EXPECT_EQ(program.at("attribution"), json::parse(R"({"name":"Millrace","url":""})"));
  const json& voices = program.at("voices");
  ASSERT_EQ(voices.size(), 4U);
  const json first = {{"name", "m/first"},  {"attribution", {{"name", "m"}, {"url", ""}}},
                      {"installed", true},  {"description", "first (m)"},
                      {"version", "3"},     {"languages", {"en-GB"}},
                      {"speakers", nullptr}};
  EXPECT_EQ(voices[0], first);
  // A voice made for no known language has all that its model reads.
  EXPECT_EQ(voices[1].at("languages"), json::parse(R"(["en-US","pt-BR"])"));
  EXPECT_EQ(voices[2].at("name"), "other/first");
}

TEST(VoiceListTest, WithoutModelsTheProgramHasNoVoices) {
  const TestBackend backend;
  EXPECT_EQ(ProgramOf(backend).at("voices"), json::array());
}

}  // namespace
}  // namespace millrace::server
