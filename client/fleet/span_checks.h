#ifndef STOKER_CLIENT_FLEET_SPAN_CHECKS_H_
#define STOKER_CLIENT_FLEET_SPAN_CHECKS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/fields/companions.h"
#include "common/identity/span_id.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

// Which spans of a job are made twice by different servers, and what it means where the two differ. Pure, hence
// thread-safe; SpanSource keeps the checks and asks for them.

// Whether a job with this seed checks a span, if it checks a `share` of them, from 0 to 1. It depends on epoch and
// start alone: a job that is run again checks the same spans.
bool IsChecked(const SpanId& span, uint64_t seed, double share);

// What one server made of a span: a hash of each sample, but no bytes. A value of 24 bytes a sample.
struct Making {
  using Hash = std::array<uint64_t, 2>;

  int endpoint = 0;     // Link::endpoint of the server.
  std::string server;   // Its address.
  std::string refusal;  // Why it made nothing: it found a sample bad. Empty where it made the span.

  uint64_t bad_position = 0;  // This is where the bad sample stands.

  // Each sample's id, and the hash of that, of its bytes, and of what it stands in for. Without samples the bad one's
  // id is the only one.
  std::vector<uint64_t> ids;
  std::vector<Hash> samples;

  friend bool operator==(const Making& a, const Making& b) {
    return a.samples == b.samples && a.refusal.empty() == b.refusal.empty();
  }
};

// Returns what a server made. Hashes are XXH3-128, keyed by `secret`, so that no server can make other samples with
// equal hashes on purpose. Requires an id for each sample, and sizes that SpanLayout::CheckSizes took.
Making LookAt(int endpoint, std::string server, const v1::SpanHeader& header, std::span<const FieldSamples> fields,
              uint64_t secret);

// Returns what a server made that found one of the span's samples bad.
Making Refusal(int endpoint, std::string server, const v1::Error& error);

// A span that came, and what servers made of it: the one whose bytes were used, another one, and where these two differ
// a third.
struct SpanCheck {
  SpanId span;
  std::vector<Making> makings;
};

// The first sample that two of the makings differ in.
struct DifferingSample {
  uint64_t id = 0, position = 0;
  uint32_t samples = 1;  // So many of the span differ.
};

// Requires two makings or more that are not all equal.
DifferingSample FindDifference(const SpanCheck& check);

// Says which servers made what, where `name` is the sample's: "b:7077 makes other bytes of sample 'cat/7.jpg' (id 7,
// epoch 0, position 12) than a:7077 and c:7077". Two equal makings of three outvote the third.
std::string Explain(const SpanCheck& check, const DifferingSample& sample, const std::string& name);

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_SPAN_CHECKS_H_
