// Reports of others, in pages and alone.
#include <cstddef>
#include <cstdint>

#include "podere/base/error.h"
#include "podere/report/page.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  using namespace podere;
  try {
    auto runs = report::runs_of({reinterpret_cast<const char*>(bytes), n_bytes}, "fuzz");
    const std::string page = report::html_of(report::document_of(std::move(runs)));
    report::runs_of(page, "page");
  } catch (const InputError&) {
  }
  return 0;
}
