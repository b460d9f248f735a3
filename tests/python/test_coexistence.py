"""libstoker.so beside other copies of gRPC and protobuf, in one process, whoever comes first."""

from __future__ import annotations

import pytest
from conftest import python, stoker

_TOGETHER = """
    import sys, threading
    address, expected, *order = sys.argv[1:]

    def load(name):
        if name == "stoker":
            import stoker._library
            stoker._library.library()
        else:
            __import__(name)

    for name in order:
        load(name)

    import grpc, torch, stoker
    from google.protobuf import struct_pb2, descriptor_pb2

    # Python's gRPC streams messages of its own, both ways, while ours streams batches.
    def echo(requests, context):
        for request in requests:
            yield request

    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.stream_stream_rpc_method_handler(echo)

    from concurrent.futures import ThreadPoolExecutor
    server = grpc.server(ThreadPoolExecutor(2), handlers=[Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    ended, echoed = threading.Event(), [0]

    def stream():
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            while not (ended.is_set() and echoed[0]):
                structs = [struct_pb2.Struct() for _ in range(20)]
                for index, struct in enumerate(structs):
                    struct.update({"index": index, "text": "x" * 1000})
                texts = [struct.SerializeToString() for struct in structs]
                for sent, received in zip(structs, channel.stream_stream("/echo.Echo/Echo")(iter(texts))):
                    assert struct_pb2.Struct.FromString(received) == sent
                    echoed[0] += 1

    thread = threading.Thread(target=stream)
    thread.start()
    with grpc.insecure_channel(address) as channel:  # And asks our server, too.
        listed = channel.unary_unary("/stoker.v1.DataService/ListDatasets")(b"")
        assert b"photos" in listed
    loader = stoker.Loader(address, batch_size=16, last_batch="partial")
    total = sum(images.to(torch.int64).sum().item() for images, _ in loader)
    assert loader.digest(0) == expected and total > 0
    ended.set()
    thread.join()
    server.stop(None)
    assert echoed[0] >= 20
    print("together")
"""


@pytest.mark.parametrize(
    "order",
    [
        ["torch", "grpc", "google.protobuf.struct_pb2", "stoker"],
        ["stoker", "google.protobuf.struct_pb2", "grpc", "torch"],
        ["grpc", "stoker", "torch"],
    ],
    ids="-".join,
)
def test_batches_stream_beside_torch_grpcio_and_protobuf(server, order):
    for name in ("torch", "grpc", "google.protobuf"):
        pytest.importorskip(name)
    expected = stoker("digest", "--servers", server.address).strip()
    assert python(_TOGETHER, server.address, expected, *order) == "together\n"
