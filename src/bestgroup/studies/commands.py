"""Commands that measure: a line with placeholders, run without a shell, ended with all it started.

Names come from users, and from whoever wrote a problem file: they reach a command as arguments or as
environment (BESTGROUP_GROUP, BESTGROUP_ARM, BESTGROUP_ITEM, BESTGROUP_SEED), never as shell text.
Inside `sh -c '... {arm}'` a placeholder becomes a reference to that environment, whose value a shell
does not read as code. A name that begins with "-" is refused where it would be taken for an option.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import PurePath
from string import Formatter
from typing import Any

from bestgroup.errors import EvaluationFailed, InvalidInput

NAMES = ("group", "arm", "item")
PLACES = (*NAMES, "seed")
_SHELLS = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"}
_OTHERS = {"fish", "csh", "tcsh", "ssh", "eval"}  # that read their arguments as code, their own way
Piece = tuple[str, str | None]  # literal text, and the placeholder that follows it


class Command:
    """A command line, checked once and run as often as one likes, from several threads."""

    def __init__(self, line: str) -> None:
        words = split_command(line)
        scripts = _scripts(words)
        self._words = [
            [(_referring(word), None)] if k in scripts else _pieces(word)
            for k, word in enumerate(words)
        ]
        after = words.index("--") if "--" in words else len(words)
        # Where a name stands first in a word and could be taken for an option.
        self._bare = {
            pieces[0][1]
            for pieces in self._words[1:after]
            if pieces and pieces[0][0] == "" and pieces[0][1] in NAMES
        }
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()

    def check(self, kind: str, names: Iterable[str]) -> None:
        """Raise InvalidInput if one of the names of a kind would be taken for an option."""
        if kind not in self._bare:
            return
        for name in names:
            if name.startswith("-"):
                raise InvalidInput(
                    f"the command would take the {kind} {name!r} for an option; write "
                    f"--{kind}={{{kind}}}, or -- before {{{kind}}}, or let the command read "
                    f"BESTGROUP_{kind.upper()} from its environment"
                )

    def run(self, values: Mapping[str, Any], timeout: float | None) -> str:
        """Return what the command prints; EvaluationFailed if it fails, hangs or cannot be run."""
        texts = {key: "" if value is None else str(value) for key, value in values.items()}
        for kind in NAMES:
            self.check(kind, [texts[kind]])
        words = ["".join(a + (texts[p] if p else "") for a, p in word) for word in self._words]
        names = {f"BESTGROUP_{key.upper()}": text for key, text in texts.items()}
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, **names},
                start_new_session=True,  # a group of its own, so that all of it can be ended
            )
        except (OSError, ValueError) as error:
            raise EvaluationFailed(f"{words[0]} cannot be run: {error}") from None
        with self._lock:
            self._running.add(process)
        try:
            out, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise EvaluationFailed(f"it took longer than {timeout:g} s") from None
        except UnicodeDecodeError as error:
            raise EvaluationFailed(f"what it printed is not text: {error}") from None
        finally:
            _end(process)
            with self._lock:
                self._running.discard(process)
        if process.returncode != 0:
            last = (errors.strip().splitlines() or ["nothing on standard error"])[-1]
            raise EvaluationFailed(f"it ended with code {process.returncode}: {last[:200]}")
        return out

    def close(self) -> None:
        """End what is still running."""
        with self._lock:
            running = list(self._running)
        for process in running:
            end_group(process.pid)


def _end(process: subprocess.Popen[str]) -> None:
    """End whatever a command has started and left behind, and wait for it."""
    if process.poll() is None:
        end_group(process.pid)
        with suppress(ValueError, UnicodeDecodeError):
            process.communicate()


def end_group(leader: int) -> None:
    """End a process with all that it started, by the group that it leads."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def split_command(line: str) -> list[str]:
    """Return the words of a command line; braces are placeholders.

    >>> split_command("./measure.sh {group} --arm={arm} {seed}")
    ['./measure.sh', '{group}', '--arm={arm}', '{seed}']
    """
    try:
        words = shlex.split(line)
        scripts = _scripts(words)
        for k, word in enumerate(words):
            _ = _referring(word) if k in scripts else _pieces(word)
    except ValueError as error:
        raise InvalidInput(
            f"the command must hold only the placeholders {{group}}, {{arm}}, {{seed}}, {{item}}: "
            f"{error}"
        ) from None
    if not words:
        raise InvalidInput("the command must not be empty")
    _check_shells(words, scripts)
    return words


def _pieces(word: str) -> list[Piece]:
    """Return a word as texts and placeholders; ValueError for a placeholder that is not known."""
    pieces: list[Piece] = []
    for text, name, form, conversion in Formatter().parse(word):
        if name is not None and (name not in PLACES or form or conversion):
            raise ValueError(f"{{{name}}} is not one of them")
        pieces.append((text, name))
    return pieces


def _scripts(words: list[str]) -> set[int]:
    """Return the places of the words that a shell reads as code: after its option -c."""
    found: set[int] = set()
    for k, word in enumerate(words):
        if PurePath(word).name not in _SHELLS:
            continue
        for at in range(k + 1, len(words)):
            option = words[at]
            if not option.startswith(("-", "+")):
                break
            if "c" in option.lstrip("-") and not option.startswith("--"):
                found.add(at + 1)
                break
    return {at for at in found if at < len(words)}


def _check_shells(words: list[str], scripts: set[int]) -> None:
    """Refuse names where they would be read as code in a way that cannot be made safe."""
    for k, word in enumerate(words):
        if PurePath(word).name in _OTHERS and _has_name(" ".join(words[k + 1 :])):
            _refuse(PurePath(word).name)
    for k in scripts:
        inner = words[k].replace("'", " ").replace('"', " ").split()
        nested = {PurePath(w).name for w in inner} & {*_SHELLS, *_OTHERS}
        if nested and _has_name(words[k]):
            _refuse(sorted(nested)[0])


def _refuse(name: str) -> None:
    raise InvalidInput(
        f"{name} would read names as code; let what it runs read BESTGROUP_GROUP, BESTGROUP_ARM "
        "and BESTGROUP_ITEM from the environment instead of {group}, {arm} and {item}"
    )


def _has_name(word: str) -> bool:
    return any(name in NAMES for _, name in _pieces(word))


def _referring(script: str) -> str:
    """Return a shell script with references to the environment in the place of placeholders.

    >>> print(_referring('echo {arm} "{group} x" ' + "'{item}'"))
    echo "${BESTGROUP_ARM}" "${BESTGROUP_GROUP} x" ''"${BESTGROUP_ITEM}"''
    """
    made, quote = [], ""
    for text, name in _pieces(script):
        quote = _quote_after(text, quote)
        made.append(text)
        if name is not None:
            reference = f"${{BESTGROUP_{name.upper()}}}"
            around = {"": '"', '"': "", "'": "'\""}[quote]
            made.append(around + reference + around[::-1])
    return "".join(made)


def _quote_after(text: str, quote: str) -> str:
    """Return the quote that is open after a text that begins inside `quote`."""
    skip = False
    for character in text:
        if skip:
            skip = False
        elif character == "\\" and quote != "'":
            skip = True
        elif character in "'\"":
            quote = "" if quote == character else quote or character
    return quote
