#include "server/reference/man_pages.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/core/strings.h"
#include "server/config/front_ends.h"
#include "server/config/options.h"
#include "server/reference/roff.h"

namespace millrace::reference {
namespace {

constexpr char kConnection[] = "Connection";  // the heading of what all clients have

constexpr char kMillraceDescription[] =
    R"(Millrace serves text\-to\-speech and translation models over gRPC, HTTP and Wyoming.
The command
.B millrace serve
is the server, which
.BR millrace\-serve (1)
describes together with
.BR "millrace check" .
.BR "millrace pull" ,
.B add
and
.B remove
change a repository of models, and the server that serves it follows.
The other commands ask a running server, or measure and test this machine.
)";

constexpr char kExitStatus[] = R"(.SH EXIT STATUS
.TP
.B 0
Success.
For
.BR serve :
a stop by one signal.
.TP
.B 1
Failure, which a message on standard error explains.
.TP
.B 2
The arguments, the environment or the configuration file are wrong.
.TP
.BR 3 " to " 8
.BR "millrace pull" :
no network or a hub that fails (3), no such name (4), a token is needed (5), a licence is not accepted (6), what came is not what was
announced (7), another process fetches the same model (8).
.TP
.B 128 plus the number of a signal
A second signal ended the server before it had stopped.
)";

constexpr char kMillraceEnvironment[] = R"(.SH ENVIRONMENT
.TP
.BR MILLRACE_ADDRESS ", " MILLRACE_API_KEY ", " MILLRACE_TLS_CA
Stand for
.BR \-\-address ,
.B \-\-api\-key
and
.B \-\-tls\-ca
of the clients, where the flag is not given.
.TP
.BR MILLRACE_DEVICE ", " MILLRACE_MODELS ", " MILLRACE_SAFETY_PROFILE
Stand for
.BR \-\-device ,
.B \-\-models
and
.B \-\-output
of
.BR "millrace calibrate" ,
the first one for
.B \-\-device
of
.BR "millrace selftest" ,
and the second one for
.B \-\-models
of
.BR "millrace pull" ,
.BR add ,
.B remove
and
.BR "models \-\-available" .
.TP
.BR HF_ENDPOINT ", " HF_TOKEN ", " HF_HUB_OFFLINE ", " HTTPS_PROXY ", " NO_PROXY ", " SSL_CERT_FILE
Where and how
.B millrace pull
fetches models of the Hugging Face hub.
.TP
.BR MILLRACE_FIREFOX_REGISTRY ", " MILLRACE_FIREFOX_SETTINGS
Mirrors of Mozilla's models and of their records.
.TP
.B MILLRACE_ARGOS_INDEX
A mirror of the index of the packages of Argos Translate.
)";

constexpr char kMillraceExamples[] = R"(.SH EXAMPLES
.EX
millrace translate "Good morning." \-\-source en \-\-target pt
millrace synthesize "Hello." \-\-model piper\-en\-us\-joe \-o hello.wav
millrace pull piper/de_DE\-thorsten\-medium firefox/de
millrace models \-\-address translate.example.org:8001 \-\-tls\-ca ca.pem
.EE
)";

constexpr char kServeDescription[] = R"(.B millrace serve
loads the models of a repository, answers requests until a signal arrives, and then lets the requests that run finish.
.B millrace check
takes the same options, loads each model once, and says whether the server would start.
.PP
Each option is also an environment variable and a key of
.BR millrace.toml (5):
.BR "\-\-queue\-size 64" ,
.B MILLRACE_QUEUE_SIZE=64
and
.BR "queue_size = 64" .
A flag wins over a variable, and a variable over the file.
An unknown variable whose name begins with MILLRACE_ is refused.
)";

constexpr char kServeSignals[] = R"(.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
The server says that it is not ready, waits for
.BR \-\-drain\-delay ,
lets requests finish for
.BR \-\-drain\-timeout ,
and ends.
A second signal ends it within two seconds.
.TP
.B SIGHUP
The API keys and the certificates are read again.
)";

constexpr char kServeFiles[] = R"(.SH FILES
.TP
.I /etc/millrace/millrace.toml
The configuration of the service that the Debian package installs; see
.BR millrace.toml (5).
.TP
.I /var/lib/millrace/models
The models of that service.
The service starts when this folder is not empty.
)";

constexpr char kTomlDescription[] = R"(The file of
.B millrace serve \-\-config
holds settings of the server in TOML.
Each key is also a flag of
.BR millrace\-serve (1)
and an environment variable, which win over the file.
An unknown key is refused.
A size is a string such as "16MiB", and a duration one such as "250ms", "5s" or "2m".
.PP
.B millrace serve \-\-config
.I FILE
.B \-\-print\-config
prints all keys with their values and where each came from.
)";

constexpr char kTomlExample[] = R"(.SH EXAMPLE
.EX
models = "/var/lib/millrace/models"
grpc_address = "127.0.0.1:8001"
queue_size = 64
drain_delay = "5s"
console = false
.EE
)";

std::string Title(const char* name, const char* section, const std::string& date,
                  const char* manual) {
  return StrCat(".TH ", name, " ", section, " ", date, " \"Millrace ", MILLRACE_VERSION, "\" \"",
                manual, "\"\n");
}

struct Page {
  const char* name;
  int section;
};

