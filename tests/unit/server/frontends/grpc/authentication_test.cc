#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "server/frontends/grpc/call_metadata.h"
#include "server/security/api_key_store.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/infer_request.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using inference::GRPCInferenceService;

// A server that asks for a key; "user-key" and "admin-key" are known.
class AuthenticationTest : public ::testing::Test {
 protected:
  AuthenticationTest() {
    {
      std::ofstream file(file_);
      file << *ApiKeyLine("ann", Role::kUser, "user-key") << "\n"
           << *ApiKeyLine("root", Role::kAdmin, "admin-key") << "\n";
    }
    keys_ = *ApiKeyStore::Open(file_);
    server_.emplace(TestServer::Options{.keys = keys_.get()});
    server_->Add(InferInfo("null"), {.complete = Echo});
  }
  ~AuthenticationTest() override { std::filesystem::remove(file_); }

  grpc::Status Infer(const std::string& header, const std::string& value) {
    grpc::ClientContext context;
    if (!header.empty()) context.AddMetadata(header, value);
    inference::ModelInferResponse response;
    return GRPCInferenceService::NewStub(server_->channel)
        ->ModelInfer(&context, InferRequest("null"), &response);
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("millrace-keys-" + std::to_string(getpid()));
  std::unique_ptr<ApiKeyStore> keys_;
  std::optional<TestServer> server_;
};

TEST_F(AuthenticationTest, KnownKeyIsLetInByEitherHeader) {
  EXPECT_TRUE(Infer("authorization", "Bearer user-key").ok());
  EXPECT_TRUE(Infer("x-api-key", "user-key").ok());
  EXPECT_TRUE(Infer("x-api-key", "admin-key").ok());  // an admin may do everything
}

TEST_F(AuthenticationTest, MissingOrUnknownKeyIsUnauthenticated) {
  const grpc::Status missing = Infer("", "");
  EXPECT_EQ(missing.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(missing.error_message(), ::testing::HasSubstr("authorization: Bearer"));
  for (const auto& [header, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"authorization", "Bearer other"},
           {"authorization", "Bearer "},
           {"authorization", "user-key"},
           {"authorization", "Basic user-key"},
           {"x-api-key", "user-key "},
           {"x-api-key", "USER-KEY"}}) {
    const grpc::Status status = Infer(header, value);
    EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED) << header << ": " << value;
    EXPECT_EQ(status.error_message().find("other"), std::string::npos);  // keys are not repeated
  }
  EXPECT_EQ(server_->Count("null", Method::kModelInfer, absl::StatusCode::kOk), 0);
}

// A proxy in front of the server could have looked at the other one.
TEST_F(AuthenticationTest, DifferentValuesOfOneKeyAreRefused) {
  const auto infer = [this](const std::string& header, const std::string& one,
                            const std::string& other) {
    grpc::ClientContext context;
    context.AddMetadata("x-api-key", "user-key");
    context.AddMetadata(header, one);
    context.AddMetadata(header, other);
    inference::ModelInferResponse response;
    return GRPCInferenceService::NewStub(server_->channel)
        ->ModelInfer(&context, InferRequest("null"), &response);
  };
  for (const auto& [header, one, other] :
       {std::tuple("authorization", "Bearer user-key", "Bearer admin-key"),
        {"authorization", "Bearer other", "Bearer user-key"},
        {"x-api-key", "user-key", "admin-key"},
        {"x-priority", "low", "high"}}) {
    const grpc::Status status = infer(header, one, other);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << header;
    EXPECT_EQ(status.error_message(),
              std::string(header) + ": is given twice, with different values");
  }
  EXPECT_TRUE(infer("authorization", "Bearer user-key", "Bearer user-key").ok());
}

// Clients without a key learn nothing of the models either.
TEST_F(AuthenticationTest, MetadataNeedsAKeyAndHealthDoesNot) {
  const auto stub = GRPCInferenceService::NewStub(server_->channel);
  {
    grpc::ClientContext context;
    inference::ModelMetadataRequest request;
    request.set_name("null");
    inference::ModelMetadataResponse response;
    EXPECT_EQ(stub->ModelMetadata(&context, request, &response).error_code(),
              StatusCode::UNAUTHENTICATED);
  }
  {
    grpc::ClientContext context;
    inference::ModelReadyRequest request;
    request.set_name("null");
    inference::ModelReadyResponse response;
    EXPECT_EQ(stub->ModelReady(&context, request, &response).error_code(),
              StatusCode::UNAUTHENTICATED);
  }
  {
    grpc::ClientContext context;
    inference::ServerMetadataResponse response;
    EXPECT_EQ(stub->ServerMetadata(&context, {}, &response).error_code(),
              StatusCode::UNAUTHENTICATED);
  }
  grpc::ClientContext context;
  inference::ServerReadyResponse response;
  EXPECT_TRUE(stub->ServerReady(&context, {}, &response).ok());
  EXPECT_TRUE(response.ready());
}

TEST_F(AuthenticationTest, StreamNeedsAKey) {
  server_->Add(TranslatorInfo("en-pt", "en", "pt"), {});
  const auto stub = v1::TranslationService::NewStub(server_->channel);
  v1::TranslateRequest request;
  request.add_texts("x");
  grpc::ClientContext context;
  v1::StreamTranslateResponse response;
  const auto reader = stub->StreamTranslate(&context, request);
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::UNAUTHENTICATED);
}

TEST(AddressOfPeerTest, IsWhatAReaderOfTheLogKnows) {
  EXPECT_EQ(AddressOfPeer("ipv4:203.0.113.7:50123"), "203.0.113.7:50123");
  EXPECT_EQ(AddressOfPeer("ipv6:%5B2001:db8::1%5D:50123"), "[2001:db8::1]:50123");
  EXPECT_EQ(AddressOfPeer("ipv6:[::1]:50123"), "[::1]:50123");
  EXPECT_EQ(AddressOfPeer("unix:/run/millrace"), "unix:/run/millrace");
}

}  // namespace
}  // namespace millrace::server
