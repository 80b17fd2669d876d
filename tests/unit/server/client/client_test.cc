#include "server/client/client.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "inference/grpc_service.grpc.pb.h"
#include "millrace/v1/admin.grpc.pb.h"
#include "millrace/v1/synthesis.grpc.pb.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "server/config/command_line.h"
#include "server/security/api_key_store.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using grpc::ServerContext;
using grpc::Status;

// Answers what a test can foresee.
class FakeTranslation final : public v1::TranslationService::Service {
  Status Translate(ServerContext* context, const v1::TranslateRequest* request,
                   v1::TranslateResponse* response) override {
    const auto& metadata = context->client_metadata();
    const auto key = metadata.find("authorization");
    authorization =
        key == metadata.end() ? "" : std::string(key->second.data(), key->second.size());
    ++calls;
    if (request->model() == "unknown")
      return Status(grpc::StatusCode::NOT_FOUND, "model: 'unknown' is not loaded");
    if (request->search().hypotheses() > 1)
      return Status(grpc::StatusCode::INVALID_ARGUMENT, "hypotheses: this model has no others");
    if (request->target_language() == "xx")
      return Status(grpc::StatusCode::NOT_FOUND, "source_language, target_language: there is none");
    if (request->target_language() == "yy")
      return Status(grpc::StatusCode::NOT_FOUND, "source_language, weather: there is none");
    if (request->model() == "fails later" && calls == 3)
      return Status(grpc::StatusCode::UNAVAILABLE, "gone");
    if (request->model() == "guarded")
      return Status(grpc::StatusCode::UNAUTHENTICATED, "send it as metadata");
    if (request->model() == "formats") {
      response->add_translations()->set_text(v1::TextFormat_Name(request->format()));
      return Status::OK;
    }
    for (const std::string& text : request->texts()) {
      response->add_translations()->set_text(request->source_language() + ">" +
                                             request->target_language() + " " + text);
    }
    return Status::OK;
  }

 public:
  std::string authorization;
  int calls = 0;
};

class FakeSynthesis final : public v1::SynthesisService::Service {
  Status StreamSynthesize(ServerContext*, const v1::SynthesizeRequest* request,
                          grpc::ServerWriter<v1::StreamSynthesizeResponse>* writer) override {
    if (request->text() == "silence") return Status::OK;
    for (int sentence = 0; sentence < 2; ++sentence) {
      const std::vector<float> samples(100, sentence == 0 ? 0.5F : -0.5F);
      v1::StreamSynthesizeResponse response;
      response.set_encoding(request->encoding());
      response.set_sample_rate(22050);
      response.mutable_audio()->resize(samples.size() * sizeof(float));
      std::memcpy(response.mutable_audio()->data(), samples.data(), samples.size() * sizeof(float));
      writer->Write(response);
      if (request->text() == "broken")
        return Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down");
    }
    return Status::OK;
  }
};

class FakeAdmin final : public v1::AdminService::Service {
  Status ListModels(ServerContext*, const v1::ListModelsRequest*,
                    v1::ListModelsResponse* response) override {
    v1::ModelStatus& model = *response->add_models();
    model.set_name("joe");
    model.set_version("3");
    model.set_state(v1::MODEL_STATE_READY);
    model.set_platform("vits");
    model.set_task("synthesis");
    model.add_voices("joe");
    model.add_languages("en-US");
    model.add_languages("es");
    model.set_sample_rate(22050);
    model.set_precision("int8");
    model.set_int8_distance_db(0.25F);
    v1::ModelStatus& future = *response->add_models();
    future.set_name("future");
    future.set_state(static_cast<v1::ModelState>(99));
    return Status::OK;
  }
};

