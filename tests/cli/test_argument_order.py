"""Options may stand anywhere between the words of a command."""

from itertools import permutations

import pytest

from secondorder import cli

# words of a command without options, and options with their values
COMMANDS = {
    "reproduce": (["low-rank", "figure-2", "claim-sigma"], [["--quick"], ["--seeds", "3"]]),
    "verify": (["residual-partitioning", "9", "10"], [["--json"], ["--seed", "3"]]),
    "show": (["residual-partitioning", "9"], [["--more"], ["--seed", "3"]]),
    "data": (["digits", "wine"], [["--json"], ["--target", "2"]]),
    "edition test": (["my-paper", "7", "8"], [["--all"], ["--seed", "3"]]),
}


def parsed(*words):
    return vars(cli.parser().parse_args(words))


@pytest.mark.parametrize("command", COMMANDS)
def test_any_order_means_the_same(command):
    words, options = COMMANDS[command]
    expected = parsed(*command.split(), *words, *sum(options, []))
    pieces = [[word] for word in words] + options
    for order in permutations(pieces):
        if [piece for piece in order if piece in pieces[:len(words)]] == pieces[:len(words)]:
            assert parsed(*command.split(), *sum(order, [])) == expected


@pytest.mark.parametrize("words, expected", [
    (["reproduce", "--quick", "--", "low-rank", "-x"], {"paper": "low-rank", "keys": ["-x"]}),
    (["reproduce", "low-rank", "--", "--quick"], {"keys": ["--quick"], "quick": False}),
    (["grade", "--", "-a.py", "b.py"], {"files": ["-a.py", "b.py"]})])
def test_behind_two_dashes_nothing_is_an_option(words, expected):
    assert parsed(*words).items() >= expected.items()


@pytest.mark.parametrize("words, message", [
    (["reproduce", "low-rank", "--bogus", "figure-2"], "unrecognized arguments: --bogus"),
    (["reproduce", "low-rank", "--seeds", "x", "figure-2"], "--seeds: expected a whole number"),
    (["book", "--open", "low-rank", "ea-cg"], "unrecognized arguments: ea-cg"),
    (["grade", "--traceback"], "required: FILE")])
def test_what_is_not_known_is_refused_with_the_command_s_usage(words, message, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.parser().parse_args(words)
    said = capsys.readouterr().err
    assert stop.value.code == 2 and message in said and f"usage: secondorder {words[0]}" in said
