#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "inference/grpc_service.grpc.pb.h"
#include "millrace/v1/admin.grpc.pb.h"
#include "millrace/v1/synthesis.grpc.pb.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "server/client/client.h"
#include "server/config/command_line.h"

namespace millrace {

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
    if (request->texts_size() == 1 && request->texts(0).empty())
      return Status(grpc::StatusCode::INVALID_ARGUMENT, "texts[0]: is empty");
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
    ++calls;
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

 public:
  int calls = 0;
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

}  // namespace millrace
