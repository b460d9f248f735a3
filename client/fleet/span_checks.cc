#include "client/fleet/span_checks.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/fields/span_layout.h"
#include "common/identity/mix.h"

namespace stoker {
namespace {

constexpr uint64_t kCheckDomain = 0x7370616e5f636b31;  // "span_ck1"

// What stands in the header for each sample beside its id, folded into a number: 0 where nothing stands in for it.
std::vector<uint64_t> Substitutes(const v1::SpanHeader& header) {
  std::vector<uint64_t> folded(header.sample_ids_size());
  for (const v1::Substitution& it : header.substitutions())
    if (it.offset() < folded.size()) folded[it.offset()] = MixAll({it.bad_sample_id(), it.position()});
  return folded;
}

// Adds the next sample of a field to each sample's hash.
void HashField(const FieldSamples& field, std::vector<Making::Hash>& hashes) {
  const uint8_t* sample = field.bytes.data();
  for (size_t i = 0; i < hashes.size(); ++i) {
    Making::Hash& hash = hashes[i];
    const size_t bytes = field.sizes.empty() ? field.bytes.size() / hashes.size() : SizeAt(field.sizes, i);
    const auto digest = XXH3_128bits_withSeed(sample, bytes, hash[0] ^ std::rotl(hash[1], 32));
    hash = {digest.low64, digest.high64};
    sample += bytes;
  }
}

std::string SampleIs(const SpanCheck& check, const DifferingSample& sample, const std::string& name) {
  return absl::StrCat("sample ", name.empty() ? "" : absl::StrCat("'", name, "' "), "(id ", sample.id, ", epoch ",
                      check.span.epoch, ", position ", sample.position, ")");
}

// "b:7077 makes other bytes of sample … than a:7077 and c:7077".
std::string Outvoted(const Making& one, const Making& a, const Making& b, const std::string& sample) {
  const std::string others = absl::StrCat(a.server, " and ", b.server);
  if (!one.refusal.empty())
    return absl::StrCat(one.server, " finds the bytes of ", sample, " bad, which ", others, " do not: ", one.refusal);
  if (!a.refusal.empty())
    return absl::StrCat(one.server, " makes ", sample, ", whose bytes ", others, " find bad: ", a.refusal);
  return absl::StrCat(one.server, " makes other bytes of ", sample, " than ", others);
}

// Says how two servers differ of which the first made the span, where `nobody` decides between them.
std::string Apart(const Making& first, const Making& second, const std::string& sample, const std::string& nobody) {
  if (!second.refusal.empty())
    return absl::StrCat(second.server, " finds the bytes of ", sample, " bad, which ", first.server,
                        " does not: ", second.refusal);
  return absl::StrCat(first.server, " and ", second.server, " make different bytes of ", sample, ", ", nobody);
}

}  // namespace

bool IsChecked(const SpanId& span, uint64_t seed, double share) {
  if (share >= 1) return true;
  return static_cast<double>(MixAll({kCheckDomain, seed, span.epoch, span.start})) < std::ldexp(share, 64);
}

Making LookAt(int endpoint, std::string server, const v1::SpanHeader& header, std::span<const FieldSamples> fields,
              uint64_t secret) {
  Making making{.endpoint = endpoint, .server = std::move(server)};
  making.ids.assign(header.sample_ids().begin(), header.sample_ids().end());
  const std::vector<uint64_t> substitutes = Substitutes(header);
  for (size_t i = 0; i < making.ids.size(); ++i)
    making.samples.push_back({secret, MixAll({secret, making.ids[i], substitutes[i]})});
  for (const FieldSamples& field : fields) HashField(field, making.samples);
  return making;
}

Making Refusal(int endpoint, std::string server, const v1::Error& error) {
  return {.endpoint = endpoint,
          .server = std::move(server),
          .refusal = error.message(),
          .bad_position = error.position(),
          .ids = {error.sample_id()}};
}

DifferingSample FindDifference(const SpanCheck& check) {
  const Making* whole = nullptr;  // One that has samples.
  for (const Making& making : check.makings) {
    if (!making.refusal.empty()) return {.id = making.ids[0], .position = making.bad_position};
    if (whole == nullptr) whole = &making;
  }
  DifferingSample found{.samples = 0};
  for (uint32_t i = 0; i < check.span.count; ++i) {
    const bool equal = std::all_of(check.makings.begin(), check.makings.end(),
                                   [&](const Making& making) { return making.samples[i] == whole->samples[i]; });
    if (!equal && found.samples++ == 0) found = {.id = whole->ids[i], .position = check.span.start + i};
  }
  return found;
}

std::string Explain(const SpanCheck& check, const DifferingSample& sample, const std::string& name) {
  const std::string is = SampleIs(check, sample, name);
  const Making &first = check.makings[0], &second = check.makings[1];
  std::string text;
  if (check.makings.size() < 3) {
    text = Apart(first, second, is, "no other server is there to say which is right");
  } else if (const Making& third = check.makings[2]; third.endpoint == first.endpoint) {
    text =
        third == first
            ? Apart(first, second, is, "each the same whenever it is asked; there is no third server")
            : absl::StrCat(first.server, " makes different bytes of ", is, " from one time to the next",
                           third == second ? absl::StrCat("; the second time they are those of ", second.server) : "");
  } else if (third == first) {
    text = Outvoted(second, first, third, is);
  } else if (third == second) {
    text = Outvoted(first, second, third, is);
  } else {
    text = absl::StrCat(first.server, ", ", second.server, " and ", third.server, " each make different bytes of ", is);
  }
  if (sample.samples > 1) absl::StrAppend(&text, "; so do ", sample.samples - 1, " more samples of its span");
  return text;
}

}  // namespace stoker
