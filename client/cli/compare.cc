#include "client/cli/compare.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/check.h"
#include "common/ops/nested.h"
#include "common/ops/ops.h"
#include "common/status_macros.h"

namespace stoker {
namespace {

// Places the op, and all in it.
void PlaceOp(v1::Placement placement, v1::Op& op) {
  op.set_placement(placement);
  if (auto* transforms = MutableNestedTransforms(op))
    for (v1::Op& inner : *transforms) PlaceOp(placement, inner);
}

// The images of a batch, which owns them.
struct OwnedImages {
  Batch batch;
  const Tensor* tensor = nullptr;

  int64_t count() const { return tensor->shape[0]; }
  std::span<const uint8_t> Of(int64_t sample) const {
    const size_t bytes = tensor->shape[1] * tensor->shape[2] * tensor->shape[3];
    return {static_cast<const uint8_t*>(tensor->data) + sample * bytes, bytes};
  }
};

absl::StatusOr<OwnedImages> ReadImages(Loader& loader) {
  STOKER_ASSIGN_OR_RETURN(std::optional<Batch> batch, loader.Next());
  if (!batch.has_value()) return absl::NotFoundError("the dataset is empty");
  const Tensor* images = FindImages(batch->tensors());
  if (images == nullptr) return absl::NotFoundError("the device makes no images of height × width × 3 bytes");
  return OwnedImages{*std::move(batch), images};
}

absl::StatusOr<std::unique_ptr<Loader>> LoaderOf(LoaderOptions options, const v1::Pipeline& pipeline) {
  options.pipeline = pipeline;
  options.pipeline_name.clear();
  return Loader::Create(std::move(options));
}

// A loader of which the device runs the ops from `first` on.
struct Moved {
  std::unique_ptr<Loader> loader;
  int first = 0;
};

// Moves as many ops as can be: those that follow each other up to the last one.
absl::StatusOr<Moved> MoveMost(const LoaderOptions& options, const v1::Pipeline& on_servers) {
  const v1::Op& last = on_servers.ops(on_servers.ops_size() - 1);
  std::string why = absl::StrCat(OpName(last), ", the last one, runs on servers only");
  for (int first = 0; first < on_servers.ops_size(); ++first) {
    const std::optional<v1::Pipeline> moved = WithMoved(on_servers, first);
    if (!moved.has_value()) continue;
    auto loader = LoaderOf(options, *moved);
    if (loader.ok()) return Moved{*std::move(loader), first};
    if (!absl::IsInvalidArgument(loader.status())) return loader.status();
    why = std::string(loader.status().message());
  }
  return absl::FailedPreconditionError(absl::StrCat("none of the pipeline's ops can be moved to the device: ", why));
}

// The images side by side: one of `one`, then the same of `other`, with their differences below.
Picture SideBySide(const OwnedImages& one, const OwnedImages& other, const std::vector<LevelDifference>& differences) {
  std::vector<uint8_t> pixels;
  std::vector<std::vector<std::string>> captions;
  for (int64_t sample = 0; sample < one.count(); ++sample) {
    for (const OwnedImages* images : {&one, &other})
      pixels.insert(pixels.end(), images->Of(sample).begin(), images->Of(sample).end());
    const LevelDifference& difference = differences[sample];
    captions.push_back({absl::StrCat(sample + 1, ": server")});
    captions.push_back({absl::StrFormat("device: up to %d, mean %.2f", difference.greatest, difference.mean)});
  }
  Tensor both = *one.tensor;
  both.shape[0] *= 2;
  both.data = pixels.data();
  both.bytes = pixels.size();
  return ContactSheet(both, both.shape[0], {}, captions);
}

}  // namespace

absl::StatusOr<v1::Pipeline> OnServers(const v1::Pipeline& pipeline) {
  if (!pipeline.views().empty())
    return absl::InvalidArgumentError("views are not compared; give their ops as a pipeline of their own");
  v1::Pipeline on_servers = pipeline;
  on_servers.clear_ops();
  on_servers.clear_fields();
  on_servers.add_fields("image");
  for (const v1::Op& op : pipeline.ops()) {
    if (!PlacementsOf(op).server || ActsOf(op) == Acts::kOnField) continue;
    v1::Op& added = *on_servers.add_ops();
    added = op;
    PlaceOp(v1::PLACEMENT_SERVER, added);
  }
  if (on_servers.ops().empty())
    return absl::InvalidArgumentError("the pipeline has no op on images that servers run: there is nothing to compare");
  return on_servers;
}

std::optional<v1::Pipeline> WithMoved(const v1::Pipeline& on_servers, int first) {
  v1::Pipeline moved = on_servers;
  for (int i = first; i < moved.ops_size(); ++i) {
    if (!PlacementsOf(moved.ops(i)).device) return std::nullopt;
    PlaceOp(v1::PLACEMENT_DEVICE, *moved.mutable_ops(i));
  }
  return moved;
}

LevelDifference LevelDifferenceOf(std::span<const uint8_t> one, std::span<const uint8_t> other) {
  STOKER_CHECK(one.size() == other.size());
  LevelDifference difference;
  int64_t sum = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    const int levels = std::abs(one[i] - other[i]);
    difference.greatest = std::max(difference.greatest, levels);
    sum += levels;
  }
  if (!one.empty()) difference.mean = static_cast<double>(sum) / static_cast<double>(one.size());
  return difference;
}

absl::StatusOr<Comparison> Compare(const LoaderOptions& options, const v1::Pipeline& pipeline) {
  STOKER_ASSIGN_OR_RETURN(const v1::Pipeline on_servers, OnServers(pipeline));
  STOKER_ASSIGN_OR_RETURN(const Moved moved, MoveMost(options, on_servers));
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Loader> loader, LoaderOf(options, on_servers));
  STOKER_ASSIGN_OR_RETURN(const OwnedImages servers, ReadImages(*loader));
  STOKER_ASSIGN_OR_RETURN(const OwnedImages devices, ReadImages(*moved.loader));
  if (servers.tensor->shape != devices.tensor->shape)
    return absl::InternalError("the device's images have another shape than the servers'");
  Comparison comparison;
  for (int64_t sample = 0; sample < servers.count(); ++sample)
    comparison.differences.push_back(LevelDifferenceOf(servers.Of(sample), devices.Of(sample)));
  for (int i = moved.first; i < on_servers.ops_size(); ++i) comparison.moved.push_back(OpName(on_servers.ops(i)));
  comparison.sheet = SideBySide(servers, devices, comparison.differences);
  return comparison;
}

}  // namespace stoker
