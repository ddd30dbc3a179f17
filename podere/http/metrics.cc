#include "podere/http/metrics.h"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <regex>
#include <sstream>
#include <string_view>

namespace podere::http {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kOpenMetrics = "application/openmetrics-text";

}  // namespace

std::string prometheus_text(const std::vector<prometheus::MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(families);
}

// What differs: a counter's family is named without _total, bounds of buckets are written as fractions, and the text
// has an end, so that a cut one is noticed.
std::string open_metrics_text(const std::vector<prometheus::MetricFamily>& families) {
  static const std::regex head("^(# (?:HELP|TYPE) [a-zA-Z0-9_:]+)_total ");
  static const std::regex whole_bound("le=\"([0-9]+)\"");
  std::string text;
  for (const prometheus::MetricFamily& family : families) {
    const bool is_counter = family.type == prometheus::MetricType::Counter && family.name.ends_with(kTotal);
    std::istringstream lines(prometheus_text({family}));
    for (std::string line; std::getline(lines, line);) {
      if (is_counter && line.starts_with('#')) line = std::regex_replace(line, head, "$1 ");
      if (family.type == prometheus::MetricType::Histogram) {
        line = std::regex_replace(line, whole_bound, "le=\"$1.0\"");
      }
      text += line + '\n';
    }
  }
  return text + "# EOF\n";
}

Answer metrics_answer(const std::vector<prometheus::MetricFamily>& families, const Request& request) {
  if (request.accept.find(kOpenMetrics) != std::string::npos) {
    return {.body = open_metrics_text(families), .type = fmt::format("{}; version=1.0.0; charset=utf-8", kOpenMetrics)};
  }
  return {.body = prometheus_text(families), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace podere::http
