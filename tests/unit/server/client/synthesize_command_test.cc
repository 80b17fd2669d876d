#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "tests/unit/server/client/client_fixture.h"

namespace millrace {
namespace {

using SynthesizeCommandTest = ClientTest;

TEST_F(SynthesizeCommandTest, SynthesizeWritesAWaveFile) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello. You.";
  command.output = folder_ / "out.wav";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitOk) << err_;
  const std::string wav = Read(folder_ / "out.wav");
  ASSERT_EQ(wav.size(), 44U + 2 * 200);
  EXPECT_EQ(wav.substr(0, 4), "RIFF");
  EXPECT_EQ(wav.substr(8, 4), "WAVE");
  int16_t first = 0;
  int16_t last = 0;
  std::memcpy(&first, &wav[44], 2);
  std::memcpy(&last, &wav[wav.size() - 2], 2);
  EXPECT_NEAR(first, 16384, 1);
  EXPECT_NEAR(last, -16384, 1);
  EXPECT_NE(err_.find("first after"), std::string::npos) << err_;
  EXPECT_EQ(out_, "");
}

TEST_F(SynthesizeCommandTest, SynthesizeKeepsWhatHadComeAndSaysSo) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "broken";
  command.output = folder_ / "out.wav";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_NE(err_.find("out.wav has the first 0.00 s"), std::string::npos) << err_;
  const std::string wav = Read(folder_ / "out.wav");
  ASSERT_EQ(wav.size(), 44U + 2 * 100);
  uint32_t riff = 0, data = 0;
  std::memcpy(&riff, &wav[4], 4);
  std::memcpy(&data, &wav[40], 4);
  EXPECT_EQ(riff, wav.size() - 8);
  EXPECT_EQ(data, 2U * 100);
}

TEST_F(SynthesizeCommandTest, SynthesizeWritesTheLengthIntoAFlac) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello. You.";
  command.output = folder_ / "out.flac";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitOk) << err_;
  const std::string flac = Read(folder_ / "out.flac");
  ASSERT_GT(flac.size(), 26U);
  EXPECT_EQ(flac[21] & 0xf, 0);
  EXPECT_EQ(static_cast<unsigned char>(flac[25]), 200);
}

TEST_F(SynthesizeCommandTest, SynthesizeToStandardOutputWritesTheWaveAlone) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello";
  command.output = "-";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitOk);
  EXPECT_EQ(out_.size(), 44U + 2 * 200);
  EXPECT_EQ(out_.substr(0, 4), "RIFF");
}

TEST_F(SynthesizeCommandTest, SynthesizeTakesTheFormatFromTheNameOrAsTold) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello. You.";
  const auto file = [&](const std::string& name) {
    command.output = folder_ / name;
    EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitOk) << err_;
    return Read(folder_ / name);
  };
  EXPECT_EQ(file("out.flac").substr(0, 4), "fLaC");
  EXPECT_EQ(file("out.OGG").substr(0, 4), "OggS");
  EXPECT_EQ(file("out.opus").substr(0, 4), "OggS");
  EXPECT_EQ(file("out.mp3").substr(0, 2), "\xFF\xF3");
  EXPECT_EQ(file("out.pcm").size(), 2U * 200);
  EXPECT_EQ(file("out.raw").size(), 2U * 200);
  EXPECT_EQ(file("out").substr(0, 4), "RIFF");
  command.format = "flac";
  EXPECT_EQ(file("out.wav").substr(0, 4), "fLaC");
  EXPECT_EQ(file("out.aac").substr(0, 4), "fLaC");
}

TEST_F(SynthesizeCommandTest, SynthesizeRefusesAnEndingThatNamesNoFormat) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello";
  for (const char* name : {"out.aac", "out.wave", "out."}) {
    command.output = folder_ / name;
    EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitUsage);
    EXPECT_NE(err_.find("--output: the ending of '" + command.output), std::string::npos) << err_;
    EXPECT_NE(err_.find(".wav, .flac, .mp3, .opus or .ogg, .pcm or .raw"), std::string::npos)
        << err_;
    EXPECT_FALSE(fs::exists(command.output));
  }
  command.output = folder_ / "out.wav";
  command.timestamps = folder_ / "out.srt";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitUsage);
  EXPECT_NE(err_.find("--timestamps: the ending of"), std::string::npos) << err_;
  EXPECT_NE(err_.find(".vtt, .json"), std::string::npos) << err_;
  EXPECT_FALSE(fs::exists(command.output));
}

TEST_F(SynthesizeCommandTest, SynthesizeResamples) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello. You.";
  command.output = folder_ / "out.pcm";
  command.sample_rate = 44100;
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitOk) << err_;
  EXPECT_EQ(Read(folder_ / "out.pcm").size(), 2U * 400);
  command.output = folder_ / "out.opus";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_NE(err_.find("--sample-rate: 44100 is not allowed; OGG_OPUS has"), std::string::npos)
      << err_;
}

TEST_F(SynthesizeCommandTest, SynthesizeFailuresAreNamed) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello";
  command.output = folder_ / "no" / "folder" / "out.wav";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_NE(err_.find("out.wav: cannot be written"), std::string::npos) << err_;
  command.output = folder_ / "out.wav";
  command.text = "silence";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_NE(err_.find("sent no audio"), std::string::npos) << err_;
}

TEST_F(SynthesizeCommandTest, WhatCannotBeWrittenOrSpokenIsToldBeforeTheServerIsAsked) {
  std::ofstream(folder_ / "file") << "kept";
  std::ofstream(folder_ / "empty.txt");
  const auto error = [&](const std::string& output, const std::string& times,
                         const std::string& text = "Hello") {
    SynthesizeCommand command;
    command.client = client_;
    command.text = text;
    command.output = folder_ / output;
    command.format = "wav";
    if (!times.empty()) command.timestamps = folder_ / times;
    EXPECT_NE(Captured([&] { return RunSynthesize(command); }), kExitOk);
    return err_;
  };
  const std::string begin = "millrace: " + folder_.string();
  EXPECT_EQ(error("no/out.wav", ""),
            begin + "/no/out.wav: cannot be written: No such file or directory\n");
  EXPECT_EQ(error("file/out.wav", ""),
            begin + "/file/out.wav: cannot be written: Not a directory\n");
  EXPECT_EQ(error("", ""), begin + "/: cannot be written: Is a directory\n");
  EXPECT_EQ(error("out.wav", "no/t.vtt"),
            begin + "/no/t.vtt: cannot be written: No such file or directory\n");
  EXPECT_EQ(error("out.json", "out.json"), "millrace: --timestamps: is the file of --output\n");
  EXPECT_EQ(error("out.wav", "", ""), "millrace: text: is empty\n");
  SynthesizeCommand command;
  command.client = client_;
  command.file = folder_ / "empty.txt";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_EQ(err_, begin + "/empty.txt: is empty\n");
  EXPECT_EQ(synthesis_.calls, 0);
  EXPECT_FALSE(fs::exists(folder_ / "out.wav"));
  EXPECT_EQ(Read(folder_ / "file"), "kept");
}

}  // namespace
}  // namespace millrace
