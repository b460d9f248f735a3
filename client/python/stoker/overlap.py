"""Lets a frozen encoder work a batch ahead of the training, on a CUDA stream of its own."""

from __future__ import annotations

import contextlib
import logging
from functools import partial
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Protocol, Tuple

__all__ = ["Overlap"]

_log = logging.getLogger("stoker")


class Overlap:
    """Iterates a loader's batches with an encoder's output in place of the images.

    ::

        encoder.eval().requires_grad_(False)
        for features, labels in stoker.Overlap(encoder, loader):
            loss = criterion(decoder(features), labels)

    While the caller trains on one batch, the encoder runs on the next, without gradients, on a side stream of the GPU;
    the caller's stream waits for its output, the host never does. Batches, their order and what the encoder makes of
    them are the same either way, provided that the encoder is frozen and draws no random numbers.

    ``overlap`` is ``"on"``, ``"off"`` (the encoder runs where its output is used), or ``"auto"``: it does not always
    pay, so the first steps are timed in turn with and without, and the faster way is kept and logged. On the CPU it is
    off.

    Batches are tuples, whose first element is encoded, or dicts, whose ``field`` is. The encoder may return a tensor or
    tuples, lists and dicts of them. The caller's current stream must not change while it iterates. Errors of the loader
    and of the encoder come where they would come without a batch ahead.

    For checkpoints take ``state_dict`` from here, and ``info``, not from the loader, which is a batch further.
    """

    def __init__(
        self,
        encoder: Callable[[Any], Any],
        loader: Iterable[Any],
        overlap: str = "auto",
        *,
        field: str = "image",
        trial_steps: int = 10,
        streams: Optional["Streams"] = None,
    ) -> None:
        if overlap not in ("auto", "on", "off"):
            raise ValueError(f'overlap: {overlap!r} is neither "auto" nor "on" nor "off"')
        if trial_steps < 1:
            raise ValueError(f"trial_steps: {trial_steps} is less than 1")
        self.encoder = encoder
        self.loader = loader
        self.overlap = overlap
        self._field = field
        self._trial = _Trial(trial_steps)
        self._streams = streams
        self._state: Optional[Dict[str, Any]] = None
        #: The loader's ``info`` of the batch that was handed out last; None before the first.
        self.info: Any = None

    @property
    def overlapped(self) -> Optional[bool]:
        """Whether the encoder runs beside the training; None while that is tried out, or before the first batch."""
        if self._streams is None:
            return None
        if not self._streams.concurrent or self.overlap == "off":
            return False
        return True if self.overlap == "on" else self._trial.decision

    def state_dict(self) -> Dict[str, Any]:
        """The loader's state as of the batch that the caller was given last."""
        if self._state is not None:
            return self._state
        state: Dict[str, Any] = self.loader.state_dict()  # type: ignore[attr-defined]
        return state

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Does what the loader's does. Iterate anew after it."""
        self.loader.load_state_dict(state)  # type: ignore[attr-defined]
        self._state = None

    def set_epoch(self, epoch: int) -> None:
        """Does what the loader's does. Iterate anew after it."""
        self.loader.set_epoch(epoch)  # type: ignore[attr-defined]
        self._state = None

    @property
    def epoch(self) -> int:
        return self.loader.epoch  # type: ignore[attr-defined,no-any-return]

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Any]:
        source = iter(self.loader)
        ahead: Optional[_Item] = None
        while True:
            item = ahead if ahead is not None else self._make(source, beside=False)
            ahead = None
            if isinstance(item.error, StopIteration):
                self._state = None
                return
            if item.error is not None:
                raise item.error
            # Queued before the caller's work on `item` is, or it would wait for that.
            if self._beside():
                ahead = self._make(source, beside=True)
            batch = self._hand_out(item)
            self._state = item.state
            self.info = item.info
            del item  # The images are the loader's again once nobody else holds them.
            yield batch
            del batch

    def _beside(self) -> bool:
        if self.overlapped is not None:
            return bool(self.overlapped)
        return self._trial.overlapped

    def _make(self, source: Iterator[Any], beside: bool) -> "_Item":
        """The next batch, encoded or about to be, or the reason why there is none."""
        try:
            batch = next(source)
            images = batch[self._field] if isinstance(batch, dict) else batch[0]
            state_dict = getattr(self.loader, "state_dict", None)
            state = state_dict() if state_dict is not None else None
            info = getattr(self.loader, "info", None)
            if self._streams is None:
                self._streams = streams_of(images)
            with self._streams.no_grad():
                if not beside:
                    return _Item(batch, self.encoder(images), None, state, info)
                # The batch is bound to the caller's stream, on which its memory is made and let go: the side stream
                # waits for that one here, and that one for the side stream before the batch is handed out.
                self._streams.wait(self._streams.side, self._streams.record(self._streams.current()))
                with self._streams.on(self._streams.side):
                    encoded = self.encoder(images)
                    return _Item(batch, encoded, self._streams.record(self._streams.side), state, info)
        except Exception as error:  # StopIteration too.
            return _Item(error=error)

    def _hand_out(self, item: "_Item") -> Any:
        streams = self._streams
        assert streams is not None
        stream = streams.current()
        if item.done is not None:
            streams.wait(stream, item.done)
            for tensor in _tensors(item.encoded):
                streams.keep_for(tensor, stream)
        if self.overlap == "auto" and streams.concurrent and self._trial.decision is None:
            self._trial.step(partial(streams.record, stream, timed=True), streams.milliseconds)
        if isinstance(item.batch, dict):
            return {**item.batch, self._field: item.encoded}
        kind = type(item.batch)
        return getattr(kind, "_make", kind)((item.encoded, *item.batch[1:]))  # Named tuples have _make.


