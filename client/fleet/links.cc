#include "client/fleet/links.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace stoker {
namespace {

// A server that accepts a stream and does not open it for so long hangs.
constexpr absl::Duration kOpenTimeout = absl::Seconds(10);

// A stream is given up after so many garbled spans in a row: one may be the network's fault, but not all.
constexpr int kMostGarbled = 8;

}  // namespace

void Links::Update(const std::vector<std::string>& addresses, bool complete) {
  for (auto& [id, link] : links_) {
    const bool found = std::find(addresses.begin(), addresses.end(), link.address) != addresses.end();
    link.member = found || (!complete && link.member);
  }
  std::erase_if(links_, [](const auto& entry) { return !entry.second.member && !entry.second.streaming; });
  std::set<std::pair<std::string, int>> known;
  std::map<std::string, int> endpoints;
  for (const auto& [id, link] : links_) {
    known.emplace(link.address, link.connection);
    endpoints.emplace(link.address, link.endpoint);
  }
  for (const std::string& address : addresses) {
    const int endpoint = endpoints.try_emplace(address, next_).first->second;
    for (int connection = 0; connection < connections_; ++connection) {
      if (known.contains({address, connection})) continue;
      links_.emplace(next_++, Link{.address = address, .connection = connection, .endpoint = endpoint});
    }
  }
}

std::vector<int> Links::Due(absl::Time now) const {
  std::vector<int> due;
  for (const auto& [id, link] : links_)
    if (!link.streaming && link.member && now >= link.next_attempt) due.push_back(id);
  return due;
}

std::vector<int> Links::Unopened(absl::Time now) const {
  std::vector<int> unopened;
  for (const auto& [id, link] : links_)
    if (link.streaming && !link.opened && now - link.begun > kOpenTimeout) unopened.push_back(id);
  return unopened;
}

void Links::Begin(int id, absl::Time now) {
  Link& link = links_.at(id);
  link.streaming = true;
  link.begun = now;
}

void Links::Opened(int id, const v1::Opened& opened, absl::Time now) {
  Link& link = links_.at(id);
  link.opened = true;
  link.stream_key = opened.stream_key();
  link.takes_reports = opened.takes_reports();
  link.problem.clear();
  link.garbled = 0;
  link.hung = link.differs = false;
  link.opened_at = now;
}

void Links::Received(int id) {
  Link& link = links_.at(id);
  link.garbled = 0;
  link.problem.clear();
  ++link.spans;
}

void Links::Hung(int id) {
  Link& link = links_.at(id);
  link.problem = "it answers nothing";
  link.hung = true;
}

bool Links::Garbled(int id, const std::string& problem) {
  Link& link = links_.at(id);
  link.problem = problem;
  return ++link.garbled > kMostGarbled;
}

void Links::Closed(int id, const absl::Status& status, absl::Time now, double jitter) {
  Link& link = links_.at(id);
  const bool told = link.hung || (status.ok() && !link.problem.empty());
  if (!told) link.problem = status.ok() ? "it ended the stream" : std::string(status.message());
  link.differs = !link.opened && absl::IsFailedPrecondition(status);
  const absl::Duration served = link.opened ? now - link.opened_at : absl::ZeroDuration();
  link.streaming = link.opened = false;
  link.stream = nullptr;
  link.next_attempt = now + link.backoff.Pause(served, jitter);
}

bool Links::AllDiffer() const {
  int members = 0, differing = 0;
  for (const auto& [id, link] : links_) {
    members += link.member ? 1 : 0;
    differing += link.member && link.differs ? 1 : 0;
  }
  return members > 0 && differing == members;
}

bool Links::AnotherMayOpen(int endpoint) const {
  return std::any_of(links_.begin(), links_.end(), [&](const auto& entry) {
    const Link& link = entry.second;
    const bool untried = link.next_attempt == absl::InfinitePast();
    return link.member && link.endpoint != endpoint && !link.opened && (link.streaming || untried);
  });
}

void Links::TryDifferingNow() {
  for (auto& [id, link] : links_)
    if (std::exchange(link.differs, false)) link.next_attempt = absl::InfinitePast();
}

const Link* Links::Find(int id) const {
  const auto found = links_.find(id);
  return found == links_.end() ? nullptr : &found->second;
}

std::set<int> Links::Endpoints() const {
  std::set<int> endpoints;
  for (const auto& [id, link] : links_)
    if (link.member) endpoints.insert(link.endpoint);
  return endpoints;
}

std::vector<FleetStats::Server> Links::Servers() const {
  std::map<std::string, FleetStats::Server> servers;
  for (const auto& [id, link] : links_) {
    FleetStats::Server& server = servers[link.address];
    server.address = link.address;
    server.connected |= link.opened;
    server.spans += link.spans;
    if (server.problem.empty()) server.problem = link.problem;
  }
  std::vector<FleetStats::Server> all;
  for (auto& [address, server] : servers) {
    if (server.connected) server.problem.clear();  // One of its connections has it, but the server is used.
    all.push_back(std::move(server));
  }
  return all;
}

std::vector<std::string> Links::Problems() const {
  std::vector<std::string> problems;
  for (const auto& [id, link] : links_)
    problems.push_back(absl::StrCat(link.address, ": ", link.problem.empty() ? "connected" : link.problem));
  return problems;
}

}  // namespace stoker
