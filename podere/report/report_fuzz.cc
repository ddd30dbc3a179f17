// Reports of others, in pages and alone.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "podere/base/error.h"
#include "podere/report/page.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  using namespace podere;
  try {
    const std::string text(reinterpret_cast<const char*>(bytes), n_bytes);
    auto runs = report::runs_of(text, "fuzz");
    const std::string page = report::html_of(report::document_of(std::move(runs), report::studies_of(text, "fuzz")));
    report::runs_of(page, "page");
    report::studies_of(page, "page");
  } catch (const InputError&) {
  }
  return 0;
}
