#include "server/frontends/millrace/admin_service.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/control/version.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/cancellable_call.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/limits/usage_report.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

v1::ModelState ToProto(ModelState state) {
  static constexpr v1::ModelState kStates[] = {v1::MODEL_STATE_AVAILABLE, v1::MODEL_STATE_LOADING,
                                               v1::MODEL_STATE_READY, v1::MODEL_STATE_FAILED,
                                               v1::MODEL_STATE_IDLE};
  return kStates[static_cast<size_t>(state)];
}

// These fill in what is known of a loaded model by its task.
void FillDetails(const models::InferInfo&, v1::ModelStatus&) {}

void FillDetails(const models::TranslationInfo& info, v1::ModelStatus& status) {
  status.set_source_language(info.source_language);
  status.set_target_language(info.target_language);
  status.mutable_source_languages()->Add(info.source_languages.begin(),
                                         info.source_languages.end());
  status.mutable_target_languages()->Add(info.target_languages.begin(),
                                         info.target_languages.end());
}

void FillDetails(const models::SpeechInfo& info, v1::ModelStatus& status) {
  status.mutable_voices()->Add(info.voices.begin(), info.voices.end());
  status.mutable_voice_languages()->Add(info.voice_languages.begin(), info.voice_languages.end());
  status.mutable_languages()->Add(info.languages.begin(), info.languages.end());
  status.set_sample_rate(static_cast<uint32_t>(info.sample_rate));
  status.set_precision(info.precision);
  status.set_int8_distance_db(info.int8_distance_db);
}

// Resolves the folders of the repository, which takes calls of the file system.
std::vector<std::string> CanonicalFolders(const models::ModelRepository& repository) {
  std::vector<std::string> folders;
  const auto sources = models::ParseModelSources(repository.sources());
  if (!sources.ok()) return folders;
  for (const models::ModelSource& source : *sources) {
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(source.folder, error);
    folders.push_back(error ? source.folder.string() : folder.string());
  }
  return folders;
}

v1::KeyUsage ToProto(const KeyUsage& usage, double worker_seconds) {
  v1::KeyUsage key;
  key.set_key(usage.key);
  key.set_tier(usage.tier);
  key.set_requests(usage.requests);
  key.set_characters(static_cast<uint64_t>(usage.characters));
  key.set_audio_seconds(usage.audio_seconds);
  key.set_worker_seconds(worker_seconds);
  key.set_requests_in_flight(static_cast<uint32_t>(usage.in_flight));
  for (size_t i = 0; i < kKeyLimits; ++i) {
    key.set_refused_requests(key.refused_requests() + usage.refused[i]);
    if (!usage.limits[i]) continue;
    v1::KeyLimit& limit = *key.add_limits();
    limit.set_name(std::string(ToString(static_cast<KeyLimit>(i))));
    limit.set_allowed(static_cast<uint64_t>(usage.limits[i]->allowed));
    limit.set_left(static_cast<uint64_t>(usage.limits[i]->left));
    limit.set_refused_requests(usage.refused[i]);
  }
  return key;
}

}  // namespace

absl::Status AdminService::ListKeyUsage(const v1::ListKeyUsageRequest& /*request*/,
                                        v1::ListKeyUsageResponse& response) const {
  if (services_.limits == nullptr)
    return FailedPrecondition("the server runs without --policy, so it tells no keys apart");
  const std::vector<double> worker_seconds = services_.scheduler.key_seconds();
  for (const KeyUsage& usage : services_.limits->Usage())
    *response.add_keys() = ToProto(usage, WorkerSeconds(usage, worker_seconds));
  return absl::OkStatus();
}

absl::Status AdminService::CheckConvicted() const {
  if (convicted_ == nullptr)
    return FailedPrecondition("the server runs without --executors, so it convicts no requests");
  return absl::OkStatus();
}

absl::Status AdminService::ListConvictedRequests(
    const v1::ListConvictedRequestsRequest& /*request*/,
    v1::ListConvictedRequestsResponse& response) const {
  MILLRACE_RETURN_IF_ERROR(CheckConvicted());
  for (const ConvictedRequests::View& view : convicted_->List(services_.clock.Now())) {
    v1::ConvictedRequest& request = *response.add_requests();
    request.set_crash(view.crash);
    request.set_model(view.model);
    request.set_seconds_left(std::chrono::duration<double>(view.left).count());
    request.set_refused_requests(view.refused);
  }
  return absl::OkStatus();
}

