"""What a name, a sentence, a path, a duration may look like. Each rule says what is wrong, or nothing.

Names end up in file names, job names and review screens. A name that reads like another, or that a shell would act on,
is declined before anybody has to see through it. Chinese names are ordinary names.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata

from gonogo.events.ids import LAUNCH_ID_LENGTH
from gonogo.events.subjects import is_token
from gonogo.services.intake.reading_json import shown
from gonogo.services.intake.reading_near import Fault

NAME_CHARACTERS_MAX = 64
"""Fits every platform's own limit together with a prefix."""
SENTENCE_CHARACTERS_MAX = 2_000
"""A basis or a reason is read in a review; the evidence itself is linked, not pasted."""
PATH_BYTES_MAX = 1_024
"""Below every system's own limit, with room for the files beneath it."""
PART_BYTES_MAX = 255
"""Of one folder or file name, on every file system in use."""
KEY_CHARACTERS_MAX = 128

_TOGETHER = frozenset(
    ("LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HANGUL")
)
"""Scripts that people do write in one name, and whose letters do not look like each other."""
_LIKE_LATIN = frozenset("асеорхуіјѕһԁԛԝвкмнтοανικρτυχγϲ")
"""Cyrillic and Greek letters that most fonts draw like a Latin one."""
RESERVED = frozenset(("xx",))
"""The name of placeholders; a launch that bore it could be stopped as one."""
_LAUNCH = re.compile(rf"[a-z2-7]{{{LAUNCH_ID_LENGTH}}}")
_SHELL = frozenset("$`\"'\\|&;<>(){}[]*?!#~^%=,:@+/ ")
_KEY = re.compile(r"[\x21-\x7e]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BRIEF = 0.1
_YEAR = 366 * 86400.0
_URL = re.compile(r"(?:s3|tos|lustre|file)://[^\s\"'`$\\]+")


def name_fault(name: str) -> Fault:
    """Say what is wrong with a name, every fault in one sentence."""
    faults = list(_name_faults(name))
    if not faults:
        return None
    return "; ".join(faults), f'use letters, digits, "-", "_" and ".", e.g. "{_suggested(name)}"'


def _name_faults(name: str) -> list[str]:
    faults = _invisible_faults(name)
    if not name:
        faults.append("empty")
    if name in RESERVED:
        faults.append("reserved for placeholders")
    if len(name) > NAME_CHARACTERS_MAX:
        faults.append(f"{len(name)} characters long, at most {NAME_CHARACTERS_MAX}")
    if name[:1] in ("-", "."):
        faults.append(f'starts with "{name[:1]}", which tools read as an option or a hidden file')
    shell = sorted(set(name) & _SHELL)
    if shell:
        faults.append(f"holds what a shell acts on: {' '.join('space' if c == ' ' else c for c in shell)}")
    if unicodedata.normalize("NFKC", name) != name:
        faults.append("holds characters that only look like others (full-width or composed forms)")
    if not faults and not all(_plain_in_name(character) for character in name):
        faults.append("holds characters that are neither letters nor digits")
    faults.extend(_script_faults(name))
    return faults


def _plain_in_name(character: str) -> bool:
    if character in "-_." or (character.isascii() and character.isalnum()):
        return True
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nl"


def _script_faults(name: str) -> list[str]:
    scripts = {_script(character) for character in name if character.isalpha()}
    if len(scripts) > 1 and not scripts <= _TOGETHER:
        return [f"mixes letters of {' and '.join(sorted(script.title() for script in scripts))}, which look alike"]
    letters = {character for character in name.lower() if character.isalpha()}
    if letters and letters <= _LIKE_LATIN:
        return ["its letters look Latin but are not"]
    return []


def _script(character: str) -> str:
    return unicodedata.name(character, "UNNAMED").split(" ", 1)[0]


def _invisible_faults(text: str, *, allowed: str = "") -> list[str]:
    hidden = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") and c not in allowed}
    if not hidden:
        return []
    codes = ", ".join(f"U+{ord(character):04X}" for character in sorted(hidden)[:5])
    return [f"holds invisible or direction-changing characters ({codes})"]


def _suggested(name: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in shown(name, characters_max=40) if c not in "\\…")
    return re.sub(r"-{2,}", "-", kept).strip("-") or "tiny-train"


def sentence_fault(text: str) -> Fault:
    """Say what is wrong with a text that people will read: a basis, a reason, evidence."""
    faults = _invisible_faults(text, allowed="\n\t\u200d")
    if not text.strip():
        faults.append("empty")
    if len(text) > SENTENCE_CHARACTERS_MAX:
        faults.append(f"{len(text)} characters long, at most {SENTENCE_CHARACTERS_MAX}")
    if not faults:
        return None
    return "; ".join(faults), 'say in a plain sentence what happened, e.g. "approved in the chat of 30 November"'


def key_fault(key: str) -> Fault:
    """Say what is wrong with a request key."""
    if _KEY.fullmatch(key) and len(key) <= KEY_CHARACTERS_MAX:
        return None
    problem = "not 1 to 128 visible ASCII characters without spaces"
    return problem, "use an id of your own system, e.g. order-2041"


def launch_fault(launch: str) -> Fault:
    """Say what is wrong with the id of a launch."""
    if _LAUNCH.fullmatch(launch):
        return None
    return f'"{shown(launch)}" is not a launch id', "write the full id, as `gonogo list` shows it"


def token_fault(word: str) -> Fault:
    """Say what is wrong with an id that becomes a part of a subject."""
    if is_token(word) and len(word) <= NAME_CHARACTERS_MAX:
        return None
    return f'"{shown(word)}" cannot name anything in the log', "use letters, digits, - and _, e.g. sweep-7"


def variable_fault(name: str) -> Fault:
    """Say what is wrong with the name of an environment variable."""
    if not _VARIABLE.fullmatch(name):
        return "not the name of an environment variable", "use letters, digits and _, e.g. HF_TOKEN"
    if name.startswith("GONOGO_"):
        return "names that begin with GONOGO_ are set by gonogo itself", "use another name"
    return None


def setting_fault(name: str) -> Fault:
    """Say what is wrong with the name of a setting, such as `trainer.max_epochs`."""
    if name and not _invisible_faults(name) and not set(name) & frozenset(" \"'`$\\|&;<>"):
        return None
    return "not the name of a setting", "write it as the training code does, e.g. trainer.max_epochs"


def path_fault(path: str) -> Fault:
    """Say what is wrong with a path that a published request carries."""
    faults = _invisible_faults(path)
    if not path.startswith("/"):
        faults.append("not an absolute path")
    if ".." in path.split("/"):
        faults.append('holds ".."')
    risky = sorted(set(path) & frozenset("$`\"'\\;|&<>*?"))
    if risky:
        faults.append(f"holds {' '.join(risky)}, which nothing here expands")
    if len(path.encode(errors="replace")) > PATH_BYTES_MAX or _longest_part(path) > PART_BYTES_MAX:
        faults.append(f"longer than {PATH_BYTES_MAX} bytes, or {PART_BYTES_MAX} in one part")
    if not faults and normal_path(path) == "/":
        faults.append("the root of the file system")
    if not faults:
        return None
    return "; ".join(faults), f"write the full path, e.g. /data/{_suggested(posixpath.basename(path.rstrip('/')))}"


def _longest_part(path: str) -> int:
    return max(len(part.encode(errors="replace")) for part in path.split("/"))


def normal_path(path: str) -> str:
    """One spelling for one path, so that two spellings are one request."""
    return "/" + posixpath.normpath(path).lstrip("/")


def place_fault(place: str) -> Fault:
    """Say what is wrong with where data is: an absolute path, or a place in an object store."""
    if "://" not in place:
        return path_fault(place)
    if _URL.fullmatch(place) and ".." not in place.split("/"):
        return None
    return "not a place data can be read from", "write an absolute path, or s3://bucket/path"


def reference_fault(reference: str) -> Fault:
    """Say what is wrong with where a secret comes from. The text is never repeated: it may be the secret itself."""
    kind, _, where = reference.partition(":")
    if kind == "env" and _VARIABLE.fullmatch(where):
        return None
    if kind == "file" and path_fault(where) is None:
        return None
    fix = "name where it is: env:NAME, or file:/absolute/path"
    return "not a reference to a secret (a request never carries the secret itself)", fix


def seconds(text: str) -> float | Fault:
    """Read a duration in seconds, or say what is wrong with it."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return f'"{shown(text)}" is not a duration', "write a number and a unit: 30s, 10m, 4h, 1d"
    length = float(found.group(1)) * _UNITS[found.group(2)]
    if not _BRIEF <= length <= _YEAR:
        return f'"{shown(text)}" is out of range', "write a duration from 100ms to 366d"
    return round(length, 3)
