"""KModel of the package kokoro 0.9.4 (PyTorch) with the weights of a converted package, and nothing from a network.

It needs kokoro, transformers and what they import, in an environment of their own: scripts/peers.sh kokoro makes one.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path
from unittest import mock

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from models.convert.safetensors import read_safetensors  # noqa: E402

# Of hexgrad/Kokoro-82M's config.json; the vocabulary comes with the package.
CONFIG = dict(n_token=178, hidden_dim=512, style_dim=128, n_layer=3, max_dur=50, dropout=0.2, n_mels=80, text_encoder_kernel_size=5,
              plbert=dict(hidden_size=768, num_attention_heads=12, intermediate_size=2048, max_position_embeddings=512,
                          num_hidden_layers=12, dropout=0.1),
              istftnet=dict(upsample_kernel_sizes=[20, 12], upsample_rates=[10, 6], gen_istft_hop_size=5, gen_istft_n_fft=20,
                            resblock_dilation_sizes=[[1, 3, 5]] * 3, resblock_kernel_sizes=[3, 7, 11], upsample_initial_channel=512))


def import_network():
    """The modules kokoro.model and kokoro.istftnet without the package's text front ends, which import far more."""
    spec = importlib.util.find_spec("kokoro")
    if spec is None:
        raise SystemExit("the package kokoro is not installed; run: scripts/peers.sh kokoro")
    package = types.ModuleType("kokoro")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules["kokoro"] = package
    from kokoro import istftnet, model

    return model, istftnet


def _fold_weight_norms(model):
    # The converted weights are folded already. It makes the package a little faster than as it comes.
    for module in model.modules():
        for hook in list(getattr(module, "_forward_pre_hooks", {}).values()):
            if type(hook).__name__ == "WeightNorm":
                torch.nn.utils.remove_weight_norm(module)


def load(folder):
    """(KModel, vocabulary, styles by voice) of a package folder such as var/models/kokoro-82m/1."""
    network, _ = import_network()
    vocabulary = json.loads((folder / "kokoro.json").read_text(encoding="utf-8"))["vocab"]
    tensors = {name: torch.tensor(array) for name, array in read_safetensors(folder / "model.safetensors").items()}
    voices = {name.removeprefix("voices."): tensors.pop(name) for name in list(tensors) if name.startswith("voices.")}
    # It insists on a checkpoint of its own: an empty one.
    with mock.patch.object(torch, "load", lambda *_, **__: {}):
        model = network.KModel(repo_id="none", config=CONFIG | {"vocab": vocabulary}, model="none")
    _fold_weight_norms(model)
    state = {name: tensor.view(1, -1, 1) if ".alpha" in name else tensor for name, tensor in tensors.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    missing = [name for name in missing if ".norm." not in name and "pooler" not in name]
    if missing or unexpected:
        raise SystemExit(f"{folder} does not fit KModel: missing {missing}, unexpected {unexpected}")
    # These affines are the identity and not in the package.
    for name, parameter in model.named_parameters():
        if ".norm." in name:
            torch.nn.init.constant_(parameter, 1.0 if name.endswith("weight") else 0.0)
    return model.eval(), vocabulary, voices
