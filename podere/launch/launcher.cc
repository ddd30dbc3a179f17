#include "podere/launch/launcher.h"

#include <array>

#include "podere/launch/farm_pods.h"
#include "podere/launch/hosts.h"
#include "podere/launch/local.h"
#include "podere/launch/slurm.h"

namespace podere::launch {
namespace {

/// An entry of the table of launchers.
struct Entry {
  bool (*is_chosen)(const Place& place);
  std::unique_ptr<Launcher> (*make)(const Place& place);
};

// The first that is chosen; this machine where none is.
constexpr std::array kLaunchers = {
    Entry{[](const Place& place) { return !place.hosts.empty(); }, hosts_launcher},
    Entry{[](const Place& place) { return place.on_slurm; }, slurm_launcher},
    Entry{[](const Place& place) { return !place.farm.empty(); }, farm_launcher},
};

}  // namespace

std::unique_ptr<Launcher> make_launcher(const Place& place) {
  for (const Entry& entry : kLaunchers) {
    if (entry.is_chosen(place)) return entry.make(place);
  }
  return local_launcher(place);
}

}  // namespace podere::launch
