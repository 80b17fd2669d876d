"""Whether a server can load a translator: its numbers, and the shapes and values of its tensors, as models/seq2seq/ has them."""

from .package import ConvertError, check_weights_of
from .seq2seq_layout import Network

ANY = -1
_PANEL, _LANES = 32, 16   # what widths, and widths of heads, are multiples of
_MOST_HIDDEN, _MOST_WORDS, _MOST_SUPPRESSED, _FEWEST_PLACES = 1 << 16, 1 << 20, 1024, 16


def check_network(network: Network, source: str) -> None:
    """Refuses what a server would refuse, and names it. source: what is converted."""
    config, tensors, dim = network.config, network.tensors, network.config["dim"]

    def require(fits: bool, what: str) -> None:
        if not fits:
            raise ConvertError(f"{source}: {what}")

    require(dim % _PANEL == 0, f"is {dim} wide, allowed are multiples of {_PANEL}")
    for side in ("encoder", "decoder"):
        heads = config[f"{side}_heads"]
        require(dim % (heads * _LANES) == 0, f"{heads} heads of the {side} do not divide its width, {dim}, into multiples of {_LANES}")
    suppressed = len(config["suppressed"])
    require(suppressed <= _MOST_SUPPRESSED, f"{suppressed} words are never written, allowed are 0..{_MOST_SUPPRESSED}")
    for name, array in tensors.items():
        shape = _shape(name, network)
        require(array.ndim == len(shape) and all(size == wanted if wanted != ANY else size > 0 for size, wanted in zip(array.shape, shape)),
                f"{name} has the shape {list(array.shape)}, expected {list(shape)}" + (f", {ANY} being any size" if ANY in shape else ""))
        check_weights_of(array, f"{source}: {name}")
        if name.endswith(".expand.weight"):
            require(len(array) % _PANEL == 0 and len(array) <= _MOST_HIDDEN,
                    f"{name} has {len(array)} hidden units, allowed are multiples of {_PANEL} up to {_MOST_HIDDEN}")
    for words in (network.words, network.source_words):
        require(words <= _MOST_WORDS, f"has {words} words, allowed are 1..{_MOST_WORDS}")
    places = len(tensors["positions"])
    require(places >= _FEWEST_PLACES, f"has {places} positions, allowed are {_FEWEST_PLACES} and more")


def _shape(name: str, network: Network) -> tuple[int, ...]:
    dim = network.config["dim"]
    if name in ("embeddings", "source_embeddings", "positions"):
        return (ANY, dim)
    if name in ("output", "output.bias"):
        return (network.words, dim) if name == "output" else (network.words,)
    layer, _, kind = name.rpartition(".")
    place, _, part = layer.rpartition(".")
    hidden = len(network.tensors[f"{place}.expand.weight"]) if part in ("expand", "contract") else dim
    rows, columns = (hidden, dim) if part == "expand" else (dim, hidden)
    return (rows,) if kind == "bias" or part == "norm" else (rows, columns)
