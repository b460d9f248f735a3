#include "common/identity/permutation.h"

// Fails unless the installed headers and libraries agree.
int main() {
  const stoker::Permutation order(1000, 7);
  return order.PositionOf(order.SampleAt(123)) == 123 ? 0 : 1;
}
