"""What scripts/check_includes.py says of trees of sources that were made for it."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

KINDS = "MILLRACE_MODEL_KIND(vits)\nMILLRACE_MODEL_KIND(kokoro)\n"


def check(root: pathlib.Path, files: dict[str, str]) -> tuple[int, str]:
    for name, text in {"models/kinds.inc": KINDS, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, ROOT / "scripts" / "check_includes.py", root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_accepts_includes_that_point_down(tmp_path):
    assert check(tmp_path, {
        "models/core/model.h": '#include <string>\n#include "mps_runtime/stream.h"\n#include "absl/status/status.h"\n',
        "models/core/model.cc": '#include "models/core/model.h"\n',
        "server/server.cc": '#include "models/core/model.h"\n',
    }) == (0, "")


def test_refuses_an_include_that_points_up(tmp_path):
    code, said = check(tmp_path, {"models/core/model.h": '#pragma once\n\n#include "models/kokoro/kokoro_model.h"\n'})
    assert code == 1
    assert said == ('models/core/model.h:3: includes "models/kokoro/kokoro_model.h": models/core stands not above models/kokoro\n')


def test_refuses_kinds_that_know_each_other(tmp_path):
    code, said = check(tmp_path, {"models/vits/vits_model.cc": '#include "models/kokoro/kokoro_model.h"\n'})
    assert code == 1
    assert "models/vits/vits_model.cc:1: includes \"models/kokoro/kokoro_model.h\": models/vits stands not above models/kokoro" in said


def test_places_a_kind_that_only_the_list_of_kinds_names(tmp_path):
    whisper = {
        "models/kinds.inc": "// The kinds of models.\nMILLRACE_MODEL_KIND(vits)\nMILLRACE_MODEL_KIND(whisper)\n",
        "models/whisper/whisper_model.cc": '#include "models/core/model.h"\n#include "models/speech/speech_plan.h"\n',
        "models/repository/model_factory.cc": '#include "models/whisper/whisper_model.h"\n',
    }
    assert check(tmp_path, whisper) == (0, "")
    whisper["models/whisper/whisper_model.cc"] = '#include "models/vits/vits_model.h"\n'
    code, said = check(tmp_path, whisper)
    assert code == 1
    assert "models/whisper stands not above models/vits" in said


def test_places_a_front_end_that_only_the_list_of_front_ends_names(tmp_path):
    shout = {
        "server/frontends/frontends.inc": "// The front ends.\nMILLRACE_FRONTEND(openai)\nMILLRACE_FRONTEND(shout)\n",
        "server/frontends/shout/front_end.cc": '#include "server/frontends/front_end.h"\n#include "server/frontends/http/shared_path.h"\n',
        "server/server.cc": '#include "server/frontends/shout/shout_routes.h"\n',
    }
    assert check(tmp_path, shout) == (0, "")
    shout["server/frontends/shout/front_end.cc"] = '#include "server/frontends/openai/openai_routes.h"\n'
    code, said = check(tmp_path, shout)
    assert code == 1
    assert "server/frontends/shout stands not above server/frontends/openai" in said


def test_shows_each_include_of_a_circle(tmp_path):
    code, said = check(tmp_path, {
        "server/config/options.cc": '#include "server/security/address_policy.h"\n',
        "server/security/keys.cc": '#include "server/logging/logging.h"\n',
        "server/logging/logging.h": '#include "server/config/options.h"\n',
    })
    assert code == 1
    assert "a circle of folders: server/config -> server/security -> server/logging -> server/config\n" in said
    for include in ('server/config/options.cc:1: includes "server/security/address_policy.h"',
                    'server/security/keys.cc:1: includes "server/logging/logging.h"',
                    'server/logging/logging.h:1: includes "server/config/options.h"'):
        assert f"  {include}\n" in said


def test_refuses_a_folder_without_a_place(tmp_path):
    code, said = check(tmp_path, {"models/whisper/whisper_model.cc": '#include "models/core/model.h"\n'})
    assert code == 1
    assert "models/whisper has no place in the layers of scripts/check_includes.py, and no line in models/kinds.inc\n" in said
    code, said = check(tmp_path, {"server/paper/sheet.cc": '#include "models/core/model.h"\n'})
    assert code == 1
    assert "server/paper has no place in the layers of scripts/check_includes.py\n" in said


def test_does_not_pass_a_folder_without_sources(tmp_path):
    code, said = check(tmp_path, {})
    assert code == 1
    assert "no sources" in said
