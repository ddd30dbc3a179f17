// Studies of others, and what the picture and the conclusions make of them.
#include <cstddef>
#include <cstdint>
#include <string>

#include "podere/base/error.h"
#include "podere/scaling/conclusions.h"
#include "podere/scaling/study_svg.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  using namespace podere;
  const std::string text(reinterpret_cast<const char*>(bytes), n_bytes);
  try {
    scaling::study_to_show(text, "fuzz");
    const scaling::Study study = scaling::study_of_text(text, "fuzz");
    if (study.runs.empty()) return 0;
    const scaling::Conclusions found = conclude(study, {.modeled_cores = {}, .network = {}, .suggests = true});
    scaling::study_svg(study, found.points);
    to_json(study, found);
  } catch (const InputError&) {
  }
  return 0;
}