class FakeInference final : public inference::GRPCInferenceService::Service {
  Status ModelInfer(ServerContext*, const inference::ModelInferRequest* request,
                    inference::ModelInferResponse*) override {
    if (request->model_name() == "full")
      return Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "queue of model 'full' is full");
    return Status::OK;
  }
};

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() {
    fs::create_directories(folder_);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    for (grpc::Service* service :
         std::initializer_list<grpc::Service*>{&translation_, &synthesis_, &admin_, &inference_}) {
      builder.RegisterService(service);
    }
    server_ = builder.BuildAndStart();
    client_.address = "127.0.0.1:" + std::to_string(port);
    client_.timeout = std::chrono::seconds(30);
  }
  ~ClientTest() override {
    server_->Shutdown();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Runs a client; its exit status, and what it wrote to out_ and err_.
  template <class Body>
  int Captured(Body body) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = body();
    std::fflush(stdout);
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return status;
  }
  static std::string Read(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           ("millrace_client_" + std::to_string(getpid()) + "_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
  FakeTranslation translation_;
  FakeSynthesis synthesis_;
  FakeAdmin admin_;
  FakeInference inference_;
  std::unique_ptr<grpc::Server> server_;
  ClientOptions client_;
  std::string out_;
  std::string err_;
};

TEST_F(ClientTest, TranslatePrintsTheTranslation) {
  EXPECT_EQ(Captured([&] { return RunTranslate({client_, "Hello", "m", "en", "pt"}); }), kExitOk);
  EXPECT_EQ(out_, "en>pt Hello\n");
  EXPECT_EQ(err_, "");
  EXPECT_EQ(translation_.authorization, "");
}

TEST_F(ClientTest, KeyGoesAlong) {
  client_.api_key = "secret";
  EXPECT_EQ(Captured([&] { return RunTranslate({client_, "Hello", "m", "", ""}); }), kExitOk);
  EXPECT_EQ(translation_.authorization, "Bearer secret");
}

TEST_F(ClientTest, ServersErrorIsOneLine) {
  EXPECT_EQ(Captured([&] {
              return RunTranslate({client_, "Hello", "unknown", "", ""});
            }),
            kExitFailed);
  EXPECT_EQ(err_, "millrace: --model: 'unknown' is not loaded\n");
  EXPECT_EQ(out_, "");
}

TEST_F(ClientTest, UnreachableServerNamesTheAddressAndTheRemedy) {
  server_->Shutdown();
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitFailed);
  EXPECT_NE(err_.find("no answer from " + client_.address), std::string::npos) << err_;
  EXPECT_NE(err_.find("millrace serve"), std::string::npos) << err_;
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
}

TEST_F(ClientTest, UnreadableTlsFileIsNamed) {
  client_.tls_ca = folder_ / "none.pem";
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + (folder_ / "none.pem").string() + ": cannot be read\n");
}

TEST_F(ClientTest, SynthesizeWritesAWaveFile) {
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

TEST_F(ClientTest, SynthesizeKeepsWhatHadComeAndSaysSo) {
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

TEST_F(ClientTest, SynthesizeWritesTheLengthIntoAFlac) {
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

TEST_F(ClientTest, TextsComeFromFiles) {
  std::ofstream(folder_ / "text") << "Bonjour";
  TranslateCommand command{client_, "", "m", "fr", "pt"};
  command.file = folder_ / "text";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk);
  EXPECT_EQ(out_, "fr>pt Bonjour\n");
  command.file = folder_ / "none";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + command.file.string() + ": cannot be read\n");
  command.file = folder_;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + folder_.string() + ": cannot be read, because it is a folder\n");
  command.file.clear();
  command.text = "Hello";
  command.glossary = folder_;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --glossary: " + folder_.string() +
                      ": cannot be read, because it is a folder\n");
}

TEST_F(ClientTest, DocumentsAreTranslatedTextByText) {
  TranslateCommand command{client_, "", "m", "en", "pt"};
  command.file = folder_ / "film.SRT";
  std::ofstream(command.file) << "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n"
                                 "2\n00:00:03,000 --> 00:00:04,000\nGood night.\n";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_EQ(out_,
            "1\n00:00:01,000 --> 00:00:02,000\nen>pt Hello.\n\n"
            "2\n00:00:03,000 --> 00:00:04,000\nen>pt Good night.\n");
  // A format makes it a text.
  command.format = "text";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_TRUE(out_.starts_with("en>pt 1\n00:00:01")) << out_;
  command.format.clear();
  command.json = true;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --json, --detect and --alternatives are for texts, and " +
                      command.file.string() + " is a document\n");
  command.json = false;
  command.file = folder_ / "broken.docx";
  std::ofstream(command.file) << "no zip";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_TRUE(err_.starts_with("millrace: --file: is not a zip archive")) << err_;
}

