// Nothing is reclaimed for executors that a quota of their namespace does not admit.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "podere/controller/pass.h"
#include "podere/controller/quota_facts.h"

namespace podere::controller {

using QuotasByNamespace = std::map<std::string, Objects<QuotaFacts>>;
QuotasByNamespace by_namespace(Objects<QuotaFacts> quotas);

/// Of a farm in a namespace whose quotas do not admit all executors that are to be made of it.
struct QuotaCut {
  std::int32_t most_made;  ///< as Farm::most_made
  std::string why;
};

/// By farms of the state. Looks at namespaces with a farm for which room is being freed, or is to be: other farms in
/// them use the same quotas. Executors are admitted in the order of the decision, so guaranteed ones are first. A gang
/// that cannot start with what is admitted has none.
std::map<std::int32_t, QuotaCut> cuts_by_quotas(const Pass& pass, const QuotasByNamespace& quotas);

/// Decides again, with less for some farms, until the pass's decision reclaims nothing for an executor that is not
/// admitted. `known`: as watches have them, which may be behind. `read_quotas` asks the API server for those of a
/// namespace, once each and only where executors are to be reclaimed.
void heed_quotas(Pass& pass, QuotasByNamespace known,
                 const std::function<Objects<QuotaFacts>(const std::string& in_namespace)>& read_quotas);

}  // namespace podere::controller
