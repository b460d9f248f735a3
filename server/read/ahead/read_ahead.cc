#include "server/read/ahead/read_ahead.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <new>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "common/check.h"
#include "server/read/ahead/read_plan.h"

namespace stoker {
namespace {

// No group takes more than this part of the budget; what is left out of it is read when it is needed.
constexpr uint64_t kGroupPart = 4;

// The weight of a new measurement in an average.
constexpr int kWeight = 16;

}  // namespace

// A range on its way. The store's thread writes `status` and the bytes, and others read them once the group is ready.
struct ReadAhead::Read {
  Job* job = nullptr;
  ReadPlan::Read range;
  ObjectInfo object;
  KeptBytes kept = nullptr;  // the bytes, where the cache has them in memory
  std::unique_ptr<uint8_t[]> bytes;
  absl::Status status;
  bool was_begun = false;    // at the store
  bool failed_here = false;  // We failed, rather than the store: there was no memory.
  std::chrono::steady_clock::time_point begun = {};
};

// A reader as the thread sees it. The state's mutex guards all members.
struct ReadAhead::Lane {
  std::list<std::shared_ptr<Job>> waiting;  // groups that hold nothing yet, the one needed first at the front
  uint64_t held = 0;                        // bytes of its groups
  int admitted = 0;                         // groups that may hold bytes
};

// A group, which is in one list of the state or its lane until all of its reads have ended: so a store's thread never
// destroys one, nor the dataset and the store with it.
struct ReadAhead::Job {
  Job(std::shared_ptr<State> its_state, std::shared_ptr<Lane> its_lane, std::shared_ptr<const StoredSamples> its_stored,
      Reader::Ids its_ids, FieldSet its_wanted)
      : state(std::move(its_state)),
        lane(std::move(its_lane)),
        stored(std::move(its_stored)),
        wanted(its_wanted),
        ids(std::move(its_ids)) {}
  ~Job();

  const std::shared_ptr<State> state;
  const std::shared_ptr<Lane> lane;
  const std::shared_ptr<const StoredSamples> stored;
  const FieldSet wanted;

  // The thread alone has these until the group is ready; after that they are constant, and readable by all.
  Reader::Ids ids;
  bool planned = false;
  std::vector<ReadPlan::Sample> samples;
  std::vector<Read> reads;
  uint64_t bytes = 0;  // of its reads

  // The state's mutex guards these.
  enum class Where { kWaiting, kBeginning, kFlying, kEnded } where = Where::kWaiting;
  std::list<std::shared_ptr<Job>>::iterator place;  // in the list that has it
  bool admitted = false;
  uint64_t held = 0;      // bytes that count
  size_t begun = 0;       // reads
  size_t unfinished = 0;  // reads that have not ended, or not begun
  size_t in_flight = 0;   // reads of which a store's thread may still look at the group
  bool dropped = false;   // nobody wants it

  std::atomic<int64_t> ready_ns = 0;  // by the clock
  std::atomic<bool> ready = false;
};

struct ReadAhead::State {
  explicit State(Options its_options) : options(std::move(its_options)), budget(options.budget_bytes) {}

  using Jobs = std::list<std::shared_ptr<Job>>;

  const Options options;
  absl::Mutex mutex;
  absl::CondVar changed;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
  uint64_t budget ABSL_GUARDED_BY(mutex);
  uint64_t held ABSL_GUARDED_BY(mutex) = 0;
  int in_flight ABSL_GUARDED_BY(mutex) = 0;
  std::vector<std::shared_ptr<Lane>> lanes ABSL_GUARDED_BY(mutex);
  Jobs urgent ABSL_GUARDED_BY(mutex);  // groups whose reads begin next: those of readers that held nothing
  Jobs later ABSL_GUARDED_BY(mutex);   // groups whose reads begin after those
  Jobs flying ABSL_GUARDED_BY(mutex);  // groups whose reads have all begun
  Jobs ended ABSL_GUARDED_BY(mutex);   // groups whose reads have all ended, to be let go
  std::atomic<int64_t> usual_ns = 0;   // of one read; 0: unknown
  std::thread thread ABSL_GUARDED_BY(mutex);

  uint64_t free() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return budget - std::min(budget, held); }

  void Run() ABSL_LOCKS_EXCLUDED(mutex);

