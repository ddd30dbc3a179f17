#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/linear/cosine_kernel.cc"
#include "podere/linear/cosine_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "podere/base/portable_math.h"

// Plain loops that the compiler makes vectors of, once for each kind of machine, with the same bits (portable_math.h).
HWY_BEFORE_NAMESPACE();
namespace podere::linear::HWY_NAMESPACE {

void ToCosines(double* turns, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) turns[i] = cosine_of_turns(turns[i]);
}

double DotInLanes(const double* a, const double* b, std::size_t n) {
  double lanes[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (std::size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += a[i] * b[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace podere::linear::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::linear {

HWY_EXPORT(ToCosines);
HWY_EXPORT(DotInLanes);

void to_cosines(std::span<double> turns) { HWY_DYNAMIC_DISPATCH(ToCosines)(turns.data(), turns.size()); }
double dot_in_lanes(const double* a, const double* b, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(DotInLanes)(a, b, n);
}

}  // namespace podere::linear
#endif