std::string SeeAlso(const std::vector<Page>& pages) {
  std::string out = ".SH SEE ALSO\n";
  for (size_t i = 0; i < pages.size(); ++i) {
    absl::StrAppend(&out, ".BR ", Roff(pages[i].name), " (", pages[i].section, ")",
                    i + 1 < pages.size() ? ",\n" : "\n");
  }
  return out;
}

std::string Sentence(const std::string& text) {
  return StrCat(Roff(text), text.ends_with('.') ? "\n" : ".\n");
}

void AppendOption(const OptionReference& option, std::string& out) {
  std::vector<std::string> names;
  for (const std::string& flag : option.flags) names.push_back(InFont('B', flag));
  std::string tag = absl::StrJoin(names, ", ");
  if (!option.placeholder.empty()) {
    const std::string value = InFont('I', option.placeholder);
    absl::StrAppend(&tag, tag.empty() ? "" : " ",
                    option.value_may_be_missing ? StrCat("[", value, "]") : value);
  }
  absl::StrAppend(&out, ".TP\n", tag, "\n", Sentence(option.help));
}

const CommandReference* Find(const std::vector<CommandReference>& commands, const char* name) {
  for (const CommandReference& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

bool IsServe(const CommandReference& command) {
  return command.name == "serve" || command.name == "check";
}

}  // namespace

std::string MillracePage(const std::vector<CommandReference>& commands, const std::string& date) {
  std::string out =
      StrCat(Title("MILLRACE", "1", date, "User Commands"),
             ".SH NAME\nmillrace \\- inference server for speech and translation models\n"
             ".SH SYNOPSIS\n.B millrace\n.I command\n.RI [ options ]\n.br\n.B millrace\n"
             ".RB [ \\-\\-help | \\-\\-version ]\n.SH DESCRIPTION\n",
             kMillraceDescription, ".SH COMMANDS\n");
  const CommandReference* with_connection = nullptr;
  for (const CommandReference& command : commands) {
    absl::StrAppend(&out, ".SS ", Quoted("millrace " + command.name), "\n",
                    Sentence(command.summary));
    if (IsServe(command)) {
      out += "See\n.BR millrace\\-serve (1).\n";
      continue;
    }
    for (const OptionReference& option : command.options) {
      if (option.group == kConnection) {
        with_connection = &command;
      } else {
        AppendOption(option, out);
      }
    }
  }
  if (with_connection != nullptr) {
    out += ".SH CONNECTION\nThe commands that ask a server have these options:\n";
    for (const OptionReference& option : with_connection->options) {
      if (option.group == kConnection) AppendOption(option, out);
    }
  }
  absl::StrAppend(&out, kMillraceEnvironment, kExitStatus, kMillraceExamples,
                  SeeAlso({{"millrace-serve", 1}, {"millrace.toml", 5}, {"espeak-ng", 1}}));
  return out;
}

std::string ServePage(const std::vector<CommandReference>& commands, const std::string& date) {
  std::string out =
      StrCat(Title("MILLRACE\\-SERVE", "1", date, "User Commands"),
             ".SH NAME\nmillrace\\-serve, millrace\\-check \\- serve models, or check whether "
             "they could be served\n.SH SYNOPSIS\n.B millrace serve\n.RI [ options ]\n.br\n"
             ".B millrace check\n.RI [ options ]\n.SH DESCRIPTION\n",
             kServeDescription, ".PP\nThis program has the front ends ", Sentence(BuiltFrontEnds()),
             ".SH OPTIONS\n");
  std::string group;
  for (const OptionReference& option : Find(commands, "serve")->options) {
    if (option.group != group && option.group != "Options")
      absl::StrAppend(&out, ".SS ", Quoted(option.group), "\n");
    group = option.group;
    AppendOption(option, out);
  }
  absl::StrAppend(&out, kServeSignals, kExitStatus, kServeFiles,
                  SeeAlso({{"millrace", 1}, {"millrace.toml", 5}}));
  return out;
}

std::string TomlPage(const std::string& date) {
  std::string out = StrCat(Title("MILLRACE.TOML", "5", date, "File Formats"),
                           ".SH NAME\nmillrace.toml \\- configuration of the Millrace server\n"
                           ".SH SYNOPSIS\n.I /etc/millrace/millrace.toml\n.SH DESCRIPTION\n",
                           kTomlDescription, ".SH KEYS\n");
  const ServerConfig defaults;
  std::string group;
  for (const Option& option : ServeOptions()) {
    if (!option.is_built) continue;
    if (option.group != group) absl::StrAppend(&out, ".SS ", Quoted(option.group), "\n");
    group = option.group;
    const char* type = option.literal == Option::Literal::kNumber ? "number"
                       : option.literal == Option::Literal::kBool ? "boolean"
                                                                  : "string";
    const std::string value = option.get(defaults);
    absl::StrAppend(&out, ".TP\n", InFont('B', KeyOf(option.name)), " = ", InFont('I', type), "\n",
                    Sentence(option.help), "Allowed: ", Sentence(option.allowed),
                    value.empty() ? "It is unset by default.\n" : "Default: " + Sentence(value));
  }
  absl::StrAppend(&out, kTomlExample, SeeAlso({{"millrace", 1}, {"millrace-serve", 1}}));
  return out;
}

}  // namespace millrace::reference
