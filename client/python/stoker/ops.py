"""Ops of your own in Python. A server runs them: ``stokerd serve --ops my_ops.py``. docs/own-ops.md teaches them.

    import stoker

    @stoker.op(version=1)
    def salt(image, rng, amount=0.01):
        '''Makes some pixels white.'''
        image[rng.uniform(size=image.shape[:2]) < amount] = 255
        return image

A pipeline names it like any other op: ``- salt: {amount: 0.02}``, or ``T.OwnOp("salt", amount=0.02)``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import platform
import re
import time
import typing
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, TypeVar

from . import _library
from ._draws import Draws

__all__ = ["BadSample", "Definition", "Draws", "Report", "WrongOp", "definition_of", "op", "test"]

Function = TypeVar("Function", bound=Callable[..., Any])

#: The types of arguments.
_TYPES = (float, int, bool, str)

#: The types of fields that an op may see.
_FIELD_TYPES = ("uint8", "int16", "int32", "int64", "float16", "float32", "float64")
_MOST_EXAMPLE_BYTES, _MOST_DIMENSIONS = 1 << 10, 8  # All ops of a server are told of in one message.

_MOST_EXTENT = 1 << 14  # pixels of a side of an image
_HASH_DIGITS = 12


class BadSample(Exception):
    """An op raises it for a sample that cannot be used. The pipeline's ``bad_samples`` says what becomes of it."""


class WrongOp(ValueError):
    """An op breaks what an op must keep. The message says how."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of an op."""

    name: str
    type: type
    default: Any  # Its value in the server's trial, where it must be given.
    required: bool
    is_field: bool = False  # of the sample: an array as `default` is


@dataclasses.dataclass(frozen=True)
class Definition:
    """What a server knows of an op."""

    name: str
    version: int
    summary: str
    arguments: tuple[Argument, ...]
    function: Callable[..., Any]
    size: Optional[Callable[..., tuple[int, int]]]
    packages: tuple[str, ...]

    def made_of(self) -> str:
        """The hash of the op's file, and the versions of Python and of the packages that it uses."""
        import numpy

        file = Path(inspect.getfile(self.function))
        source = self.function.__globals__.get("__stoker_source__") or file.read_bytes()
        parts = [f"{file.name} {hashlib.sha256(source).hexdigest()[:_HASH_DIGITS]}"]
        parts += [f"stoker {_library.library().stoker_version().decode()}", f"Python {platform.python_version()}", f"numpy {numpy.__version__}"]
        parts += [f"{package} {metadata.version(package)}" for package in self.packages]
        return ", ".join(parts)

    @property
    def sees_fields(self) -> bool:
        return any(argument.is_field for argument in self.arguments)

    def defaults(self) -> dict[str, Any]:
        """The values of the server's trial."""
        return {argument.name: argument.default for argument in self.arguments}

    def size_after(self, height: int, width: int, arguments: dict[str, Any]) -> tuple[int, int]:
        """The size of what the op makes of an image. Raises WrongOp where that is none."""
        if self.size is None:
            return height, width
        fields = {argument.name for argument in self.arguments if argument.is_field}
        after = self.size(height, width, **{name: value for name, value in arguments.items() if name not in fields})
        good = isinstance(after, tuple) and len(after) == 2 and all(isinstance(side, int) for side in after)
        if not good or not all(1 <= side <= _MOST_EXTENT for side in after):
            raise WrongOp(f"size= gave {after!r} for {height} × {width}; it gives (height, width), of at least 1 each")
        return after

    def apply(self, image: Any, rng: Draws, arguments: dict[str, Any]) -> Any:
        """Calls the op on an image, uint8 of height × width × 3, which it may change. Returns an array of that kind.

        Raises WrongOp where the op returns something else, and what the op raises.
        """
        import numpy

        height, width = self.size_after(image.shape[0], image.shape[1], arguments)
        made = numpy.asarray(self.function(image, rng, **arguments))
        if made.dtype != numpy.uint8 or made.shape != (height, width, 3):
            found = f"{made.dtype} of {' × '.join(map(str, made.shape))}"
            hint = "" if made.shape == (height, width, 3) else "; an op that changes the size says so by size="
            raise WrongOp(f"it returned {found}; expected uint8 of {height} × {width} × 3{hint}")
        return made


