"""gRPC stubs, generated from proto/ at import into a folder that lasts as long as the process."""

import importlib.resources
import sys
import tempfile

from grpc_tools import protoc

from .paths import ROOT

_folder = tempfile.TemporaryDirectory(prefix="millrace-stubs-")
_proto = ROOT / "proto"
# The messages to a collector of traces are OpenTelemetry's own package here, and google/rpc goes with them.
_files = [file for file in sorted(_proto.rglob("*.proto")) if file.relative_to(_proto).parts[0] not in ("google", "opentelemetry")]
_well_known = importlib.resources.files("grpc_tools") / "_proto"
_failed = protoc.main(["protoc", f"-I{_proto}", f"-I{_well_known}", f"--python_out={_folder.name}", f"--grpc_python_out={_folder.name}",
                       *(str(file.relative_to(_proto)) for file in _files)])
assert not _failed, "protoc could not compile proto/"
sys.path.insert(0, _folder.name)

from inference import grpc_service_pb2 as kserve  # noqa: E402
from inference import grpc_service_pb2_grpc as kserve_grpc  # noqa: E402
from millrace.v1 import admin_pb2 as admin  # noqa: E402
from millrace.v1 import admin_pb2_grpc as admin_grpc  # noqa: E402
from millrace.v1 import synthesis_pb2 as synthesis  # noqa: E402
from millrace.v1 import synthesis_pb2_grpc as synthesis_grpc  # noqa: E402
from millrace.v1 import translation_pb2 as translation  # noqa: E402
from millrace.v1 import translation_pb2_grpc as translation_grpc  # noqa: E402
from riva import audio_pb2 as riva_audio  # noqa: E402
from riva import nmt_pb2 as riva_nmt  # noqa: E402
from riva import nmt_pb2_grpc as riva_nmt_grpc  # noqa: E402
from riva import tts_pb2 as riva_tts  # noqa: E402
from riva import tts_pb2_grpc as riva_tts_grpc  # noqa: E402
from xds.data.orca.v3 import orca_load_report_pb2 as orca_report  # noqa: E402
from xds.service.orca.v3 import orca_pb2 as orca  # noqa: E402
from xds.service.orca.v3 import orca_pb2_grpc as orca_grpc  # noqa: E402

__all__ = ["kserve", "kserve_grpc", "admin", "admin_grpc",
           "synthesis", "synthesis_grpc", "translation", "translation_grpc",
           "riva_audio", "riva_nmt", "riva_nmt_grpc", "riva_tts", "riva_tts_grpc",
           "orca", "orca_grpc", "orca_report"]
