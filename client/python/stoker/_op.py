"""What all ops of a pipeline have in common, and how their arguments become JSON."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Optional

#: A pipeline, or a part of it, as the server's YAML has it.
Document = dict[str, Any]


def plain(value: Any) -> Any:
    """`value` as something that JSON has."""
    if isinstance(value, Op):
        return value.document()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):  # NumPy's and torch's arrays and scalars have it.
        return plain(value.tolist())
    if isinstance(getattr(value, "value", None), str):  # torchvision's InterpolationMode has it.
        return value.value
    return dtype_name(value)


def dtype_name(dtype: Any) -> str:
    """The name of a dtype: "float32" for "float32" itself and for torch's, NumPy's and JAX's float32."""
    if isinstance(dtype, str):
        return dtype
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return str(name).rpartition(".")[2]


def dtype_word(dtype: Any) -> Optional[str]:
    """`dtype_name`, or None for None: an argument that was left out."""
    return None if dtype is None else dtype_name(dtype)


class Op:
    """One op: its name, and the arguments that were given. Immutable."""

    def __init__(self, *, placement: Optional[str] = None, **arguments: Any) -> None:
        self._arguments = {name: plain(value) for name, value in arguments.items() if value is not None}
        self._placement = placement

    @property
    def name(self) -> str:
        return type(self).__name__

    def document(self) -> Document:
        """The op as the server's YAML has it: ``{"RandomResizedCrop": {"size": 224}}``."""
        document: Document = {self.name: copy.deepcopy(self._arguments)}
        if self._placement is not None:
            document["placement"] = self._placement
        return document

    def __repr__(self) -> str:
        arguments = dict(self._arguments)
        if self._placement is not None:
            arguments["placement"] = self._placement
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and self.document() == other.document()

    def __hash__(self) -> int:
        return hash(repr(self))


class OwnOp(Op):
    """An op that the servers' operator brings, by its name: ``OwnOp("fog", amount=0.2)``.

    ``stoker list`` shows which there are, and with which arguments. Servers refuse a name or an argument that they do not
    know, and say which they have. It runs on the server.
    """

    def __init__(self, name: str, /, *, placement: Optional[str] = None, **arguments: Any) -> None:
        super().__init__(placement=placement, **arguments)
        self._name = name

    @property
    def name(self) -> str:
        return self._name
