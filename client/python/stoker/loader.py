"""The loader, which hands out a training job's batches from however many servers there are."""

from __future__ import annotations

import ctypes
import json
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, Optional, Union, overload

from . import _layout, _library, _on_client, _options, _torch, outputs, ragged
from ._iteration import Epoch
from ._pipeline import Transforms, options_of
from ._typed import BatchT_co, Dataset, Options, Servers
from ._waits import Connecting, Silence
from .batch import Batch, BatchInfo, Digest
from .dataset import DatasetInfo, parts_of
from .errors import CancelledError, InvalidArgumentError, StokerError, StokerWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor
    from typing_extensions import Self, Unpack

_CONNECTING = "not connected yet"  # So the library calls a server that may still come.


class Sampler:
    """Has what frameworks expect of ``loader.sampler``. The loader itself shuffles, and shares out among ranks."""

    def __init__(self, loader: Loader[Any]) -> None:
        self._loader = loader

    def set_epoch(self, epoch: int) -> None:
        self._loader.set_epoch(epoch)


class Loader(_library.Owner, Dataset[BatchT_co], Generic[BatchT_co]):
    """Batches of a dataset, as ``(images, labels)``, in the epoch's global order.

        import stoker
        from stoker import transforms as T

        loader = stoker.Loader("127.0.0.1:7077", batch_size=16, dtype="float32", transforms=[
            T.RandomResizedCrop(64), T.RandomHorizontalFlip()])
        for epoch in range(2):
            for images, labels in loader:
                print(epoch, images.shape, labels.shape)  # 16 × 3 × 64 × 64, and 16.

    Every iteration is the next epoch, as long as the loader lives; ``set_epoch`` chooses, and after ``load_state_dict``
    the first one goes on from there. An iteration that was left early is not gone on with. Batches come ready from
    other threads: the ``num_workers`` of a DataLoader are the servers. ``torch.utils.data.DataLoader(loader,
    batch_size=None)`` works, where torch was imported before the loader was made, and is not needed.

    Arguments:
        servers: an address, or several in a list or between commas: ``"host:port"``, ``"dns:///name:port"`` for all
            addresses of a name, ``"file:/path"`` for those that a file lists, ``"unix:/path"``.
        dataset: its name; may be left out where the servers have just one.
        split: reads a part of it alone: "[:90%]" and "[90%:]", "[1/3:2/3]" by a hash of the samples' names, so that no
            sample moves when others are added; "[:1000]", "[-1000:]" by index; "[:10%]+[20%:]" both slices. Of several
            conditions (``split``, ``indices``, ``classes``, ``subset``) a sample meets all. See ``stoker.folds``.
        split_seed: another one cuts percentages and fractions otherwise; 0.
        indices: reads the samples with these indices alone, in the dataset's order; some thousands at most.
        classes: reads the samples of the classes with these names alone. Labels stay the dataset's.
        subset: reads the samples alone that a list of this name in the servers' configuration has.
        batch_size: samples of a batch of this rank.
        device: "cpu", "cuda" (torch's current one, else the first), "cuda:1", or a ``torch.device``.
        dtype: the images' type: "float32", "float16", "bfloat16", or torch's or NumPy's. None leaves it to
            ``transforms``: uint8 where these say nothing. A float type makes the pipeline's last ``ToDtype`` one to
            this type, or adds one, with scale (0…1), before ``Normalize`` or at the end.
        layout: "channels_first", images are batch × channels × height × width, as torchvision's are: the default for
            torch and for floats; or "channels_last", batch × height × width × channels, as they travel: the default for
            uint8 elsewhere. A ``ToMemoryFormat`` in ``transforms`` says the same.
        transforms: a list of ``stoker.transforms``, or their ``Compose`` or ``Pipeline``; whatever ``stoker.convert``
            takes of torchvision, timm and Albumentations; the name of a pipeline that the servers offer;
            a ``pathlib.Path`` to a pipeline in YAML; or a dict, as the YAML has it. Default: RandomResizedCrop(224),
            RandomHorizontalFlip.
        on_unsupported: what becomes of a Compose with an op that servers do not have. "refuse" (the default) is an error
            that names it. "client" runs it and all after it here, on the trainer's CPU, and warns of that: torch's
            tensors, after ops of the servers that give all images one size. It is no part of the epoch's digest.
        bad_samples: what a file that cannot be decoded does: "fail" (the default) ends the epoch and names it;
            "substitute" takes the next sample instead, and counts it.
        jpeg_scaling: "k2" (the default) decodes JPEGs that are about to shrink at a reduced size where twice the pixels
            wanted are left; "exact" never does, for torchvision's pixels within a level; "k1" more often.
        seed: 0 where none is given, so that jobs have the same order and draws unless they are told otherwise.
        shuffle: True or "full" (the default); False or "none" for evaluation; or {"mode": "block", "block_samples": …,
            "window_blocks": …}.
        class_weights: draws with replacement instead: for each sample a class, by weights such as {"cat": 1, "dog": 3},
            whole numbers, other classes never; or "balanced", all alike. Then one of the class's samples.
        samples: of an epoch with ``class_weights``; default: as many as the part of the dataset has.
        last_batch: what becomes of an epoch's tail: "drop", the default with ``shuffle``; "pad" it from the epoch's
            beginning, ``info.real`` samples being no padding; "partial", the default without ``shuffle``, where ranks
            have shorter and even empty batches, whose mean loss is NaN: weigh by ``info.real``.
        rank, world_size: default: torch.distributed's, where it is initialized; else RANK and WORLD_SIZE of the
            environment, as torchrun sets them; without, one rank.
        as_dict: batches are dicts of the fields by name, instead of tuples in the pipeline's order.
        output: whose arrays: "torch", "numpy", "jax", "cupy", "dlpack" for ``stoker.Tensor``. "auto": torch's if the
            program imported torch; else NumPy's if it is installed (on a GPU JAX's or CuPy's, if imported); else
            ``stoker.Tensor``.
        names: ``info.names`` has the samples' names.
        prefetch, prefetch_bytes: batches ahead, and the bound of their memory, 1 GiB.
        pin, pinned_bytes: page-locked memory for a GPU: "auto", "on" (or fail), "off"; and its bound.
        progress_timeout: seconds without any arrival until an iteration fails; 60.
        span_deadline: least seconds until a span is asked for again; 2.
        verify: the share of the servers' answers, 0 to 1, that a second server computes too, to compare the bytes; 0.001
            where there are two servers or more. Only an epoch's end waits for that.
        verify_policy: where they differ: "fail" with a DataLossError, or "warn".
        connect_timeout: seconds in which a first server must answer; give it where servers may start later than the
            loader. Without it, servers that all refuse connections or have no address fail at once, and others after 30.
        connections: to each server; 1.
        tls_ca_file, tls_server_name: against which the servers' certificate is checked; ``STOKER_TLS_CA``.
        tls_cert_file, tls_key_file: this loader's own certificate and key in PEM, where servers ask for one;
            ``STOKER_TLS_CERT``, ``STOKER_TLS_KEY``.
        token_file: a token that says who this loader is; it is sent by TLS or a Unix socket alone, and read again when
            it changes; ``STOKER_TOKEN_FILE``.

    To type checkers a loader is generic over its batches: ``Loader[tuple[torch.Tensor, ...]]`` with ``output="torch"``.
    Who knows more than they do says so: ``loader: stoker.Loader[tuple[Tensor, Tensor]] = stoker.Loader(…)``.

    Fields whose samples differ in size (text, boxes, …) are handed out as ``stoker.Ragged``, and images of native size as
    ``stoker.RaggedImages``. In a ``stoker.Batch`` each is two tensors: the rows by the field's name, and behind all
    fields NAME.offsets. Such images have a third one, NAME.sizes.

    ``print(loader)`` tells dtype, shape and layout of what a batch has. A pipeline by name, from a file, or in a dict
    without ``dtype`` is taken as it is. A CPU's tensors share the loader's memory and may be written to; who keeps many
    makes it allocate more.

    On CUDA, torch's current stream waits for a batch when it is handed out, and its memory's next use for that stream;
    for work on another one see ``use_on``.

    Raises a ``StokerError`` that says what is wrong: InvalidArgumentError names the option or op, NotFoundError the
    dataset, UnavailableError why no server answered. Iterating raises DataLossError for a bad sample
    or one of which servers make different bytes, DeadlineExceededError where nothing came for ``progress_timeout``; the next iteration begins afresh. Ctrl-C interrupts a wait and leaves the loader usable.
    """

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        if cls.__init__ is Loader.__init__:  # A derived class may have arguments of its own.
            _options.answer_data_loaders_words(options)
        made: Self = super().__new__(_torch.dataset_class(cls))
        return made

    # fmt: off
    @overload
    def __init__(
        self: Loader[tuple[Tensor, ...]], servers: Servers, dataset: Optional[str] = None, *,
        output: Literal["torch"], as_dict: Literal[False] = False, **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[dict[str, Tensor]], servers: Servers, dataset: Optional[str] = None, *,
        output: Literal["torch"], as_dict: Literal[True], **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[tuple[NDArray[Any], ...]], servers: Servers, dataset: Optional[str] = None, *,
        output: Literal["numpy"], as_dict: Literal[False] = False, **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[dict[str, NDArray[Any]]], servers: Servers, dataset: Optional[str] = None, *,
        output: Literal["numpy"], as_dict: Literal[True], **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[tuple[Any, ...]], servers: Servers, dataset: Optional[str] = None, *,
        output: str = "auto", as_dict: Literal[False] = False, **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[dict[str, Any]], servers: Servers, dataset: Optional[str] = None, *,
        output: str = "auto", as_dict: Literal[True], **options: Unpack[Options],
    ) -> None: ...
    @overload
    def __init__(
        self: Loader[Any], servers: Servers, dataset: Optional[str] = None, *,
        output: str = "auto", as_dict: bool, **options: Unpack[Options],
    ) -> None: ...
    # fmt: on
    def __init__(
        self,
        servers: Union[str, Sequence[str]],
        dataset: Optional[str] = None,
        *,
        batch_size: int,
        split: Optional[str] = None,
        split_seed: Optional[int] = None,
        indices: Optional[Iterable[int]] = None,
        classes: Union[None, str, Iterable[str]] = None,
        subset: Optional[str] = None,
        device: Any = "cpu",
        dtype: Any = None,
        layout: Optional[str] = None,
        transforms: Transforms = None,
        on_unsupported: str = "refuse",
        bad_samples: Optional[str] = None,
        jpeg_scaling: Optional[str] = None,
        seed: int = 0,
        shuffle: Union[bool, str, Mapping[str, Any]] = True,
        class_weights: Union[None, str, Mapping[str, int]] = None,
        samples: Optional[int] = None,
        last_batch: Optional[str] = None,
        rank: Optional[int] = None,
        world_size: Optional[int] = None,
        as_dict: bool = False,
        output: str = "auto",
        names: bool = False,
        prefetch: Optional[int] = None,
        prefetch_bytes: Optional[int] = None,
        pin: Optional[str] = None,
        pinned_bytes: Optional[int] = None,
        progress_timeout: Optional[float] = None,
        span_deadline: Optional[float] = None,
        verify: Optional[float] = None,
        verify_policy: Optional[str] = None,
        connect_timeout: Optional[float] = None,
        connections: Optional[int] = None,
        tls_ca_file: Optional[str] = None,
        tls_server_name: Optional[str] = None,
        tls_cert_file: Optional[str] = None,
        tls_key_file: Optional[str] = None,
        token_file: Optional[str] = None,
    ) -> None:
        super().__init__()
        self._handle: Optional[int] = None
        self._lock = threading.RLock()  # The library takes most calls for a loader one at a time.
        self._life = threading.Lock()  # Held while the handle must live, for calls from any thread. Comes before _lock.
        self._as_dict = as_dict
        self._names = names
        shuffle = _options.shuffle_mode(shuffle, class_weights, samples)
        self._last_batch = last_batch or ("partial" if shuffle == "none" else "drop")
        # The iterations begun so far. Only the last one goes on. Its iterator holds the loader, not the other way round.
        self._iterations = 0
        self._begun = False  # Becomes true when the iteration hands out a batch, and false where it is over.
        self._failed = False  # The library goes on saying what the last iteration failed with.
        # Holds what the library returned where an exception came between, such as Ctrl-C's, until the next call.
        self._pending = Batch()
        self._warned: set[str] = set()
        self._warned_substituted = False
        #: What the batch that was handed out last is made of; None before the first batch.
        self.info: Optional[BatchInfo] = None
        self._known: dict[str, Any] = {}  # What the servers told of the dataset.
        self._asking = 0  # Calls that ask the servers and need the handle, of other threads; guarded by _life.

        _layout.check(layout)
        self._placed = rank is not None or world_size is not None
        if not self._placed:
            rank, world_size = _torch.rank_and_world_size()
        transforms, self._on_client = _on_client.split(transforms, on_unsupported)
        self._on_client.check_options(device=_torch.device_name(device), dtype=dtype, layout=layout)
        options = {
            "servers": _options.addresses(servers),
            "dataset": dataset,
            "batch_size": batch_size,
            "split": split,
            "split_seed": split_seed,
            "indices": _options.whole_numbers("indices", indices),
            "classes": _options.texts("classes", classes),
            "subset": subset,
            "device": _torch.device_name(device),
            "seed": seed,
            "shuffle": shuffle,
            "last_batch": self._last_batch,
            "rank": rank,
            "world_size": world_size,
            "names": names or None,
            "prefetch": prefetch,
            "prefetch_bytes": prefetch_bytes,
            "pin": pin,
            "pinned_bytes": pinned_bytes,
            "progress_timeout": progress_timeout,
            "span_deadline": span_deadline,
            "verify": verify,
            "verify_policy": verify_policy,
            "connect_timeout": connect_timeout,
            "connections": connections,
            "tls_ca_file": tls_ca_file,
            "tls_server_name": tls_server_name,
            "tls_cert_file": tls_cert_file,
            "tls_key_file": tls_key_file,
            "token_file": token_file,
            **options_of(transforms, dtype, layout, bad_samples=bad_samples, jpeg_scaling=jpeg_scaling),
        }
        self._library = _library.library()
        text = _options.as_json(options)
        with self._on_client.explained():
            connecting = Connecting(options)
            destroy = self._library.stoker_loader_destroy
            self._handle = _library.interruptible(lambda: self._create(text), destroy, connecting.go_on)
            connecting.end()
        try:
            #: The dataset, the rank, the pipeline with its defaults, and each field's dtype, shape and layout, as the
            #: library has them.
            self.description = self._document(self._library.stoker_loader_describe)
            fields = self.description["fields"]
            chosen = outputs.choose(output, self.description["device"], [field["dtype"] for field in fields])
            self._output = outputs.make(chosen, _layout.settle(self.description, layout, chosen), fields)
            fields = self.description["fields"] = [field for field in fields if not ragged.belongs(field)]
            self._on_client.settle(self.description, chosen)
        except BaseException:
            self.close()
            raise
        self._field_names = [field["name"] for field in fields]
        self._parts = parts_of(self.description)
        self._set_cursor()
        self._show_warnings()

    def _create(self, options: bytes) -> int:
        handle = ctypes.c_void_p()
        _library.check(self._library.stoker_loader_create(options, ctypes.byref(handle)))
        return handle.value  # type: ignore[return-value]

    # ---- what it is ----

    def __len__(self) -> int:
        """How many batches a whole epoch has, equal on all ranks. After ``load_state_dict`` fewer may be left."""
        return int(self.description["batches_per_epoch"])

    def __repr__(self) -> str:
        told = [f"{key}={self.description[key]!r}" for key in ("dataset", "rank", "world_size", "device")]
        for field in self.description["fields"]:
            samples = "rows" if field.get("kind") in ragged.KINDS else self.batch_size
            shape = " × ".join(map(str, [samples, *field["shape"]]))
            told.append(f"{field['name']}: {field['dtype']} {shape} {field.get('layout', '')}".rstrip())
        if self._on_client:
            told.append(f"on the client: [{self._on_client!r}]")
        return f"stoker.Loader({', '.join(told)})"

    @property
    def dataset(self) -> DatasetInfo:
        """The dataset, or the part of it that is read: name, fingerprint, length in samples, classes and labels."""
        return DatasetInfo(self.description, self._ask, self._known)

    def names(self) -> list[str]:
        """The names of the samples of the batch that was handed out last, such as "cat/0001.jpg".

        The servers are asked, unless the loader was made with ``names=True``. Raises a StokerError where none answers.
        """
        if self.info is None:
            return []
        return self.info.names or self.dataset.names(self.info.sample_ids)

    def part_counts(self) -> dict[str, int]:
        """How many samples of the batch that was handed out last each dataset has that this one is mixed of, by name.

        They are this rank's, such as {"photos": 12, "drawings": 4}. Padding does not count, and a substitute counts for
        its own part. No server is asked. Empty before the first batch, and where the dataset is no mix.
        """
        return {} if self.info is None else self.dataset.part_counts(self.info.sample_ids[: self.info.real])

    def _ask(self, function: str, *arguments: Any) -> Any:
        """What a function of the library, by its name, asks the servers. Ctrl-C need not wait for it."""
        self.check_process()

        def answer() -> str:
            with self._life:
                self._usable()
                handle = self._handle
                self._asking += 1
            try:
                return _library.text_from(getattr(self._library, function), handle, *arguments)
            finally:
                with self._life:
                    self._asking -= 1
                    if self._handle is None and self._asking == 0:  # It was closed meanwhile.
                        self._library.stoker_loader_destroy(handle)

        return json.loads(_library.interruptible(answer, lambda text: None))

    @property
    def sampler(self) -> Sampler:
        return Sampler(self)

    @property
    def batch_size(self) -> int:
        return int(self.description["batch_size"])

    @property
    def drop_last(self) -> bool:
        """Whether an epoch's tail that fills no batch is left out."""
        return self._last_batch == "drop"

    #: Frameworks look for these of a DataLoader's: batches come from the servers, by no sampler and no worker processes.
    batch_sampler = None
    num_workers = 0

    @property
    def rank(self) -> int:
        return int(self.description["rank"])

    @property
    def world_size(self) -> int:
        return int(self.description["world_size"])

    @property
    def epoch(self) -> int:
        """The epoch that a state saved now goes on with. From an epoch's last batch on it is the next one."""
        return self._epoch if self._handle is None else int(self.state_dict()["epoch"])

    # ---- iterating ----

    def __iter__(self) -> Iterator[BatchT_co]:
        """Iterates over the next epoch's batches, tuples of fields or dicts. ``info`` says what the last is made of."""
        return self._begin(self._hand_out)

    def batches(self) -> Iterator[Batch]:
        """Iterates as over the loader itself, but over ``stoker.Batch``: tensors, positions and ids in one."""
        return self._begin(lambda batch: batch)

    def _begin(self, hand_out: Callable[[Batch], Any]) -> Iterator[Any]:
        if self.world_size > 1:
            _torch.refuse_to_be_shared_out()
        if not self._placed:
            _torch.check_world_size(self.world_size)
        with self._exclusively():
            if self._begun:
                self._go_to(self._epoch + 1)
            elif self._failed:
                self._restore(self._state())  # The same place, without the error.
            self._iterations += 1
            return Epoch(self, self._iterations, hand_out)

    def _next(self, iteration: int) -> Optional[Batch]:
        """The iteration's next batch, or None at the epoch's end."""
        with _torch.profiled("stoker.wait"):
            silence = Silence()
            while True:
                with self._exclusively():
                    if iteration != self._iterations:
                        raise RuntimeError("this epoch was left: another iteration, epoch or state was begun since")
                    code = self._receive()
                    if code == _library.OK:
                        silence.end()
                        return self._arrived()
                    if code != _library.DEADLINE_EXCEEDED or not self._library.stoker_loader_waiting(self._handle):
                        self._library_error(code)
                    silence.go_on(self._document, self._library.stoker_loader_stats)

    def _receive(self) -> int:
        """Fills `_pending`, unless it is; leaves it empty at the epoch's end, and where it returns an error's code."""
        if self._pending.pointer:
            return _library.OK
        pointer = ctypes.byref(self._pending.pointer)
        code: int = self._library.stoker_loader_next(self._handle, _library.PATIENCE, pointer)
        return code

    def _arrived(self) -> Optional[Batch]:
        batch = self._pending
        if batch.pointer:
            batch.describe(self._parts)
        if not batch.pointer or batch.epoch != self._epoch:  # The epoch's end may have gone unseen: the batch is kept.
            self._iterations += 1
            self._begun = False
            self._epoch += 1
            self._position = 0
            self._show_warnings()
            return None
        if not self._begun:
            self._begun = True
            self._show_warnings()
        self._position += self.batch_size * self.world_size
        self._pending = Batch()
        return batch

    def _library_error(self, code: int) -> None:
        try:
            _library.check(code)
        except CancelledError:
            self._usable()
            raise
        except StokerError:
            self._failed = True
            raise

    def _hand_out(self, batch: Batch) -> Any:
        with _torch.profiled("stoker.hand_out"):
            self.info = batch.info(self._names)
            if self.info.substituted and not self._warned_substituted:
                self._warned_substituted = True
                first = self.info.substituted[0]
                warnings.warn(
                    f"bad sample {first.bad_sample_name} ({first.reason}): the next one stands in; said once, see "
                    "loader.info.substituted and loader.stats()",
                    StokerWarning,
                    stacklevel=3,
                )
            try:
                arrays = self._on_client.apply(self._output(batch), self.info)
            except BaseException:
                self._take_back(batch)
                raise
            return dict(zip(self._field_names, arrays)) if self._as_dict else tuple(arrays)

    def _take_back(self, batch: Batch) -> None:
        """Counts a batch as not handed out. Unless another iteration was begun since, the next one is this again."""
        with self._lock:
            if self._begun and not self._pending.pointer and batch.epoch == self._epoch:
                self._pending = batch
                self._position -= self.batch_size * self.world_size

    def use_on(self, tensors: Any, stream: Any) -> None:
        """Lets work on another CUDA stream than the one current at hand-out use ``tensors``: see ``stoker.use_on``."""
        outputs.use_on(tensors, stream)

    # ---- where it stands ----

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration epoch ``epoch``, from its beginning.

        Where no batch of ``epoch`` was handed out yet, or none since ``load_state_dict`` went on within it, this changes
        nothing, also for an iteration that has begun. So ``for epoch in range(loader.epoch, epochs):
        loader.set_epoch(epoch)`` is right in every job, resumed or not.
        """
        epoch = _options.epoch_number("set_epoch", epoch)
        with self._exclusively():
            if self._begun or self._failed or epoch != self._epoch:
                self._go_to(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands, in a few hundred bytes that JSON takes; at most 2 KiB more with a long pipeline.

        Batches that were handed out count, those that were made ahead do not. It is equal on all ranks after the same
        number of batches, so it is enough to save one rank's.
        """
        with self._exclusively():
            return self._state()

    def _state(self) -> dict[str, Any]:
        state = self._document(self._library.stoker_loader_state)
        if self._pending.pointer:  # The library counts it, but it was not handed out.
            state.update(epoch=self._epoch, position=self._position)
        if self._on_client:
            state[_on_client.STATE_KEY] = self._on_client.identity
        return state

    def load_state_dict(self, state: Mapping[str, Any], *, accept_other_pixels: bool = False) -> None:
        """Goes on from a state in the same global order, also with another batch size, world size or number of servers.

        Raises FailedPreconditionError that names what differs: dataset, pipeline, ops on the client, seed or shuffle; or
        the servers' pixels, which ``accept_other_pixels`` takes as they are now.
        """
        if not isinstance(state, Mapping):
            raise InvalidArgumentError(f"state: expected what state_dict() gives, found {type(state).__name__}")
        _on_client.check_state(state, self._on_client)
        with self._exclusively():
            self._restore(state, accept_other_pixels)

    def _restore(self, state: Mapping[str, Any], accept_other_pixels: bool = False) -> None:
        text = _options.as_json(state)
        _library.check(self._library.stoker_loader_restore(self._handle, text, int(accept_other_pixels)))
        self._leave_iteration()
        self._set_cursor()

    def _go_to(self, epoch: int) -> None:
        _library.check(self._library.stoker_loader_set_epoch(self._handle, epoch))
        self._leave_iteration()
        self._epoch = epoch
        self._position = 0

    def _set_cursor(self) -> None:
        """Takes the epoch, and the position in it, from the library."""
        state = self._document(self._library.stoker_loader_state)
        self._epoch, self._position = int(state["epoch"]), int(state["position"])

    def _leave_iteration(self) -> None:
        """Ends the iteration under way, and forgets what it failed with."""
        self._pending = Batch()
        self._iterations += 1
        self._begun = self._failed = False

    def stats(self) -> dict[str, Any]:
        """What the loader has done since it was made: counts of batches, samples, spans and bytes, the seconds that it
        waited, and each server's part.
        """
        self.check_process()
        with self._life:  # Nothing that waits for a batch holds it.
            self._usable()
            stats = _library.document_from(self._library.stoker_loader_stats, self._handle)
            return {**stats, "on_client_seconds": self._on_client.seconds} if self._on_client else stats

    def digest(self, epoch: Optional[int] = None) -> str:
        """Reads a whole epoch, by default ``self.epoch``, and gives its SHA-256, which ``stoker digest`` prints too.

        Raises StokerError unless the loader has one rank and keeps the epoch's tail: ``last_batch="partial"``.
        """
        drops = self._last_batch == "drop" and len(self.dataset) % self.batch_size != 0
        if self.world_size != 1 or drops:
            raise InvalidArgumentError("digest: one rank must read the whole epoch: world_size=1, last_batch='partial'")
        with self._exclusively():
            self._go_to(self.epoch if epoch is None else _options.epoch_number("digest", epoch))
        digest = Digest()
        for batch in self.batches():
            digest.add(batch)
        return digest.hexdigest()

    # ---- its end ----

    def close(self) -> None:
        """Ends the loader's connections and threads. A wait of another thread raises CancelledError. Batches stay."""
        if self.in_child():
            return
        with self._life:
            if self._handle is not None:
                self._library.stoker_loader_cancel(self._handle)
                with self._lock:
                    handle, self._handle = self._handle, None
                    if self._asking == 0:
                        self._library.stoker_loader_destroy(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "a stoker.Loader cannot be sent to another process, as a DataLoader does with num_workers above 0. The "
            "servers do the workers' work: leave num_workers at 0, or iterate over the loader itself"
        )

    # ---- calls into the library ----

    def _usable(self) -> None:
        self.check_process()
        if self._handle is None:
            raise CancelledError("the loader was closed")

    @contextmanager
    def _exclusively(self) -> Iterator[None]:
        """Surrounds calls that the library takes one at a time.

        It checks the process first: in a forked child a lock that another thread held would never open.
        """
        self.check_process()
        with self._lock:
            self._usable()
            yield

    def _document(self, function: Callable[..., int]) -> dict[str, Any]:
        with self._exclusively():
            return _library.document_from(function, self._handle)

    def _show_warnings(self) -> None:
        stats = self._document(self._library.stoker_loader_stats)
        servers = stats.get("servers", [])
        problems = {server["address"]: server["problem"] for server in servers}
        lost = [f"{address} is not used: {why}" for address, why in problems.items() if why not in ("", _CONNECTING)]
        for warning in stats.get("warnings", []) + lost:
            if warning not in self._warned:
                self._warned.add(warning)
                warnings.warn(warning, StokerWarning, stacklevel=4)
