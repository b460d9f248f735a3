"""on_unsupported="client": the rest of a Compose in the training process, and equal draws wherever a sample comes."""

from __future__ import annotations

import json
import random
import warnings

import numpy
import pytest
from conftest import python

from stoker import (
    ConversionError,
    FailedPreconditionError,
    InvalidArgumentError,
    Loader,
    StokerWarning,
    transforms as ours,
)

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")
from torchvision.transforms import v2  # noqa: E402

v1 = torchvision.transforms
pytestmark = pytest.mark.filterwarnings("ignore:.* on the client:stoker.StokerWarning")
HALF = ([0.5] * 3, [0.5] * 3)


class Noise:
    """Draws from all generators that ops draw from."""

    def __call__(self, image):
        assert isinstance(image, torch.Tensor)
        drawn = torch.rand(()) + random.random() + float(numpy.random.rand())
        return image + drawn + torch.randn(image.shape)


class Brighter(torch.nn.Module):
    """Says nothing of how much it adds."""

    def __init__(self, amount):
        super().__init__()
        self.amount = amount

    def forward(self, image):
        return image + self.amount


def drawing():
    return v2.Compose(
        [
            v2.ToImage(),
            v2.RandomResizedCrop(24),
            v2.ToDtype(torch.float32, scale=True),
            Noise(),
            v2.RandomErasing(p=0.5),
            v2.RandomHorizontalFlip(),
            v2.Normalize(*HALF),
        ]
    )


def loader_of(server, transforms, **options):
    return Loader(
        server.address, **{"batch_size": 16, "on_unsupported": "client", "transforms": transforms, **options}
    )


def by_position(loader):
    """Each sample of the epoch that comes, by its position."""
    result = {}
    for images, _ in loader:
        result.update(zip(loader.info.positions, images.clone()))
    return result


def same(one, other):
    assert one.keys() <= other.keys()
    return all(torch.equal(image, other[position]) for position, image in one.items())


# ---- Draws ----


