"""What datasets servers have, as they describe them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _library, _options


class DatasetInfo:
    """The dataset as the servers describe it."""

    def __init__(self, name: str, samples: int, fingerprint: str) -> None:
        #: Its name in the servers' configuration.
        self.name = name
        #: A hash of its samples' names, sizes and labels, in hexadecimal. It is equal for all copies of the dataset.
        self.fingerprint = fingerprint
        self._samples = samples

    def __len__(self) -> int:
        """How many samples it has."""
        return self._samples

    def __repr__(self) -> str:
        return f"stoker.DatasetInfo(name={self.name!r}, samples={self._samples}, fingerprint={self.fingerprint!r})"


def servers_offer(
    servers: Union[str, Sequence[str]],
    *,
    connect_timeout: Optional[float] = None,
    tls_ca_file: Optional[str] = None,
    tls_server_name: Optional[str] = None,
) -> dict[str, list[dict[str, Any]]]:
    """Asks servers what they offer.

    The answer is {"datasets": [{"name", "samples", "fingerprint", "description"}], "pipelines": [{"name",
    "pipeline"}]}.
    """
    text = _options.as_json(
        {
            "servers": _options.addresses(servers),
            "connect_timeout": connect_timeout,
            "tls_ca_file": tls_ca_file,
            "tls_server_name": tls_server_name,
        }
    )
    stoker_list = _library.library().stoker_list
    found = _library.interruptible(lambda: _library.text_from(stoker_list, text), lambda text: None)
    offered: dict[str, list[dict[str, Any]]] = json.loads(found)
    return offered
