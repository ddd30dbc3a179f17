// libFuzzer program of traces and states. A text gives a trace, or an InputError of one line; a trace that is written
// and read again is the same, and a short one can be simulated. The same for states, from which decisions are made.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "podere/base/error.h"
#include "podere/farm/simulation.h"
#include "podere/farm/state_json.h"
#include "podere/farm/trace.h"

namespace {

using namespace podere::farm;

/// Nothing for a text with a fault.
template <typename Parse>
auto parsed(const std::string& text, Parse parse) -> std::optional<decltype(parse(text, "input"))> {
  try {
    return parse(text, "input");
  } catch (const podere::InputError& error) {
    const std::string message = error.what();
    if (message.rfind("input", 0) != 0 || message.find_first_of("\n\r\x1b") != std::string::npos) std::abort();
    return std::nullopt;
  }
}

/// Whether a simulation of it takes no time worth mentioning.
bool is_small(const Trace& trace) {
  return trace.events.size() <= 20 && trace.events.back().at < 10000 && trace.model.until < 20000 &&
         std::min({trace.model.decide_seconds, trace.model.schedule_seconds, trace.model.end_seconds,
                   trace.model.start_seconds}) >= 1 &&
         std::ranges::all_of(trace.events, [](const TraceEvent& event) {
           const auto* farm = std::get_if<FarmEvent>(&event.what);
           return farm == nullptr || farm->farm.wanted <= 50;
         });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes), n_bytes);
  if (const auto trace = parsed(text, parse_trace)) {
    const std::string written = trace_text(*trace);
    const auto again = parsed(written, parse_trace);
    if (!again || trace_text(*again) != written) std::abort();
    if (is_small(*trace)) simulate(*trace, {.policy = {}, .is_original = n_bytes % 2 == 0});
  }
  if (const auto state = parsed(text, parse_state)) {
    const auto again = parsed(state_text(*state), parse_state);
    if (!again || again->pods.size() != state->pods.size()) std::abort();
    for (const Mode mode : {Mode::kProportional, Mode::kFairShare, Mode::kHistoryAware}) {
      const Decision decision = decide(*state, {.mode = mode});
      if (decision.outlooks.size() != state->farms.size()) std::abort();
    }
  }
  return 0;
}
