#!/usr/bin/env python3
"""generate_ops.py [--check] [--root FOLDER] [--protoc PROGRAM]: writes what follows from the ops of pipeline.proto.

These are Python's classes, client/python/stoker/_ops.py, and the table of ops in docs/pipeline.md, between the lines
"<!-- ops: generated -->" and "<!-- end of ops -->". Both are checked in; --check writes nothing and fails where one is
not what this program would write. Needs Python 3.9 and protoc.

The comments of pipeline.proto are the source; the file says itself in which words. A new op needs a message with such
comments and a field in `Op`; whatever is missing there is an error that names it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional

_PROTO = "stoker/v1/pipeline.proto"
_CLASSES = "client/python/stoker/_ops.py"
_PAGE = "docs/pipeline.md"
_BEGIN, _END = "<!-- ops: generated -->", "<!-- end of ops -->"
_WIDTH = 120

# Ops without a class and a row that are made from the proto: OwnOp's arguments are what each own op has.
_LEFT_OUT = {"OwnOp"}

# Where torchvision's signature says what the proto cannot: arguments that go by name only, one that has to be given
# though its place allows to leave it out, and defaults that the servers do not have, which are therefore sent.
_MIX = [
    "*",
    "alpha: Optional[float] = None",
    "num_classes: Optional[int] = None",
    "field: Optional[str] = None",
    "per_sample: Optional[bool] = None",
]
_SIGNATURES = {
    "Grayscale": ["num_output_channels: int = 1"],  # The servers refuse 1, and say why: it must not become 3 unsaid.
    "ToMemoryFormat": ['memory_format: str = "channels_first"'],
    "MixUp": _MIX,
    "CutMix": _MIX,
}


class Argument(NamedTuple):
    """One field of an op's message."""

    name: str
    #: Python's type of its value.
    type: str
    #: The comment, without what the next three say.
    text: str
    #: None where it must be given.
    default: Optional[str]
    #: The words that it may be; empty where it is no word.
    words: list[str]
    #: The only value that it may have, or None.
    must_be: Optional[str]
    is_list: bool
    #: What turns the value into what Op takes: "{}", "list({})".
    conversion: str


class Kind(NamedTuple):
    """One op."""

    group: str
    name: str
    text: str
    arguments: list[Argument]
    #: The column "on the device".
    on_device: str


class CommentError(Exception):
    """A comment of pipeline.proto lacks something; the message names the op and argument."""


# ---- protoc's descriptors ----
#
# protoc writes a FileDescriptorSet (google/protobuf/descriptor.proto). The few fields wanted of it are read here by
# their numbers, so that no package is needed.


def fields_of(data: bytes) -> dict[int, list[Any]]:
    """The fields of an encoded message by their numbers: integers, and bytes for all that has a length."""
    fields: dict[int, list[Any]] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        number, wire_type = tag >> 3, tag & 7
        if wire_type == 0:
            value: Any = varint()
        elif wire_type == 2:
            size = varint()
            value, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[wire_type]
            value, at = data[at : at + size], at + size
        fields.setdefault(number, []).append(value)
    return fields


def text_of(fields: dict[int, list[Any]], number: int) -> str:
    return fields[number][0].decode() if number in fields else ""


def path_of(packed: bytes) -> tuple[int, ...]:
    """A packed list of varints, all small or not."""
    numbers, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return tuple(numbers)


class Comments:
    """The comments of a file, by the paths of descriptor.proto: (4, 7) is its eighth message."""

    def __init__(self, source_info: bytes) -> None:
        self._locations = {}
        for location in fields_of(source_info).get(1, []):
            fields = fields_of(location)
            self._locations[path_of(fields.get(1, [b""])[0])] = fields

    def at(self, *path: int) -> str:
        """What stands before and behind, as one paragraph."""
        fields = self._locations.get(path, {})
        return " ".join(f"{text_of(fields, 3)} {text_of(fields, 4)}".split())

    def detached(self, *path: int) -> list[str]:
        """The lines of comments before it that belong to nothing."""
        fields = self._locations.get(path, {})
        return [line.strip() for comment in fields.get(6, []) for line in comment.decode().splitlines()]


