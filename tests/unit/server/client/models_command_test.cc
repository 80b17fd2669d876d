#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/unit/server/client/client_fixture.h"

namespace millrace {
namespace {

using ModelsCommandTest = ClientTest;

TEST_F(ModelsCommandTest, JsonAndVoicesOfModels) {
  ModelsCommand command{client_, ""};
  command.voices = true;
  EXPECT_EQ(Captured([&] { return RunModels(command); }), kExitOk);
  EXPECT_NE(out_.find("joe                      -          joe"), std::string::npos) << out_;
  command.json = true;
  EXPECT_EQ(Captured([&] { return RunModels(command); }), kExitOk);
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["models"][0]["sample_rate"], 22050);
  TranslateCommand translate{client_, "Hello", "m", "en", "pt"};
  translate.json = true;
  EXPECT_EQ(Captured([&] { return RunTranslate(translate); }), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out_)["translations"][0]["text"], "en>pt Hello");
}

TEST_F(ModelsCommandTest, ModelsOfAServer) {
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitOk);
  EXPECT_NE(out_.find("joe"), std::string::npos);
  EXPECT_NE(out_.find("READY"), std::string::npos);
  EXPECT_NE(out_.find("voices: joe; en-US, es; 22050 Hz; int8 (int8: 0.25 dB)\n"),
            std::string::npos)
      << out_;
  EXPECT_NE(out_.find("STATE_99"), std::string::npos) << out_;  // a newer server's
}

TEST_F(ModelsCommandTest, ModelsOfAFolder) {
  EXPECT_EQ(Captured([&] { return RunModels({client_, folder_ / "none"}); }), kExitFailed);
  EXPECT_NE(err_.find("no such folder"), std::string::npos) << err_;
  fs::create_directories(folder_ / "voice" / "2");
  std::ofstream(folder_ / "voice" / "2" / "model.pbtxt") << "vits {\n  flie: 'x'\n}";
  EXPECT_EQ(Captured([&] { return RunModels({client_, folder_}); }), kExitFailed);
  EXPECT_NE(out_.find("FAILED"), std::string::npos) << out_;
  EXPECT_NE(out_.find("model.pbtxt:2:"), std::string::npos) << out_;
}

TEST_F(ModelsCommandTest, VoicesOfAFolderHaveTheirPrecision) {
  const auto listed = [&](const std::string& fields, bool json) {
    fs::create_directories(folder_ / "voice" / "1");
    for (const char* const file : {"w", "v"}) std::ofstream(folder_ / "voice" / "1" / file) << "x";
    std::ofstream(folder_ / "voice" / "1" / "model.pbtxt")
        << "license: 'CC0-1.0' vits { file: 'w' voice_file: 'v' language: 'en' voice: 'x' "
        << fields << " }";
    ModelsCommand command{client_, folder_};
    command.json = json;
    EXPECT_EQ(Captured([&] { return RunModels(command); }), kExitOk) << out_ << err_;
    return out_;
  };
  // An older package says nothing of either.
  EXPECT_NE(listed("", false).find("CC0-1.0; float32\n"), std::string::npos) << out_;
  const std::string measured = "precision: PRECISION_AUTO int8_distance_db: 0.3";
  EXPECT_NE(listed(measured, false).find("CC0-1.0; auto (int8: 0.30 dB)\n"), std::string::npos)
      << out_;
  const std::string json = listed(measured, true);
  EXPECT_NE(json.find("\"precision\": \"auto\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"int8_distance_db\": 0.3,\n"), std::string::npos) << json;
}

}  // namespace
}  // namespace millrace
