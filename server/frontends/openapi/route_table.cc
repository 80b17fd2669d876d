#include "server/frontends/openapi/route_table.h"

namespace millrace::server {
namespace {

constexpr std::string_view kOpenAi = "OpenAI: speech";
constexpr std::string_view kKokoro = "Kokoro-FastAPI: speech";
constexpr std::string_view kElevenLabs = "ElevenLabs: speech";
constexpr std::string_view kVllmOmni = "vLLM-Omni: speech";
constexpr std::string_view kLibreTranslate = "LibreTranslate: translation";
constexpr std::string_view kDeepL = "DeepL: translation";
constexpr std::string_view kPlugins = "Plug-ins of browsers: translation";
constexpr std::string_view kKServe = "KServe and Triton: models and inference";
constexpr std::string_view kPages = "Pages";

constexpr std::string_view kAudio = "audio/mpeg";
constexpr std::string_view kWebSocket = "";  // the connection goes on as a WebSocket
constexpr std::string_view kEvents = "text/event-stream";

constexpr char kSpeech[] =
    R"({"model": "tts-1", "voice": "alloy", "input": "Hello.", "response_format": "mp3"})";
constexpr char kCaption[] =
    R"({"model": "kokoro", "voice": "af_heart", "input": "Hello.", "stream": false})";
constexpr char kElevenSpeech[] = R"({"text": "Hello.", "model_id": "eleven_flash_v2_5"})";
constexpr char kTranslate[] = R"({"q": "Hello.", "source": "auto", "target": "pt"})";
constexpr char kDeepLTranslate[] = R"({"text": ["Hello."], "target_lang": "PT-BR"})";
constexpr char kInfer[] =
    R"({"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [2], "data": [1, 2]}]})";