@pytest.fixture(scope="module")
def epoch(server):
    """Epoch 0 of `drawing`, by position."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with loader_of(server, drawing(), last_batch="partial") as loader:
            result = by_position(loader)
    assert len(result) == 200
    return result


@pytest.mark.parametrize("batch_size", [1, 7, 200])
def test_a_sample_is_the_same_in_batches_of_any_size(server, epoch, batch_size):
    with loader_of(server, drawing(), batch_size=batch_size, last_batch="partial") as loader:
        assert same(epoch, by_position(loader))


def test_a_sample_is_the_same_on_any_rank(server, epoch):
    shares = []
    for rank in range(3):
        with loader_of(server, drawing(), last_batch="partial", rank=rank, world_size=3) as loader:
            shares.append(by_position(loader))
    assert sum(map(len, shares)) == 200 and all(same(share, epoch) for share in shares)


def test_a_sample_is_the_same_after_a_resume(server, epoch):
    with loader_of(server, drawing(), last_batch="partial") as loader:
        batches = iter(loader)
        next(batches), next(batches)
        state = json.dumps(loader.state_dict())
    with loader_of(server, drawing(), batch_size=9, last_batch="partial") as loader:
        loader.load_state_dict(json.loads(state))
        rest = by_position(loader)
    assert min(rest) == 32 and len(rest) == 168 and same(rest, epoch)
    with loader_of(server, drawing(), last_batch="partial") as loader:
        again = by_position(loader), by_position(loader)
    assert same(again[0], epoch) and not same(again[1], epoch)  # The next epoch draws anew.


def test_other_seeds_draw_otherwise(server):
    compose = v2.Compose([v2.ToImage(), v2.CenterCrop(24), v2.ToDtype(torch.float32, scale=True), Noise()])
    options = {"shuffle": False, "batch_size": 200}
    with loader_of(server, compose, **options) as one, loader_of(server, compose, **options, seed=1) as other:
        assert not torch.equal(next(iter(one))[0], next(iter(other))[0])


def test_draws_of_one_op_do_not_depend_on_those_before(server):
    """So each op has a seed of its own, by its place."""

    def made(first):
        compose = [ours.CenterCrop(24), first, v2.ToDtype(torch.float32, scale=True), Noise()]
        with loader_of(server, compose, shuffle=False) as loader:
            return next(iter(loader))[0]

    assert torch.equal(made(lambda image: image), made(lambda image: (torch.rand(7), image)[1]))


def test_the_programs_own_draws_go_on_as_if_nothing_had_been_drawn(server):
    def drawn():
        return torch.rand(3).tolist(), random.random(), float(numpy.random.rand())

    torch.manual_seed(5), random.seed(5), numpy.random.seed(5)
    expected = drawn()
    torch.manual_seed(5), random.seed(5), numpy.random.seed(5)
    with loader_of(server, drawing()) as loader:
        next(iter(loader))
        assert drawn() == expected


# ---- What ops see, and their order ----


def test_all_after_the_first_runs_on_the_client_in_order_on_what_an_image_folder_gives(server):
    """Exactly what the ops make of the images that the servers' part gives."""
    from PIL import ImageOps

    rest = v1.Compose(
        [
            v1.Lambda(lambda image: ImageOps.posterize(image, 2)),  # Takes none but PIL's images.
            v1.ColorJitter(brightness=(1.5, 1.5)),
            v1.RandomHorizontalFlip(1),
            v1.ToTensor(),
            v1.Normalize(*HALF),
        ]
    )
    options = {"shuffle": False, "batch_size": 50}
    with loader_of(server, v1.Compose([v1.CenterCrop(24), *rest.transforms]), **options) as loader:
        assert [op.name for op in ours.convert([v1.CenterCrop(24)]).transforms] == ["CenterCrop"]
        assert len(loader.description["pipeline"]["ops"]) == 1
        made, labels = next(iter(loader))
    with Loader(server.address, transforms=[ours.CenterCrop(24)], **options) as loader:
        before, expected_labels = next(iter(loader))
    to_pil = v1.ToPILImage()
    assert torch.equal(made, torch.stack([rest(to_pil(image)) for image in before]))
    assert torch.equal(labels, expected_labels)


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ([ours.CenterCrop(24)], [], (torch.Tensor, torch.uint8)),
        ([v2.CenterCrop(24)], [v2.Identity()], (torch.Tensor, torch.uint8)),
        ([v2.PILToTensor(), v2.CenterCrop(24)], [], (torch.Tensor, torch.uint8)),
        ([v2.ToImage(), v2.CenterCrop(24)], [], ("Image", torch.uint8)),
        ([v2.CenterCrop(24)], [v2.ToImage()], ("PIL", "RGB")),
        ([v1.CenterCrop(24)], [v1.ToTensor()], ("PIL", "RGB")),
        ([v1.CenterCrop(24), v1.ToTensor()], [v1.Normalize(*HALF)], (torch.Tensor, torch.float32)),
        ([v2.ToImage(), v2.CenterCrop(24), v2.ToDtype(torch.float16, scale=True)], [], ("Image", torch.float16)),
    ],
)
def test_an_op_is_given_what_it_would_be_given_after_an_image_folder(server, before, after, seen):
    found = []

    def look(image):
        found.append(image)
        return image

    with loader_of(server, v2.Compose([*before, look, *after]), batch_size=4) as loader:
        images, _ = next(iter(loader))
    kind, detail = seen
    if kind == "PIL":
        assert type(found[-1]).__module__.startswith("PIL") and found[-1].mode == detail and found[-1].size == (24, 24)
    else:
        assert type(found[-1]) is (torchvision.tv_tensors.Image if kind == "Image" else kind)
        assert found[-1].dtype == detail and found[-1].shape == (3, 24, 24)
    assert type(images) is torch.Tensor and images.shape == (4, 3, 24, 24)


def test_an_image_of_pil_that_comes_out_is_bytes_with_channels_first(server):
    compose = v2.Compose([v2.CenterCrop(24), v2.ToPILImage(), lambda image: image.convert("L")])
    with loader_of(server, compose, batch_size=4) as loader:
        images, _ = next(iter(loader))
    assert images.shape == (4, 1, 24, 24) and images.dtype == torch.uint8


def test_an_op_that_holds_others_runs_there_as_a_whole(server):
    compose = v2.Compose([v2.CenterCrop(24), v2.RandomApply([v2.RandomInvert(1), v2.RandomPhotometricDistort()], p=1)])
    with loader_of(server, compose, batch_size=4) as loader:
        assert [set(op) - {"placement"} for op in loader.description["pipeline"]["ops"]] == [{"CenterCrop"}]


def test_timms_policies(server):
    data = pytest.importorskip("timm.data")
    policy = {"auto_augment": "rand-m9-mstd0.5-inc1", "re_prob": 0.5, "re_mode": "pixel", "interpolation": "bicubic"}

    def compose():
        return data.create_transform(32, is_training=True, **policy)

    with loader_of(server, compose(), shuffle=False) as one, loader_of(server, compose(), shuffle=False) as other:
        state = one.state_dict()
        images, _ = next(iter(one))
        other.load_state_dict(state)
        assert images.shape == (16, 3, 32, 32) and torch.equal(images, next(iter(other))[0])


