"""The command: python -m deploy.libtorch.patch COMMAND [CHECKOUT]"""

import argparse
import pathlib
import sys
import textwrap

from . import transaction
from .checkout import Checkout
from .errors import PatchError
from .rule import Rule, State
from .rules import PATCH_LEVEL, RULES, TRIED_RELEASES

PATCHED, REFUSED, UNPATCHED = 0, 1, 3


def show(checkout: Checkout) -> None:
    for rule in checkout.rules:
        states = checkout.states(rule)
        print(f"{rule.name}: {'partly applied' if len(states) > 1 else states.pop().value}")
        for place in checkout.places(rule):
            print(f"  {place}")


def require_matches(checkout: Checkout) -> None:
    problems = checkout.problems()
    if problems:
        raise PatchError("\n".join([*problems, "nothing was written"]))


def repair(root: pathlib.Path) -> None:
    if transaction.is_interrupted(root):
        print("an earlier run was interrupted: its edits are undone first")
    transaction.undo(root)


def change(root: pathlib.Path, rules: tuple[Rule, ...], goal: State) -> None:
    checkout = Checkout(root, rules)
    require_matches(checkout)
    changes = checkout.changes(goal)
    if changes:
        transaction.write(root, changes)
    show(Checkout(root, rules))
    print(f"{len(changes)} files changed")


def apply(root: pathlib.Path, rules: tuple[Rule, ...], untried: bool) -> int:
    checkout = Checkout(root, rules)
    with checkout.lock():
        release = checkout.release()
        if release not in TRIED_RELEASES and not untried:
            raise PatchError(f"release {release}: the rules were tried on {', '.join(TRIED_RELEASES)}; --untried applies them if all of them match")
        repair(root)
        change(root, rules, State.APPLIED)
    return PATCHED


def revert(root: pathlib.Path, rules: tuple[Rule, ...]) -> int:
    with Checkout(root, rules).lock():
        repair(root)
        change(root, rules, State.PENDING)
    return PATCHED


def check(root: pathlib.Path, rules: tuple[Rule, ...]) -> int:
    checkout = Checkout(root, rules)
    with checkout.lock():
        if transaction.is_interrupted(root):
            raise PatchError(f"{root}: a run was interrupted; apply or revert undoes its edits first")
        release = checkout.release()
        print(f"release {release}: {TRIED_RELEASES.get(release, 'the rules were not tried on it, but on ' + ', '.join(TRIED_RELEASES))}")
        require_matches(checkout)
        show(checkout)
    patched = all(checkout.states(rule) == {State.APPLIED} for rule in rules)
    print(f"patch level {PATCH_LEVEL}" if patched else "not patched; all rules match")
    return PATCHED if patched else UNPATCHED


def list_rules(rules: tuple[Rule, ...]) -> int:
    print(f"patch level {PATCH_LEVEL}")
    for release, tried in TRIED_RELEASES.items():
        print(textwrap.fill(f"release {release}: {tried}", 100, subsequent_indent="  "))
    for rule in rules:
        print(f"\n{rule.name}")
        print(textwrap.fill(rule.why, 100, initial_indent="  ", subsequent_indent="  "))
        for line in (*rule.upstream, *(edit.file for edit in rule.edits)):
            print(f"    {line}")
    return PATCHED


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m deploy.libtorch.patch",
                                     description="Edits a checkout of PyTorch so that several threads can run its MPS backend at once.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    summaries = {
        "apply": "apply all rules, or none when one does not match",
        "check": f"say what is applied and write nothing; exit status {PATCHED}: patched, {UNPATCHED}: all rules match, {REFUSED}: one does not",
        "revert": "take the edits back, byte for byte",
        "list": "print the rules, why they exist, and what upstream says",
    }
    for name, summary in summaries.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name != "list":
            command.add_argument("checkout", type=pathlib.Path, help="folder with version.txt, as git clone made it")
        if name == "apply":
            command.add_argument("--untried", action="store_true", help="apply to a release on which the rules have not been tried")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None, rules: tuple[Rule, ...] = RULES) -> int:
    args = parse(argv)
    try:
        if args.command == "list":
            return list_rules(rules)
        if args.command == "apply":
            return apply(args.checkout, rules, args.untried)
        if args.command == "revert":
            return revert(args.checkout, rules)
        return check(args.checkout, rules)
    except (PatchError, OSError) as error:
        print(f"{args.command}: {error}", file=sys.stderr)
        return REFUSED


if __name__ == "__main__":
    sys.exit(main())