def op(
    *,
    version: int,
    name: Optional[str] = None,
    packages: Iterable[str] = (),
    size: Optional[Callable[..., tuple[int, int]]] = None,
    trial: Optional[dict[str, Any]] = None,
    fields: Optional[dict[str, Any]] = None,
) -> Callable[[Function], Function]:
    """Makes a function an op: ``function(image, rng, …)`` of an image, a Draws, and arguments of its own.

    The image is a NumPy array, uint8 of height × width × 3. The function may change it, and does not keep it. It returns
    an array of the same kind: the same bytes for the same image, draws and arguments, on each machine.

    Arguments are float, int, bool or str, by their defaults or annotations. Without a default they have to be given.

    Args:
        version: from 1 on. Raise it whenever the op may make other bytes.
        name: what pipelines call it; the function's name.
        packages: what else it uses, by their names for pip. Servers with other versions of them do not serve one job.
        size: ``size(height, width, …)``, with the op's arguments, gives the size of the result as (height, width), where
            the op changes it.
        trial: values for the arguments without a default, which a server tries the op with when it starts.
        fields: what else of the sample the op sees, by the names of the dataset's fields, and an example of each, such as
            ``{"label": numpy.int64(0)}``. The function has an argument of each name, without a default, and gets arrays
            of the example's type and number of dimensions; where samples differ in size, as texts do, the first is the
            number of rows. They cannot be changed. Images, maps, boxes and keypoints are not seen.

    Raises:
        WrongOp: where the function cannot be an op. It names the argument.
    """

    def decorate(function: Function) -> Function:
        chosen = name or function.__name__
        if not re.fullmatch("[a-z][a-z0-9_]*", chosen):
            raise WrongOp(f"op '{chosen}': names have lower case letters, digits and underscores, and begin with a letter")
        if not isinstance(version, int) or not 1 <= version < 1 << 32:
            raise WrongOp(f"op '{chosen}': version is {version!r}; versions are whole numbers from 1 on")
        summary = (inspect.getdoc(function) or "").split("\n")[0]
        seen = {field: _example(chosen, field, example) for field, example in (fields or {}).items()}
        arguments = tuple(_arguments_of(chosen, function, dict(trial or {}), seen))
        for package in packages:
            try:
                metadata.version(package)
            except metadata.PackageNotFoundError:
                raise WrongOp(f"op '{chosen}': packages= names '{package}', which is not installed here") from None
        definition = Definition(chosen, version, summary, arguments, function, size, tuple(packages))
        function.__stoker_op__ = definition  # type: ignore[attr-defined]
        return function

    return decorate


def definition_of(function: Any) -> Definition:
    """What ``@stoker.op`` knows of a function. Raises WrongOp for one that is no op."""
    definition = getattr(function, "__stoker_op__", None)
    if not isinstance(definition, Definition):
        raise WrongOp(f"{function!r} is no op: decorate the function with @stoker.op(version=1)")
    return definition


def _example(name: str, field: str, example: Any) -> Any:
    import numpy

    array = numpy.array(example)
    array = array.astype(array.dtype.newbyteorder("<"))
    if array.dtype.name not in _FIELD_TYPES:
        raise WrongOp(f"op '{name}': fields= has {array.dtype} for '{field}'; fields are {', '.join(_FIELD_TYPES)}")
    if array.nbytes > _MOST_EXAMPLE_BYTES or array.ndim > _MOST_DIMENSIONS:
        raise WrongOp(f"op '{name}': fields= has a large example for '{field}'; at most {_MOST_EXAMPLE_BYTES} bytes will do")
    return array


