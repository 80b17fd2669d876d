#include "server/security/server_credentials.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "inference/grpc_service.grpc.pb.h"
#include "tests/unit/server/security/test_certificates.h"

namespace millrace {
namespace {

class LiveService final : public inference::GRPCInferenceService::Service {
  grpc::Status ServerLive(grpc::ServerContext*, const inference::ServerLiveRequest*,
                          inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return grpc::Status::OK;
  }
};

class ServerCredentialsTest : public ::testing::Test {
 protected:
  ServerCredentialsTest() {
    certificates_.MakeAuthority("ca");
    certificates_.MakeCertificate("server", "ca");
    certificates_.MakeCertificate("client", "ca");
    certificates_.MakeAuthority("stranger");
  }

  void Start(bool mutual) {
    const auto credentials = MakeTlsServerCredentials({certificates_.Path("server.crt"),
                                                       certificates_.Path("server.key"),
                                                       mutual ? certificates_.Path("ca.crt") : ""});
    ASSERT_TRUE(credentials.ok()) << credentials.status();
    grpc::ServerBuilder builder;
    builder.AddListeningPort("localhost:0", *credentials, &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  ~ServerCredentialsTest() override {
    if (server_) server_->Shutdown();
  }

  bool Call(const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    const auto stub = inference::GRPCInferenceService::NewStub(
        grpc::CreateChannel("localhost:" + std::to_string(port_), credentials));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    inference::ServerLiveResponse response;
    return stub->ServerLive(&context, {}, &response).ok() && response.live();
  }
  std::shared_ptr<grpc::ChannelCredentials> Tls(const std::string& authority,
                                                const std::string& identity = "") {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = certificates_.Read(authority + ".crt");
    if (!identity.empty()) {
      options.pem_cert_chain = certificates_.Read(identity + ".crt");
      options.pem_private_key = certificates_.Read(identity + ".key");
    }
    return grpc::SslCredentials(options);
  }

  testing::TestCertificates certificates_;
  LiveService service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

TEST_F(ServerCredentialsTest, ServesThoseWhoTrustIt) {
  Start(false);
  EXPECT_TRUE(Call(Tls("ca")));
  EXPECT_FALSE(Call(Tls("stranger")));
  EXPECT_FALSE(Call(grpc::InsecureChannelCredentials()));
  EXPECT_TRUE(Call(Tls("ca"))) << "a plain-text client must not disturb others";
}

TEST_F(ServerCredentialsTest, MutualTlsAsksForACertificateOfItsAuthority) {
  Start(true);
  EXPECT_TRUE(Call(Tls("ca", "client")));
  EXPECT_FALSE(Call(Tls("ca")));
  EXPECT_FALSE(Call(Tls("ca", "stranger")));
}

TEST_F(ServerCredentialsTest, BadFilesAreRefusedBeforeListening) {
  const auto credentials = MakeTlsServerCredentials(
      {certificates_.Path("server.crt"), certificates_.Path("client.key"), ""});
  EXPECT_NE(std::string(credentials.status().message()).find("does not match"), std::string::npos);
}

}  // namespace
}  // namespace millrace