  // These do one thing each, if there is one to do, and return whether they did. The lock is released meanwhile.
  bool LetGo() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool BeginNext(Jobs& jobs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool AdmitNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Whether the planned group may hold its bytes now; cuts it to what has room where its reader holds nothing.
  bool MakeFit(const Lane& lane, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Starts to hold the bytes of a lane's first group.
  void Admit(Lane& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Moves the group among `ended` if no store's thread looks at it any more, or else among `flying`.
  void Settle(Jobs& from, Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const bool is_flying = job.in_flight > 0;
    job.where = is_flying ? Job::Where::kFlying : Job::Where::kEnded;
    Jobs& to = is_flying ? flying : ended;
    to.splice(to.end(), from, job.place);
  }

  void Plan(Job& job) ABSL_LOCKS_EXCLUDED(mutex);
  void Begin(Read& read) ABSL_LOCKS_EXCLUDED(mutex);
  void BeginAtStore(Read& read) ABSL_LOCKS_EXCLUDED(mutex);

  // Whether the cache has the sample that is stored there.
  bool IsKept(const StoredSamples& stored, const StoredSamples::Place& place) const;

  // Gives the cache the bytes of a sample that came with `read`.
  void Keep(const Read& read, const ReadPlan::Sample& sample, std::span<const uint8_t> bytes) const;

  // A read has ended. Called on any thread.
  void End(Read& read) ABSL_LOCKS_EXCLUDED(mutex);

  void MarkReady(Job& job) ABSL_LOCKS_EXCLUDED(mutex);
  void Learn(std::chrono::nanoseconds latency);
};

ReadAhead::Job::~Job() {
  for (const Read& read : reads)
    if (read.was_begun) stored->EndRead(read.range.object);
  absl::MutexLock lock(&state->mutex);
  if (!admitted) return;
  --lane->admitted;
  lane->held -= held;
  state->held -= held;
  state->changed.Signal();
}

// ---- the thread ----

void ReadAhead::State::Run() {
  absl::MutexLock lock(&mutex);
  while (!stopping || !flying.empty() || !ended.empty() || !urgent.empty() || !later.empty()) {
    if (LetGo() || BeginNext(urgent) || BeginNext(later)) continue;
    if (!stopping && AdmitNext()) continue;
    changed.Wait(&mutex);
  }
}

bool ReadAhead::State::LetGo() {
  if (ended.empty()) return false;
  Jobs gone;
  gone.splice(gone.end(), ended);
  mutex.Unlock();
  gone.clear();
  mutex.Lock();
  return true;
}

bool ReadAhead::State::BeginNext(Jobs& jobs) {
  if (jobs.empty()) return false;
  Job& job = *jobs.front();
  if (job.dropped || stopping || job.begun == job.reads.size()) {
    Settle(jobs, job);
    return true;
  }
  if (in_flight >= options.requests) return false;
  Read& read = job.reads[job.begun++];
  ++job.in_flight;
  ++in_flight;
  mutex.Unlock();
  Begin(read);
  mutex.Lock();
  return true;
}

bool ReadAhead::State::AdmitNext() {
  std::sort(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return a->held < b->held; });
  for (const std::shared_ptr<Lane>& lane : lanes) {
    if (lane->waiting.empty()) continue;
    std::shared_ptr<Job> job = lane->waiting.front();
    if (job->planned && !MakeFit(*lane, *job)) continue;
    const bool planned = job->planned;
    if (planned) Admit(*lane);
    mutex.Unlock();
    if (!planned) {
      Plan(*job);
    } else if (job->reads.empty()) {
      MarkReady(*job);
    }
    job.reset();  // Without the lock, which it takes if nobody else has it.
    mutex.Lock();
    return true;  // Much may have changed meanwhile.
  }
  return false;
}

bool ReadAhead::State::MakeFit(const Lane& lane, Job& job) {
  if (lane.admitted > 0) return job.bytes <= free() && lane.held + job.bytes <= free() - job.bytes;
  while (job.bytes > free()) {
    job.bytes -= job.reads.back().range.size;
    job.reads.pop_back();
  }
  return true;
}

void ReadAhead::State::Admit(Lane& lane) {
  Job& job = *lane.waiting.front();
  Jobs& to = lane.admitted == 0 ? urgent : later;
  ++lane.admitted;
  job.admitted = true;
  job.held = job.bytes;
  job.unfinished = job.reads.size();
  job.where = Job::Where::kBeginning;
  lane.held += job.held;
  held += job.held;
  to.splice(to.end(), lane.waiting, lane.waiting.begin());
}

void ReadAhead::State::Plan(Job& job) {
  uint64_t most;
  {
    absl::MutexLock lock(&mutex);
    most = budget / kGroupPart;
  }
  try {
    const auto is_kept = [&](const StoredSamples::Place& place) { return IsKept(*job.stored, place); };
    ReadPlan plan =
        PlanReads(*job.stored, job.ids(), most, options.cache == nullptr ? IsKeptAt() : IsKeptAt(is_kept), job.wanted);
    job.reads.reserve(plan.reads.size());
    for (const ReadPlan::Read& range : plan.reads)
      job.reads.push_back({.job = &job, .range = range, .object = job.stored->ObjectAt(range.object)});
    job.samples = std::move(plan.samples);
    job.bytes = plan.bytes;
  } catch (const std::bad_alloc&) {
    job.reads.clear();  // Whoever needs the samples reads them, and says so where there is no memory then either.
    job.bytes = 0;
  }
  job.ids = nullptr;
  job.planned = true;
}

bool ReadAhead::State::IsKept(const StoredSamples& stored, const StoredSamples::Place& place) const {
  const auto key = KeyOf(stored.StoreOf(place.object), stored.ObjectAt(place.object), place.offset, place.size);
  if (key.has_value() && options.cache->Has(*key)) return true;
  if (key.has_value()) options.cache->Miss(place.size);
  return false;
}

void ReadAhead::State::Begin(Read& read) {
  const ReadPlan::Read& range = read.range;
  try {
    const auto key = range.kept ? KeyOf(read.job->stored->StoreOf(range.object), read.object, range.offset, range.size)
                                : std::nullopt;
    if (key.has_value()) read.kept = options.cache->GetFromMemory(*key, range.size);
    if (read.kept != nullptr) return End(read);
    read.bytes = std::make_unique_for_overwrite<uint8_t[]>(range.size);
    if (!key.has_value()) return BeginAtStore(read);
    options.cache->ReadFromDisk(*key, std::span(read.bytes.get(), range.size), [this, &read](bool was_kept) {
      if (was_kept) return End(read);
      BeginAtStore(read);
    });
  } catch (const std::bad_alloc&) {  // Then nobody has taken the read.
    read.failed_here = true;
    End(read);
  }
}

void ReadAhead::State::BeginAtStore(Read& read) {
  read.begun = options.clock();
  Store::Done done = [this, &read](const absl::Status& status) {
    Learn(options.clock() - read.begun);
    read.status = status;
    End(read);
  };
  const std::span<uint8_t> into(read.bytes.get(), read.range.size);
  try {
    read.was_begun = true;
    read.job->stored->StoreOf(read.range.object).Read({&read.object, read.range.offset, into}, std::move(done));
  } catch (const std::bad_alloc&) {
    read.failed_here = true;
    End(read);
  }
}

void ReadAhead::State::End(Read& read) {
  Job& job = *read.job;
  bool last = false;
  {
    absl::MutexLock lock(&mutex);
    last = --job.unfinished == 0;
  }
  if (last) MarkReady(job);
  absl::MutexLock lock(&mutex);
  --in_flight;
  if (--job.in_flight == 0 && job.where == Job::Where::kFlying) Settle(flying, job);
  changed.Signal();
}

void ReadAhead::State::MarkReady(Job& job) {
  job.ready_ns = std::chrono::nanoseconds(options.clock().time_since_epoch()).count();
  job.ready = true;
  if (options.on_ready) options.on_ready();
}

void ReadAhead::State::Learn(std::chrono::nanoseconds latency) {
  // Two threads may each forget the other's measurement, which does no harm to an average.
  const int64_t usual = usual_ns, now = std::max<int64_t>(latency.count(), 1);
  usual_ns = usual == 0 ? now : usual + (now - usual) / kWeight;
}

void ReadAhead::State::Keep(const Read& read, const ReadPlan::Sample& sample, std::span<const uint8_t> bytes) const {
  if (options.cache == nullptr) return;
  const auto key =
      KeyOf(read.job->stored->StoreOf(read.range.object), read.object, read.range.offset + sample.offset, sample.size);
  if (key.has_value()) options.cache->Put(*key, bytes);
}

// ---- groups and readers ----

ReadAhead::Group::~Group() {
  State& state = *job_->state;
  State::Jobs gone;  // Declared before the lock, hence destroyed after its release.
  absl::MutexLock lock(&state.mutex);
  job_->dropped = true;
  if (job_->where == Job::Where::kWaiting) {
    gone.splice(gone.end(), job_->lane->waiting, job_->place);
    job_->where = Job::Where::kEnded;
  }
  state.changed.Signal();
}

bool ReadAhead::Group::ready() const { return job_->ready; }

std::chrono::steady_clock::time_point ReadAhead::Group::ready_since() const {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(job_->ready_ns));
}

std::optional<absl::Status> ReadAhead::Group::Read(uint64_t id, SampleBytes& sample) const {
  STOKER_CHECK(ready() && sample.wanted == job_->wanted);
  const auto& samples = job_->samples;
  const auto place = std::lower_bound(samples.begin(), samples.end(), id,
                                      [](const ReadPlan::Sample& one, uint64_t wanted) { return one.id < wanted; });
  if (place == samples.end() || place->id != id || place->read >= job_->reads.size()) return std::nullopt;
  const ReadAhead::Read& read = job_->reads[place->read];
  if (read.failed_here || (!read.status.ok() && read.range.samples > 1)) return std::nullopt;
  if (!read.status.ok()) return job_->stored->ReadError(id, read.status);
  const std::span<const uint8_t> bytes =
      read.kept != nullptr ? std::span(*read.kept) : std::span(read.bytes.get() + place->offset, place->size);
  const absl::Status parsed = job_->stored->Parse(id, bytes, sample);
  if (parsed.ok() && read.kept == nullptr) job_->state->Keep(read, *place, bytes);
  return parsed;
}

ReadAhead::Reader::Reader(std::shared_ptr<State> state, std::shared_ptr<Lane> lane)
    : state_(std::move(state)), lane_(std::move(lane)) {}

ReadAhead::Reader::~Reader() {
  State::Jobs gone;  // Declared before the lock, hence destroyed after its release.
  absl::MutexLock lock(&state_->mutex);
  for (const std::shared_ptr<Job>& job : lane_->waiting) job->where = Job::Where::kEnded;
  gone.splice(gone.end(), lane_->waiting);
  std::erase(state_->lanes, lane_);
}

std::shared_ptr<ReadAhead::Group> ReadAhead::Reader::Add(std::shared_ptr<const StoredSamples> stored, Ids ids,
                                                         FieldSet wanted) {
  State::Jobs added;
  added.push_back(std::make_shared<Job>(state_, lane_, std::move(stored), std::move(ids), wanted));
  added.front()->place = added.begin();
  auto group = std::make_shared<Group>(added.front());
  absl::MutexLock lock(&state_->mutex);
  lane_->waiting.splice(lane_->waiting.end(), added);
  state_->changed.Signal();
  return group;
}

ReadAhead::ReadAhead(Options options) : state_(std::make_shared<State>(std::move(options))) {
  STOKER_CHECK(state_->options.requests >= 1);
}

ReadAhead::~ReadAhead() {
  std::thread thread;
  {
    absl::MutexLock lock(&state_->mutex);
    state_->stopping = true;
    state_->changed.Signal();
    std::swap(thread, state_->thread);
  }
  if (thread.joinable()) thread.join();
}

std::unique_ptr<ReadAhead::Reader> ReadAhead::OpenReader() {
  auto lane = std::make_shared<Lane>();
  absl::MutexLock lock(&state_->mutex);
  state_->lanes.push_back(lane);
  // Who reads nothing ahead needs no thread.
  if (!state_->thread.joinable() && !state_->stopping)
    state_->thread = std::thread([state = state_.get()] { state->Run(); });
  return std::make_unique<Reader>(state_, std::move(lane));
}

void ReadAhead::SetBudget(uint64_t bytes) {
  absl::MutexLock lock(&state_->mutex);
  state_->budget = bytes;
  state_->changed.Signal();
}

uint64_t ReadAhead::budget_bytes() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->budget;
}

uint64_t ReadAhead::held_bytes() const {
  absl::MutexLock lock(&state_->mutex);
  return state_->held;
}

absl::Duration ReadAhead::usual_latency(absl::Duration unknown) const {
  const int64_t usual = state_->usual_ns;
  return usual == 0 ? unknown : absl::Nanoseconds(usual);
}

}  // namespace stoker
