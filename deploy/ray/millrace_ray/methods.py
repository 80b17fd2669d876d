"""The methods of the daemon's gRPC services that Serve's proxies accept, and how each of them talks."""

import enum


class Kind(enum.Enum):
    UNARY = "unary"   # one request, one response
    SERVER_STREAM = "server stream"   # one request, a stream of responses
    BIDIRECTIONAL = "bidirectional"   # streams of both


# Written by scripts/ray_methods.py. Load reports (xds.service.orca.v3) are missing: they tell of one daemon, and calls through Serve reach
# any of them.
METHODS = {
    "/grpc.health.v1.Health/Check": Kind.UNARY,
    "/grpc.health.v1.Health/List": Kind.UNARY,
    "/grpc.health.v1.Health/Watch": Kind.SERVER_STREAM,
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo": Kind.BIDIRECTIONAL,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": Kind.BIDIRECTIONAL,
    "/inference.GRPCInferenceService/ModelConfig": Kind.UNARY,
    "/inference.GRPCInferenceService/ModelInfer": Kind.UNARY,
    "/inference.GRPCInferenceService/ModelMetadata": Kind.UNARY,
    "/inference.GRPCInferenceService/ModelReady": Kind.UNARY,
    "/inference.GRPCInferenceService/ModelStatistics": Kind.UNARY,
    "/inference.GRPCInferenceService/RepositoryIndex": Kind.UNARY,
    "/inference.GRPCInferenceService/RepositoryModelLoad": Kind.UNARY,
    "/inference.GRPCInferenceService/RepositoryModelUnload": Kind.UNARY,
    "/inference.GRPCInferenceService/ServerLive": Kind.UNARY,
    "/inference.GRPCInferenceService/ServerMetadata": Kind.UNARY,
    "/inference.GRPCInferenceService/ServerReady": Kind.UNARY,
    "/millrace.v1.AdminService/ClearConvictedRequests": Kind.UNARY,
    "/millrace.v1.AdminService/GetServerInfo": Kind.UNARY,
    "/millrace.v1.AdminService/GetTimeline": Kind.UNARY,
    "/millrace.v1.AdminService/ListConvictedRequests": Kind.UNARY,
    "/millrace.v1.AdminService/ListKeyUsage": Kind.UNARY,
    "/millrace.v1.AdminService/ListModels": Kind.UNARY,
    "/millrace.v1.AdminService/LoadModel": Kind.UNARY,
    "/millrace.v1.AdminService/UnloadModel": Kind.UNARY,
    "/millrace.v1.SynthesisService/StreamSynthesize": Kind.SERVER_STREAM,
    "/millrace.v1.SynthesisService/Synthesize": Kind.UNARY,
    "/millrace.v1.SynthesisService/SynthesizeTextStream": Kind.BIDIRECTIONAL,
    "/millrace.v1.TranslationService/DetectLanguage": Kind.UNARY,
    "/millrace.v1.TranslationService/ListLanguages": Kind.UNARY,
    "/millrace.v1.TranslationService/StreamTranslate": Kind.SERVER_STREAM,
    "/millrace.v1.TranslationService/Translate": Kind.UNARY,
    "/nvidia.riva.nmt.RivaTranslation/ListSupportedLanguagePairs": Kind.UNARY,
    "/nvidia.riva.nmt.RivaTranslation/TranslateText": Kind.UNARY,
    "/nvidia.riva.tts.RivaSpeechSynthesis/GetRivaSynthesisConfig": Kind.UNARY,
    "/nvidia.riva.tts.RivaSpeechSynthesis/Synthesize": Kind.UNARY,
    "/nvidia.riva.tts.RivaSpeechSynthesis/SynthesizeOnline": Kind.BIDIRECTIONAL,
}


def by_name() -> dict[str, Kind]:
    """The kinds by the last part of the method alone, by which Serve calls a replica. Two services may share a name and its kind."""
    kinds: dict[str, Kind] = {}
    for method, kind in METHODS.items():
        name = method.rpartition("/")[2]
        if kinds.setdefault(name, kind) is not kind:
            raise ValueError(f"methods named {name} are both {kinds[name].value} and {kind.value}; Serve can not tell them apart")
    return kinds
