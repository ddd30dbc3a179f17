#include "podere/executor/fault.h"

#include <fmt/format.h>

#include "podere/base/error.h"

namespace podere::executor {

void fail_if_asked(std::string_view fault, std::string_view phase, int rank, std::size_t tree) {
  if (fault.empty()) return;
  const std::string place = fmt::format("{}:rank={}", phase, rank);
  if (fault == place || fault == fmt::format("{}:tree={}", place, tree)) throw_error("PODERE_FAULT={}", fault);
}

}  // namespace podere::executor