# ---- ops ----

_TYPES = {1: "float", 3: "int", 4: "int", 5: "int", 8: "bool", 9: "str", 13: "int"}
_ENUM, _MESSAGE, _REPEATED = 14, 11, 3
# These come as objects of torch, torchvision and NumPy too.
_OBJECTS = {"Dtype": "dtype_word({})", "Interpolation": "{}"}


def kinds_of(file: bytes) -> Iterator[Kind]:
    """The ops of pipeline.proto, in the order of its messages."""
    descriptor = fields_of(file)
    comments = Comments(descriptor[9][0])
    messages = [fields_of(message) for message in descriptor[4]]
    enums = {text_of(enum, 1): words_of(enum) for enum in map(fields_of, descriptor[5])}
    (op,) = (message for message in messages if text_of(message, 1) == "Op")
    members = [fields_of(field) for field in op[2]]
    wanted = {text_of(field, 6).rpartition(".")[2] for field in members if 9 in field}  # Those of its oneof.
    group = ""
    for index, message in enumerate(messages):
        for line in comments.detached(4, index):
            title = re.fullmatch(r"---- (.+) ----", line)
            group = title[1] if title else group
        name = text_of(message, 1)
        if name in wanted and name not in _LEFT_OUT:
            text = comments.at(4, index)
            arguments = [
                argument_of(name, fields_of(field), comments.at(4, index, 2, at), enums)
                for at, field in enumerate(message.get(2, []))
            ]
            yield kind_of(group, name, text, arguments)


def words_of(enum: dict[int, list[Any]]) -> list[str]:
    """The values of an enum as YAML has them: lower case, without the enum's prefix and without UNSPECIFIED."""
    names = [text_of(fields_of(value), 1) for value in enum[2]]
    prefix = names[0].removesuffix("UNSPECIFIED")
    return [name.removeprefix(prefix).lower() for name in names[1:]]


def taken(pattern: str, text: str) -> tuple[Optional[str], str]:
    """The first group of a sentence, and `text` without that sentence."""
    found = re.search(pattern, text)
    if found is None:
        return None, text
    return found[1], " ".join((text[: found.start()] + text[found.end() :]).split())


def kind_of(group: str, name: str, text: str, arguments: list[Argument]) -> Kind:
    server_only, text = taken(r"(Server only)\.", text)
    device_only, text = taken(r"(Device only)\.", text)
    limit, text = taken(r"On the device: (.+?)\.(?= |$)", text)
    if not text:
        raise CommentError(f"{name}: there is no comment that says what it does")
    if not group:
        raise CommentError(f'{name}: it is in no group: "// ---- Shape ----" on a line of its own begins one')
    on_device = limit or ("no" if server_only else "always" if device_only else "yes")
    return Kind(group, name, text, arguments, on_device)