def _arguments_of(
    name: str, function: Callable[..., Any], trial: dict[str, Any], fields: dict[str, Any]
) -> Iterable[Argument]:
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < 2 or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters[:2]):
        raise WrongOp(f"op '{name}': an op takes an image and its random numbers first: {name}(image, rng, …)")
    hints = typing.get_type_hints(function)
    for parameter in parameters[2:]:
        where = f"op '{name}': argument '{parameter.name}'"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise WrongOp(f"{where}: each argument has a name and a type of its own")
        required = parameter.default is parameter.empty
        if parameter.name in fields:
            if not required:
                raise WrongOp(f"{where} is a field of the sample, and has no default")
            example = fields.pop(parameter.name)
            yield Argument(parameter.name, type(example), example, required=False, is_field=True)
            continue
        if required and parameter.name not in trial:
            raise WrongOp(f"{where} has no default; give trial={{'{parameter.name}': …}}, which servers try the op with")
        default = trial.pop(parameter.name) if required else parameter.default
        kind = hints.get(parameter.name, type(default))
        if kind not in _TYPES:
            raise WrongOp(f"{where} is of type {kind}; arguments are float, int, bool or str")
        if kind is float and type(default) is int:
            default = float(default)
        if type(default) is not kind:
            raise WrongOp(f"{where} is {kind.__name__}, and its value {default!r} is not")
        yield Argument(parameter.name, kind, default, required)
    for unknown in fields:
        raise WrongOp(f"op '{name}': fields= names '{unknown}', for which the function has no argument")
    for unknown in trial:
        raise WrongOp(f"op '{name}': trial= names '{unknown}', which is no argument without a default")


@dataclasses.dataclass(frozen=True)
class Report:
    """What ``test`` found of an op that keeps what an op must keep."""

    op: str
    microseconds: float  #: of one image, the median
    outputs: list[Any]  #: what the op made of each image

    def __str__(self) -> str:
        return f"{self.op}: the same bytes twice of {len(self.outputs)} images, {self.microseconds:.0f} µs each"


def test(function: Any, images: Optional[Iterable[Any]] = None, **arguments: Any) -> Report:
    """Runs an op here as a server would, twice for each image in another order, and checks what it makes.

    Args:
        function: what ``@stoker.op`` decorates.
        images: arrays of uint8, height × width × 3; noise of a few sizes where there are none.
        arguments: of the op, and what fields it sees; defaults and examples where they are left out.

    Raises:
        WrongOp: where it makes two images of one, or one of another type or size than it says.
        Whatever else the op raises. ``BadSample`` too.
    """
    import numpy

    definition = definition_of(function)
    values = {**definition.defaults(), **arguments}
    for unknown in set(values) - {argument.name for argument in definition.arguments}:
        raise WrongOp(f"op '{definition.name}' has no argument '{unknown}'")
    for argument in definition.arguments:
        if argument.is_field:
            values[argument.name] = _as_field(definition, argument, values[argument.name])
    given = list(_noise() if images is None else images)
    outputs: list[Any] = [None] * len(given)
    times = []
    for again in (False, True):
        for i in reversed(range(len(given))) if again else range(len(given)):
            image = numpy.array(given[i])
            if image.dtype != numpy.uint8 or image.ndim != 3 or image.shape[2] != 3:
                raise ValueError(f"images[{i}] is {image.dtype} of {image.shape}; expected uint8 of height × width × 3")
            begun = time.perf_counter()
            made = definition.apply(image, Draws(1, i), values)
            times.append(time.perf_counter() - begun)
            if not again:
                outputs[i] = numpy.array(made)
            elif not numpy.array_equal(made, outputs[i]):
                raise WrongOp(
                    f"op '{definition.name}' made two images of images[{i}] with the same random numbers. It may draw "
                    "from its `rng` alone, keep nothing from call to call, and ask no clock"
                )
    return Report(definition.name, 1e6 * sorted(times)[len(times) // 2], outputs)


def _as_field(definition: Definition, argument: Argument, value: Any) -> Any:
    import numpy

    array = numpy.array(value)
    example = argument.default
    if array.dtype != example.dtype or array.ndim != example.ndim:
        raise WrongOp(
            f"op '{definition.name}': {argument.name} is {array.dtype} of {array.ndim} dimensions, where the op's example "
            f"is {example.dtype} of {example.ndim}"
        )
    array.flags.writeable = False
    return array


def _noise() -> Iterable[Any]:
    for i, (height, width) in enumerate([(224, 224), (48, 64), (31, 17)] * 4):
        yield Draws(2, i).integers(256, size=(height, width, 3)).astype("uint8")
