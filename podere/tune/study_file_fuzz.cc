// libFuzzer program of journals of studies. A text is a study or an InputError of one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podere/base/error.h"
#include "podere/tune/study_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  try {
    const auto study =
        podere::tune::study_from_text(std::string(reinterpret_cast<const char*>(bytes), n_bytes), "fuzz.journal");
    if (!study.head.run.is_object()) std::abort();
  } catch (const podere::InputError& error) {
    const std::string message = error.what();
    if (message.empty() || message.find_first_of("\n\r\x1b") != std::string::npos) std::abort();
  }
  return 0;
}