def argument_of(op: str, field: dict[int, list[Any]], text: str, enums: dict[str, list[str]]) -> Argument:
    name, type_name = text_of(field, 1), text_of(field, 6).rpartition(".")[2]
    kind, is_list = field[5][0], field[4][0] == _REPEATED
    must_be, _ = taken(r"Must be (\w+)", text.replace("Must be given", ""))
    given, text = taken(r"(Must be given)\.", text)
    default, text = taken(r"Default (.+?)\.(?= |$)", text)
    if not (given or default or must_be):
        raise CommentError(f'{op}.{name}: its comment says neither "Must be given." nor "Default …."')
    words, conversion = [], "{}"
    if kind == _ENUM:
        allowed, text = taken(r"One of ([a-z0-9_, ]+)\.", text)
        if "One of " in text:
            raise CommentError(f'{op}.{name}: "One of a, b." is followed by words and a full stop alone')
        words = allowed.split(", ") if allowed else enums[type_name]
        if not set(words) <= set(enums[type_name]):
            raise CommentError(f"{op}.{name}: of {', '.join(words)} not all are values of {type_name}")
        if len(words) == 1:
            must_be = words[0]
        python = "Any" if type_name in _OBJECTS else "str"
        conversion = _OBJECTS.get(type_name, "{}")
    elif kind == _MESSAGE:
        python = "Sequence[Op]" if type_name == "Op" and is_list else "Any"
        conversion = "list({})" if is_list else "{}"
    elif is_list:
        python = f"Sequence[{_TYPES[kind]}]"
        if re.search(r"\b(a|one) number\b", text, re.IGNORECASE):
            python = f"Union[{_TYPES[kind]}, {python}]"
    else:
        python = _TYPES[kind]
    shown = default.strip('"') if default else None
    return Argument(name, python, text, shown, words, must_be, is_list, conversion)


# ---- Python ----

_HEADER = '''"""The ops by torchvision's names. Written by proto/generate_ops.py: change pipeline.proto, not this file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from ._op import Op, dtype_word

'''


def python_of(kinds: list[Kind]) -> str:
    """The module of the classes."""
    lines = [_HEADER + "__all__ = ["]
    lines += [f'    "{name}",' for name in sorted(kind.name for kind in kinds)]
    lines.append("]")
    group = ""
    for kind in kinds:
        if kind.group != group:
            group = kind.group
            lines += ["", "", f"# ---- {group} ----"]
        lines += ["", "", *class_of(kind)]
    return "\n".join(lines) + "\n"


def class_of(kind: Kind) -> Iterator[str]:
    signature = _SIGNATURES.get(kind.name) or signature_of(kind)
    names = [entry.partition(":")[0] for entry in signature if entry != "*"]
    if sorted(names) != sorted(argument.name for argument in kind.arguments):
        raise CommentError(f"{kind.name}: the signature in generate_ops.py has other arguments than the proto")
    required = {entry.partition(":")[0] for entry in signature if "=" not in entry}
    by_name = {argument.name: argument for argument in kind.arguments}
    yield f"class {kind.name}(Op):"
    yield from docstring_of(kind, [by_name[name] for name in names], required)
    yield ""
    keyword_only = [] if "*" in signature else ["*"]
    yield from call(
        "def __init__", ["self", *signature, *keyword_only, "placement: Optional[str] = None"], " -> None:", 4
    )
    passed = [f"{name}={by_name[name].conversion.format(name)}" for name in names]
    yield from call("super().__init__", [*passed, "placement=placement"], "", 8)


def signature_of(kind: Kind) -> list[str]:
    """The arguments in the proto's order, but first those that must be given."""
    required = [f"{one.name}: {one.type}" for one in kind.arguments if one.default is None]
    others = [one for one in kind.arguments if one.default is not None]
    return required + [f"{one.name}: {optional(one.type)} = None" for one in others]


def optional(type: str) -> str:
    if type == "Any":
        return type
    return f"{type[:-1]}, None]" if type.startswith("Union[") else f"Optional[{type}]"


def call(name: str, arguments: list[str], end: str, indent: int) -> list[str]:
    """A call or signature as the formatter lays it out: in one line, with its arguments in one, or one a line."""
    space = " " * indent
    whole = f"{space}{name}({', '.join(arguments)}){end}"
    if len(whole) <= _WIDTH:
        return [whole]
    inner = f"{space}    {', '.join(arguments)}"
    body = [inner] if len(inner) <= _WIDTH else [f"{space}    {argument}," for argument in arguments]
    return [f"{space}{name}(", *body, f"{space}){end}"]