absl::Status AdminService::ClearConvictedRequests(
    const v1::ClearConvictedRequestsRequest& request,
    v1::ClearConvictedRequestsResponse& response) const {
  MILLRACE_RETURN_IF_ERROR(CheckConvicted());
  const size_t cleared = convicted_->Clear(request.crash(), services_.clock.Now());
  if (cleared == 0 && !request.crash().empty()) {
    return NotFound("crash: no convicted request has '", request.crash(),
                    "'; an empty one means all");
  }
  response.set_cleared(static_cast<uint32_t>(cleared));
  logging::Info("convicted requests were cleared",
                {{"crash", request.crash()}, {"cleared", static_cast<int64_t>(cleared)}});
  return absl::OkStatus();
}

void AdminService::Fill(const ModelStatusView& view, v1::ModelStatus& status) const {
  const models::ModelInfo& info = view.info;
  status.set_name(info.name);
  status.set_version(StrCat(info.version));
  status.set_state(ToProto(view.state));
  status.set_error(view.error);
  if (!TakesRequests(view.state)) return;  // the rest is known only of a model that was loaded
  status.set_platform(info.platform);
  status.set_task(std::string(models::ToString(info.task())));
  status.set_license(info.license);
  std::visit([&status](const auto& details) { FillDetails(details, status); }, info.details);
  if (const models::ModelOrigin origin = models_.OriginOf(info.name); !origin.name.empty()) {
    status.mutable_origin()->set_name(origin.name);
    status.mutable_origin()->set_revision(origin.revision);
    status.mutable_origin()->set_date(origin.date);
  }
  const auto [depth, size] = status_.Queue(info.name);
  status.set_queue_depth(static_cast<uint32_t>(depth));
  status.set_queue_size(static_cast<uint32_t>(size));
}

AdminService::AdminService(Services& services, ModelManager& models, const ServerStatus& status,
                           LoadQueue& loads, StepTimeline& steps, const PullAction& pull,
                           const RemoveAction& remove, ConvictedRequests* convicted)
    : RpcService("millrace.v1.AdminService"),
      services_(services),
      models_(models),
      status_(status),
      loads_(loads),
      steps_(steps),
      pull_(pull),
      remove_(remove),
      convicted_(convicted),
      repository_folders_(CanonicalFolders(models.repository())) {
  const auto answering = [&](auto answer, Role role = Role::kAdmin) {
    return Answering(services_.keys, role, *this, answer);
  };
  // These methods read a folder, or free a model's weights, so they run elsewhere. Users must know
  // the names that they may use; HTTP lists them too.
  ServeSlowly("ListModels", answering(&AdminService::ListModels, Role::kUser));
  Serve("LoadModel", [this](ByteCall& call) { LoadModel(call); });
  ServeSlowly("UnloadModel", answering(&AdminService::UnloadModel));
  Serve("GetServerInfo", answering(&AdminService::GetServerInfo));
  // It copies up to some thousand steps of each worker.
  ServeSlowly("GetTimeline", answering(&AdminService::GetTimeline));
  ServeSlowly("ListKeyUsage", answering(&AdminService::ListKeyUsage));
  Serve("ListConvictedRequests", answering(&AdminService::ListConvictedRequests));
  Serve("ClearConvictedRequests", answering(&AdminService::ClearConvictedRequests));
}

absl::Status AdminService::ListModels(const v1::ListModelsRequest& /*request*/,
                                      v1::ListModelsResponse& response) const {
  for (const ModelStatusView& view : models_.Models()) Fill(view, *response.add_models());
  return absl::OkStatus();
}

void AdminService::LoadModel(ByteCall& call) {
  v1::LoadModelRequest request;
  absl::Status status = ParseMessage(call.request(), request);
  status.Update(Authenticate(services_.keys, call, Role::kAdmin));
  status.Update(models::CheckModelName(request.model()));
  if (!status.ok()) return Answer(call, status, ByteBuffer());
  auto done = [this, &call, model = request.model()](const absl::Status& end) {
    v1::LoadModelResponse response;
    if (end.ok()) {
      if (const auto view = status_.FindModel(model)) Fill(*view, *response.mutable_model());
    }
    Answer(call, end, response);
  };
  if (!request.pull().empty()) {
    if (pull_ == nullptr) return Answer(call, NoPull(), ByteBuffer());
    if (status = CheckPublishedName(request.pull()); !status.ok())
      return Answer(call, status, ByteBuffer());
    CancellableCall& handler = CancellableCall::Make();
    call.SetHandler(handler);
    auto cancel =
        pull_(request.model(), {.published = request.pull(), .license_ok = request.license_ok()},
              std::move(done));
    if (!cancel.ok()) return Answer(call, cancel.status(), ByteBuffer());
    return handler.SetCancel(*std::move(cancel));
  }
  CancellableCall& handler = CancellableCall::Make();
  call.SetHandler(handler);
  const auto ticket = loads_.Add(request.model(), std::move(done));
  if (!ticket.ok()) return Answer(call, ticket.status(), ByteBuffer());
  handler.SetCancel([this, ticket = *ticket] { loads_.Cancel(ticket); });
}

