#include "podere/base/energy.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <system_error>

namespace podere {
namespace {

namespace fs = std::filesystem;

constexpr double kKeepUpSeconds = 60;

template <typename T>
std::optional<T> first_in(const fs::path& path) {
  std::ifstream file(path);
  T value{};
  if (file >> value) return value;
  return std::nullopt;
}

/// Packages, and memory, which is counted beside its package; cores and graphics are counted within it, "psys" is the
/// whole machine with the packages in it.
bool is_wanted(const std::string& name) { return name.starts_with("package") || name == "dram"; }

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& powercap) {
  std::error_code unknown;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(powercap, unknown)) {
    if (entry.path().filename().string().starts_with("intel-rapl:")) folders.insert(entry.path());
  }
  for (const fs::path& folder : folders) {
    if (!is_wanted(first_in<std::string>(folder / "name").value_or(""))) continue;
    Counter counter{folder / "energy_uj", first_in<double>(folder / "max_energy_range_uj").value_or(0), 0};
    counter.last_uj = read(counter).value_or(0);
    counters_.push_back(std::move(counter));
  }
  if (counters_.empty()) why_unset_ = powercap.string() + ": no energy counters (intel-rapl)";
}

std::optional<double> EnergyMeter::read(const Counter& counter) {
  errno = 0;
  const auto value = first_in<double>(counter.energy);
  if (!value && why_unset_.empty()) {
    why_unset_ = counter.energy.string() + ": " + (errno == 0 ? "is no number" : std::strerror(errno));
  }
  return value;
}

std::optional<double> EnergyMeter::joules() {
  since_read_.restart();
  if (!why_unset_.empty()) return std::nullopt;
  for (Counter& counter : counters_) {
    const auto now_uj = read(counter);
    if (!now_uj) return std::nullopt;
    sum_uj_ += *now_uj - counter.last_uj + (*now_uj < counter.last_uj ? counter.range_uj : 0);
    counter.last_uj = *now_uj;
  }
  return sum_uj_ * 1e-6;
}

void EnergyMeter::keep_up() {
  if (since_read_.seconds() >= kKeepUpSeconds) joules();
}

std::uint64_t machine_identity() {
  // The same in all containers of a machine, as are the counters.
  if (const auto boot = first_in<std::string>("/proc/sys/kernel/random/boot_id"))
    return std::hash<std::string>()(*boot);
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string>()(name.data());
}

}  // namespace podere