# ---- What is told ----


def test_a_loader_warns_once_and_names_the_ops(server):
    compose = v2.Compose([v2.CenterCrop(24), v2.RandomPhotometricDistort(), v2.RandomHorizontalFlip()])
    with pytest.warns(StokerWarning) as caught, loader_of(server, compose) as loader:
        for _ in loader:
            pass
    (warning,) = caught
    text = str(warning.message)
    assert "2 transforms run on the client" in text and "the trainer's CPU" in text and "digest" in text
    assert "transforms[1]: RandomPhotometricDistort(" in text and "transforms[2]: RandomHorizontalFlip(" in text
    assert "exchanges channels" in text and warning.filename == __file__


@pytest.mark.filterwarnings("error::stoker.StokerWarning")
def test_where_all_can_be_had_nothing_runs_on_the_client(server):
    with loader_of(server, v2.Compose([v2.CenterCrop(24), v2.RandomHorizontalFlip()])) as loader:
        assert "on_client" not in loader.description and "client_ops" not in loader.state_dict()
        next(iter(loader))


def test_a_loader_says_what_comes_out(server):
    compose = [v2.CenterCrop(24), Noise(), lambda image: image[:1, :9].double()]
    with loader_of(server, compose, batch_size=4) as loader:
        assert "image: float64 4 × 1 × 9 × 24 channels_first" in repr(loader)
        assert "on the client: [transforms[1]: <test_on_client.Noise object>" in repr(loader)
        images, _ = next(iter(loader))
        assert images.shape == (4, 1, 9, 24) and images.dtype == torch.float64
        assert loader.stats()["on_client_seconds"] > 0


def test_the_digest_is_the_servers(server):
    options = {"last_batch": "partial"}
    with loader_of(server, [v2.CenterCrop(24), Noise()], **options) as one:
        with Loader(server.address, batch_size=16, transforms=[v2.CenterCrop(24)], **options) as other:
            assert one.digest(0) == other.digest(0)


def test_ranks_without_samples_have_batches_of_the_ops_shape(server):
    compose = [v2.CenterCrop(24), lambda image: image[:1].float()]
    with loader_of(server, compose, batch_size=199, last_batch="partial", rank=1, world_size=2) as loader:
        for images, labels in loader:
            assert images.shape[1:] == (1, 24, 24) and images.dtype == torch.float32 and len(images) == len(labels)
    with loader_of(server, compose, batch_size=66, last_batch="partial", rank=2, world_size=3) as loader:
        assert [len(images) for images, _ in loader] == [66, 0]


# ---- States ----


def test_states_know_the_ops_on_the_client(server):
    def state_of(*transforms, **options):
        with loader_of(server, [v2.CenterCrop(24), *transforms], **options) as loader:
            return loader.state_dict()

    def load(state, *transforms, **options):
        with loader_of(server, [v2.CenterCrop(24), *transforms], **options) as loader:
            loader.load_state_dict(state)

    weak, strong = Brighter(0.2), Brighter(0.7)  # Which print alike.
    state = state_of(weak)
    assert len(state["client_ops"]) == 16
    load(state, Brighter(0.2))
    with pytest.raises(FailedPreconditionError, match=r"client_ops differ.*Brighter.*transforms of then"):
        load(state, strong)
    with pytest.raises(FailedPreconditionError, match="this loader runs none there"):
        load(state)
    with pytest.raises(FailedPreconditionError, match="none ran on the client"):
        load(state_of(), weak)
    assert state_of(Noise()) == state_of(Noise()) and state_of(Noise()) != state_of(weak)
    assert state_of(v2.RandomPhotometricDistort(), v2.ToDtype(torch.float16)) != state_of(
        v2.RandomPhotometricDistort(), v2.ToDtype(torch.float32)
    )


def test_a_state_is_the_same_in_another_process(server):
    code = """
        import sys, stoker, torch, warnings
        from torchvision.transforms import v2
        warnings.simplefilter("ignore")
        ops = [v2.CenterCrop(24), v2.Lambda(lambda image: image), v2.RandomPhotometricDistort()]
        loader = stoker.Loader(sys.argv[1], batch_size=4, transforms=ops, on_unsupported="client")
        print(loader.state_dict()["client_ops"])
    """
    assert python(code, server.address) == python(code, server.address)


# ---- Refusals ----


