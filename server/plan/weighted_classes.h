#ifndef STOKER_SERVER_PLAN_WEIGHTED_CLASSES_H_
#define STOKER_SERVER_PLAN_WEIGHTED_CLASSES_H_

#include <cstdint>
#include <vector>

namespace stoker {

// Draws samples with replacement: a class by its weight, and then one of its samples, each as likely as the others of
// its class. Immutable, hence thread-safe.
class WeightedClasses {
 public:
  // Ranks from `begin` on, up to but without `end`.
  struct Run {
    uint64_t begin = 0, end = 0;
  };

  struct Class {
    uint64_t weight = 0;    // at least 1
    std::vector<Run> runs;  // its samples' ranks: at least one
  };

  // The sum of all weights must be below 2^64.
  explicit WeightedClasses(const std::vector<Class>& classes);

  // Returns the rank of the sample that stands at `position`, as a pure function of the arguments. Its draws are those
  // of a DrawKey whose op is kOp (see common/identity/draws.h): Below(sum of weights) chooses the class, in the order
  // of the constructor's argument, and Below(number of its samples) the sample.
  uint64_t RankAt(uint64_t seed, uint64_t epoch, uint64_t position) const;

  // Returns the bytes of memory that it holds beside itself.
  uint64_t resident_bytes() const { return classes_.capacity() * sizeof(Part) + runs_.capacity() * sizeof(Part); }

 private:
  static constexpr uint64_t kOp = 0x7765696768746564;  // "weighted", which no op of a pipeline has

  // A class or a run: what is drawn below `end`, and not below that of the part before it, falls on it.
  struct Part {
    uint64_t end = 0;
    uint64_t first = 0;  // of a class: its first run; of a run: the first rank
  };

  std::vector<Part> classes_;  // ends count weights
  std::vector<Part> runs_;     // ends count samples, through all classes
};

}  // namespace stoker

#endif  // STOKER_SERVER_PLAN_WEIGHTED_CLASSES_H_
