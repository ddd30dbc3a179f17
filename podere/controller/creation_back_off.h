// Farms for which no pods are created for a while, after creations failed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "podere/controller/pass.h"
#include "podere/controller/quotas.h"

namespace podere::controller {

/// Either the API server refuses them (a template that is invalid, a quota, a namespace that is being deleted), or they
/// end by themselves. They are tried again ever later; at once where a farm was changed, or a quota that was full
/// admits them.
class CreationBackOff {
 public:
  CreationBackOff(Writer& writer, std::function<void(const std::string&)> log)
      : writer_(writer), log_(std::move(log)) {}

  /// Before a decision: fills in the scope's `blocked`, `full_namespaces` and `unshown`. Deletes what is left of all
  /// but the last executors that ended by themselves. `quotas`: as watches have them, which may be behind.
  void find(Pass& pass, const QuotasByNamespace& quotas);
  /// After it was carried out.
  void note_refusals(Pass& pass);

 private:
  struct Refusal {
    std::string why;
    std::int64_t generation = 0;
    double retry_at = 0;
    int n_times = 0;
    bool was_full = false;  // a watch has seen the quota full since then
  };
  static void note_quota(const QuotasByNamespace& quotas, const Pass& pass, std::int32_t f, Refusal& refusal);
  void find_crash_loops(Pass& pass);
  void note_unshown(Pass& pass, std::size_t f);
  void remove_remains(const Pass& pass, const std::vector<std::pair<double, std::size_t>>& finished);

  Writer& writer_;
  const std::function<void(const std::string&)> log_;
  std::map<std::string, Refusal> refusals_;  // by UID of the farm
  std::map<std::string, Refusal> unshown_;   // likewise, of pods that show what of its guarantee is cut
};

}  // namespace podere::controller