constexpr RouteDescription kRoutes[] = {
    {"POST", "/v1/audio/speech", kOpenAi,
     "Speaks a text. The audio is sent while it is made; \"stream\": false waits for the whole "
     "file, of texts up to 5,000 characters.",
     kSpeech, kAudio},
    {"GET", "/v1/audio/voices", kOpenAi, "Lists voices, and the names that stand for them."},
    {"GET", "/v1/models", kOpenAi, "Lists models; in ElevenLabs' form for its clients."},
    {"GET", "/v1/models/{model}", kOpenAi, "Describes a model."},
    {"POST", "/dev/captioned_speech", kKokoro, "Speaks a text, with the times of its words.",
     kCaption},
    {"GET", "/health", kKokoro, "Says that the server is up, and ready or starting."},
    {"POST", "/v1/text-to-speech/{voice_id}", kElevenLabs, "Speaks a text.", kElevenSpeech, kAudio},
    {"POST", "/v1/text-to-speech/{voice_id}/stream", kElevenLabs,
     "Speaks a text, sent while it is made.", kElevenSpeech, kAudio},
    {"POST", "/v1/text-to-speech/{voice_id}/with-timestamps", kElevenLabs,
     "Speaks a text, with the times of its characters.", kElevenSpeech},
    {"POST", "/v1/text-to-speech/{voice_id}/stream/with-timestamps", kElevenLabs,
     "The same, an object a line while it is made.", kElevenSpeech},
    {"GET", "/v1/text-to-speech/{voice_id}/stream-input", kElevenLabs,
     "A WebSocket: speaks a text that is still being written.", "", kWebSocket},
    {"GET", "/v1/text-to-speech/{voice_id}/multi-stream-input", kElevenLabs,
     "A WebSocket: speaks several such texts.", "", kWebSocket},
    {"GET", "/v1/voices", kElevenLabs, "Lists voices."},
    {"GET", "/v2/voices", kElevenLabs, "Searches voices: search, page_size, next_page_token."},
    {"GET", "/v1/voices/{voice_id}", kElevenLabs, "Describes a voice."},
    {"GET", "/v1/voices/{voice_id}/settings", kElevenLabs, "Returns the settings of a voice."},
    {"GET", "/v1/voices/settings/default", kElevenLabs, "Returns the usual settings."},
    {"GET", "/v1/user", kElevenLabs, "Describes the account, which has no limits of its own."},
    {"GET", "/v1/user/subscription", kElevenLabs, "Describes the account's subscription."},
    {"GET", "/v1/audio/speech/stream", kVllmOmni,
     "A WebSocket: speaks a text that is still being written.", "", kWebSocket},
    {"POST", "/translate", kLibreTranslate,
     "Translates a text or a list of texts: plain, HTML or Markdown. DeepLX's and MTranServer's "
     "requests are taken too.",
     kTranslate},
    {"POST", "/translate/stream", kLibreTranslate, "The same, answered with events.", kTranslate,
     kEvents},
    {"POST", "/detect", kLibreTranslate, "Detects the language of a text.", R"({"q": "Hello."})"},
    {"GET", "/languages", kLibreTranslate, "Lists languages and their targets."},
    {"POST", "/translate_file", kLibreTranslate, "Translates a file, of a form with parts.",
     R"({"file": "a.docx", "source": "en", "target": "pt"})"},
    {"GET", "/download_file/{name}", kLibreTranslate, "Returns a translated file.", "",
     "application/octet-stream"},
    {"POST", "/suggest", kLibreTranslate, "Refuses suggestions, which are off.", "{}"},
    {"GET", "/frontend/settings", kLibreTranslate, "Says what the server can do."},
    {"POST", "/v2/translate", kDeepL, "Translates texts: plain, HTML or XML.", kDeepLTranslate},
    {"POST", "/v2/document", kDeepL, "Begins to translate a document, of a form with parts.",
     R"({"file": "a.docx", "target_lang": "PT-BR"})"},
    {"POST", "/v2/document/{document_id}", kDeepL, "Says whether a document is translated.",
     R"({"document_key": "a"})"},
    {"DELETE", "/v2/document/{document_id}", kDeepL,
     "Stops the translation of a document, and forgets it."},
    {"POST", "/v2/document/{document_id}/result", kDeepL, "Returns a translated document.",
     R"({"document_key": "a"})", "application/octet-stream"},
    {"GET", "/v2/languages", kDeepL, "Lists languages: type=source or target."},
    {"POST", "/v2/languages", kDeepL, "The same.", R"({"type": "target"})"},
    {"GET", "/v2/usage", kDeepL, "Says how much was translated, which is not counted."},
    {"POST", "/v2/usage", kDeepL, "The same.", "{}"},
    {"POST", "/v2/glossaries", kDeepL, "Keeps a glossary in memory until the server stops.",
     R"({"name": "ours", "source_lang": "en", "target_lang": "pt", "entries": "a\tb",
         "entries_format": "tsv"})"},
    {"GET", "/v2/glossaries", kDeepL, "Lists the glossaries of the API key."},
    {"GET", "/v2/glossaries/{glossary_id}", kDeepL, "Describes a glossary."},
    {"GET", "/v2/glossaries/{glossary_id}/entries", kDeepL, "Returns the entries of a glossary.",
     "", "text/tab-separated-values"},
    {"DELETE", "/v2/glossaries/{glossary_id}", kDeepL, "Deletes a glossary."},
    {"GET", "/v2/glossary-language-pairs", kDeepL, "Lists the languages that glossaries may have."},
    {"POST", "/imme", kPlugins, "Immersive Translate.",
     R"({"source_lang": "auto", "target_lang": "pt", "text_list": ["Hello."]})"},
    {"POST", "/kiss", kPlugins, "KISS Translator.",
     R"({"from": "auto", "to": "pt", "text": "Hello."})"},
    {"POST", "/deeplx", kPlugins, "DeepLX.",
     R"({"text": "Hello.", "source_lang": "EN", "target_lang": "PT"})"},
    {"POST", "/v1/translate", kPlugins, "DeepLX, by its own path.",
     R"({"text": "Hello.", "source_lang": "EN", "target_lang": "PT"})"},
    {"POST", "/translate/batch", kPlugins, "MTranServer.",
     R"({"from": "en", "to": "pt", "texts": ["Hello."]})"},
    {"GET", "/v2", kKServe, "Describes the server."},
    {"GET", "/v2/health/live", kKServe, "Says that the process answers."},
    {"GET", "/v2/health/ready", kKServe, "Says whether all models serve: 200 or 503."},
    {"GET", "/v2/models", kKServe, "Lists models with their tasks and languages."},
    {"GET", "/v2/models/{model}", kKServe, "Describes a model."},
    {"GET", "/v2/models/{model}/versions/{version}", kKServe, "Describes a model."},
    {"GET", "/v2/models/{model}/ready", kKServe, "Says whether a model serves: 200 or 503."},
    {"GET", "/v2/models/{model}/config", kKServe,
     "Returns a model's configuration for Triton's tools."},
    {"GET", "/v2/models/{model}/stats", kKServe, "Says what a model has done."},
    {"GET", "/v2/models/stats", kKServe, "Says what all models have done."},
    {"POST", "/v2/models/{model}/infer", kKServe, "Runs a TorchScript model.", kInfer},
    {"POST", "/v2/models/{model}/versions/{version}/infer", kKServe, "Runs a TorchScript model.",
     kInfer},
    {"POST", "/v2/repository/index", kKServe, "Lists the models of the repository.", "{}"},
    {"POST", "/v2/repository/models/{model}/load", kKServe, "Loads a model.", "{}"},
    {"POST", "/v2/repository/models/{model}/unload", kKServe, "Unloads a model.", "{}"},
    {"GET", "/", kPages, "The console.", "", "text/html"},
    {"GET", "/console/{file}", kPages, "The parts of the console, and its live figures.", "", ""},
    {"GET", "/docs", kPages, "This description, to read.", "", "text/html"},
    {"GET", "/openapi.json", kPages, "This description, by OpenAPI 3.1."},
};

}  // namespace

std::span<const RouteDescription> RouteTable() { return kRoutes; }

}  // namespace millrace::server
