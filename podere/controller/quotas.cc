#include "podere/controller/quotas.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "podere/controller/json.h"

namespace podere::controller {
namespace {

constexpr int kMostRounds = 20;  // each gives some farm less; farms of one namespace are few

const std::string& namespace_of(const Pass& pass, std::size_t farm) { return pass.farm_key(farm).in_namespace; }

/// Goes over what is to be made, in the namespaces where room is being freed.
class Admission {
 public:
  Admission(const Pass& pass, const std::set<std::string>& namespaces, const QuotasByNamespace& quotas)
      : pass_(pass), accounts_(pass.cluster.farms.size()) {
    for (const std::string& in_namespace : namespaces) {
      if (const auto found = quotas.find(in_namespace); found != quotas.end()) {
        rooms_.emplace(in_namespace, found->second);
      }
    }
    if (!rooms_.empty()) open_accounts();
  }

  std::map<std::int32_t, QuotaCut> cuts() {
    std::map<std::int32_t, QuotaCut> cuts;
    if (rooms_.empty()) return cuts;
    for (const farm::Creation& creation : pass_.decision.creations) {
      if (!creation.shows_missing) admit(static_cast<std::size_t>(creation.farm));
    }
    for (std::size_t f = 0; f < accounts_.size(); ++f) admit_for_share(f);
    for (std::size_t f = 0; f < accounts_.size(); ++f) {
      if (!accounts_[f].why.empty()) cuts[static_cast<std::int32_t>(f)] = {most_made(f), accounts_[f].why};
    }
    return cuts;
  }

 private:
  struct Account {
    QuotaRoom* room = nullptr;  // null: not looked at
    QuotaCharge charge = {};    // of an executor
    std::int32_t n_there = 0;
    std::int32_t n_asked = 0;
    std::int32_t n_admitted = 0;
    std::string why = {};  // not more
  };

  void open_accounts() {
    for (std::size_t f = 0; f < accounts_.size(); ++f) {
      const auto room = rooms_.find(namespace_of(pass_, f));
      const FarmObject& farm = pass_.farm(f);
      if (room == rooms_.end() || !farm.has_template() || !farm.fault.empty()) continue;
      accounts_[f] = {.room = &room->second, .charge = quota_charge_of(object_at(*farm.pod, {"spec"}))};
    }
    for (const farm::Pod& pod : pass_.cluster.state.pods) count(pod, 1);
    for (const farm::Removal& removal : pass_.decision.removals) {
      count(pass_.cluster.state.pods[static_cast<std::size_t>(removal.pod)], -1);
    }
  }

  void count(const farm::Pod& pod, std::int32_t n) {
    const bool stays = !pod.is_driver && !pod.is_reclaimed && pod.phase != farm::Phase::kEnding;
    if (stays) accounts_[static_cast<std::size_t>(pod.farm)].n_there += n;
  }

  void admit(std::size_t f) {
    Account& account = accounts_[f];
    if (account.room == nullptr) return;
    ++account.n_asked;
    if (!account.why.empty()) return;
    account.why = account.room->admit(account.charge);
    account.n_admitted += account.why.empty();
  }

  /// Executors that are to be made when the room is free that is reclaimed for a share.
  void admit_for_share(std::size_t f) {
    const farm::Outlook& outlook = pass_.decision.outlooks[f];
    const std::int32_t n_missing = outlook.demand - accounts_[f].n_there - accounts_[f].n_asked;
    for (std::int32_t n = std::min(outlook.beyond.for_drain, n_missing); n > 0; --n) admit(f);
  }

  std::int32_t most_made(std::size_t f) const {
    const Account& account = accounts_[f];
    const std::int32_t most = account.n_there + account.n_admitted;
    return most < pass_.decision.outlooks[f].gang ? account.n_there : most;
  }

  const Pass& pass_;
  std::map<std::string, QuotaRoom> rooms_;  // by namespace
  std::vector<Account> accounts_;           // by farm
};

/// Of farms for which room is being freed, or is to be.
std::set<std::string> namespaces_that_wait(const Pass& pass) {
  std::set<std::string> namespaces;
  for (std::size_t f = 0; f < pass.decision.outlooks.size(); ++f) {
    const farm::Outlook& outlook = pass.decision.outlooks[f];
    if (outlook.guarantee.for_drain + outlook.beyond.for_drain > 0) namespaces.insert(namespace_of(pass, f));
  }
  return namespaces;
}

const std::string& namespace_of(const Pass& pass, const farm::Reclaim& reclaim) {
  return namespace_of(pass, static_cast<std::size_t>(reclaim.for_farm));
}

/// A quota is for what is needed: pods for show in the namespaces go.
void apply(const std::map<std::int32_t, QuotaCut>& cuts, Pass& pass) {
  std::vector<farm::Farm>& farms = pass.cluster.state.farms;
  std::set<std::string> full;
  for (const auto& [f, cut] : cuts) {
    const auto index = static_cast<std::size_t>(f);
    farms[index].most_made = std::min(farms[index].most_made, cut.most_made);
    pass.blocked_because[pass.farm(index).uid] = cut.why;
    full.insert(namespace_of(pass, index));
  }
  for (std::size_t f = 0; f < farms.size(); ++f) {
    if (full.contains(namespace_of(pass, f))) farms[f].most_shown = 0;
  }
}

}  // namespace

QuotasByNamespace by_namespace(Objects<QuotaFacts> quotas) {
  QuotasByNamespace all;
  for (auto& entry : quotas) all[entry.first.in_namespace].push_back(std::move(entry));
  return all;
}

std::map<std::int32_t, QuotaCut> cuts_by_quotas(const Pass& pass, const QuotasByNamespace& quotas) {
  return Admission(pass, namespaces_that_wait(pass), quotas).cuts();
}

void heed_quotas(Pass& pass, QuotasByNamespace known,
                 const std::function<Objects<QuotaFacts>(const std::string& in_namespace)>& read_quotas) {
  std::set<std::string> were_read;
  for (int round = 0; round < kMostRounds; ++round) {
    if (const auto cuts = cuts_by_quotas(pass, known); !cuts.empty()) {
      apply(cuts, pass);
      pass.decision = farm::decide(pass.cluster.state, pass.policy);
      continue;
    }
    // The API server has counted what was made a moment ago.
    bool reads = false;
    for (const farm::Reclaim& reclaim : pass.decision.reclaims) {
      const auto found = known.find(namespace_of(pass, reclaim));
      if (found == known.end() || !were_read.insert(found->first).second) continue;
      found->second = read_quotas(found->first);
      reads = true;
    }
    if (!reads) return;
  }
  std::erase_if(pass.decision.reclaims,
                [&](const farm::Reclaim& reclaim) { return known.contains(namespace_of(pass, reclaim)); });
}

}  // namespace podere::controller