TEST_F(ClientTest, ADocumentOfManyTextsGoesInSeveralRequests) {
  TranslateCommand command{client_, "", "m", "en", "pt"};
  command.file = folder_ / "words.json";
  nlohmann::json words;
  nlohmann::json translated;
  for (int i = 0; i < 600; ++i) {
    words["k" + std::to_string(i)] = "Word.";
    translated["k" + std::to_string(i)] = "en>pt Word.";
  }
  std::ofstream(command.file) << words.dump();
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_EQ(nlohmann::json::parse(out_), translated);
  EXPECT_EQ(translation_.calls, 3);
  translation_.calls = 0;
  command.model = "fails later";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(out_, "");  // half a document is none
}

TEST_F(ClientTest, TheNameOfAFileSaysItsFormat) {
  TranslateCommand command{client_, "", "formats", "en", "pt"};
  for (const auto& [name, format] : {std::pair{"a.html", "TEXT_FORMAT_HTML"},
                                     {"a.md", "TEXT_FORMAT_MARKDOWN"},
                                     {"a.txt", "TEXT_FORMAT_UNSPECIFIED"},
                                     {"a", "TEXT_FORMAT_UNSPECIFIED"}}) {
    command.file = folder_ / name;
    std::ofstream(command.file) << "Hello";
    EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
    EXPECT_EQ(out_, std::string(format) + "\n") << name;
  }
}

TEST_F(ClientTest, LongTextsAreTranslatedInParts) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "This is a sentence of a paragraph.\n\n";
  TranslateCommand command{client_, text, "m", "en", "pt"};
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_GT(translation_.calls, 4);
  // Nothing but what the translator adds to each part is other than in the text.
  std::string without = out_;
  for (size_t at = 0; (at = without.find("en>pt ", at)) != std::string::npos;) without.erase(at, 6);
  EXPECT_EQ(without, text);
  translation_.calls = 0;
  command.model = "fails later";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_NE(err_.find("2 of 6 parts were translated"), std::string::npos) << err_;
  EXPECT_GT(out_.size(), 10'000U);
}

TEST_F(ClientTest, ErrorsNameFlags) {
  TranslateCommand command{client_, "Hello", "m", "en", "pt"};
  command.alternatives = 3;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --alternatives: this model has no others\n");
  command = {client_, "Hello", "m", "en", "xx"};
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --source, --target: there is none\n");
  // A message with a field that has no flag stays as it is.
  command.target_language = "yy";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: source_language, weather: there is none\n");
  command = {client_, "Hello", "guarded", "en", "pt"};
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: an API key is needed: --api-key KEY, or MILLRACE_API_KEY\n");
}

TEST_F(ClientTest, JsonAndVoicesOfModels) {
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

TEST_F(ClientTest, SynthesizeToStandardOutputWritesTheWaveAlone) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello";
  command.output = "-";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitOk);
  EXPECT_EQ(out_.size(), 44U + 2 * 200);
  EXPECT_EQ(out_.substr(0, 4), "RIFF");
}