def docstring_of(kind: Kind, arguments: list[Argument], required: set[str]) -> Iterator[str]:
    where = {"no": " Runs on the servers only.", "always": " Runs on the loader's device only.", "yes": ""}
    limit = where.get(kind.on_device, f" On the device: {kind.on_device}.")
    lines = [*wrapped(f'"""{doc(kind.text)}{limit}', 4)]
    if arguments:
        lines += ["", "    Arguments:"]
        for argument in arguments:
            lines += wrapped(f"{argument.name}: {doc(described(argument, required))}", 8, 12)
        lines.append('    """')
    else:
        lines[-1] += '"""'
    yield from lines


def described(argument: Argument, required: set[str]) -> str:
    """The comment, then the words and the default, as sentences."""
    sentences = [argument.text] if argument.text else []
    if len(argument.words) > 1:
        sentences.append(f"One of {', '.join(argument.words)}.")
    if argument.must_be is not None and f"Must be {argument.must_be}" not in argument.text:
        sentences.append(f"Must be {argument.must_be}.")
    if argument.default is not None:
        sentences.append(f"Default {argument.default}.")
    elif argument.name not in required and argument.must_be is None:
        sentences.append("Must be given.")
    return " ".join(sentences)


def doc(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"``\1``", text)


def wrapped(text: str, indent: int, following: Optional[int] = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if following is None else following),
        break_on_hyphens=False,
        break_long_words=False,
    )


# ---- the documentation ----


def table_of(kinds: list[Kind]) -> str:
    """The table of the page."""
    lines = ["| op | arguments | on the device | what it does |", "|---|---|---|---|"]
    group = ""
    for kind in kinds:
        if kind.group != group:
            group = kind.group
            lines.append(f"| **{group.lower()}** | | | |")
        arguments = ", ".join(shown(argument) for argument in kind.arguments)
        first_sentence = re.split(r"(?<=\.)\s+", kind.text)[0]
        lines.append(f"| {kind.name} | {arguments} | {kind.on_device} | {first_sentence} |")
    return "\n".join(lines)


def shown(argument: Argument) -> str:
    """`size`, `p` = 0.5, `padding_mode` = constant (or edge, reflect, symmetric)."""
    if argument.must_be is not None:
        return f"`{argument.name}` (must be {argument.must_be})"
    if argument.default is None:
        return f"`{argument.name}`" + (f" ({', '.join(argument.words)})" if argument.words else "")
    others = [word for word in argument.words if word != argument.default]
    default = f"[{argument.default}]" if argument.is_list and "," in argument.default else argument.default
    return f"`{argument.name}` = {default}" + (f" (or {', '.join(others)})" if others else "")


def with_region(page: str, table: str) -> str:
    """`page` with the table between its two marks."""
    before, begin, rest = page.partition(_BEGIN + "\n")
    _, end, after = rest.partition(_END + "\n")
    if not begin or not end:
        raise CommentError(f'{_PAGE}: it lacks the line "{_END if begin else _BEGIN}"')
    return f"{before}{begin}\n{table}\n\n{end}{after}"


# ---- files ----


def generated(root: Path, protoc: str) -> dict[Path, str]:
    """The files that follow, and what is to be in them."""
    command = [protoc, f"-I{root / 'proto'}", "--include_source_info", "--descriptor_set_out=/dev/stdout", _PROTO]
    descriptors = fields_of(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    kinds = list(kinds_of(descriptors[1][0]))
    page = root / _PAGE
    return {
        root / _CLASSES: python_of(kinds),
        page: with_region(page.read_text(encoding="utf-8"), table_of(kinds)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(usage=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--protoc", default="protoc")
    options = parser.parse_args()
    try:
        files = generated(options.root, options.protoc)
    except CommentError as error:
        print(f"generate_ops.py: {error}", file=sys.stderr)
        return 1
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if options.check:
            print(
                f"{path.relative_to(options.root)} is not what pipeline.proto says: run ./dev generate", file=sys.stderr
            )
        else:
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {path.relative_to(options.root)}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