absl::Status AdminService::UnloadModel(const v1::UnloadModelRequest& request,
                                       v1::UnloadModelResponse& /*response*/) const {
  if (!request.remove()) return models_.Unload(request.model());
  MILLRACE_RETURN_IF_ERROR(models::CheckModelName(request.model()));
  return remove_ == nullptr ? NoRemove() : remove_(request.model());
}

absl::Status AdminService::GetServerInfo(const v1::GetServerInfoRequest& /*request*/,
                                         v1::GetServerInfoResponse& response) const {
  runtime::Runtime& runtime = status_.runtime();
  const runtime::Provenance& provenance = runtime.provenance();
  response.set_version(kVersion);
  v1::Provenance& p = *response.mutable_provenance();
  p.set_device(provenance.device);
  p.set_device_name(provenance.device_name);
  p.set_libtorch_version(provenance.libtorch_version);
  p.set_libtorch_git_revision(provenance.libtorch_git_revision);
  p.set_libtorch_path(provenance.libtorch_path);
  p.set_compiled_against(provenance.compiled_against);
  p.set_blas(provenance.blas);
  p.set_mps_stream_pool(provenance.pool_symbols != "none");
  const auto streams = runtime.stream_pool().stats();
  response.mutable_streams()->set_slots(runtime::kStreamSlots);
  response.mutable_streams()->set_leased(static_cast<uint32_t>(streams.leased));
  response.mutable_streams()->set_leases_total(streams.leases_total);
  response.mutable_streams()->set_refusals_total(streams.refusals_total);
  response.mutable_limiter()->set_permits(static_cast<uint32_t>(runtime.limiter().permits()));
  response.mutable_limiter()->set_in_use(static_cast<uint32_t>(runtime.limiter().in_use()));
  response.mutable_limiter()->set_source(std::string(runtime.safe_concurrency_source()));
  response.set_workers(static_cast<uint32_t>(status_.workers()));
  response.set_mode(std::string(runtime::ToString(runtime.mode())));
  response.set_uptime_seconds(status_.uptime().count());
  response.set_requests_in_flight(static_cast<uint32_t>(status_.requests_in_flight()));
  for (const std::string& folder : repository_folders_) response.add_repository_folders(folder);
  return absl::OkStatus();
}

absl::Status AdminService::GetTimeline(const v1::GetTimelineRequest& request,
                                       v1::GetTimelineResponse& response) const {
  const auto workers = static_cast<int>(steps_.workers());
  if (request.seen_size() != 0 && request.seen_size() != workers) {
    return InvalidArgument("seen: has ", request.seen_size(),
                           " numbers; allowed are none, or one for each of the ", workers,
                           " workers");
  }
  const auto nanoseconds = [](auto time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  };
  const TimePoint now = services_.clock.Now();
  const std::vector<uint64_t> seen(request.seen().begin(), request.seen().end());
  for (const StepTimeline::Unseen& unseen : steps_.RecordSteps(seen, now)) {
    v1::GetTimelineResponse::Worker& worker = *response.add_workers();
    worker.set_next(unseen.next);
    worker.set_lost(unseen.lost);
    for (const StepTimeline::Step& step : unseen.steps) {
      v1::GetTimelineResponse::Step& added = *worker.add_steps();
      added.set_model(step.model);
      added.set_requests(static_cast<uint32_t>(step.requests));
      added.set_begin_ns(nanoseconds(step.begin.time_since_epoch()));
      added.set_duration_ns(nanoseconds(step.end - step.begin));
    }
  }
  response.set_now_ns(nanoseconds(now.time_since_epoch()));
  return absl::OkStatus();
}

}  // namespace millrace::server
