"""Shell completion: the shell's own question gets the commands and their options."""

import os
import subprocess
import sys

import pytest

BASH = {"_BESTGROUP_COMPLETE": "complete_bash"}


def complete(*words):
    """Return what a shell offers after these words, the last of them unfinished."""
    place = {"COMP_WORDS": " ".join(("bestgroup", *words)), "COMP_CWORD": str(len(words))}
    command = [sys.executable, "-m", "bestgroup"]
    found = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **BASH, **place}, check=True
    )
    return found.stdout.split()


def test_commands_and_options_are_completed():
    assert complete("cal") == ["calibrate"]
    assert complete("study", "st") == ["status"]
    assert "--plot" in complete("certify", "--p")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_can_be_shown(shell):
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "bestgroup", "--show-completion", shell]
    found = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert "_BESTGROUP_COMPLETE" in found.stdout


def test_completion_is_installed_for_a_shell(tmp_path):
    env = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "bestgroup", "--install-completion", "bash"]
    found = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    assert "installed" in found.stdout
    script = tmp_path / ".bash_completions" / "bestgroup.sh"
    assert "complete" in script.read_text() and str(script) in (tmp_path / ".bashrc").read_text()
