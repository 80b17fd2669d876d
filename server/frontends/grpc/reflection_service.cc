#include "server/frontends/grpc/reflection_service.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::FileDescriptorResponse;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

void AddFile(const FileDescriptor& file, std::unordered_set<const FileDescriptor*>& added,
             FileDescriptorResponse& response) {
  if (!added.insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  proto.SerializeToString(response.add_file_descriptor_proto());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, response);
}

void AnswerFile(const FileDescriptor* file, std::string_view asked,
                ServerReflectionResponse& response) {
  if (file == nullptr) {
    response.mutable_error_response()->set_error_code(
        static_cast<int>(absl::StatusCode::kNotFound));
    response.mutable_error_response()->set_error_message(
        StrCat("the server knows nothing named '", asked, "'"));
    return;
  }
  std::unordered_set<const FileDescriptor*> added;
  AddFile(*file, added, *response.mutable_file_descriptor_response());
}

const FileDescriptor* FileOfExtension(const DescriptorPool& pool, const std::string& type,
                                      int number) {
  const Descriptor* const extended = pool.FindMessageTypeByName(type);
  if (extended == nullptr) return nullptr;
  const FieldDescriptor* const extension = pool.FindExtensionByNumber(extended, number);
  return extension != nullptr ? extension->file() : nullptr;
}

void AnswerExtensions(const DescriptorPool& pool, const std::string& type,
                      ServerReflectionResponse& response) {
  const Descriptor* const extended = pool.FindMessageTypeByName(type);
  if (extended == nullptr) return AnswerFile(nullptr, type, response);
  std::vector<const FieldDescriptor*> extensions;
  pool.FindAllExtensions(extended, &extensions);
  auto& answer = *response.mutable_all_extension_numbers_response();
  answer.set_base_type_name(type);
  for (const FieldDescriptor* extension : extensions)
    answer.add_extension_number(extension->number());
}

ServerReflectionResponse Answer(const ServerReflectionRequest& request,
                                const std::vector<std::string>& services) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      AnswerFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
                 response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()),
                 request.file_containing_symbol(), response);
      break;
    case ServerReflectionRequest::kFileContainingExtension: {
      const auto& extension = request.file_containing_extension();
      AnswerFile(
          FileOfExtension(pool, extension.containing_type(), extension.extension_number()),
          StrCat(extension.containing_type(), " with extension ", extension.extension_number()),
          response);
      break;
    }
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      AnswerExtensions(pool, request.all_extension_numbers_of_type(), response);
      break;
    case ServerReflectionRequest::kListServices:
      for (const std::string& service : services)
        response.mutable_list_services_response()->add_service()->set_name(service);
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(
          static_cast<int>(absl::StatusCode::kInvalidArgument));
      response.mutable_error_response()->set_error_message(
          "message_request: none of the questions is set");
      break;
  }
  return response;
}

}  // namespace

// Answers one question after the other. A read or a write is always in progress, and its result
// tells of the call's end.
class ReflectionService::Call final : public ByteCall::Handler, public SelfOwned<Call> {
 public:
  Call(const ReflectionService& service, ByteCall& call) : service_(service), call_(call) {
    call_.SetHandler(*this);
    call_.StartRead(&message_);
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return call_.Finish(absl::OkStatus());
    ServerReflectionRequest request;
    absl::Status status = ParseMessage(message_, request);
    message_.Clear();
    if (status.ok()) status = SerializeMessage(Answer(request, service_.services_), message_);
    if (!status.ok()) return call_.Finish(status);
    call_.StartWrite(&message_);
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return call_.Finish(absl::CancelledError());
    message_.Clear();
    call_.StartRead(&message_);
  }
  void OnDone() override { DeleteThis(); }

  const ReflectionService& service_;
  ByteCall& call_;
  ByteBuffer message_;
};

std::string ReflectionService::FullName(Version version) {
  const FileDescriptor* const file =
      version == Version::kV1
          ? ServerReflectionRequest::descriptor()->file()
          : grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file();
  return file->service(0)->full_name();
}

ReflectionService::ReflectionService(Version version, std::vector<std::string> services)
    : RpcService(FullName(version)), services_(std::move(services)) {
  Serve("ServerReflectionInfo", [this](ByteCall& call) { Call::Make(*this, call); });
}

}  // namespace millrace::server
