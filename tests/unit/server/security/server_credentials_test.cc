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
    for (const std::string kind : {".crt", ".key"}) Use("server" + kind, kind);
    Use("ca.crt", ".ca");
    auto credentials =
        TlsServerCredentials::Open({certificates_.Path("used.crt"), certificates_.Path("used.key"),
                                    mutual ? certificates_.Path("used.ca") : ""},
                                   {.poll_interval = std::chrono::milliseconds(0)});
    ASSERT_TRUE(credentials.ok()) << credentials.status();
    credentials_ = *std::move(credentials);
    grpc::ServerBuilder builder;
    builder.AddListeningPort("localhost:0", credentials_, &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  ~ServerCredentialsTest() override {
    if (server_) server_->Shutdown();
  }

  // Replaces a file that the server reads.
  void Use(const std::string& file, const std::string& kind) {
    certificates_.Write("used" + kind, certificates_.Read(file));
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
  std::shared_ptr<TlsServerCredentials> credentials_;
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
  const auto credentials = TlsServerCredentials::Open(
      {certificates_.Path("server.crt"), certificates_.Path("client.key"), ""});
  EXPECT_NE(std::string(credentials.status().message()).find("does not match"), std::string::npos);
}

TEST_F(ServerCredentialsTest, ACertificateIsRenewedOnceItsKeyHasCome) {
  certificates_.MakeAuthority("new");
  certificates_.MakeCertificate("renewed", "new");
  Start(false);
  ASSERT_TRUE(Call(Tls("ca")));
  Use("renewed.crt", ".crt");
  credentials_->Reload();
  EXPECT_TRUE(Call(Tls("ca"))) << "the old pair stays";
  EXPECT_FALSE(Call(Tls("new")));
  Use("renewed.key", ".key");
  credentials_->Reload();
  EXPECT_TRUE(Call(Tls("new")));
  EXPECT_FALSE(Call(Tls("ca")));
}

TEST_F(ServerCredentialsTest, FilesThatCannotBeServedLeaveThoseBeforeInUse) {
  certificates_.Run("ec -aes256 -passout pass:secret -in " + certificates_.Quoted("server.key") +
                    " -out " + certificates_.Quoted("locked.key"));
  certificates_.Write("empty", "");
  const std::string authority = certificates_.Read("ca.crt");
  certificates_.Write("half chain",
                      certificates_.Read("server.crt") + authority.substr(0, authority.size() / 2));
  certificates_.Run("x509 -req -days -1 -in " + certificates_.Quoted("server.csr") + " -CA " +
                    certificates_.Quoted("ca.crt") + " -CAkey " + certificates_.Quoted("ca.key") +
                    " -out " + certificates_.Quoted("expired.crt"));
  Start(true);
  const struct {
    const char* file;
    const char* kind;
  } kBad[] = {{"empty", ".crt"},      {"server.key", ".crt"}, {"expired.crt", ".crt"},
              {"client.crt", ".crt"}, {"half chain", ".crt"}, {"empty", ".key"},
              {"locked.key", ".key"}, {"client.key", ".key"}, {"empty", ".ca"},
              {"server.key", ".ca"}};
  for (const auto& [file, kind] : kBad) {
    Use(file, kind);
    credentials_->Reload();
    EXPECT_TRUE(Call(Tls("ca", "client"))) << file << " as " << kind;
    EXPECT_FALSE(Call(Tls("ca", "stranger"))) << file << " as " << kind;
    Use(kind == std::string(".ca") ? "ca.crt" : std::string("server") + kind, kind);
  }
}

TEST_F(ServerCredentialsTest, ANewAuthorityOfClientsIsTaken) {
  Start(true);
  ASSERT_FALSE(Call(Tls("ca", "stranger")));
  Use("stranger.crt", ".ca");
  credentials_->Reload();
  EXPECT_TRUE(Call(Tls("ca", "stranger")));
  EXPECT_FALSE(Call(Tls("ca", "client")));
}

}  // namespace
}  // namespace millrace
