"""tfservice_peer.py wire|aliased|antialiased: the tf.data service, a dispatcher and a worker in processes of their own,
without compression.

`wire` decodes nothing: one batch of random bytes, again and again. The others read files from disk, two at a time."""

import socket
import subprocess
import sys
import threading
import time

from peer import SIZE, serve

BATCH, QUEUED = 64, 2


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve_role(role, dispatcher):
    """Serves as `role` until this process's stdin ends."""
    from tf_images import tf

    service = tf.data.experimental.service
    if role == "dispatcher":
        server = service.DispatchServer(service.DispatcherConfig(port=dispatcher))
    else:
        port = free_port()
        address = {"dispatcher_address": f"localhost:{dispatcher}", "worker_address": f"localhost:{port}"}
        server = service.WorkerServer(service.WorkerConfig(port=port, **address))
    print("serving", flush=True)
    threading.Thread(target=server.join, daemon=True).start()
    sys.stdin.read()


def start(role, dispatcher):
    """A child that ends with this process, whose end of the pipe it reads."""
    command = [sys.executable, __file__, role, str(dispatcher)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if child.stdout.readline() != b"serving\n":
        raise RuntimeError(f"the {role} did not start")
    return child


def load(paths, mode):
    from tf_images import make_image, tf

    if mode == "wire":
        batch = tf.cast(tf.random.uniform([BATCH, SIZE, SIZE, 3], 0, 255, tf.int32), tf.uint8)
        source = tf.data.Dataset.from_tensors(batch).repeat()
    else:
        files = tf.data.Dataset.from_tensor_slices(paths).shuffle(len(paths)).repeat()
        source = files.map(
            lambda path: make_image(tf.io.read_file(path), mode), num_parallel_calls=2, deterministic=False
        ).batch(BATCH)
    dispatcher = free_port()
    load.children = [start(role, dispatcher) for role in ("dispatcher", "worker")]
    distributed = source.prefetch(QUEUED).apply(
        tf.data.experimental.service.distribute("parallel_epochs", f"grpc://localhost:{dispatcher}", compression=None)
    )
    batches = iter(distributed.prefetch(QUEUED))
    return lambda: next(batches), f"TensorFlow {tf.__version__}"


if sys.argv[1] in ("dispatcher", "worker"):
    serve_role(sys.argv[1], int(sys.argv[2]))
else:
    serve(load, images=BATCH, queued=2 * QUEUED + 16, content=False)
