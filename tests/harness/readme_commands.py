"""The commands that README shows to somebody whose environment is active, one a line.

    python tests/harness/readme_commands.py

Those in blocks of shell code and those that stand in a sentence; not the two that make an
environment, which the gate takes from README by themselves.
"""

import re
import shlex
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def commands(text):
    """Commands of README's text in their order, each once, without comments."""
    blocks = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S)
              for line in block.splitlines()]
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
    found = [shlex.join(shlex.split(line, comments=True)) for line in blocks
             if not line.startswith("python3 -m venv")]
    found += [span for span in spans if re.match(r"secondorder [a-z]|python -m ", span)
              and not re.search(r"\b[A-Z]{3,}\b", span)]  # FILE and DIR stand for names
    return [line for line in dict.fromkeys(found) if line]


if __name__ == "__main__":
    print("\n".join(commands(README.read_text(encoding="utf-8"))))