def test_refusing_is_the_default_and_tells_of_the_other_way(server):
    with pytest.raises(ConversionError, match="on_unsupported='client' runs the first of these, and all that follows"):
        Loader(server.address, batch_size=4, transforms=[v2.CenterCrop(24), v2.RandomPhotometricDistort()])
    with pytest.raises(InvalidArgumentError, match="on_unsupported: 'skip' is neither 'refuse' nor 'client'"):
        loader_of(server, None, on_unsupported="skip")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"output": "numpy"}, "output: numpy.*output='torch'"),
        ({"device": "cuda"}, "device: cuda.*runs ops on the CPU"),
        ({"dtype": "float32"}, "dtype: .*put ToDtype among transforms"),
        ({"layout": "channels_last"}, "layout: .*have channels first"),
    ],
)
def test_options_that_do_not_go_with_it(server, options, told):
    with pytest.raises(InvalidArgumentError, match=told):
        loader_of(server, [v2.CenterCrop(24), v2.RandomPhotometricDistort()], **options)


def test_the_servers_part_must_have_one_size(server):
    for before in ([], [v2.RandomHorizontalFlip()], [v2.Resize(32)]):
        compose = v2.Compose([*before, v2.RandomPhotometricDistort(), v2.RandomResizedCrop(24)])
        at = rf"transforms\[{len(before)}\]: RandomPhotometricDistort.*put RandomResizedCrop, .* before it"
        with pytest.raises(InvalidArgumentError, match=at):
            loader_of(server, compose)


def test_what_cannot_run_on_the_client_is_named(server):
    def reasons(*rest):
        with pytest.raises(ConversionError) as caught:
            loader_of(server, [v2.CenterCrop(24), v2.RandomPhotometricDistort(), *rest])
        return {refused.place: refused.reason for refused in caught.value.refused}

    mixes = v2.RandomChoice([v2.MixUp(num_classes=4), v2.CutMix(num_classes=4)])
    refused = reasons(ours.RandomInvert(), v2.RandomInvert(), mixes, 7)
    assert list(refused) == ["transforms[2]", "transforms[4]", "transforms[5]"]
    assert "put it before transforms[1]" in refused["transforms[2]"]
    assert "mixes samples of a batch" in refused["transforms[4]"]
    assert "cannot be called" in refused["transforms[5]"]
    A = pytest.importorskip("albumentations")
    assert "generators of its own" in reasons(A.CLAHE())["transforms[2]"]


def test_ops_that_fail_are_named_before_training(server):
    with pytest.raises(InvalidArgumentError, match=r"\[2\]: Normalize.*failed on the client, on an image of noise"):
        loader_of(server, [v2.CenterCrop(24), v2.RandomPhotometricDistort(), v1.Normalize(*HALF)])
    with pytest.raises(InvalidArgumentError, match="gives a float on the client; the last op must give a tensor"):
        loader_of(server, [v2.CenterCrop(24), lambda image: float(image.sum())])


def test_ops_that_fail_in_an_epoch_are_named_with_the_sample(server):
    seen = []

    def picky(image):
        seen.append(image)
        if len(seen) == 7:
            raise ValueError("no more")
        return image

    with loader_of(server, [v2.CenterCrop(24), picky], shuffle=False) as loader:
        with pytest.raises(InvalidArgumentError, match=r"picky.*on sample 5: ValueError: no more"):
            next(iter(loader))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_batch_whose_ops_fail_counts_as_not_handed_out(server, error):
    """It comes again, as it was: ops write to copies."""
    failures = [20, 25, 60]

    def failing(image):
        failures[:] = [left - 1 for left in failures]
        image += 1
        if 0 in failures:
            raise error
        return image

    compose = [v2.CenterCrop(24), failing]
    with loader_of(server, [v2.CenterCrop(24), lambda image: image + 1]) as loader:
        expected = by_position(loader)
    found, positions = {}, []
    with loader_of(server, compose) as loader:
        batches = iter(loader)
        while True:
            try:
                images, _ = next(batches)
            except StopIteration:
                break
            except (InvalidArgumentError, KeyboardInterrupt):
                positions.append(loader.state_dict()["position"])
                continue
            found.update(zip(loader.info.positions, images))
        assert loader.state_dict()["epoch"] == 1 and positions == [16, 16, 48]
    assert found.keys() == expected.keys() and same(found, expected)


def test_ops_that_give_several_sizes_are_told_to_end_with_a_crop(server):
    def ragged(image):
        return image[:, : int(torch.randint(1, 24, ()))]

    with loader_of(server, [v2.CenterCrop(24), ragged]) as loader:
        with pytest.raises(InvalidArgumentError, match="images of several sizes.*end them with a crop"):
            next(iter(loader))
