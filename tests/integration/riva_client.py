"""What NVIDIA Riva's own Python client makes of the server. Runs in the client's environment (.tools/riva-venv), not in that of the tests.

usage: riva_client.py ADDRESS COMMAND [JSON of the command's arguments]     prints JSON"""

import base64
import hashlib
import json
import queue
import sys
import textwrap
import threading

import grpc
import riva.client
import riva.client.proto.riva_nmt_pb2 as nmt
import riva.client.proto.riva_tts_pb2 as tts
from riva.client.proto.riva_audio_pb2 import AudioEncoding


class Client:
    def __init__(self, address: str, key: str = "None") -> None:
        # As Pipecat does, which sends "Bearer None" when it has no key.
        metadata = [["function-id", "877104f7-e885-42b9-8de8-f6e4c6303969"], ["authorization", f"Bearer {key}"]]
        self.auth = riva.client.Auth(None, False, address, metadata)
        self.speech = riva.client.SpeechSynthesisService(self.auth)
        self.translator = riva.client.NeuralMachineTranslationClient(self.auth)

    def voices(self) -> dict:
        """As talk.py --list-voices: full names by language."""
        voices: dict = {}
        for config in self.speech.stub.GetRivaSynthesisConfig(tts.RivaSynthesisConfigRequest()).model_config:
            names = [voice.split(":")[0] for voice in config.parameters["subvoices"].split(",")]
            voices.setdefault(config.parameters["language_code"], []).extend(
                f"{config.parameters['voice_name']}.{name}" for name in names)
        return voices

    def speak(self, text: str | list, stream: bool = False, encoding: str = "LINEAR_PCM", **options: object) -> dict:
        """As talk.py speaks, with and without --stream."""
        arguments = {"voice_name": None, "language_code": "en-US", "sample_rate_hz": 44100, "zero_shot_audio_prompt_file": None,
                     "zero_shot_quality": 20, "custom_dictionary": {}} | options
        call = self.speech.synthesize_online if stream else self.speech.synthesize
        answer = call(text, encoding=AudioEncoding.Value(encoding), **arguments)
        audio = b"".join(piece.audio for piece in answer) if stream else answer.audio
        return {"audio": base64.b64encode(audio).decode()}

    def pipecat(self, text: str, interrupt: bool = False, **settings: object) -> dict:
        """A turn of Pipecat's: the configuration at the start, then one call that is fed from a queue with pieces of at most 200
        characters. `interrupt` cancels it with the first audio, as when the user begins to speak, and takes another turn."""
        config = self.speech.stub.GetRivaSynthesisConfig(tts.RivaSynthesisConfigRequest())
        request = tts.SynthesizeSpeechRequest(**{"language_code": "en-US", "sample_rate_hz": 24000,
                                                 "encoding": AudioEncoding.LINEAR_PCM,
                                                 "voice_name": "Magpie-Multilingual.EN-US.Aria"} | settings)
        pieces = textwrap.wrap(text, 200)
        if interrupt:
            state = self._turn(request, pieces, ends=False)
            next(state)
            state.cancel()
            try:
                for _ in state:
                    pass
                interrupted = "OK"
            except grpc.RpcError as error:
                interrupted = error.code().name
        audio = b"".join(answer.audio for answer in self._turn(request, pieces))
        return {"models": sorted({one.model_name for one in config.model_config}), "pieces": len(pieces),
                "audio": base64.b64encode(audio).decode(), "sha": hashlib.sha256(audio).hexdigest()
                } | ({"interrupted": interrupted} if interrupt else {})

    def _turn(self, request: tts.SynthesizeSpeechRequest, pieces: list, ends: bool = True):
        texts: queue.Queue = queue.Queue()
        for piece in pieces + ([None] if ends else []):
            texts.put(piece)
        over = threading.Event()

        def requests():
            while not over.is_set():
                try:
                    text = texts.get(timeout=0.1)
                except queue.Empty:
                    continue
                if text is None:
                    break
                request.text = text
                yield request

        call = self.speech.stub.SynthesizeOnline(requests(), metadata=self.auth.get_auth_metadata())
        call.add_callback(over.set)
        return call

    def translate(self, texts: list, source: str, target: str, model: str = "", **options: object) -> dict:
        answer = self.translator.translate(texts, model, source, target, **options)
        return {"translations": [[one.text, one.language] for one in answer.translations]}

    def pairs(self, model: str = "") -> dict:
        languages = self.translator.get_config(model).languages
        return {name: [list(pair.src_lang), list(pair.tgt_lang)] for name, pair in languages.items()}

    def speech_in(self) -> dict:
        """The two calls that translate speech."""
        for call, config in [(self.translator.streaming_s2t_response_generator, nmt.StreamingTranslateSpeechToTextConfig()),
                             (self.translator.streaming_s2s_response_generator, nmt.StreamingTranslateSpeechToSpeechConfig())]:
            for _ in call([b"\0\0"], config):
                pass
        return {}


def main() -> None:
    address, command, *arguments = sys.argv[1:]
    options = json.loads(arguments[0]) if arguments else {}
    client = Client(address, options.pop("key", "None"))
    try:
        print(json.dumps(getattr(client, command)(**options)))
    except grpc.RpcError as error:
        print(json.dumps({"error": error.code().name, "details": error.details()}))


main()
