"""--help, man pages and shell completion: all of them show what the program has."""

import os
import subprocess

import pytest

from conftest import PODERE


def commands(podere, *path):
    """Every command that has no commands of its own, as shells would find it."""
    names = podere.done("complete", *path, "").stdout.split()
    found = [[*path, name] for name in names if name not in ("help", ":files", "bash", "zsh", "fish")]
    return [leaf for command in found for leaf in commands(podere, *command)] if found else [list(path)]


def test_every_command_has_help_in_groups_with_an_example_and_lines_that_fit(podere):
    found = commands(podere)
    assert len(found) > 20 and ["train", "gbt"] in found and ["session", "log"] in found
    for command in found:
        text = podere.done(*command, "--help").stdout
        assert "\nExample: " in text and f"podere {' '.join(command)}" in text[text.index("\nExample: "):], command
        options = text[:text.index("Example")]
        assert max(map(len, options.splitlines())) <= 100, command
        for option in ("--label", "--json", "--executors"):
            assert options.count(f"\n  {option} ") <= 1, (command, option)


def test_options_that_people_need_first_come_first(podere):
    text = podere.done("train", "gbt", "--help").stdout
    titles = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Arguments", "Common options", "Data", "Model", "Training", "Executors", "Output"]
    common = text[text.index("Common options:"):text.index("\nData:")]
    assert all(option in common for option in ("--help", "--output", "--label", "--trees", "--learning-rate", "--executors"))
    assert "--optimizer" in podere.done("train", "nn", "--help").stdout
    for old in ("optimiser", "standardise", "initialisation"):
        for command in (["train", "nn"], ["train", "mlp"], ["session", "transform"]):
            assert old not in podere.done(*command, "--help").stdout


COMPLETED = [
    (["tra"], ["train"]), (["train", ""], ["gbt", "nn", "mlp", "kmeans", "mixture", "isolation-forest", "linear", "kernel-ridge", "centroid"]), (["train", "gbt", "--obj"], ["--objective"]),
    (["train", "gbt", "--objective", "so"], ["softmax"]), (["train", "gbt", "--objective", "=", "q"], ["quantile"]),
    (["train", "nn", "x.csv", "--optimizer", "ada"], ["adam", "adamw"]), (["help", "session", "st"], ["start", "status", "stop"]),
    (["train", "nn", "--optimis"], []), (["train", "gbt", "--trees", ""], []), (["exec"], []), (["completion", "z"], ["zsh"]),
    (["farm", "simulate", "t.jsonl", "--policy", "or"], ["original"]),
]


@pytest.mark.parametrize("words, found", COMPLETED)
def test_bash_completes_commands_options_and_values(podere, words, found):
    script = ('source <("$1" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _podere\n'
              'printf "%s\\n" "${COMPREPLY[@]}"')
    result = subprocess.run(["bash", "--norc", "-c", script, "bash", PODERE, *words], cwd=podere.folder, capture_output=True,
                            text=True, timeout=60)
    assert result.returncode == 0 and result.stdout.split() == found, result


@pytest.mark.parametrize("shell, setup", [
    (["bash", "--norc", "-i"], "source <(podere completion bash)"),
    (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source <(podere completion zsh)")])
def test_a_terminal_completes_words_and_files(podere, shell, setup):
    """In an interactive shell, Tab completes the program's words, and leaves files to the shell."""
    (podere.folder / "events.csv").write_text("1,2\n3,4\n")
    typed = (f"PATH={os.path.dirname(PODERE)}:$PATH; {setup}\n"
             "podere gen\thi\t--hel\t>help.txt\npodere desc\teve\t--cor\t1 >described.txt\nexit\n")
    leader, follower = os.openpty()
    with subprocess.Popen(shell, cwd=podere.folder, stdin=follower, stdout=follower, stderr=follower,
                          start_new_session=True, env=podere.environment(INPUTRC="/dev/null", TERM="dumb")) as process:
        os.close(follower)
        os.write(leader, typed.encode())
        try:
            while os.read(leader, 4096):
                pass
        except OSError:
            pass  # the shell has closed the other side
        process.wait(60)
    os.close(leader)
    assert (podere.folder / "help.txt").read_text() == podere.done("generate", "higgs", "--help").stdout
    assert "2 rows, 2 columns" in (podere.folder / "described.txt").read_text()


def test_an_option_with_its_value_in_one_word_is_completed_as_other_shells_have_it(podere):
    assert podere.done("complete", "train", "nn", "--optimizer=ad").stdout == "--optimizer=adam\n--optimizer=adamw\n"
    for words in (["train", "gbt", ""], ["train", "gbt", "x.csv", "-o", "m"], ["train", "gbt", "--validation="], ["predict", ""]):
        assert podere.done("complete", *words).stdout == ":files\n"


@pytest.mark.parametrize("typed, found", [("podere gener", "generate"), ("podere train gbt --objective soft", "softmax"),
                                          ("podere describe eve", "events.csv")])
def test_fish_completes_commands_options_values_and_files(podere, typed, found):
    (podere.folder / "events.csv").write_text("1,2\n3,4\n")
    script = f'set -x PATH {os.path.dirname(PODERE)} $PATH; podere completion fish | source; complete -C "{typed}"'
    result = subprocess.run(["fish", "--no-config", "-c", script], cwd=podere.folder, capture_output=True, text=True, timeout=60)
    assert result.stdout.split() == [found], result


def test_another_shell_is_refused(podere):
    assert "csh not in {bash,zsh,fish}" in podere.refused("completion", "csh")


def test_man_pages_are_as_help_and_render_without_warnings(podere):
    podere.done("man", "--all", "pages")
    pages = sorted((podere.folder / "pages").iterdir())
    names = [page.name for page in pages]
    assert {"podere.1", "podere-train.1", "podere-train-gbt.1", "podere-session-log.1"} <= set(names)
    assert not any("executor" in name or "man" in name.split("-") for name in names)
    for page in pages:
        result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", page], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0 and result.stderr == "", page.name
        assert "NAME\n" in result.stdout and "EXAMPLES\n" in result.stdout
    shown = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou", podere.folder / "pages/podere-train-gbt.1"], capture_output=True,
                           text=True, timeout=60).stdout
    assert "--learning-rate X" in shown and "logistic|squared-error" in shown and "On Slurm:" in shown
    assert podere.done("man", "train", "gbt").stdout == (podere.folder / "pages/podere-train-gbt.1").read_text()
    assert "podere train has no command 'tree'" in podere.refused("man", "train", "tree")
    (podere.folder / "present").write_text("")
    assert "--all: present/pages" in podere.refused("man", "--all", "present/pages")