TEST_F(ClientTest, SynthesizeTakesTheFormatFromTheNameOrAsTold) {
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

TEST_F(ClientTest, SynthesizeRefusesAnEndingThatNamesNoFormat) {
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

TEST_F(ClientTest, SynthesizeResamples) {
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

TEST_F(ClientTest, SynthesizeFailuresAreNamed) {
  SynthesizeCommand command;
  command.client = client_;
  command.text = "Hello";
  command.output = folder_ / "no" / "folder" / "out.wav";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_NE(err_.find("out.wav: cannot be written"), std::string::npos) << err_;
  command.text = "silence";
  EXPECT_EQ(Captured([&] { return RunSynthesize(command); }), kExitFailed);
  EXPECT_NE(err_.find("sent no audio"), std::string::npos) << err_;
}

TEST_F(ClientTest, ModelsOfAServer) {
  EXPECT_EQ(Captured([&] { return RunModels({client_, ""}); }), kExitOk);
  EXPECT_NE(out_.find("joe"), std::string::npos);
  EXPECT_NE(out_.find("READY"), std::string::npos);
  EXPECT_NE(out_.find("voices: joe; en-US, es; 22050 Hz; int8 (int8: 0.25 dB)\n"),
            std::string::npos)
      << out_;
  EXPECT_NE(out_.find("STATE_99"), std::string::npos) << out_;  // a newer server's
}

TEST_F(ClientTest, ModelsOfAFolder) {
  EXPECT_EQ(Captured([&] { return RunModels({client_, folder_ / "none"}); }), kExitFailed);
  EXPECT_NE(err_.find("no such folder"), std::string::npos) << err_;
  fs::create_directories(folder_ / "voice" / "2");
  std::ofstream(folder_ / "voice" / "2" / "model.pbtxt") << "vits {\n  flie: 'x'\n}";
  EXPECT_EQ(Captured([&] { return RunModels({client_, folder_}); }), kExitFailed);
  EXPECT_NE(out_.find("FAILED"), std::string::npos) << out_;
  EXPECT_NE(out_.find("model.pbtxt:2:"), std::string::npos) << out_;
}

TEST_F(ClientTest, VoicesOfAFolderHaveTheirPrecision) {
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

TEST_F(ClientTest, BenchNullPrintsRateAndLatencies) {
  BenchNullCommand command;
  command.client = client_;
  command.concurrency = 4;
  command.duration = std::chrono::milliseconds(500);
  command.warmup = std::chrono::milliseconds(0);
  EXPECT_EQ(Captured([&] { return RunBenchNull(command); }), kExitOk) << err_;
  double rate = 0;
  double p50 = 0;
  double p99 = 0;
  ASSERT_EQ(std::sscanf(out_.c_str(), "%lf requests/s, p50 %lf ms, p99 %lf ms", &rate, &p50, &p99),
            3)
      << out_;
  EXPECT_GT(rate, 0);
  EXPECT_GT(p50, 0);
  EXPECT_GE(p99, p50);
}

TEST_F(ClientTest, BenchNullStopsAtAnError) {
  BenchNullCommand command;
  command.client = client_;
  command.model = "full";
  command.duration = std::chrono::minutes(10);
  EXPECT_EQ(Captured([&] { return RunBenchNull(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: queue of model 'full' is full\n");
}

TEST_F(ClientTest, HashKeyMakesALineThatTheStoreTakes) {
  HashKeyCommand command;
  command.name = "ann";
  command.role = "admin";
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitOk);
  const std::string key = err_.substr(err_.rfind(' ') + 1, err_.size() - err_.rfind(' ') - 2);
  std::ofstream(folder_ / "keys") << out_;
  const auto store =
      ApiKeyStore::Open(folder_ / "keys", {.poll_interval = std::chrono::milliseconds(0)});
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->Authenticate(key)) << err_;
  EXPECT_EQ((*store)->Authenticate(key)->role, Role::kAdmin);
  EXPECT_EQ(out_.find(key), std::string::npos);
  command.name = "a:b";
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitFailed);
}

TEST_F(ClientTest, HashKeyAppendsItsLineAndShowsTheKeyThatItMade) {
  HashKeyCommand command;
  command.name = "ann";
  command.append = folder_ / "keys";
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitOk) << err_;
  EXPECT_EQ(out_, "");
  const std::string key = err_.substr(err_.rfind(' ') + 1, err_.size() - err_.rfind(' ') - 2);
  const auto store =
      ApiKeyStore::Open(command.append, {.poll_interval = std::chrono::milliseconds(0)});
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE((*store)->Authenticate(key)) << err_;
  fs::permissions(command.append, fs::perms::others_read, fs::perm_options::add);
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitFailed);
  EXPECT_NE(err_.find("is open to others"), std::string::npos) << err_;
  EXPECT_EQ(err_.find("key, shown"), std::string::npos) << err_;
}

}  // namespace
}  // namespace millrace
