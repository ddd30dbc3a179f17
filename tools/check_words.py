#!/usr/bin/env python3
"""Holds the project's words: check_words.py [root]. Names, help, messages, comments and docs say the field's terms.

Names are read word by word: kNobodyAnswers, is_told and TellsThat have old words in them. What files, protocols and other
programs call so is allowed below, each with its reason. Prints each old word as file:line: word -> what to say.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOTS = ("canonical|final|general|initial|local|maxim|minim|normal|optim|organ|parallel|penal|quant|random|real|recogn|"
         "regular|serial|special|standard|summar|synchron|vector|visual")  # of -ize
SPELLINGS = {"colour": "color", "neighbour": "neighbor", "behaviour": "behavior", "favour": "favor", "flavour": "flavor",
             "labelled": "labeled", "modelled": "modeled", "learnt": "learned", "centred": "centered", "licence": "license"}

# What not to say, as words in lower case, and what to say.
WORDS = {
    r"tells?|telling|told": "report, print, show, name",
    r"(?:is|are|was|were|be|been) said": "report, state",
    r"nobody|somebody|anybody|whoever|whomever": "say which: no process, another user, the client that",
    r"go(?:es)? on|going on|went on": "continue, resume",
    r"continuations?": "warm start, resume",
    r"lends?|lent|lending|givers?": "borrow, lender",
    r"(?:tak(?:e|es|en|ing)|took) (?:(?:it|them|that) )?back": "reclaim",
    r"(?:giv(?:e|es|en|ing)|gave) (?:(?:it|them|that) )?back": "release",
    r"wish(?:es|ed)?": "request",
    r"parcels?": "shard message",
    r"abreast": "concurrently, in flight",
    r"blockades?": "back-off",
    r"(?:door ?)?bells?": "wake-up",
    r"doorm[ae]n": "listener",
    r"workplaces?": "job context",
    r"keepers?": "administrator",
    r"hears?|heard": "receive, see",
    r"by hand": "yourself",
    r"to one form": "canonicalize",
    r"stands? (?:in|among)": "is in",
    r"(?:" + ROOTS + r")is(?:e|ed|es|er|ers|ing|ations?)": "-ize, -ization",
    r"\w*(?:" + "|".join(SPELLINGS) + r")\w*": "American spelling: " + ", ".join(SPELLINGS.values()),
}

# (path, text): what is called so elsewhere.
ALLOWED = (
    (r"", r"[\"'`](?:optimiser|initialisation|standardise)[\"'`]|\"centred\""),  # fields of models, jobs and JSON
    (r"", r"--(?:no-)?(?:optimiser|initialisation|standardise)\b|--wishes"),  # old options
    (r"python/|tests/python/|docs/api\.md", r"\b(?:_optimiser|initialisation|standardise)\b"),  # old parameters, pickles
    (r"bench/|docs/performance\.md", r"lightgbm-quantised"),  # in results that were kept
    (r"tests/kubernetes/|docs/security\.md", r"\bNOBODY\b|\"nobody\"|\"?nobody[:@]|as_nobody|in nobody root"),  # the user
    (r".*_test\.cc$|tests/", r"(?i)by[ _]?hand"),  # what tests compare with, computed on paper
    (r"docs/", r"\blendingLimit\b"),  # of Kueue
    (r"python/|tests/python/|docs/|bench/", r"\btell\(|\.tell\b|`tell`"),  # of searches, as Optuna and scikit-optimize have it
    (r"podere/", r"\bCURLOPT_NOBODY\b"),  # of libcurl: no body
)
# The test cluster's program is kept by a hash of its sources: to change a comment would build Kubernetes anew.
OTHERS = re.compile(r"tests/data/.*|tests/fuzz/.*/.*|tests/kubernetes/programs/.*|tools/check_words\.py|tests/tools/check_words_test\.py")
TEXTS = {"", ".cc", ".cmake", ".css", ".go", ".h", ".ipynb", ".json", ".md", ".mjs", ".py", ".pyi", ".sh", ".tpl", ".ts", ".txt", ".yaml"}

OLD_WORD = re.compile(r"\b(?:" + "|".join(f"({words})" for words in WORDS) + r")\b")
ADVICE = list(WORDS.values())
BEGINS_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")


def files_of(root: Path) -> list[Path]:
    """Those that git knows, or all of a folder that is no clone."""
    if not (root / ".git").exists():
        return sorted(path for path in root.rglob("*") if path.is_file())
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [root / name for name in listed.split("\0") if name and (root / name).is_file()]


def old_words(line: str, allowed: list[re.Pattern[str]]):
    """Each with what to say."""
    for pattern in allowed:
        line = pattern.sub("", line)
    for found in OLD_WORD.finditer(BEGINS_WORD.sub(" ", line).lower()):
        yield found[0], ADVICE[(found.lastindex or 1) - 1]


def check(root: Path):
    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        if path.suffix not in TEXTS or OTHERS.fullmatch(name):
            continue
        allowed = [re.compile(text) for where, text in ALLOWED if re.match(where, name)]
        for word, advice in old_words(name, allowed):
            yield f"{name}:1: {word} (its name) -> {advice}"
        for line, text in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for word, advice in old_words(text, allowed):
                yield f"{name}:{line}: {word} -> {advice}"


def main() -> int:
    breaches = list(check(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)))
    print("\n".join(breaches) or "check_words: no old words")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