class _Item(NamedTuple):
    batch: Any = None
    encoded: Any = None
    done: Any = None  # The side stream's event after the encoder's work, if it ran there.
    state: Optional[Dict[str, Any]] = None
    info: Any = None
    error: Optional[Exception] = None


def _tensors(value: Any) -> List[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for each in value for tensor in _tensors(each)]
    return [] if value is None else [value]


class _Trial:
    """Times steps in turn without and with overlap, two rounds of each, and keeps the faster."""

    _SETTLE = 3  # Steps of a round that are not timed, because the ways change and memory is allocated in them.

    def __init__(self, steps: int) -> None:
        self.decision: Optional[bool] = None
        self.overlapped = False  # Whether the steps now go with overlap.
        self._steps = steps
        self._step = 0
        self._begin: Any = None
        self._rounds: List[Tuple[Any, Any]] = []

    def step(self, mark: Callable[[], Any], milliseconds: Callable[[Any, Any], Optional[float]]) -> None:
        """Is called once a step.

        ``mark`` records an event; ``milliseconds`` gives the time between two events, or None while they are not over.
        """
        if len(self._rounds) == 4:
            self._decide(milliseconds)
            return
        if self._step == self._SETTLE:
            self._begin = mark()
        self._step += 1
        if self._step > self._SETTLE + self._steps:
            self._rounds.append((self._begin, mark()))
            self._step = 0
            self.overlapped = len(self._rounds) % 2 == 1

    def _decide(self, milliseconds: Callable[[Any, Any], Optional[float]]) -> None:
        times = [milliseconds(begin, end) for begin, end in self._rounds]
        known = [time for time in times if time is not None]
        if len(known) < len(times):
            return
        off, on = (min(known[way::2]) / self._steps for way in (0, 1))
        self.decision = self.overlapped = on < off
        _log.info("overlap: %s is kept: %.2f ms a step with it, %.2f without", "on" if on < off else "off", on, off)


class Streams(Protocol):
    """The part of CUDA's streams that the helper needs. Tests have their own."""

    concurrent: bool  # Whether there is more than one.
    side: Any

    def current(self) -> Any: ...
    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]: ...
    def no_grad(self) -> contextlib.AbstractContextManager[Any]: ...
    def record(self, stream: Any, timed: bool = False) -> Any: ...
    def wait(self, stream: Any, event: Any) -> None: ...

    def keep_for(self, tensor: Any, stream: Any) -> None:
        """The tensor's memory is not used again before what is on ``stream`` when it is let go."""

    def milliseconds(self, begin: Any, end: Any) -> Optional[float]:
        """The time between two timed events, or None while ``end`` is not reached."""


def streams_of(tensor: Any) -> Streams:
    """The streams of the device that a torch tensor is on."""
    if tensor.is_cuda:
        return _CudaStreams(tensor.device)
    return _Inline()


class _CudaStreams:
    concurrent = True

    def __init__(self, device: Any) -> None:
        import torch

        self._cuda = torch.cuda
        self._device = device
        self._no_grad = torch.no_grad
        self.side = torch.cuda.Stream(device)

    def current(self) -> Any:
        return self._cuda.current_stream(self._device)

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        context: contextlib.AbstractContextManager[Any] = self._cuda.stream(stream)
        return context

    def no_grad(self) -> contextlib.AbstractContextManager[Any]:
        context: contextlib.AbstractContextManager[Any] = self._no_grad()
        return context

    def record(self, stream: Any, timed: bool = False) -> Any:
        event = self._cuda.Event(enable_timing=timed)
        event.record(stream)
        return event

    def wait(self, stream: Any, event: Any) -> None:
        stream.wait_event(event)

    def keep_for(self, tensor: Any, stream: Any) -> None:
        if tensor.is_cuda:
            tensor.record_stream(stream)

    def milliseconds(self, begin: Any, end: Any) -> Optional[float]:
        return begin.elapsed_time(end) if end.query() else None


class _Inline:
    """Stands in on the CPU, where work is done when it is called."""

    concurrent = False
    side = None

    def __init__(self) -> None:
        import torch

        self._no_grad = torch.no_grad

    def current(self) -> Any:
        return None

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def no_grad(self) -> contextlib.AbstractContextManager[Any]:
        context: contextlib.AbstractContextManager[Any] = self._no_grad()
        return context

    def record(self, stream: Any, timed: bool = False) -> Any:
        return None

    def wait(self, stream: Any, event: Any) -> None:
        pass

    def keep_for(self, tensor: Any, stream: Any) -> None:
        pass

    def milliseconds(self, begin: Any, end: Any) -> Optional[float]:
        return None
